"""Every trial that is part of the figures, with how it went second by second; part of the analysis."""

from __future__ import annotations

from plimsoll.record.document import Document
from plimsoll.record.level import Level


class Stretch(Document):
    """A stretch of a trial that stands out.

    Attributes:
        from_s: Its begin, seconds since the load began.
        to_s: Its end.
        kind: What it is, such as `stall`.
    """

    from_s: float
    to_s: float
    kind: str


class TrialSeries(Document):
    """How one trial went. Its figures, unlike all others here, are rounded to four significant digits.

    Attributes:
        from_s: Where the first point begins, seconds since the load began.
        step_s: How long each point is; longer than an interval where there would be too many points.
        throughput_tps: Completed transactions per second, all instances together; one for each point.
        response_ms_p99: 99th percentile of what ended in each point; null where nothing did, empty when not known.
        window_from_s: Where the measured window begins; what lies before it is warm-up.
        window_to_s: Where it ends.
        stretches: What stands out, by time.
    """

    from_s: float
    step_s: float
    throughput_tps: tuple[float, ...]
    response_ms_p99: tuple[float | None, ...] = ()
    window_from_s: float
    window_to_s: float
    stretches: tuple[Stretch, ...] = ()

    @property
    def to_s(self) -> float:
        """Where the last point ends."""
        return self.from_s + self.step_s * len(self.throughput_tps)


class MeasuredTrial(Document):
    """One repetition.

    Attributes:
        trial_id: Name of its recording.
        system: Which.
        workload: Which.
        level: Which.
        repetition: 0, 1, 2, ...
        began_unix_s: When its load began, wall clock, seconds since 1970; null when not known.
        throughput_tps: Completed transactions per second over its window.
        response_ms_p99: 99th percentile of response time over its window; null when not known.
        series: How it went; null where the source says nothing second by second, and for runs of a search that are no
            steady ones.
    """

    trial_id: str
    system: str
    workload: str
    level: Level
    repetition: int
    began_unix_s: float | None = None
    throughput_tps: float
    response_ms_p99: float | None = None
    series: TrialSeries | None = None
