"""What state a trial was in while it was measured; part of the analysis, with all that a chart of it needs."""

from __future__ import annotations

from enum import StrEnum

from plimsoll.record.document import Document


class StateKind(StrEnum):
    """How a series went on; the worse, the later."""

    STEADY = "steady"
    CYCLIC = "cyclic"
    DRIFTING = "drifting"
    UNSTEADY = "unsteady"


class SeriesState(Document):
    """How one series of a trial went on within the window.

    Attributes:
        name: `throughput`, or a status variable of InnoDB; counters by their rise in a second.
        state: How it went on.
        change_ratio: From begin to end of the window over the mean, where it is drifting; null elsewhere.
        period_s: From crest to crest, where it is cyclic; null elsewhere.
        swing_ratio: From crest to trough over the mean, where it is cyclic; null elsewhere.
    """

    name: str
    state: StateKind
    change_ratio: float | None = None
    period_s: float | None = None
    swing_ratio: float | None = None


class Segment(Document):
    """A stretch of the window in which the mean of throughput did not change.

    Attributes:
        from_s: Its begin, seconds since the load began.
        to_s: Its end.
        mean_tps: Throughput in it, transactions per second.
    """

    from_s: float
    to_s: float
    mean_tps: float


class SteadyState(Document):
    """What state a trial was in while it was measured.

    Attributes:
        state: The worst of its series.
        from_s: Begin of the measured window, seconds since the load began.
        to_s: Its end.
        segments: Of throughput, in order; one where its mean did not change.
        series: Throughput first, then what is known of InnoDB.
        period_s: The longest period of a series; null where none is cyclic.
        warm_up_s: So much of the window was still warming up: throughput changed there once, early, and never again.
            null where it did not.
    """

    state: StateKind
    from_s: float
    to_s: float
    segments: tuple[Segment, ...]
    series: tuple[SeriesState, ...]
    period_s: float | None = None
    warm_up_s: float | None = None

    @property
    def cycles_count(self) -> float | None:
        """Cycles of the longest period in the window, with fractions."""
        return None if self.period_s is None else (self.to_s - self.from_s) / self.period_s
