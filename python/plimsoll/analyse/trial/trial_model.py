"""Trials as the analysis lists them, as values: each second by second, long ones minute by minute.

Outages, and what became of data between and during trials, are here as well.
"""

from __future__ import annotations

from plimsoll.analyse.trial.condition_model import StateKind
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


class TrialOutage(Document):
    """From the first connection that a trial lost until they were back.

    Attributes:
        system: In which cell.
        workload: In which cell.
        level: In which cell.
        repetition: In which of its trials: 0, 1, 2, ...
        instance: Server to which connections were lost.
        from_s: Since the load began, seconds.
        length_s: To the end of the load where it was not over before.
        is_over: All connections, or the share that counts as back, were open again before the end.
        is_measured: It lies in the measured window, or reaches into it.
        connections_count: How many were lost.
        lost_count: Transactions that failed with them.
    """

    system: str
    workload: str
    level: Level
    repetition: int
    instance: str
    from_s: float
    length_s: float
    is_over: bool
    is_measured: bool
    connections_count: int
    lost_count: int


class DataSummary(Document):
    """The data of one system under one workload, over its trials.

    Attributes:
        system: Whose.
        workload: Which.
        trials_count: Trials of which anything is known.
        ways: In how many trials data came about how: `copy`, `prepare`, `fresh` or `left`.
        reset_s_median: Time to put data back, seconds; null where that was never done.
        other_s_median: The time that the other way would have taken by its last measurement; null when unknown.
        size_bytes: Largest size of what was copied; null where nothing was.
        cloned_bytes: Largest size of what shares its blocks with the original.
        is_aged: Data came from an earlier study.
        rows_ratio: Largest relative change of the number of rows during a trial, with its sign; null when unknown.
        bytes_ratio: The same of the size of the tables' files.
        redo_turns_min: How often the redo log was filled while the server warmed up, in the trial where it was least
            often; from 1 on it wrapped. Null when unknown.
        redo_turns_max: The same where it was most often.
    """

    system: str
    workload: str
    trials_count: int
    ways: dict[str, int]
    reset_s_median: float | None = None
    other_s_median: float | None = None
    size_bytes: int | None = None
    cloned_bytes: int = 0
    is_aged: bool = False
    rows_ratio: float | None = None
    bytes_ratio: float | None = None
    redo_turns_min: float | None = None
    redo_turns_max: float | None = None
