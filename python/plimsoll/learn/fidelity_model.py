"""How far a learned workload's run is from the log that it was learned from, as values. They hold no literal.

`fidelity.json` is this document. Deliberately not here: how it is found (`fidelity`), and words.
"""

from __future__ import annotations

from typing import Final, Literal

from plimsoll.record.document import Document
from plimsoll.spec.learned import FigureKind

FIDELITY_FORMAT: Final = 1
"""Version of this schema."""

Unjudged = Literal["too-few", "no-goal", "not-run", "not-in-log"]
"""Why a figure is not held against its goal: too few observations; there is no goal, as for what depends on the
machine; the run has none of it; the log's report does not have it."""


class FidelityFigure(Document):
    """One figure of the log and of the run.

    Attributes:
        kind: What it is.
        of: `all`, the name of a type, or `#3` for the third statement.
        deviation: Of the run from the log: a difference of shares, a difference over the log's figure, or a factor of
            at least 1, as the kind has it; null where one side is not known. Of counts per execution the difference is
            taken over at least 1, so that a hundredth of a row is no deviation.
        goal: The largest deviation that is within it; null where there is none.
        is_met: Null where it is not judged, for the reason that `unjudged` gives.
        observed_count: Transactions or executions of the run that it rests on.
        needed_count: How many make the standard error a third of the goal; null where that is not known.
    """

    kind: FigureKind
    of: str
    log: float | None
    model: float | None
    deviation: float | None = None
    goal: float | None = None
    is_met: bool | None = None
    unjudged: Unjudged | None = None
    observed_count: int = 0
    needed_count: int | None = None


class LogPeriod(Document):
    """The log that the workload was learned from.

    Attributes:
        first_unix_s: Seconds since 1970 of its first transaction, `last_unix_s` of its last one; null without times.
        transactions_count: All of them.
        transaction_share: Of these, in types that run, 0..1; `time_share` of statement time, null without durations.
    """

    first_unix_s: int | None
    last_unix_s: int | None
    transactions_count: float
    transaction_share: float
    time_share: float | None


class CheckConditions(Document):
    """How the workload was run.

    Attributes:
        checked_unix_s: When, seconds since 1970.
        server: Flavour and version.
        connections: In a closed loop without think time.
        connections_from: `log`: transactions that were open at a time in the log, on average; `given` by the user;
            `default` where the log has no times.
        scale: Rows of the tables, as a share of those that there were.
        warm_up_s: Load before what counts.
    """

    checked_unix_s: int
    server: str
    connections: int
    connections_from: Literal["log", "given", "default"]
    scale: float
    duration_s: float
    warm_up_s: float


class Fidelity(Document):
    """How far the run of a learned workload is from its log.

    Attributes:
        statements: Texts of the statements that figures are of: `#1` is the first.
        transactions_count: Of the run.
        unlike_count: Of these, those that are no type of the workload: cut short by an error, by a statement that found
            no row, or by the end of the run.
    """

    fidelity_format: Literal[1] = FIDELITY_FORMAT
    log: LogPeriod
    conditions: CheckConditions
    statements: tuple[str, ...]
    transactions_count: float
    unlike_count: float
    figures: tuple[FidelityFigure, ...]
