"""What is said of systems with replicas, as values; part of the analysis.

Servers by role, lag, what another replica adds, what waiting for replicas costs, what transactions cost the servers of
a fleet.
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from plimsoll.analyse.study.cell_model import Bounds, Durations, Estimate
from plimsoll.analyse.study.ratio_model import Ratio
from plimsoll.record.document import Document
from plimsoll.record.level import Level


class FleetCosts(Document):
    """Processor time that a transaction costs its servers, from the cells with none and with one replica.

    Attributes:
        read_ms: Of one that only reads, on the server where it runs, milliseconds.
        write_ms: Of one that writes, on the source.
        apply_ms: Of one that is applied, on each replica.
        write_ratio: Share of transactions that write and are committed, 0..1.
        source_cpu_s: Processor time in each second that the source used at its best level without replicas: what it can
            use.
        replica_cpu_s: What each replica can use.
        is_shared: The servers share processors: another replica brings none, and all of them together have
            `source_cpu_s`.
        is_placed: It is known which processors each server may use.
    """

    read_ms: float
    write_ms: float
    apply_ms: float
    write_ratio: float
    source_cpu_s: float
    replica_cpu_s: float
    is_shared: bool
    is_placed: bool

    def expected_tps(self, replicas: int) -> float:
        """What a source with so many replicas sustains, if every replica carries the whole write stream.

        Transactions that only read run on replicas where there are any. With processors of their own, the first of two
        limits counts: the source has to execute all writes, and the replicas all reads and each of them all writes
        again. With shared processors all work shares them.
        """
        read_s, write_s, apply_s = (
            (1 - self.write_ratio) * self.read_ms / 1000,
            self.write_ratio * self.write_ms / 1000,
            self.write_ratio * self.apply_ms / 1000,
        )
        if self.is_shared or replicas == 0:
            return self.source_cpu_s / (read_s + write_s + replicas * apply_s)
        of_replicas = replicas * self.replica_cpu_s / (read_s + replicas * apply_s)
        return min(of_replicas, self.source_cpu_s / write_s if write_s > 0 else of_replicas)

    @property
    def most_tps(self) -> float | None:
        """What no number of replicas exceeds; None where there is no write, and so no such limit."""
        if self.is_shared:
            return self.expected_tps(0)
        write_s, apply_s = (self.write_ratio * ms / 1000 for ms in (self.write_ms, self.apply_ms))
        limits = [self.source_cpu_s / write_s] if write_s > 0 else []
        limits += [self.replica_cpu_s / apply_s] if apply_s > 0 else []
        return min(limits, default=None)


class LagState(StrEnum):
    """Whether a replica keeps up with its source."""

    BOUNDED = "bounded"
    GROWING = "growing"  # its lower envelope rises all the time: the replica is slower than the source
    UNKNOWN = "unknown"  # fewer than ten intervals, or the heartbeat was not read in a fifth of them


class LagSeries(Document):
    """The lag of one replica over the measured window of one trial.

    Attributes:
        trial_id: Name of the recording.
        state: Whether it grows.
        largest_s: The largest that was seen, seconds; null when not known.
        median_s: Median of the ends of intervals, seconds.
        end_s: At the end of the window, seconds.
        growth_s_per_s: How fast its lower envelope rises, seconds in each second; negative where it fell.
        from_s: Begin of the window, seconds since the load began.
        step_s: How long each point of `lag_s` is, seconds.
        lag_s: The largest lag in each step, seconds, to four significant digits; null where it was not seen.
    """

    trial_id: str = ""
    state: LagState
    largest_s: float | None = None
    median_s: float | None = None
    end_s: float | None = None
    growth_s_per_s: float | None = None
    from_s: float = 0.0
    step_s: float = 1.0
    lag_s: tuple[float | None, ...] = ()


class ServerFigures(Document):
    """What one server of a system did at one level, mean of its trials.

    Attributes:
        instance: Its name.
        role: `source` or `replica`.
        throughput_tps: Transactions that ran on it in each second; a transaction counts with one server only.
        response_ms: Of those.
        failed_count: Of those, how many failed.
        errors_count: Failed statements.
        outages_count: Times that connections to it were lost.
        outage_s: How long the longest of these lasted, seconds.
        cpu_s_per_s: Processor time of its process in each second; null when not known.
        cpu_ms_per_transaction: The same without that of its applier, for each transaction that ran on it, milliseconds.
        applied_tps: Replicated transactions that it applied in each second; null for sources, and when not known.
        apply_ms: Processor time of its applier for each of them, milliseconds; null for sources, and when not known.
        lag: Of a replica, in each trial.
        reads_count: Transactions that only read and were sent to this replica.
        stale_reads_count: Of those, whose connection had written what the replica did not have yet.
        waits_count: Times that a read waited until the replica had a write.
        wait_s: How long all of them together waited, seconds.
        wait_timeouts_count: Of those, that ended at their limit; the read then went to the source.
    """

    instance: str
    role: str
    throughput_tps: float
    response_ms: Durations = Durations()
    failed_count: int = 0
    errors_count: int = 0
    outages_count: int = 0
    outage_s: float = 0.0
    cpu_s_per_s: float | None = None
    cpu_ms_per_transaction: float | None = None
    applied_tps: float | None = None
    apply_ms: float | None = None
    lag: tuple[LagSeries, ...] = ()
    reads_count: int = 0
    stale_reads_count: int = 0
    waits_count: int = 0
    wait_s: float = 0.0
    wait_timeouts_count: int = 0

    @property
    def lag_grows(self) -> bool:
        """Whether its lag grew in any trial."""
        return any(series.state is LagState.GROWING for series in self.lag)

    @property
    def stale_ratio(self) -> float | None:
        """Share of its reads that were stale, 0..1; None without reads."""
        return self.stale_reads_count / self.reads_count if self.reads_count else None

    @property
    def wait_ms_per_read(self) -> float | None:
        """What waiting for writes cost each read, milliseconds, mean over all reads; None without reads."""
        return self.wait_s / self.reads_count * 1000 if self.reads_count else None


class ServersOfLevel(Document):
    """The servers of one system under one workload at one level.

    Attributes:
        system: Which.
        workload: Under which.
        level: At which.
        throughput_tps: Of all of them together: each transaction is counted once.
        written_tps: Transactions that wrote and were committed in each second, all on the source: each replica applies
            all of them.
        servers: The source first.
        trials: Ids of the recordings.
    """

    system: str
    workload: str
    level: Level
    throughput_tps: Estimate
    written_tps: float
    servers: tuple[ServerFigures, ...]
    trials: tuple[str, ...] = ()


class ScalingPoint(Document):
    """A system of a scale-out study.

    Attributes:
        system: Which.
        replicas: How many it has.
        level: At which level it was read.
        throughput_tps: What it sustained there.
        lag_grows: The lag of a replica grew there: it is no capacity.
        expected_tps: What the fleet's arithmetic says; null without it.
        deviation_ratio: Measured over expected, less 1.
        trials: Ids of the recordings.
    """

    system: str
    replicas: int
    level: Level
    throughput_tps: Estimate
    lag_grows: bool = False
    expected_tps: float | None = None
    deviation_ratio: float | None = None
    trials: tuple[str, ...] = ()


class ScalingStep(Ratio):
    """What the next replicas add: throughput with `count` of them over that with `base`.

    All steps of a workload are judged together (Holm).

    Attributes:
        base: Number of replicas compared with.
        count: Number of replicas compared.
    """

    base: int
    count: int


class ReplicaScaling(Document):
    """Throughput of one workload against the number of replicas, of systems that are otherwise alike.

    Attributes:
        workload: Which.
        alike: What these systems have in common and others of the study have not, as factor and value.
        read_ratio: Share of transactions that only read, 0..1, as measured.
        points: By number of replicas.
        steps: From each to the next.
        stops_after: Number of replicas after which the next does not help: the first step that is shown to be no gain;
            null where every step is a gain, or none is resolved before.
        unresolved_from: Number of replicas from which on a step is not resolved before that; null where none is.
        costs: What the arithmetic rests on; null where one of its figures is not known.
        stops_after_expected: The same by the arithmetic: the next replica adds less than 5 %.
    """

    workload: str
    alike: dict[str, str] = Field(default_factory=dict)
    read_ratio: float | None = None
    points: tuple[ScalingPoint, ...]
    steps: tuple[ScalingStep, ...] = ()
    stops_after: int | None = None
    unresolved_from: int | None = None
    costs: FleetCosts | None = None
    stops_after_expected: int | None = None


class CommitPoint(Document):
    """How long transactions that write took under one way of replication.

    Attributes:
        system: Which.
        replicas: How many it has.
        acknowledging: Replicas that must have acknowledged a commit before it is answered; 0 for asynchronous.
        delay_ms: One-way delay of the network between source and replicas that the study states, milliseconds.
        response_ms: Of transactions that write, on the source.
        ratio: Mean response time over that of the first point; null for that.
        simultaneous: Bounds of the ratio that hold for all of these together; null when untestable.
        verdict: `slower` (takes longer), `faster`, `equal`, `unresolved` or `untestable`; empty for the first.
        trials: Ids of the recordings.
    """

    system: str
    replicas: int
    acknowledging: int
    delay_ms: float
    response_ms: Durations
    ratio: Estimate | None = None
    simultaneous: Bounds | None = None
    verdict: str = ""
    trials: tuple[str, ...] = ()


class CommitCost(Document):
    """What it costs to wait for replicas at each commit, at one level.

    Attributes:
        workload: Under which.
        level: At which.
        alike: What these systems have in common and others of the study have not.
        points: By delay, then by number of acknowledging replicas; the first is what the others are compared with.
    """

    workload: str
    level: Level
    alike: dict[str, str] = Field(default_factory=dict)
    points: tuple[CommitPoint, ...]


class Replication(Document):
    """Everything about replicas; empty where no system has any.

    Attributes:
        levels: The servers of each system with replicas, by workload and level.
        scaling: Throughput against the number of replicas.
        commits: Semi-synchronous replication against asynchronous.
    """

    levels: tuple[ServersOfLevel, ...] = ()
    scaling: tuple[ReplicaScaling, ...] = ()
    commits: tuple[CommitCost, ...] = ()
