"""Warnings about cells, curves, the study as a whole, and searches for capacities.

Each check says for itself from which value on it doubts, and why there.

Doubts about searches for capacities: about the runs that an answer rests on, and about the sweep before them. The
longer runs at an answer or below are held to what any other level is held to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from plimsoll.analyse.findings.client import check_client_of_cell
from plimsoll.analyse.findings.doubts import Doubt, Observation, Place, Voids, WarningKind
from plimsoll.analyse.findings.machine import STEAL_RATIO, BusyElsewhere, Stolen
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
from plimsoll.units import format_rate
from plimsoll.wording import counted, first_few

_ELSEWHERE_RATIO = 0.15
"""Kernel work that counts to no process (interrupts, writing back) stays below this on a quiet host."""

_PUBLISHED_TOLERANCE = 0.05
"""Single figures without bounds are taken as equal within this."""


def check_cells(curves: Sequence[Curve]) -> Iterator[Doubt]:
    """Doubts about single cells."""
    for curve in curves:
        for cell in curve.cells:
            place = Place(curve.system, curve.workload, cell.level, cell.trials)
            for doubts_of in (check_client_of_cell, _busy_elsewhere, _stolen, _errors, _single):
                yield from doubts_of(cell, place)


def _busy_elsewhere(cell: Cell, place: Place) -> Iterator[Doubt]:
    cpu = cell.cpu
    if cpu.idle is None or cpu.server is None or cpu.client is None:
        return
    elsewhere = 1 - cpu.idle - (cpu.iowait or 0.0) - (cpu.steal or 0.0) - cpu.server - cpu.client
    if elsewhere > _ELSEWHERE_RATIO:
        yield place.doubt(BusyElsewhere(other_cpu_ratio=elsewhere), elsewhere)


def _stolen(cell: Cell, place: Place) -> Iterator[Doubt]:
    steal = cell.cpu.steal
    if steal is not None and steal > STEAL_RATIO:
        yield place.doubt(Stolen(steal_cpu_ratio=steal), steal)


SINGLE_REPETITION = WarningKind("single-repetition", Voids.CERTAINTY, "Measure at least three repetitions.")


class Single(Observation, kind=SINGLE_REPETITION, seen="single"):
    """Nothing says how much repetitions differ."""

    def __str__(self) -> str:
        return "levels were measured only once"


def _single(cell: Cell, place: Place) -> Iterator[Doubt]:
    if cell.throughput_tps.trial_count == 1:
        yield place.doubt(Single())


ERRORS_OCCURRED = WarningKind(
    "errors-occurred",
    Voids.CERTAINTY,
    "Look up the error codes in docs/warnings.md and in the server's log, remove the cause and measure again.",
)


class Errors(Observation, kind=ERRORS_OCCURRED, seen="errors"):
    """Statements failed.

    Attributes:
        errors: Code, class, and how often.
    """

    errors: tuple[tuple[int | None, str, int], ...]
    failed_count: int
    retries_count: int

    def __str__(self) -> str:
        codes = ", ".join(
            f"{code or 'no code'} ({name}) {'once' if count == 1 else f'{count:,} times'}"
            for code, name, count in self.errors
        )
        retries = "1 retry" if self.retries_count == 1 else f"{self.retries_count:,} retries"
        ending = f"{counted(self.failed_count, 'transaction')} failed, {retries}"
        return f"{codes}: {ending}" if codes else ending


def _errors(cell: Cell, place: Place) -> Iterator[Doubt]:
    seen = [error for error in cell.errors if error.was_seen]
    total = sum(error.count for error in seen)
    if total or cell.failed_count:
        errors = Errors(
            errors=tuple((error.code or None, error.error_class, error.count) for error in seen),
            failed_count=cell.failed_count,
            retries_count=cell.retries_count,
        )
        yield place.doubt(errors, float(total + cell.failed_count))


FAILED_TRIALS = WarningKind(
    "failed-trials", Voids.CERTAINTY, "Remove the cause and run the study again: it runs the missing trials."
)
TRIALS_NOT_RUN = WarningKind("trials-not-run", Voids.CERTAINTY, "Run the study again: it runs what is missing.")
PEAK_AT_LAST_LEVEL = WarningKind(
    "peak-at-last-level",
    Voids.NOTHING,
    "Add higher levels (of a search: --connections) until throughput falls.",
)
PEAK_AT_FIRST_LEVEL = WarningKind("peak-at-first-level", Voids.NOTHING, "Add lower levels, down to one connection.")
LEVELS_DIFFER = WarningKind("levels-differ", Voids.NOTHING, "Measure all systems at the same levels.")
READ_ONLY_SLOWER = WarningKind(
    "read-only-slower-than-read-write",
    Voids.NOTHING,
    "Look for a query cache, another data set, other range options or plans, or a cold start of the read-only trials.",
)
VARIABLES_DIFFER = WarningKind(
    "variables-differ-unexpectedly", Voids.NOTHING, "Set them to the same value, or state them as factors."
)


class PeakAtLastLevel(Observation, kind=PEAK_AT_LAST_LEVEL, seen="peak-at-last-level"):
    """More connections may complete more."""

    end: ClassVar = "last"
    rate_unit: str
    throughput_tps: float
    level: Level

    def __str__(self) -> str:
        rate, level = format_rate(self.throughput_tps, self.rate_unit), self.level.label(self.rate_unit)
        return f"the highest throughput, {rate}, was at {level}, the {self.end} level"


class PeakAtFirstLevel(PeakAtLastLevel, kind=PEAK_AT_FIRST_LEVEL, seen="peak-at-first-level"):
    """Fewer connections may complete more."""

    end = "first"


def check_curves(curves: Sequence[Curve], workloads: Sequence[WorkloadSummary]) -> Iterator[Doubt]:
    """Doubts about where a peak lies."""
    units = {workload.name: workload.rate_unit for workload in workloads}
    for curve in curves:
        peak, first = curve.peak, curve.cells[0].level
        if peak is None or curve.kind.is_at_rate or len(curve.cells) == 1:
            continue  # a single level is no search for a peak: a limitation says so
        at_first = peak.level.order == first.order and first.connections > 1
        observed = PeakAtFirstLevel if at_first and peak.is_inside_range else PeakAtLastLevel
        if at_first or not peak.is_inside_range:
            cell = curve.cell_at(peak.level)
            trials = () if cell is None else cell.trials
            seen = observed(rate_unit=units[curve.workload], throughput_tps=peak.throughput_tps.value, level=peak.level)
            yield Place(curve.system, curve.workload, peak.level, trials).doubt(seen)


class ReadOnlySlower(Observation, kind=READ_ONLY_SLOWER, seen="read-only-slower"):
    """Reading alone is slower than reading and writing."""

    rate_unit: str
    slow_workload: str
    slow_tps: float
    fast_workload: str
    fast_tps: float

    def __str__(self) -> str:
        slow, fast = format_rate(self.slow_tps, self.rate_unit), format_rate(self.fast_tps, self.rate_unit)
        return f"{self.slow_workload} reached {slow}, {self.fast_workload} reached {fast}"


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
    names = set()
    for cell in cells:
        workload = cell.trials[0].trial.workload
        text = (workload.kind or workload.name).lower()
        plain = "".join(letter if letter.isalnum() else "_" for letter in text)
        if any(word in plain for word in words):
            names.add(workload.name)
    return names


def _is_slower(cell: MeasuredCell, partner: MeasuredCell) -> bool:
    ratio = ratio_of(cell.throughput, partner.throughput)
    if ratio is None:
        return False
    return ratio.bounds.high < 1.0 if ratio.bounds is not None else ratio.value < 1.0 - _PUBLISHED_TOLERANCE


def _order_doubt(cell: MeasuredCell, partner: MeasuredCell) -> Doubt:
    trials = tuple(trial.trial.trial_id for trial in cell.trials)
    seen = ReadOnlySlower(
        rate_unit=cell.trials[0].trial.workload.rate_unit,
        slow_workload=cell.workload,
        slow_tps=cell.throughput.value_tps,
        fast_workload=partner.workload,
        fast_tps=partner.throughput.value_tps,
    )
    weight = partner.throughput.value_tps / max(cell.throughput.value_tps, 1e-9)
    return Place(cell.system, cell.workload, cell.level, trials).doubt(seen, weight)


class Variables(Observation, kind=VARIABLES_DIFFER, seen="variables"):
    """Variables differ and no factor says so."""

    variables: tuple[str, ...]
    variables_count: int

    def __str__(self) -> str:
        differ = "differs" if self.variables_count == 1 else "differ"
        return f"{counted(self.variables_count, 'variable')} {differ}: {first_few(self.variables)}"


class FailedTrial(Observation, kind=FAILED_TRIALS, seen="failed-trial"):
    """A trial has a recording and failed."""

    trial_id: str
    reason: str

    def __str__(self) -> str:
        return f"{self.trial_id}: {self.reason}"


class NotRun(Observation, kind=TRIALS_NOT_RUN, seen="not-run"):
    """Planned trials have no recording."""

    unrun_count: int

    def __str__(self) -> str:
        return f"{self.unrun_count:,} planned trials have no recording"


class Levels(Observation, kind=LEVELS_DIFFER, seen="levels"):
    """Systems were measured at levels of which none is common to all.

    Attributes:
        connections: Each system and its levels.
    """

    connections: tuple[tuple[str | int, ...], ...]

    def __str__(self) -> str:
        ranges = "; ".join(f"{name}: {', '.join(map(str, levels))}" for name, *levels in self.connections)
        return f"connections measured: {ranges}"


def check_study(
    curves: Sequence[Curve], variables: Sequence[VariableDifference], missing: Sequence[MissingTrial]
) -> Iterator[Doubt]:
    """Doubts about the study as a whole."""
    unexpected = tuple(variable.variable for variable in variables if not variable.expected)
    if unexpected:
        yield Place().doubt(Variables(variables=unexpected, variables_count=len(unexpected)))
    unrun_count = sum(not trial.has_run for trial in missing)
    for trial in missing:
        place = Place(trial.system, trial.workload, trial.level)
        if trial.replaced_by is not None:
            continue
        if trial.has_run:
            yield place.doubt(FailedTrial(trial_id=trial.trial_id, reason=trial.reason))
        else:
            yield place.doubt(NotRun(unrun_count=unrun_count))
    yield from _levels_differ([curve for curve in curves if not curve.kind.is_at_rate])


def _levels_differ(curves: Sequence[Curve]) -> Iterator[Doubt]:
    for workload in dict.fromkeys(curve.workload for curve in curves):
        levels = {
            curve.system: {cell.level.connections for cell in curve.cells}
            for curve in curves
            if curve.workload == workload
        }
        if len(levels) > 1 and not set.intersection(*levels.values()):
            measured: tuple[tuple[str | int, ...], ...] = tuple(
                (name, *sorted(connections)) for name, connections in levels.items()
            )
            yield Place(workload=workload).doubt(Levels(connections=measured))


def deciding_trials(capacities: Sequence[SystemCapacity]) -> frozenset[str]:
    """The trials that an answer rests on: its longer runs; where no rate holds, those at the lowest rate."""
    return deciding_runs(capacities) | {
        run.trial_id
        for system_capacity in capacities
        for search in system_capacity.searches
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
    workloads = dict.fromkeys(trial.trial.workload.name for trial in trials)
    systems = dict.fromkeys(trial.trial.system.name for trial in trials)
    doubts = check_cells(build_curves(measured_cells(trials), workloads, list(systems)))
    yield from (doubt for doubt in doubts if doubt.kind is not SINGLE_REPETITION)  # a search is one repetition
    for system_capacity in searched:
        for search in system_capacity.searches:
            yield from _sweep(system_capacity, search.capacity)


class SweepAtLastLevel(Observation, kind=PEAK_AT_LAST_LEVEL, seen="sweep-at-last-level"):
    """A sweep was fastest with the most connections that it tried."""

    throughput_tps: float
    connections_count: int

    def __str__(self) -> str:
        return (
            f"the sweep was fastest, {format_rate(self.throughput_tps)}, with the most connections that it tried,"
            f" {self.connections_count:,}: more connections may sustain more"
        )


def _sweep(system_capacity: SystemCapacity, capacity: Capacity) -> Iterator[Doubt]:
    """The connections may be the limit, and not the server, where the most of a sweep were the fastest by far."""
    swept = sorted((run for run in capacity.runs if run.role is RunRole.SWEEP), key=lambda run: run.connections)
    if len(swept) < 2:
        return
    *others, last = swept
    if last.throughput_tps > (1 + EQUAL_WITHIN) * max(run.throughput_tps for run in others):
        level = Level(connections=last.connections)
        trials = (last.trial_id,) if last.trial_id else ()
        seen = SweepAtLastLevel(throughput_tps=last.throughput_tps, connections_count=last.connections)
        yield Place(system_capacity.system, system_capacity.workload, level, trials).doubt(seen)
