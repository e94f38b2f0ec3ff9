"""`plimsoll compare`: whether one system is faster than another, and the gate of a pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli import complete
from plimsoll.cli.gates import JunitOption, PassIfOption, gates_of
from plimsoll.cli.help import Command
from plimsoll.cli.option_values import share
from plimsoll.cli.options import JsonOption

if TYPE_CHECKING:
    from plimsoll.analyse.answers.compare_model import CompareAnswer

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
    pass_if: PassIfOption = None,
    equal_within: Annotated[
        str, typer.Option("--equal-within", metavar="SHARE", help="Share within which the two count as equal.")
    ] = "5%",
    baseline: BaselineOption = None,
    junit: JunitOption = None,
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
    gates = gates_of(fail_if, pass_if, junit)
    margin = share(equal_within, "--equal-within")
    first, second, design = read_sides(base, system, baseline or ())
    answer = compare_sides(first, second, design=design, rules=gates.rules, equal_within=margin)
    from plimsoll.guide.compare import gate_words

    if junit is not None:
        from plimsoll.guide.junit import compare_junit
        from plimsoll.record.files import replace_file

        replace_file(junit, compare_junit(answer, gates.if_undecided), "choose another --junit")
    _show(answer, as_json=as_json, as_markdown=as_markdown)
    raise typer.Exit(gates.exit_code(answer.gates, lambda gate: gate_words(gate, answer)))


def _show(answer: CompareAnswer, *, as_json: bool, as_markdown: bool) -> None:
    from plimsoll.cli.streams import show
    from plimsoll.guide.compare import compare_markdown, compare_terminal, worded_comparison

    if as_json:
        typer.echo(worded_comparison(answer).model_dump_json(indent=2))
    elif as_markdown:
        typer.echo(compare_markdown(answer).rstrip())
    else:
        show(compare_terminal(answer))
