"""`capacity.json`: the highest rate at which an objective held, and every run that decided it.

One document for each search: a system under a workload in one repetition. Deliberately not here: how a run is judged
(`plimsoll.analyse.study.trials`) and which one comes next (`plimsoll.plan.capacity`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from enum import StrEnum

from plimsoll.record.document import Document

CAPACITY_FORMAT = 1
"""Version of `capacity.json`."""

P99_ALLOWED_RATIO = 0.01
"""A 99th percentile is within a limit where at most this share of arrivals is over it."""

_CONTRADICTS = 2.0
"""A closed loop that did so many times as much is no chance: it has fewer arrivals at once, and no more."""


class CapacityObjective(Document):
    """What must hold at a rate.

    Attributes:
        response_ms_p99: 99 % of arrivals must be answered within so long, milliseconds. An arrival that failed, was
            dropped or had not ended counts as over it.
        errors_ratio: At most this share of arrivals may fail, be dropped or not end, 0..1; None for no limit of its
            own (they still count as over the response time).
    """

    response_ms_p99: float
    errors_ratio: float | None = None

    def allows(self, over_ratio: float, errors_ratio: float) -> bool:
        """Whether the shares themselves are within the objective, however sure they are."""
        return over_ratio <= P99_ALLOWED_RATIO and (self.errors_ratio is None or errors_ratio <= self.errors_ratio)


class RunRole(StrEnum):
    """What a run of a search is for."""

    SWEEP = "sweep"  # closed loop: about how much the server can do
    BRACKET = "bracket"  # a rate that holds and one that does not are looked for
    STEADY = "steady"  # longer, a little below or above the rate at which the objective is crossed
    CONFIRM = "confirm"  # a rate that is asked for, measured again
    RAMP = "ramp"  # the rate rises from next to nothing until most answers are late
    BISECT = "bisect"  # only in recordings of earlier searches, as the next
    ABOVE = "above"

    @property
    def is_long(self) -> bool:
        """Whether its runs are as long as other trials, so that answers may rest on them."""
        return self in (RunRole.STEADY, RunRole.CONFIRM)


class RunVerdict(StrEnum):
    """Whether the objective held in one run."""

    HOLDS = "holds"
    DOES_NOT_HOLD = "does_not_hold"
    UNDECIDED = "undecided"
    NOT_JUDGED = "not_judged"  # runs of the sweep are in a closed loop, which cannot be over an objective of arrivals


class CapacityRun(Document):
    """One run of a search.

    Attributes:
        trial_id: Name of its recording.
        role: What it was for.
        connections: That served it.
        rate_tps: Target rate, transactions per second; None in a closed loop.
        throughput_tps: Transactions that completed in each second of the measured window.
        response_ms_p99: Over the measured window; None where nothing completed.
        over_ratio: Share of arrivals over the objective's response time, 0..1.
        errors_ratio: Share of arrivals that failed, were dropped or had not ended, 0..1.
        duration_s: Length of the measured window, seconds.
        verdict: Whether the objective held.
        lag_grows: The lag of a replica grew: the run counts as over the objective, whatever its response times were.
        is_disturbed: Something else slowed the machine for more than a tenth of the run, as far as all runs of the
            search so far show what the machine is at its best.
        made_again: It was disturbed, as far as was known after one of the runs, so that it is left out, and another run
            took its place while there was time: no estimate rests on it.
        knee_tps: Of a ramp: the rate at which most answers were late, transactions per second; None where that was not
            reached, and for other runs.
        pair: Of a ramp: its number, 0, 1, 2, …; that of the other systems with this number ran next to it.
    """

    trial_id: str = ""
    role: RunRole
    connections: int
    rate_tps: float | None = None
    throughput_tps: float
    response_ms_p99: float | None = None
    over_ratio: float
    errors_ratio: float = 0.0
    duration_s: float
    verdict: RunVerdict
    lag_grows: bool = False
    is_disturbed: bool = False
    made_again: bool = False
    knee_tps: float | None = None
    pair: int | None = None

    @property
    def is_long(self) -> bool:
        """Whether it is one of the runs that an answer rests on, as a trial of usual length."""
        return self.role.is_long and not self.made_again

    @property
    def counted_over_ratio(self) -> float:
        """Share over the objective by which rates are judged: all of it where a replica does not keep up."""
        return 1.0 if self.lag_grows else self.over_ratio


class Capacity(Document):
    """What a search found.

    Attributes:
        capacity_tps: The rate at which as much is over the objective as is allowed, transactions per second, from all
            runs together; None where no rate was found that holds, and while the search goes on.
        low: Lower end of its 95 % confidence interval; None where the runs do not say. Without a capacity the highest
            rate at which the objective held so far.
        high: Upper end of the interval; None where the runs do not say, as where they contradict each other. Without a
            capacity the lowest rate above `low` at which the objective did not hold.
        objective: What had to hold.
        runs: Every run, in the order in which they ran.
    """

    capacity_tps: float | None = None
    low: float | None = None
    high: float | None = None
    objective: CapacityObjective
    runs: tuple[CapacityRun, ...] = ()

    @property
    def deciding(self) -> tuple[CapacityRun, ...]:
        """The longer runs at the answer or below it, else the lowest of them; none without an answer."""
        if self.capacity_tps is None:
            return ()
        longer = [(run.rate_tps, run) for run in self.runs if run.is_long and run.rate_tps is not None]
        most_tps = max(self.capacity_tps, min((tps for tps, _ in longer), default=0.0))
        return tuple(run for tps, run in longer if tps <= most_tps)

    @property
    def ramps(self) -> tuple[CapacityRun, ...]:
        """Those that rose until most answers were late; none in a search of its own."""
        return tuple(run for run in self.runs if run.role is RunRole.RAMP)

    @property
    def kept_in_closed_loop(self) -> CapacityRun | None:
        """The fastest run of the sweep that kept the response time of the objective itself; None without one."""
        limit_ms = self.objective.response_ms_p99
        swept = [run for run in self.runs if run.role is RunRole.SWEEP and run.response_ms_p99 is not None]
        kept = [run for run in swept if (run.response_ms_p99 or 0.0) <= limit_ms]
        return max(kept, key=lambda run: run.throughput_tps, default=None)

    @property
    def holds_nowhere(self) -> bool:
        """Whether the objective failed at every rate, and no closed loop speaks against it.

        Ramps and the runs below them look for no lowest rate.
        """
        is_other = self.contradicts_sweep or self.is_given_up or bool(self.ramps)
        return self.capacity_tps is None and self.low is None and not is_other

    @property
    def is_given_up(self) -> bool:
        """Whether the search ended without an answer because the machine was disturbed in most of its runs."""
        return self.capacity_tps is None and not self.ramps and mostly_disturbed(self.runs)

    @property
    def fastest_swept(self) -> CapacityRun | None:
        """The run of the sweep that completed the most; None without one."""
        swept = (run for run in self.runs if run.role is RunRole.SWEEP)
        return max(swept, key=lambda run: run.throughput_tps, default=None)

    @property
    def fastest_tps(self) -> float:
        """What it completed, transactions per second; 0 without one."""
        return 0.0 if self.fastest_swept is None else self.fastest_swept.throughput_tps

    @property
    def far_below_sweep(self) -> bool:
        """Whether the answer is less than half of what a closed loop completed, which load alone hardly explains."""
        return self.capacity_tps is not None and self.fastest_tps > _CONTRADICTS * self.capacity_tps

    @property
    def contradicts_sweep(self) -> bool:
        """Whether a closed loop did more than twice as much, within the same response time, as failed in an open one.

        It cannot be so far off: the machine was another one at one of the two times.
        """
        kept, failed_tps = self.kept_in_closed_loop, held_between(self.runs, self.objective)[1]
        return kept is not None and kept.throughput_tps > _CONTRADICTS * failed_tps

    @property
    def lag_grows_tps(self) -> float | None:
        """The lowest rate at which the lag of a replica grew; None where it did at none."""
        return min((run.rate_tps for run in self.runs if run.lag_grows and run.rate_tps is not None), default=None)

    @property
    def rate_connections(self) -> int | None:
        """The number of connections that served all rates; None where no rate was measured yet."""
        return next((run.connections for run in reversed(self.runs) if run.rate_tps is not None), None)


GIVEN_UP_FROM = 12
"""With fewer disturbed runs no search is given up: they may be those of a spell of three minutes."""


def mostly_disturbed(runs: Sequence[CapacityRun]) -> bool:
    """Whether most runs at rates met a disturbed machine, and the last one too: more are not worth their time."""
    at_rates = [run.made_again for run in runs if run.rate_tps is not None]
    return at_rates[-1:] == [True] and sum(at_rates) >= GIVEN_UP_FROM and 2 * sum(at_rates) > len(at_rates)


def highest_held_tps(runs: Iterable[CapacityRun], objective: CapacityObjective) -> float | None:
    """The highest rate at which any run held, by its shares; None where none did.

    A disturbed one counts: a server that keeps an objective on a slow machine keeps it on a quiet one.
    """
    held = (run.rate_tps for run in runs if objective.allows(run.counted_over_ratio, run.errors_ratio))
    return max((tps for tps in held if tps is not None), default=None)


def held_between(runs: Sequence[CapacityRun], objective: CapacityObjective) -> tuple[float, float]:
    """The highest rate that held, by its shares, and the lowest above it that did not; 0 and infinity for none."""
    at_rates = [(run.rate_tps, run) for run in runs if run.rate_tps is not None and not run.made_again]
    held = (tps for tps, run in at_rates if objective.allows(run.counted_over_ratio, run.errors_ratio))
    low_tps = max(held, default=0.0)
    return low_tps, min((tps for tps, _ in at_rates if tps > low_tps), default=math.inf)


def knee_of(runs: Iterable[CapacityRun]) -> float | None:
    """The geometric mean of the knees of ramps, transactions per second; None where no run has one."""
    logs = [math.log(run.knee_tps) for run in runs if run.knee_tps]
    return math.exp(sum(logs) / len(logs)) if logs else None


class SearchRecord(Document):
    """One search of a study.

    Attributes:
        search_id: A readable name and a hash of what the search's runs have in common.
        system: Of which system.
        workload: Under which workload.
        repetition: 0, 1, 2, …
        is_finished: The search came to an answer; it goes on otherwise when the study runs again.
        stopped: Why it stopped without an answer: a run must not be believed, or nothing completed in the sweep. None
            for a search that ended, and for one that was interrupted.
        capacity: What is known so far.
    """

    search_id: str
    system: str
    workload: str
    repetition: int = 0
    is_finished: bool = False
    stopped: str | None = None
    capacity: Capacity


class CapacityDocument(Document):
    """`capacity.json`: all searches of a folder.

    Attributes:
        capacity_format: Version of the format.
        searches: In the order in which they began.
    """

    capacity_format: int = CAPACITY_FORMAT
    searches: tuple[SearchRecord, ...] = ()
