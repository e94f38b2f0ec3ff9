"""Doubts about searches for capacities: about the runs that an answer rests on, and about the sweep before them.

The longer runs at an answer or below are held to what any other level is held to. Deliberately not here: doubts about
single trials, which hold for these runs as for all (`trial_checks`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from plimsoll.analyse.capacities import deciding_runs
from plimsoll.analyse.capacity_model import SystemCapacity
from plimsoll.analyse.cell_model import EQUAL_WITHIN
from plimsoll.analyse.cells import measured_cells
from plimsoll.analyse.curve_checks import check_cells
from plimsoll.analyse.curves import build_curves
from plimsoll.analyse.doubts import Code, Doubt, Place
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.record.capacity import Capacity, CapacityRun, RunRole
from plimsoll.record.level import Level


def deciding_trials(found: Sequence[SystemCapacity]) -> frozenset[str]:
    """The trials that an answer rests on: its longer runs; where no rate holds, those at the lowest rate."""
    return deciding_runs(found) | {
        run.trial_id
        for one in found
        for search in one.searches
        if search.capacity.capacity_tps is None
        for run in _at_lowest_rate(search.capacity.runs)
    }


def _at_lowest_rate(runs: Sequence[CapacityRun]) -> list[CapacityRun]:
    lowest_tps = min((run.rate_tps for run in runs if run.rate_tps is not None), default=None)
    return [run for run in runs if lowest_tps is not None and run.rate_tps == lowest_tps]


def check_searches(searched: Sequence[SystemCapacity], deciding: Iterable[TrialSummary]) -> Iterator[Doubt]:
    """All doubts about searches.

    Args:
        searched: What they found.
        deciding: The runs that their answers rest on.
    """
    trials = list(deciding)
    workloads = dict.fromkeys(one.trial.workload.name for one in trials)
    systems = dict.fromkeys(one.trial.system.name for one in trials)
    doubts = check_cells(build_curves(measured_cells(trials), workloads, list(systems)))
    yield from (doubt for doubt in doubts if doubt.code != Code.SINGLE_REPETITION)  # a search is one repetition
    for one in searched:
        for search in one.searches:
            yield from _sweep(one, search.capacity)


def _sweep(one: SystemCapacity, found: Capacity) -> Iterator[Doubt]:
    """The connections may be the limit, and not the server, where the most of a sweep were the fastest by far."""
    swept = sorted((run for run in found.runs if run.role is RunRole.SWEEP), key=lambda run: run.connections)
    if len(swept) < 2:
        return
    *others, last = swept
    if last.throughput_tps > (1 + EQUAL_WITHIN) * max(run.throughput_tps for run in others):
        level = Level(connections=last.connections)
        trials = (last.trial_id,) if last.trial_id else ()
        yield Place(one.system, one.workload, level, trials).doubt(
            Code.PEAK_AT_LAST_LEVEL,
            "sweep-at-last-level",
            throughput_tps=last.throughput_tps,
            connections_count=last.connections,
        )
