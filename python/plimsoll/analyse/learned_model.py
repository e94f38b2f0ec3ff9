"""Where a workload was learned, and how faithful it is to that log, as a guide has it.

Deliberately not here: `[learned]` of workload files, from which it comes (`plimsoll.spec.learned`).
"""

from __future__ import annotations

from plimsoll.record.document import Document
from plimsoll.spec.learned import FigureKind


class FidelityKind(Document):
    """All figures of one kind, of a run compared with a log.

    Attributes:
        kind: What they are.
        judged: Figures that had observations enough.
        met: Of these, how many are within the goal.
        worst: The largest deviation among them; null where none was judged. Of shares, counts and means it is a ratio,
            of rare errors a factor.
        goal: The largest deviation that is within it.
    """

    kind: FigureKind
    judged: int
    met: int
    worst: float | None = None
    goal: float


class FidelityCheck(Document):
    """The last comparison of a workload's run with its log.

    Attributes:
        at_unix_s: When, seconds since 1970.
        server: Flavour and version.
        connections: In a closed loop.
        duration_s: How long it ran, seconds.
        figures: By kind.
    """

    at_unix_s: float
    server: str
    connections: int
    duration_s: float
    figures: tuple[FidelityKind, ...]


class LearnedFrom(Document):
    """The log that a workload was learned from.

    Attributes:
        first_unix_s: Its first second, since 1970; null where its times are not known.
        last_unix_s: Its last second, since 1970; null where its times are not known.
        transactions: In the log.
        transaction_share: Of these, in types that run, 0..1.
        time_share: Of statement time, in types that run, 0..1; null where the log has no durations.
        check: Null where the workload was never compared with its log.
    """

    first_unix_s: float | None
    last_unix_s: float | None
    transactions: float
    transaction_share: float
    time_share: float | None
    check: FidelityCheck | None
