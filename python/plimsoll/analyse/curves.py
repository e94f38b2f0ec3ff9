"""One system under one workload over rising levels: scale factors, the peak, and the pool size it implies.

What the peak is, and how its throughput is read, is in `peaks`; the pool is in `pools`. At rates the peak is the last
rate that was sustained before the first that was not; nothing is interpolated.

Deliberately not here: models of scalability (Amdahl, USL), and any guess beyond the last level.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress, takewhile

from plimsoll.analyse.cell_model import Cell, Estimate
from plimsoll.analyse.cells import MeasuredCell, describe
from plimsoll.analyse.curve_model import Curve, Peak
from plimsoll.analyse.objective import judge_objective
from plimsoll.analyse.peaks import highest, near_peak, peak_throughput
from plimsoll.analyse.points import point_of
from plimsoll.analyse.pools import pool_advice
from plimsoll.analyse.ratios import ratio_of
from plimsoll.analyse.size_model import Fit


def build_curves(
    cells: Sequence[MeasuredCell],
    workloads: Iterable[str],
    systems: Sequence[str],
    objective_ms_p99: float | None = None,
) -> tuple[Curve, ...]:
    """Builds all curves, by workload and by system; pools are only as large as levels that keep the objective."""
    groups: dict[tuple[str, str, bool], list[MeasuredCell]] = {}
    for cell in cells:
        groups.setdefault((cell.workload, cell.system, cell.level.kind.is_at_rate), []).append(cell)
    places = ((workload, system, at) for workload in workloads for at in (False, True) for system in systems)
    return tuple(_curve(groups[place], objective_ms_p99) for place in places if place in groups)


def _curve(cells: Sequence[MeasuredCell], objective_ms_p99: float | None) -> Curve:
    rising = sorted(cells, key=lambda cell: cell.level.order)
    first = rising[0]
    if first.level.kind.is_at_rate:
        described = [describe(cell, None) for cell in rising]
        peak, pool = _highest_sustained(described), None
    else:
        lowest = next((cell for cell in rising if cell.throughput.value_tps > 0), first)
        described = [describe(cell, _scale_factor(cell, lowest)) for cell in rising]
        peak = find_peak(rising)
        keeping = _keeping(rising, described, objective_ms_p99)
        pool = pool_advice(keeping, is_limited=keeping[-1] is not rising[-1]) if keeping else None
    return Curve(
        system=first.system,
        workload=first.workload,
        kind=first.level.kind,
        cells=tuple(described),
        peak=peak,
        pool=pool,
    )


def _keeping(
    rising: Sequence[MeasuredCell], described: Sequence[Cell], objective_ms_p99: float | None
) -> list[MeasuredCell]:
    """The levels at which the objective is known to hold; all of them without one."""
    if objective_ms_p99 is None:
        return list(rising)
    fits = (judge_objective(point_of(cell), objective_ms_p99).fit is Fit.FITS for cell in described)
    return list(compress(rising, fits))


def find_peak(rising: Sequence[MeasuredCell]) -> Peak:
    """Finds the level with the highest throughput, and those that are not distinguishable from it."""
    means = [cell.throughput for cell in rising]
    best, near = highest(means), near_peak(means)
    return Peak(
        level=rising[best].level,
        throughput_tps=peak_throughput([means[index] for index in near]),
        is_inside_range=best != len(rising) - 1,
        tied_levels=tuple(rising[index].level for index in near),
    )


def _highest_sustained(rising: Sequence[Cell]) -> Peak | None:
    sustained = list(takewhile(lambda cell: cell.rate is not None and cell.rate.is_sustained, rising))
    if not sustained:
        return None
    best = sustained[-1]
    return Peak(
        level=best.level,
        throughput_tps=best.throughput_tps,
        is_inside_range=best is not rising[-1],
        tied_levels=(best.level,),
    )


def _scale_factor(cell: MeasuredCell, lowest: MeasuredCell) -> Estimate:
    if cell is lowest:
        return Estimate(value=1.0, trial_count=cell.throughput.trial_count)
    # none where nothing completed
    return ratio_of(cell.throughput, lowest.throughput) or Estimate(value=0.0, trial_count=cell.throughput.trial_count)
