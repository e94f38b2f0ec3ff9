"""Rules of `--fail-if`, the exit code that they lead to, and their JUnit file: for every command that compares.

Deliberately not here: how a rule is tested (`plimsoll.analyse.answers.compare_verdicts`), and its words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli.option_values import share

if TYPE_CHECKING:
    from plimsoll.analyse.answers.compare_model import GateResult
    from plimsoll.analyse.answers.compare_verdicts import GateRule

_UNDECIDED = "undecided"
OPEN = 7
"""No rule failed, and one is undecided: the measurement is too noisy, or was disturbed."""

PassIfOption = Annotated[
    str | None,
    typer.Option("--pass-if", metavar="undecided", help="End with exit code 0 if a rule is undecided."),
]
JunitOption = Annotated[
    Path | None,
    typer.Option(
        "--junit",
        metavar="FILE",
        help="Also write what became of the rules of --fail-if as JUnit XML: a test case for each place and rule.",
    ),
]


@dataclass(frozen=True, slots=True)
class Gates:
    """What a user wrote of rules.

    Attributes:
        rules: In their order.
        if_undecided: The exit code where one of them is undecided and none fails.
    """

    rules: Sequence[GateRule]
    if_undecided: int

    def exit_code(self, results: Sequence[GateResult], words: Callable[[GateResult], str]) -> int:
        """What the command ends with; what is undecided is told on standard error."""
        from plimsoll.analyse.answers.compare_model import GateOutcome
        from plimsoll.units import printable

        undecided = [gate for gate in results if gate.outcome is GateOutcome.UNDECIDED]
        for gate in undecided:
            typer.echo(printable(f"warning: {words(gate)}"), err=True)
        if any(gate.outcome is GateOutcome.FAILED for gate in results):
            return 1
        return self.if_undecided if undecided else 0


def gates_of(fail_if: Sequence[str] | None, pass_if: str | None, junit: Path | None) -> Gates:
    """Reads `--fail-if`, `--pass-if` and `--junit`.

    Raises:
        SpecError: One is wrong, or one needs another.
    """
    from plimsoll.errors import SpecError

    written = [text.strip() for text in fail_if or ()]
    rules = [_rule(text) for text in written if text != _UNDECIDED]
    if junit is not None and not rules:
        raise SpecError("--junit: needs a rule that can fail, such as --fail-if slower:5%")
    if _UNDECIDED in written and not rules:
        raise SpecError("--fail-if undecided: needs another rule that can be undecided, such as --fail-if slower:5%")
    if pass_if is None:
        return Gates(rules, 1 if _UNDECIDED in written else OPEN)
    if pass_if != _UNDECIDED or _UNDECIDED in written or not rules:
        raise SpecError(
            "--pass-if: must be undecided, beside a rule such as --fail-if slower:5% and not beside its opposite"
        )
    return Gates(rules, 0)


def _rule(written: str) -> GateRule:
    from plimsoll.analyse.answers.compare_model import Metric
    from plimsoll.analyse.answers.compare_verdicts import GateRule
    from plimsoll.errors import SpecError

    name, colon, limit = written.partition(":")
    metrics = {"slower": Metric.THROUGHPUT, "p99": Metric.P99}
    if not colon or name not in metrics:
        raise SpecError(f"--fail-if: must be slower:5%, p99:10% or undecided, is {written[:60]!r}")
    return GateRule(metrics[name], share(limit, f"--fail-if {name}", allow_zero=True))
