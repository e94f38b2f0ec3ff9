"""Made-up studies of systems that differ in size, durability and in how they were measured.

Repetitions differ in number, spread from level to level; curves saturate; levels are missing; cells and searches were
disturbed; loads were offered at rates, capacities searched for, by ramps as well. Nothing of the rules that are tested
is in it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from plimsoll.analyse.explain.equivalence_model import Durability, DurabilityKind
from plimsoll.analyse.model import Analysis, SystemSummary, WorkloadSummary
from plimsoll.analyse.study.capacities import capacities
from plimsoll.analyse.study.capacity_model import SystemCapacity
from plimsoll.analyse.study.cell_model import Cell, Durations, Estimate, RateFigures
from plimsoll.analyse.study.curve_model import Curve, Peak
from plimsoll.analyse.study.throughput import Repeated, mean_throughputs
from plimsoll.analyse.trial.condition_model import Disturbance
from plimsoll.record.capacity import Capacity, CapacityObjective, CapacityRun, RunRole, RunVerdict, SearchRecord
from plimsoll.record.level import Level, LevelKind

_KINDS = {"rw": "oltp_read_write", "ro": "oltp_read_only"}
_MET = Disturbance(watched_s=30.0, slow_ratio=1.0, slowness=3.0)
_DURABILITIES = (
    None,
    Durability(kind=DurabilityKind.DURABLE),
    Durability(kind=DurabilityKind.AT_POWER_LOSS, lost_s=1),
    Durability(kind=DurabilityKind.DAMAGED),
)


def choice_world(seed: int) -> Analysis:
    """One to five systems under one or two workloads."""
    chance = random.Random(seed)
    names = "abcde"[: chance.randint(1, 5)]
    workloads = ("rw", "ro")[: chance.randint(1, 2)]
    evidence = [
        _evidence(chance, system, workload) for system in names for workload in workloads if chance.random() < 0.9
    ]
    has_prices, has_cores = chance.random() < 0.4, chance.random() < 0.7
    return Analysis(
        plimsoll_version="0",
        study="made",
        objective_ms_p99=chance.choice((None, None, 30.0, 60.0)),
        answer=(),
        limits=(),
        systems=tuple(
            SystemSummary(
                name=name,
                cost_per_month=chance.choice((10.0, 20.0, 30.0)) if has_prices else None,
                cores=chance.choice((2, 4, 8)) if has_cores else None,
                durability=chance.choice(_DURABILITIES),
                origin=chance.choice(("measured", "measured", "imported-table")),
            )
            for name in names
        ),
        workloads=tuple(
            WorkloadSummary(name=name, kind=_KINDS[name], rate_unit=chance.choice(("tps", "tpm"))) for name in workloads
        ),
        curves=tuple(curve for curves, _ in evidence for curve in curves),
        capacities=tuple(capacity for _, searched in evidence for capacity in searched),
    )


def _evidence(chance: random.Random, system: str, workload: str) -> tuple[list[Curve], list[SystemCapacity]]:
    most_tps = 10 ** chance.uniform(0.5, 4.0)
    kinds = chance.choice((("levels",), ("rates",), ("capacity",), ("rates", "capacity"), ("levels", "capacity")))
    curves = [_levels(chance, system, workload, most_tps)] if "levels" in kinds else []
    curves += [_rates(chance, system, workload, most_tps)] if "rates" in kinds else []
    searched = capacities(_searches(chance, system, workload, most_tps)) if "capacity" in kinds else ()
    return curves, [
        each.model_copy(update={"is_disturbed": True, "disturbance": _MET, "next_low": None})
        if chance.random() < 0.1
        else each
        for each in searched
    ]


def _levels(chance: random.Random, system: str, workload: str, most_tps: float) -> Curve:
    knee, falling = chance.choice((4, 16)), chance.uniform(0.7, 1.0)
    cells = []
    for connections in sorted(chance.sample((1, 2, 4, 8, 16, 32, 64), chance.randint(1, 6))):
        tps = most_tps * min(1.0, connections / knee) * (falling if connections > knee else 1.0)
        p99_ms = 4.0 * max(1.0, connections / knee) * chance.uniform(0.9, 1.1)
        cells.append(_cell(chance, Level(connections=connections), tps, p99_ms))
    best = max(cells, key=lambda cell: cell.throughput_tps.value)
    peak = Peak(level=best.level, throughput_tps=best.throughput_tps, is_inside_range=best is not cells[-1])
    return Curve(system=system, workload=workload, kind=LevelKind.CLOSED, cells=tuple(cells), peak=peak)


def _cell(chance: random.Random, level: Level, tps: float, p99_ms: float) -> Cell:
    spread, count = chance.choice((0.0, 0.005, 0.02, 0.1, 0.5)), chance.randint(1, 5)
    each = tuple(tps * chance.lognormvariate(0.0, spread) for _ in range(count))
    (mean,) = mean_throughputs([Repeated(each, (None,) * count)])
    is_disturbed, estimate = chance.random() < 0.1, mean.estimate()
    times = () if chance.random() < 0.1 else tuple(p99_ms * chance.lognormvariate(0.0, spread / 2) for _ in each)
    return Cell(
        level=level,
        throughput_tps=estimate.without_bounds if is_disturbed else estimate,
        response_ms=Durations(p99=p99_ms if times else None),
        repetitions_ms_p99=times,
        completed_count=1000,
        failed_count=chance.choice((0, 0, 0, 0, 50)),
        disturbance=_MET if is_disturbed else None,
        is_disturbed=is_disturbed,
    )


def _rates(chance: random.Random, system: str, workload: str, most_tps: float) -> Curve:
    cells = []
    for share in sorted(chance.sample((0.3, 0.5, 0.7, 0.8, 0.9, 1.0, 1.2), chance.randint(1, 5))):
        rate_tps, count = round(most_tps * share, 2), chance.randint(1, 5)
        sustained = 0 if share > 1 else count - (chance.random() < 0.1)
        figures = RateFigures(
            is_sustained=sustained == count,
            sustained_count=sustained,
            left_ratios=tuple(chance.gauss(0.0, chance.choice((0.0005, 0.002, 0.004))) for _ in range(count)),
        )
        cell = _cell(chance, Level(connections=16, rate_tps=rate_tps), rate_tps, 5.0 / (1.3 - share))
        mean = Estimate(value=rate_tps, trial_count=count)
        cells.append(cell.model_copy(update={"rate": figures, "throughput_tps": mean}))
    peak = None
    for cell in cells:
        if cell.rate is None or not cell.rate.is_sustained:
            break
        peak = Peak(level=cell.level, throughput_tps=cell.throughput_tps, is_inside_range=cell is not cells[-1])
    return Curve(system=system, workload=workload, kind=LevelKind.RATE, cells=tuple(cells), peak=peak)


def _searches(chance: random.Random, system: str, workload: str, most_tps: float) -> Iterator[SearchRecord]:
    objective = CapacityObjective(response_ms_p99=chance.choice((20.0, 30.0, 60.0)))
    is_by_ramps, spread = chance.random() < 0.2, chance.choice((0.005, 0.02, 0.1))
    for repetition in range(chance.randint(1, 4)):
        tps = most_tps * 0.8 * chance.lognormvariate(0.0, spread)
        run = CapacityRun(
            role=RunRole.RAMP if is_by_ramps else RunRole.STEADY,
            connections=chance.choice((8, 16)),
            rate_tps=tps,
            throughput_tps=tps,
            over_ratio=0.01,
            duration_s=30.0,
            verdict=RunVerdict.HOLDS,
            knee_tps=tps * chance.uniform(0.9, 1.3) if is_by_ramps else None,
        )
        low, high = chance.choice(((0.97, 1.03), (0.9, 1.02), (None, 1.05), (0.95, None)))
        capacity = Capacity(
            capacity_tps=None if is_by_ramps or chance.random() < 0.1 else tps,
            low=None if low is None else tps * low,
            high=None if high is None else tps * high,
            objective=objective,
            runs=(run,) if chance.random() < 0.9 else (),
        )
        yield SearchRecord(
            search_id=f"{system}{workload}{repetition}",
            system=system,
            workload=workload,
            repetition=repetition,
            is_finished=chance.random() < 0.95,
            capacity=capacity,
        )
