"""What systems sustain at an objective, and what that costs, as values; part of the analysis."""

from __future__ import annotations

from enum import StrEnum

from plimsoll.analyse.findings.finding_model import Grade
from plimsoll.analyse.study.cell_model import Estimate
from plimsoll.analyse.study.ratio_model import SystemRatio
from plimsoll.analyse.trial.condition_model import Disturbance
from plimsoll.record.capacity import Capacity, CapacityObjective, SearchRecord
from plimsoll.record.document import Document
from plimsoll.record.model import Price, TrialWarning


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


class CapacityRatio(SystemRatio):
    """How the capacities of two systems compare; all comparisons of a study are judged together (Bonferroni).

    Attributes:
        ratio: Capacity of `system` over that of `base`. After ramps, and of single searches, its interval holds for all
            comparisons together, and `simultaneous` is null.
        pairs_count: So many pairs of ramps it rests on; 0 where each capacity was searched by itself.
    """

    pairs_count: int = 0


class CapacityBasis(StrEnum):
    """What a capacity is, the most telling first."""

    SEARCHED = "searched"  # a search found it at an objective
    WITHIN_OBJECTIVE = "within-objective"  # the best level that keeps the study's objective
    SUSTAINED_RATE = "sustained-rate"  # the highest target rate that was completed
    SATURATION = "saturation"  # the highest throughput, which no objective limits


class OnFront(StrEnum):
    """Whether no other system sustains as much for less."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "undecided"  # a cheaper one may sustain as much: the confidence intervals overlap


class SystemCost(Document):
    """What one system costs under one workload.

    Attributes:
        system: Which.
        price: Of a month.
        capacity_tps: What it sustains, by the workload's `basis`.
        may_be_higher: The capacity may be higher, and the cost lower: it is that of the last level, or a search
            measured no rate at which the objective clearly fails.
        trials: The recordings that the capacity rests on.
        per_million: Cost of a million transactions at the stated utilisation of the capacity, with the interval that
            follows from the capacity's.
        on_front: Whether no other system of the same currency sustains as much for less (Pareto front).
        beaten_by: One that does; null where there is none.
        is_disturbed: The machine was too slow for too long when the capacity was measured: nobody knows how far it is
            off, so the system is neither the cheapest nor off the front.
    """

    system: str
    price: Price
    capacity_tps: Estimate
    may_be_higher: bool = False
    trials: tuple[str, ...] = ()
    per_million: Estimate
    on_front: OnFront
    beaten_by: str | None = None
    is_disturbed: bool = False


class WorkloadCost(Document):
    """What systems cost under one workload.

    Attributes:
        workload: Which.
        basis: What `capacity_tps` is, the same for all systems.
        utilisation: Share of the capacity at which systems are taken to run, 0..1.
        systems: Those with a price and a capacity; by currency, then the cheapest per million first.
        currencies: All that occur; `""` for prices without one. Prices are compared within one only.
        undecided: Those currencies in which it is not known which system is the cheapest: a capacity may be higher than
            measured, or confidence intervals overlap.
        without_price: Systems of which no price is known.
        without_capacity: Systems with a price that have no capacity by this basis.
    """

    workload: str
    basis: CapacityBasis
    utilisation: float
    systems: tuple[SystemCost, ...]
    currencies: tuple[str, ...]
    undecided: tuple[str, ...] = ()
    without_price: tuple[str, ...] = ()
    without_capacity: tuple[str, ...] = ()
