"""Trials of ten minutes and more, minute by minute, and whether they drifted; part of the analysis."""

from __future__ import annotations

from plimsoll.analyse.steady_model import StateKind
from plimsoll.record.document import Document
from plimsoll.record.level import Level


class Trend(Document):
    """How a measure went on from the beginning of a window to its end.

    Attributes:
        state: `drifting` where the change is established and large enough to matter.
        change_ratio: Change from the beginning to the end over the mean, by the median slope, established or not.
    """

    state: StateKind
    change_ratio: float


class LongTrial(Document):
    """The measured window of one trial in steps of a minute, or of several in a window of many hours.

    Attributes:
        trial_id: Name of its recording.
        system: Which.
        workload: Which.
        level: Which.
        repetition: 0, 1, 2, ...
        step_s: Length of a step, seconds. What is left at the end of the window is no step.
        throughput_tps: Completed transactions per second in each step.
        response_ms_p99: 99th percentile of response time in each step, from merged histograms; null where nothing
            completed, empty when not known.
        throughput: How throughput went on; its state is that of the trial's steady-state test.
        response: How the 99th percentile went on; null when not known of each step.
    """

    trial_id: str
    system: str
    workload: str
    level: Level
    repetition: int
    step_s: float
    throughput_tps: tuple[float, ...]
    response_ms_p99: tuple[float | None, ...] = ()
    throughput: Trend
    response: Trend | None = None

    @property
    def window_s(self) -> float:
        """Length of all steps, seconds."""
        return self.step_s * len(self.throughput_tps)
