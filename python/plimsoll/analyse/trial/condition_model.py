"""Under which conditions a trial was measured, as values; part of the analysis.

Its steady state, with all that a chart of it needs; what was slow about its machine around it (weather); and how much
slower than at its best the machine was meanwhile (disturbance).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

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


class Disturbance(Document):
    """How slow the servers' machine was in the measured seconds of some trials, against the best tenth of such seconds.

    Attributes:
        watched_s: Measured seconds of which that is known.
        slow_ratio: Share of them in which it was over 10 % slower, 0..1.
        slowness: How many times as slow it was on the whole, at least 1; throughput without the disturbance would have
            been about so many times as much.
        wait_ms: How long threads of servers and load engine waited for a processor, for each completed transaction.
        best_wait_ms: The same without what exceeds the best tenth.
        steal_ratio: Share of processor time that a hypervisor took, 0..1; null where it is not known.
        from_unix_s: When the first slow second began, wall clock; null where none was slow.
        to_unix_s: When the last one ended.
    """

    watched_s: float
    slow_ratio: float
    slowness: float
    wait_ms: float | None = None
    best_wait_ms: float | None = None
    steal_ratio: float | None = None
    from_unix_s: float | None = None
    to_unix_s: float | None = None


class SlowFigure(Document):
    """A figure in which the machine was slower around one trial than around the others.

    Attributes:
        figure: `processor-before`, `memory-before`, `flush-before` and the same `-after`: times of the reference load;
            `steal`, `other-processes`: processor time that others took; `frequency`.
        ratio: How many times as slow as the median of the trials that it is compared with.
        limit_ratio: From which ratio on it counts, by the spread of those trials.
    """

    figure: str
    ratio: float
    limit_ratio: float


class TrialCondition(Document):
    """Under which conditions one trial of a cell was measured.

    Attributes:
        trial_id: Its recording.
        repetition: 0, 1, 2, …
        throughput_tps: Completed transactions per second.
        steady: Its state while it was measured; null for published figures without intervals.
        slower: In what its machine was slower than around other trials, the slowest first; empty for nothing.
        disturbance: How slow its machine was while it was measured; null where the recording does not say.
    """

    trial_id: str
    repetition: int
    throughput_tps: float
    steady: SteadyState | None = None
    slower: tuple[SlowFigure, ...] = ()
    disturbance: Disturbance | None = None


SLOW_RATIO = 1.10
"""A second in which the machine was slower than this is slow."""


class UnlikeConditions(Document):
    """Two sides of a comparison whose machine was not equally fast, so that nothing is said of them.

    Attributes:
        base: What the first side met.
        system: What the second side met.
    """

    base: Disturbance
    system: Disturbance

    @property
    def contrast_ratio(self) -> float:
        """How many times as slow the machine was for the one side as for the other, at least 1."""
        ratio = self.system.slowness / self.base.slowness
        return max(ratio, 1 / ratio)


def slow_figures(disturbance: Disturbance) -> dict[str, Any]:
    """How slow a machine was, what showed it, and when."""
    names = ("slowness", "slow_ratio", "wait_ms", "best_wait_ms", "steal_ratio", "from_unix_s", "to_unix_s")
    return {name: getattr(disturbance, name) for name in names}
