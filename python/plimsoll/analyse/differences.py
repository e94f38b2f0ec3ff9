"""How systems differ under the same workload: at equal levels, and at their peaks.

At an equal level only the systems differ. Two peaks may lie at different levels, so their difference carries every
other factor that is not the same: with more than one of them these trials cannot say which made the difference.

Up to six systems are compared each with each, more than six each with the best of the workload. Every comparison has an
alpha of 0.05 of its own: out of twenty comparisons of equal systems one is expected to look different, less those below
the smallest effect, which are not called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from plimsoll.analyse.cells import MeasuredCell
from plimsoll.analyse.curves import highest
from plimsoll.analyse.factors import PER_INSTANCE, FactorComparison, compare_factors, factors_of
from plimsoll.analyse.model import Difference, SystemSummary
from plimsoll.analyse.ratios import compare

SYSTEMS_FOR_ALL_PAIRS = 6

_NO_FACTORS = FactorComparison()
"""At an equal level only the systems differ."""

LevelCells = Mapping[int, MeasuredCell]


def differences(cells: Sequence[MeasuredCell], systems: Sequence[SystemSummary]) -> tuple[Difference, ...]:
    """Compares systems under each workload; peaks first, then levels, rising."""
    summaries = {one.name: one for one in systems}
    workloads = dict.fromkeys(cell.key.workload for cell in cells)
    return tuple(one for workload in workloads for one in _of_workload(workload, cells, summaries))


def _of_workload(
    workload: str, cells: Sequence[MeasuredCell], summaries: Mapping[str, SystemSummary]
) -> Iterator[Difference]:
    by_system: dict[str, dict[int, MeasuredCell]] = {}
    for cell in cells:
        if cell.key.workload == workload:
            by_system.setdefault(cell.key.system, {})[cell.key.connections] = cell
    present = [name for name in summaries if name in by_system]
    for base, system in _pairs(present, by_system):
        yield from _of_peaks(by_system[base], by_system[system], summaries)
        yield from _of_levels(by_system[base], by_system[system])


def _pairs(names: Sequence[str], by_system: Mapping[str, LevelCells]) -> Iterator[tuple[str, str]]:
    if len(names) <= SYSTEMS_FOR_ALL_PAIRS:
        yield from combinations(names, 2)
        return
    best = highest([highest(list(by_system[name].values())) for name in names]).key.system
    yield from ((best, name) for name in names if name != best)


def _of_peaks(base: LevelCells, system: LevelCells, summaries: Mapping[str, SystemSummary]) -> Iterator[Difference]:
    base_peak, system_peak = highest(list(base.values())), highest(list(system.values()))
    others = other_factors(base_peak, system_peak, summaries)
    yield from _difference(base_peak, system_peak, connections=None, others=others)


def _of_levels(base: LevelCells, system: LevelCells) -> Iterator[Difference]:
    for connections in sorted(base.keys() & system.keys()):
        yield from _difference(base[connections], system[connections], connections=connections)


def _difference(
    base: MeasuredCell,
    system: MeasuredCell,
    *,
    connections: int | None,
    others: FactorComparison = _NO_FACTORS,
) -> Iterator[Difference]:
    comparison = compare(system.throughput, base.throughput)
    if comparison is None:
        return
    yield Difference(
        workload=base.key.workload,
        base=base.key.system,
        system=system.key.system,
        connections=connections,
        ratio=comparison.ratio,
        smallest_effect=comparison.smallest_effect,
        verdict=comparison.verdict,
        other_factors=others.differing,
        one_sided_factors=others.one_sided,
    )


def other_factors(base: MeasuredCell, system: MeasuredCell, summaries: Mapping[str, SystemSummary]) -> FactorComparison:
    """Every factor that differs between two points of two systems, connections included."""
    one, other = (
        factors_of(summaries[cell.key.system], {**cell.trials[0].environment.reported, **_level_factors(cell)})
        for cell in (base, system)
    )
    return compare_factors(one, other)


def _level_factors(cell: MeasuredCell) -> dict[str, str]:
    level = cell.trials[0].trial.level
    factors = {"connections": str(level.connections)}
    if level.connections_per_instance is not None:
        factors[PER_INSTANCE] = str(level.connections_per_instance)
    return factors
