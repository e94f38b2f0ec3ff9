"""Doubts that only cells, curves, systems and searches for capacities give rise to.

Each check says for itself from which value on it doubts, and why there.

Doubts about searches for capacities: about the runs that an answer rests on, and about the sweep before them. The
longer runs at an answer or below are held to what any other level is held to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from plimsoll.analyse.findings.doubts import Code, Doubt, Place
from plimsoll.analyse.findings.missing import MissingTrial
from plimsoll.analyse.model import VariableDifference, WorkloadSummary
from plimsoll.analyse.study.capacities import deciding_runs
from plimsoll.analyse.study.capacity_model import SystemCapacity
from plimsoll.analyse.study.cell_model import EQUAL_WITHIN, Cell
from plimsoll.analyse.study.cells import MeasuredCell, measured_cells
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.analyse.study.curves import build_curves
from plimsoll.analyse.study.ratios import ratio_of
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.record.capacity import Capacity, CapacityRun, RunRole
from plimsoll.record.level import Level

_CLIENT_RATIO_OF_BUSY_HOST = 0.2
"""On a host without idle time, a client with this share takes what the server lacks: sysbench's usual share there."""

_CLIENT_RATIO_ALONE = 0.9
_IDLE_RATIO_OF_BUSY_HOST = 0.05
_ELSEWHERE_RATIO = 0.15
"""Kernel work that counts to no process (interrupts, writing back) stays below this on a quiet host."""

_STEAL_RATIO = 0.02
_PUBLISHED_TOLERANCE = 0.05
"""Single figures without bounds are taken as equal within this."""


def check_cells(curves: Sequence[Curve]) -> Iterator[Doubt]:
    """Doubts about single cells."""
    for curve in curves:
        for cell in curve.cells:
            place = Place(curve.system, curve.workload, cell.level, cell.trials)
            for doubts_of in (_client_saturated, _busy_elsewhere, _stolen, _errors, _single):
                yield from doubts_of(cell, place)


def _client_saturated(cell: Cell, place: Place) -> Iterator[Doubt]:
    client, idle, of_own = cell.cpu.client, cell.cpu.idle, cell.cpu.client_of_own
    if client is None:
        return
    if of_own is not None and of_own >= _CLIENT_RATIO_ALONE:
        yield place.doubt(Code.CLIENT_SATURATED, "client-own-processors", of_own, client_of_own_cpu_ratio=of_own)
        return
    shares_busy_host = idle is not None and idle <= _IDLE_RATIO_OF_BUSY_HOST and client >= _CLIENT_RATIO_OF_BUSY_HOST
    if client >= _CLIENT_RATIO_ALONE or shares_busy_host:
        yield place.doubt(
            Code.CLIENT_SATURATED, "client-processors", client, client_cpu_ratio=client, idle_cpu_ratio=idle
        )


def _busy_elsewhere(cell: Cell, place: Place) -> Iterator[Doubt]:
    cpu = cell.cpu
    if cpu.idle is None or cpu.server is None or cpu.client is None:
        return
    elsewhere = 1 - cpu.idle - (cpu.iowait or 0.0) - (cpu.steal or 0.0) - cpu.server - cpu.client
    if elsewhere > _ELSEWHERE_RATIO:
        yield place.doubt(Code.HOST_BUSY_ELSEWHERE, "busy-elsewhere", elsewhere, other_cpu_ratio=elsewhere)


def _stolen(cell: Cell, place: Place) -> Iterator[Doubt]:
    steal = cell.cpu.steal
    if steal is not None and steal > _STEAL_RATIO:
        yield place.doubt(Code.HOST_BUSY_ELSEWHERE, "stolen", steal, steal_cpu_ratio=steal)


def _errors(cell: Cell, place: Place) -> Iterator[Doubt]:
    seen = [error for error in cell.errors if error.was_seen]
    total = sum(error.count for error in seen)
    if total or cell.failed_count:
        yield place.doubt(
            Code.ERRORS_OCCURRED,
            "errors",
            float(total + cell.failed_count),
            errors=tuple((error.code or None, error.error_class, error.count) for error in seen),
            failed_count=cell.failed_count,
            retries_count=cell.retries_count,
        )


def _single(cell: Cell, place: Place) -> Iterator[Doubt]:
    if cell.throughput_tps.trial_count == 1:
        yield place.doubt(Code.SINGLE_REPETITION, "single")


def check_curves(curves: Sequence[Curve], workloads: Sequence[WorkloadSummary]) -> Iterator[Doubt]:
    """Doubts about where a peak lies."""
    units = {one.name: one.rate_unit for one in workloads}
    for curve in curves:
        peak, first = curve.peak, curve.cells[0].level
        if peak is None or curve.kind.is_at_rate or len(curve.cells) == 1:
            continue  # a single level is no search for a peak: a limitation says so
        at_first = peak.level.order == first.order and first.connections > 1
        code = Code.PEAK_AT_FIRST_LEVEL if at_first and peak.is_inside_range else Code.PEAK_AT_LAST_LEVEL
        if at_first or not peak.is_inside_range:
            cell = curve.cell_at(peak.level)
            trials = () if cell is None else cell.trials
            yield Place(curve.system, curve.workload, peak.level, trials).doubt(
                code,
                code.value,
                rate_unit=units[curve.workload],
                throughput_tps=peak.throughput_tps.value,
                level=peak.level,
            )


def check_order(cells: Sequence[MeasuredCell]) -> Iterator[Doubt]:
    """Read-only trials that are slower than the read/write trials of the same system and level."""
    closed = [cell for cell in cells if not cell.level.kind.is_at_rate]
    by_place = {(cell.system, cell.workload, cell.level.order): cell for cell in closed}
    reading, mixed = (_workloads_like(closed, words) for words in (("read_only",), ("read_write",)))
    for cell in closed:
        if cell.workload not in reading:
            continue
        for other in mixed:
            partner = by_place.get((cell.system, other, cell.level.order))
            if partner is not None and _is_slower(cell, partner):
                yield _order_doubt(cell, partner)


def _workloads_like(cells: Sequence[MeasuredCell], words: Sequence[str]) -> set[str]:
    found = set()
    for cell in cells:
        workload = cell.trials[0].trial.workload
        text = (workload.kind or workload.name).lower()
        plain = "".join(letter if letter.isalnum() else "_" for letter in text)
        if any(word in plain for word in words):
            found.add(workload.name)
    return found


def _is_slower(cell: MeasuredCell, partner: MeasuredCell) -> bool:
    ratio = ratio_of(cell.throughput, partner.throughput)
    if ratio is None:
        return False
    return ratio.bounds.high < 1.0 if ratio.bounds is not None else ratio.value < 1.0 - _PUBLISHED_TOLERANCE


def _order_doubt(cell: MeasuredCell, partner: MeasuredCell) -> Doubt:
    trials = tuple(one.trial.trial_id for one in cell.trials)
    return Place(cell.system, cell.workload, cell.level, trials).doubt(
        Code.READ_ONLY_SLOWER,
        "read-only-slower",
        partner.throughput.value_tps / max(cell.throughput.value_tps, 1e-9),
        rate_unit=cell.trials[0].trial.workload.rate_unit,
        slow_workload=cell.workload,
        slow_tps=cell.throughput.value_tps,
        fast_workload=partner.workload,
        fast_tps=partner.throughput.value_tps,
    )


def check_study(
    curves: Sequence[Curve], variables: Sequence[VariableDifference], missing: Sequence[MissingTrial]
) -> Iterator[Doubt]:
    """Doubts about the study as a whole."""
    unexpected = tuple(one.variable for one in variables if not one.expected)
    if unexpected:
        yield Place().doubt(Code.VARIABLES_DIFFER, "variables", variables=unexpected, variables_count=len(unexpected))
    unrun_count = sum(not one.has_run for one in missing)
    for one in missing:
        place = Place(one.system, one.workload, one.level)
        if one.replaced_by is not None:
            continue
        if one.has_run:
            yield place.doubt(Code.FAILED_TRIALS, "failed-trial", trial_id=one.trial_id, reason=one.reason)
        else:
            yield place.doubt(Code.TRIALS_NOT_RUN, "not-run", unrun_count=unrun_count)
    yield from _levels_differ([curve for curve in curves if not curve.kind.is_at_rate])


def _levels_differ(curves: Sequence[Curve]) -> Iterator[Doubt]:
    for workload in dict.fromkeys(curve.workload for curve in curves):
        levels = {
            curve.system: {cell.level.connections for cell in curve.cells}
            for curve in curves
            if curve.workload == workload
        }
        if len(levels) > 1 and not set.intersection(*levels.values()):
            measured: tuple[tuple[str | int, ...], ...] = tuple((name, *sorted(own)) for name, own in levels.items())
            yield Place(workload=workload).doubt(Code.LEVELS_DIFFER, "levels", connections=measured)


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
