"""What is said about the capacities of systems at an objective; part of the analysis."""

from __future__ import annotations

from plimsoll.analyse.cell_model import Estimate
from plimsoll.analyse.disturbance_model import Disturbance, UnlikeConditions
from plimsoll.analyse.grade import Grade
from plimsoll.record.capacity import Capacity, CapacityObjective, SearchRecord
from plimsoll.record.document import Document
from plimsoll.record.model import TrialWarning


class SystemCapacity(Document):
    """The capacity of one system under one workload, over the repetitions of its search.

    Attributes:
        system: Which.
        workload: Which.
        objective: What had to hold.
        capacity_tps: Geometric mean of the capacities that the searches found; None where none found any.
        low: The lowest `low` of the searches, transactions per second; None where one has none.
        high: The highest `high` of the searches; None where one has none.
        next_low: What the next search will find at least, with 95 % confidence (prediction limit); None with one
            repetition, or where a search has no `low`.
        searches: Each repetition, with every run.
        disturbance: How slow the servers' machine was in the runs that the capacity rests on; null where recordings do
            not say.
        is_disturbed: It was slow for so long that the capacity is not that of the system: it has no bounds, and no
            `next_low`.
    """

    system: str
    workload: str
    objective: CapacityObjective
    capacity_tps: Estimate | None = None
    low: float | None = None
    high: float | None = None
    next_low: float | None = None
    searches: tuple[SearchRecord, ...] = ()
    disturbance: Disturbance | None = None
    is_disturbed: bool = False


class CapacityAnswer(Capacity):
    """What `plimsoll capacity --json` prints: what the search found, with what makes it doubtful.

    Attributes:
        connections: The number of connections that served all rates; None where no rate was measured.
        warnings: Doubts about the runs that the answer rests on, the gravest first.
        disturbance: As that of a system's capacity.
        is_disturbed: As that of a system's capacity: it is not what the server can do then.
        grade: `indicated`, since one search does not say how searches differ; `unknown` where it found no capacity or
            was disturbed.
    """

    connections: int | None = None
    warnings: tuple[TrialWarning, ...] = ()
    disturbance: Disturbance | None = None
    is_disturbed: bool = False
    grade: Grade


class CapacityRatio(Document):
    """How the capacities of two systems compare under one workload.

    Attributes:
        workload: Under which.
        base: What is compared with.
        system: What is compared.
        ratio: Capacity of `system` over that of `base`.
        verdict: As that of a difference.
        repetitions_needed: Further repetitions that would decide; None where not known.
        unlike: What both met where the verdict is `disturbed`; null otherwise.
        pairs_count: So many pairs of ramps it rests on; 0 where each capacity was searched by itself.
    """

    workload: str
    base: str
    system: str
    ratio: Estimate
    verdict: str
    repetitions_needed: int | None = None
    unlike: UnlikeConditions | None = None
    pairs_count: int = 0
