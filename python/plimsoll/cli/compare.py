"""`plimsoll compare`: whether one system is faster than another, and the gate of a pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli import complete
from plimsoll.cli.help import Command
from plimsoll.cli.option_values import share
from plimsoll.cli.options import JsonOption

if TYPE_CHECKING:
    from plimsoll.analyse.answers.compare_model import CompareAnswer
    from plimsoll.analyse.answers.compare_verdicts import GateRule

_UNDECIDED = "undecided"
OPEN = 7
"""No rule failed, and one is undecided: the measurement is too noisy, or was disturbed."""


FailIfOption = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-if",
        metavar="RULE",
        help="End with exit code 1 if it is established that B is worse than A by more than a limit: slower:5%"
        " (throughput and capacity), p99:10% (99th percentile of response time). undecided: also if neither that"
        " nor its opposite is established (without it, exit code 7). Repeatable.",
    ),
]
BaselineOption = Annotated[
    list[str] | None,
    typer.Option(
        "--baseline",
        metavar="STUDY",
        autocompletion=complete.studies,
        help="Another study of what A is, in the same form, measured at another time on the same machine. At least"
        " two of them show how much the machine moves between sessions. Repeatable.",
    ),
]


class TwoSides(Command):
    """Lets words that are too many through, so that the right form can be told."""

    allow_extra_args = True


def compare(
    context: typer.Context,
    base: Annotated[
        str,
        typer.Argument(
            metavar="A",
            autocompletion=complete.studies,
            help="The reference: the folder of a study with one system, STUDY:SYSTEM, or the folder of one recording.",
        ),
    ],
    system: Annotated[
        str,
        typer.Argument(metavar="B", autocompletion=complete.studies, help="What is compared with A, in the same form."),
    ],
    fail_if: FailIfOption = None,
    pass_if: Annotated[
        str | None,
        typer.Option("--pass-if", metavar="undecided", help="End with exit code 0 if a rule is undecided."),
    ] = None,
    equal_within: Annotated[
        str, typer.Option("--equal-within", metavar="SHARE", help="Share within which the two count as equal.")
    ] = "5%",
    baseline: BaselineOption = None,
    as_json: JsonOption = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown, fit for a pull request.")] = False,
) -> None:
    """Say whether B is faster or slower than A, and by how much.

    Workloads and levels that both have are compared, with verdicts that are corrected for all of them, and so are
    capacities at the same objective. What is not the same besides the two systems is named first. The exit code is 0,
    1 if a rule of --fail-if fails, or 7 if one is undecided. docs/compare.md states its error rates.

    Two studies that were measured one after the other have no verdict unless --baseline names other studies of A, or
    the two studies took turns at least three times (A, B, A, B): a machine moves between sessions.

    Examples:

      plimsoll compare results/flush:durable results/flush:relaxed

      plimsoll compare results:main results:branch --fail-if slower:5% --fail-if p99:10% --markdown

      plimsoll compare nights/5 branch --baseline nights/2 --baseline nights/3 --baseline nights/4
    """
    from plimsoll.analyse.answers.compare import compare_sides
    from plimsoll.errors import SpecError
    from plimsoll.guide.sides import read_sides, right_form

    if context.args:
        words = [base, system, *context.args]
        raise SpecError(
            f"compare takes A and B, and {len(words)} words were given; a system is written after its study:"
            f" plimsoll compare {right_form(words)}"
        )
    if as_json and as_markdown:
        raise SpecError("--json and --markdown: choose one")
    rules, if_undecided = _rules([text.strip() for text in fail_if or ()], pass_if)
    margin = share(equal_within, "--equal-within")
    first, second, design = read_sides(base, system, baseline or ())
    answer = compare_sides(first, second, design=design, rules=rules, equal_within=margin)
    _show(answer, as_json=as_json, as_markdown=as_markdown)
    raise typer.Exit(_exit_code(answer, if_undecided))


def _show(answer: CompareAnswer, *, as_json: bool, as_markdown: bool) -> None:
    from plimsoll.cli.streams import show
    from plimsoll.guide.compare import compare_markdown, compare_terminal, worded_comparison

    if as_json:
        typer.echo(worded_comparison(answer).model_dump_json(indent=2))
    elif as_markdown:
        typer.echo(compare_markdown(answer).rstrip())
    else:
        show(compare_terminal(answer))


def _exit_code(answer: CompareAnswer, if_undecided: int) -> int:
    """Says on standard error what is undecided."""
    from plimsoll.analyse.answers.compare_model import GateOutcome
    from plimsoll.guide.compare import gate_words
    from plimsoll.units import printable

    undecided = [gate for gate in answer.gates if gate.outcome is GateOutcome.UNDECIDED]
    for gate in undecided:
        typer.echo(printable(f"warning: {gate_words(gate, answer)}"), err=True)
    if any(gate.outcome is GateOutcome.FAILED for gate in answer.gates):
        return 1
    return if_undecided if undecided else 0


def _rules(written: list[str], pass_if: str | None) -> tuple[list[GateRule], int]:
    """The rules, and the exit code where one of them is undecided and none fails."""
    from plimsoll.errors import SpecError

    rules = [_rule(text) for text in written if text != _UNDECIDED]
    if _UNDECIDED in written and not rules:
        raise SpecError("--fail-if undecided: needs another rule that can be undecided, such as --fail-if slower:5%")
    if pass_if is None:
        return rules, 1 if _UNDECIDED in written else OPEN
    if pass_if != _UNDECIDED or _UNDECIDED in written or not rules:
        raise SpecError(
            "--pass-if: must be undecided, beside a rule such as --fail-if slower:5% and not beside its opposite"
        )
    return rules, 0


def _rule(written: str) -> GateRule:
    from plimsoll.analyse.answers.compare_model import Metric
    from plimsoll.analyse.answers.compare_verdicts import GateRule
    from plimsoll.errors import SpecError

    name, colon, limit = written.partition(":")
    metrics = {"slower": Metric.THROUGHPUT, "p99": Metric.P99}
    if not colon or name not in metrics:
        raise SpecError(f"--fail-if: must be slower:5%, p99:10% or undecided, is {written[:60]!r}")
    return GateRule(metrics[name], share(limit, f"--fail-if {name}", allow_zero=True))
