"""What another replica adds: throughput against their number, step by step, and held against the fleet's arithmetic.

Systems that are alike but for the number of replicas are compared at their peaks, each number with the next one, within
repetitions where they share some (`ratios`, `peaks`). The steps of a workload are one family, which Holm's procedure
corrects. Another replica stops helping at the first step that is shown to be no gain: equal within what the study
allows, or slower; a step to a system whose replica's lag grows is no gain either, since that is not sustained. A step
that is not resolved before that is said to be so.

Deliberately not here: load at rates, whose throughput is what was asked for (capacities compare those), and the
arithmetic itself (`fleet`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from plimsoll.analyse.cells import MeasuredCell
from plimsoll.analyse.comparison import Comparison, judge
from plimsoll.analyse.log_ratio import LogRatio
from plimsoll.analyse.model import DifferenceVerdict
from plimsoll.analyse.peaks import LevelKey, compare_peaks, highest
from plimsoll.analyse.ratios import ratio_of
from plimsoll.analyse.replication.families import REPLICAS, families, member
from plimsoll.analyse.replication.fleet import fleet_costs
from plimsoll.analyse.replication.fleet_model import FleetCosts
from plimsoll.analyse.replication.levels import servers_of_level
from plimsoll.analyse.replication.model import ReplicaScaling, ScalingPoint, ScalingStep
from plimsoll.analyse.replication.servers import growing

HELPS_FROM = 1.05
"""By the arithmetic a replica helps where it adds this much; smaller gains are within what systems count as equal."""

COUNTED_MAX = 64
"""So many replicas the arithmetic looks at."""

Levels = dict[LevelKey, MeasuredCell]


def replica_scalings(cells: Iterable[MeasuredCell], equal_within: float) -> tuple[ReplicaScaling, ...]:
    """One for each workload and family of systems with at least two numbers of replicas."""
    closed = [one for one in cells if not one.level.kind.is_at_rate and one.throughput.value_tps > 0]
    found = [
        (cells_of[0].workload, alike, by_count)
        for alike, members in families(closed, {REPLICAS})
        for cells_of in [[one.cell for one in members]]
        for by_count in [_by_count(cells_of)]
        if len(by_count) > 1 and len(by_count) == len({one.system for one in cells_of})
    ]
    judged = {
        workload: _judged([by_count for name, _, by_count in found if name == workload], equal_within)
        for workload in {name for name, _, _ in found}
    }
    return tuple(_scaling(workload, alike, by_count, judged[workload]) for workload, alike, by_count in found)


def _by_count(cells: Sequence[MeasuredCell]) -> dict[int, Levels]:
    """The levels of each system, by its number of replicas."""
    found: dict[int, Levels] = {}
    for cell in sorted(cells, key=lambda one: one.level.order):
        found.setdefault(member(cell).replicas, {})[cell.level.order] = cell
    return dict(sorted(found.items()))


_Steps = Mapping[tuple[str, str], Comparison]
"""Verdicts by the names of both systems."""


def _names(one: Levels, other: Levels) -> tuple[str, str]:
    return next(iter(one.values())).system, next(iter(other.values())).system


def _judged(scalings: Sequence[Mapping[int, Levels]], equal_within: float) -> _Steps:
    """Every step of a workload in one family."""
    tests: dict[tuple[str, str], LogRatio] = {}
    for by_count in scalings:
        for base, more in pairwise(by_count.values()):
            means = [{key: cell.throughput for key, cell in one.items()} for one in (base, more)]
            ratio = compare_peaks(*means).log_ratio
            if ratio is not None and ratio.is_testable:
                tests[_names(base, more)] = ratio
    return dict(zip(tests, judge(list(tests.values()), equal_within=equal_within), strict=True))


def _best(levels: Levels) -> MeasuredCell:
    cells = list(levels.values())
    return cells[highest([one.throughput for one in cells])]


def _scaling(workload: str, alike: dict[str, str], by_count: Mapping[int, Levels], judged: _Steps) -> ReplicaScaling:
    best = {count: _best(levels) for count, levels in by_count.items()}
    costs = fleet_costs(best[0], best[1]) if 0 in best and 1 in best else None
    points = tuple(_point(count, cell, costs) for count, cell in best.items())
    steps = tuple(_step(one, other, by_count, judged) for one, other in pairwise(by_count))
    grows = {one.replicas for one in points if one.lag_grows}
    stops_after, unresolved_from = _stops(steps, grows)
    with_replicas = next((cell for count, cell in best.items() if count > 0), None)
    return ReplicaScaling(
        workload=workload,
        alike=alike,
        read_ratio=None if with_replicas is None else _read_ratio(with_replicas),
        points=points,
        steps=steps,
        stops_after=stops_after,
        unresolved_from=unresolved_from,
        costs=costs,
        stops_after_expected=None if costs is None else _stops_expected(costs),
    )


def _point(count: int, cell: MeasuredCell, costs: FleetCosts | None) -> ScalingPoint:
    expected = None if costs is None else costs.expected_tps(count)
    measured = cell.throughput.value_tps
    return ScalingPoint(
        system=cell.system,
        replicas=count,
        level=cell.level,
        throughput_tps=cell.throughput.estimate(),
        lag_grows=any(growing(one.servers) for one in cell.trials),
        expected_tps=expected,
        deviation_ratio=measured / expected - 1 if expected else None,
        trials=tuple(one.trial.trial_id for one in cell.trials),
    )


def _step(base: int, count: int, by_count: Mapping[int, Levels], judged: _Steps) -> ScalingStep:
    one, other = by_count[base], by_count[count]
    comparison = judged.get(_names(one, other))
    if comparison is None:
        ratio = ratio_of(_best(other).throughput, _best(one).throughput)
        assert ratio is not None, "cells without throughput are left out"
        return ScalingStep(base=base, count=count, ratio=ratio, verdict=DifferenceVerdict.UNTESTABLE)
    return ScalingStep(
        base=base,
        count=count,
        ratio=comparison.ratio,
        simultaneous=comparison.simultaneous,
        verdict=comparison.verdict,
        repetitions_needed=comparison.repetitions_needed,
    )


def _stops(steps: Sequence[ScalingStep], grows: set[int]) -> tuple[int | None, int | None]:
    """After which number the next replica does not help, and from which on that is not resolved before."""
    unresolved = None
    for step in steps:
        if step.count in grows or step.verdict in (DifferenceVerdict.EQUAL, DifferenceVerdict.SLOWER):
            return step.base, unresolved
        if step.verdict != DifferenceVerdict.FASTER and unresolved is None:
            unresolved = step.base
    return None, unresolved


def _stops_expected(costs: FleetCosts) -> int | None:
    """The first number after which the next one adds less than 5 % by the arithmetic."""
    rates = [costs.expected_tps(count) for count in range(COUNTED_MAX + 1)]
    return next((count for count, (one, more) in enumerate(pairwise(rates)) if more < HELPS_FROM * one), None)


def _read_ratio(cell: MeasuredCell) -> float | None:
    level = servers_of_level(cell)
    reads = sum(server.read_tps for trial in cell.trials for server in trial.servers) / len(cell.trials)
    total = sum(one.throughput_tps for one in level.servers)
    return reads / total if total > 0 else None
