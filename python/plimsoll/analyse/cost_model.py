"""What systems cost for what they sustain, as values; part of the analysis."""

from __future__ import annotations

from enum import StrEnum

from plimsoll.analyse.cell_model import Estimate
from plimsoll.record.document import Document
from plimsoll.record.price import Price


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
