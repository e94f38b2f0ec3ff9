"""`capacity.json`: the highest rate at which an objective held, and every run that decided it.

One document for each search: a system under a workload in one repetition. Deliberately not here: how a run is judged
(`plimsoll.analyse.violations`) and which one comes next (`plimsoll.plan.capacity`).
"""

from __future__ import annotations

from enum import StrEnum

from plimsoll.record.document import Document

CAPACITY_FORMAT = 1
"""Version of `capacity.json`."""

P99_ALLOWED_RATIO = 0.01
"""A 99th percentile is within a limit where at most this share of arrivals is over it."""

RESOLUTION_RATIO = 0.015
"""By which a search lowers a rate that is not confirmed, and so about how finely it tells rates apart."""

OWN_ERROR_RATIO = 0.06
"""A search's answer may be so much above the truth: what is just below it is not sure, whatever its runs say.

The rate was chosen because its runs held, so the same runs cannot vouch for it (regression to the mean)."""


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
    BISECT = "bisect"  # between them
    CONFIRM = "confirm"  # the answer, measured again and for longer
    ABOVE = "above"  # a rate above the answer, where the objective must fail


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

    @property
    def counted_over_ratio(self) -> float:
        """Share over the objective by which rates are judged: all of it where a replica does not keep up."""
        return 1.0 if self.lag_grows else self.over_ratio


class Capacity(Document):
    """What a search found.

    Attributes:
        capacity_tps: The highest rate at which the objective held over all confirmations together and clearly failed in
            none, transactions per second; None where it held at no rate, and while the search goes on.
        low: Below `capacity_tps` by what searches may be wrong (`OWN_ERROR_RATIO`), and below the first answer of one
            that began again; without a capacity the highest rate at which the objective held so far; None for none.
        high: The lowest rate above it at which the objective clearly did not hold; None where none was found.
        objective: What had to hold.
        runs: Every run, in the order in which they ran.
    """

    capacity_tps: float | None = None
    low: float | None = None
    high: float | None = None
    objective: CapacityObjective
    runs: tuple[CapacityRun, ...] = ()

    @property
    def lag_grows_tps(self) -> float | None:
        """The lowest rate at which the lag of a replica grew; None where it did at none."""
        return min((one.rate_tps for one in self.runs if one.lag_grows and one.rate_tps is not None), default=None)

    @property
    def rate_connections(self) -> int | None:
        """The number of connections that served all rates; None where no rate was measured yet."""
        return next((one.connections for one in reversed(self.runs) if one.rate_tps is not None), None)


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
