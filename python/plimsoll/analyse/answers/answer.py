"""The advice as findings: how much each system sustains, what differs, how large the pool should be, what it costs.

Each has the grade of its evidence. The most important come first, and nothing is claimed that the figures do not show.
The answer of `plimsoll ab` is read from the same analysis: each side against the first one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.analyse.answers.size_evidence import MEASURED_ORIGIN, RATE_REPETITIONS_NEEDED
from plimsoll.analyse.explain.durability import less_durable
from plimsoll.analyse.findings.finding_model import Finding, Grade, make_finding, of_verdict, worst
from plimsoll.analyse.model import Analysis, Difference, SystemSummary, WorkloadSummary
from plimsoll.analyse.study.capacity_model import SystemCost, WorkloadCost
from plimsoll.analyse.study.cell_model import Cell, Estimate
from plimsoll.analyse.study.curve_model import Curve, PoolAdvice, PoolReason
from plimsoll.analyse.study.differences import across_workloads
from plimsoll.analyse.study.points import within_objective
from plimsoll.analyse.study.ratio_model import RatioVerdict, SystemRatio
from plimsoll.analyse.study.sequential import SYSTEMS_FOR_ALL_PAIRS
from plimsoll.analyse.study.throughput import is_repeated
from plimsoll.analyse.study.workloads import is_read_only
from plimsoll.record.capacity import knee_of
from plimsoll.record.document import Document
from plimsoll.record.model import TrialWarning

TOLD_ONE_BY_ONE = 5
"""With more systems a table has each (`plimsoll.guide.headline`), and the answer tells what stands out."""

_COMPARISONS_IN_FULL = 3
"""Comparisons with the best system that are told with every other factor; the guide's table has them all."""


@dataclass(frozen=True, slots=True)
class _Question:
    """What is known about one workload and kind of load; the best curve first."""

    workload: str
    curves: tuple[Curve, ...]
    differences: tuple[Difference, ...]
    systems: Mapping[str, SystemSummary]
    writes: bool = True

    @property
    def best(self) -> Curve:
        return self.curves[0]

    def less_durable(self, system: str, base: str) -> str | None:
        """What the first of two systems may lose and the other does not, where the workload writes."""
        return less_durable(self.systems[system].durability, self.systems[base].durability) if self.writes else None

    def less_durable_than_another(self, system: str) -> str | None:
        """What a system may lose and some other that is compared does not."""
        return next(filter(None, (self.less_durable(system, curve.system) for curve in self.curves)), None)

    @property
    def is_in_a_table(self) -> bool:
        """There are too many systems to tell of each."""
        return len(self.curves) > TOLD_ONE_BY_ONE

    @property
    def took_turns(self) -> bool:
        """A duet asks which system is faster; its absolute figures are as noisy as the machine was."""
        return any(difference.duet is not None for difference in self.differences)

    @property
    def curves_to_name(self) -> tuple[Curve, ...]:
        return self.curves[:1] if self.is_in_a_table else self.curves


def answer(
    workloads: Sequence[WorkloadSummary],
    systems: Sequence[SystemSummary],
    curves: Sequence[Curve],
    differences: Sequence[Difference],
    *,
    objective_ms_p99: float | None = None,
) -> Iterator[Finding]:
    """The advice; nothing without curves."""
    by_name = {system.name: system for system in systems}
    for at_rate in (False, True):
        for workload in workloads:
            matching = [
                curve for curve in curves if curve.workload == workload.name and curve.kind.is_at_rate is at_rate
            ]
            if matching:
                peaks = tuple(
                    difference
                    for difference in differences
                    if difference.workload == workload.name and difference.level is None
                )
                best_first = tuple(sorted(matching, key=lambda curve: -_merit(curve)))
                yield from _of_workload(
                    _Question(workload.name, best_first, peaks, by_name, not is_read_only(workload)), objective_ms_p99
                )
        if not at_rate:
            yield from across_workloads(workloads, by_name, [curve for curve in curves if not curve.kind.is_at_rate])


def _merit(curve: Curve) -> float:
    if curve.peak is None:
        return 0.0
    return curve.peak.level.offered if curve.kind.is_at_rate else curve.peak.throughput_tps.value


def _of_workload(asked: _Question, objective_ms_p99: float | None) -> Iterator[Finding]:
    lost_by = asked.less_durable_than_another
    within = (
        list(within_objective(asked.curves_to_name, objective_ms_p99, lost_by=lost_by))
        if asked.best.kind.is_at_rate
        else []
    )
    if asked.best.kind.is_at_rate:
        for curve in asked.curves_to_name:
            yield _sustained(curve)
            yield from (
                finding for finding in within if finding.code == "within-objective" and finding.system == curve.system
            )
        yield from (finding for finding in within if finding.code != "within-objective")
        yield from () if asked.is_in_a_table else _side_by_side(asked.curves)
        return
    if asked.took_turns:
        yield from _compared(asked)
    yield from (_peak(asked, curve, index) for index, curve in enumerate(asked.curves_to_name))
    yield from within_objective(asked.curves, objective_ms_p99, only_best=asked.is_in_a_table, lost_by=lost_by)
    if not asked.took_turns:
        yield from _compared(asked)
    yield from _pool(asked)


def _peak(asked: _Question, curve: Curve, index: int) -> Finding:
    assert curve.peak is not None, "only rates may have none"
    return make_finding(
        "peak",
        system=curve.system,
        workload=curve.workload,
        level=curve.peak.level,
        standing="next" if index else "only" if len(asked.curves) == 1 or asked.took_turns else _standing(asked),
        throughput_tps=curve.peak.throughput_tps,
        is_inside_range=curve.peak.is_inside_range,
        less_durable=None if index else asked.less_durable_than_another(curve.system),
        is_only_level=len(curve.cells) == 1,
    )


_NO_ORDER = frozenset((RatioVerdict.DISTURBED, RatioVerdict.UNRESOLVED, RatioVerdict.EQUAL))
"""Verdicts after which the order of figures says nothing."""


def _standing(asked: _Question) -> str:
    best = asked.best.system
    verdicts = [difference.verdict for difference in asked.differences if best in (difference.base, difference.system)]
    if not _NO_ORDER.isdisjoint(verdicts):
        return "only"
    decided = all(verdict.is_difference for verdict in verdicts)
    return "most" if decided else "highest-figure"


def _sustained(curve: Curve) -> Finding:
    """The highest rate that was sustained, and the first that was not, where there is one."""
    beyond = next((cell for cell in curve.cells if cell not in curve.sustained), None)
    figures: dict[str, Estimate | int | None] = {}
    if beyond is not None:
        figures = {"next_throughput_tps": beyond.throughput_tps, "next_dropped_count": beyond.dropped_count}
    return make_finding(
        "sustained-rate",
        system=curve.system,
        workload=curve.workload,
        level=None if curve.peak is None else curve.peak.level,
        next_level=None if beyond is None else beyond.level,
        **figures,
    )


def _side_by_side(curves: Sequence[Curve]) -> Iterator[Finding]:
    """Response times of all systems at the highest rate that all of them sustain."""
    sustained = [{cell.level.order: cell for cell in curve.sustained} for curve in curves]
    common = set.intersection(*(set(cells) for cells in sustained)) if len(sustained) > 1 else set()
    if not common:
        return
    at = [(curve.system, cells[max(common)]) for curve, cells in zip(curves, sustained, strict=True)]
    known = [(system, cell) for system, cell in at if cell.response_ms.p99 is not None]
    if len(known) > 1:
        yield make_finding(
            "response-times-side-by-side",
            workload=curves[0].workload,
            level=known[0][1].level,
            systems=tuple(system for system, _ in known),
            response_ms_p99=tuple(cell.response_ms.p99 for _, cell in known),
            lower_bounds=tuple(system for system, cell in known if _is_lower_bound(cell)),
        )


def _is_lower_bound(cell: Cell) -> bool:
    return "p99" in cell.response_ms.lower_bounds


def _compared(asked: _Question) -> Iterator[Finding]:
    if len(asked.curves) < 2:
        return
    if asked.is_in_a_table:
        yield _range_of_others(asked)
    if len(asked.curves) > SYSTEMS_FOR_ALL_PAIRS:
        return
    pairs = [difference for curve in asked.curves[1:] if (difference := _with_best(asked, curve.system)) is not None]
    for index, pair in enumerate(pairs[:_COMPARISONS_IN_FULL] if asked.is_in_a_table else pairs):
        yield _comparison(asked, pair, in_full=index < _COMPARISONS_IN_FULL)


def _with_best(asked: _Question, system: str) -> Difference | None:
    pair = {asked.best.system, system}
    return next((difference for difference in asked.differences if {difference.base, difference.system} == pair), None)


def _range_of_others(asked: _Question) -> Finding:
    peaks = [_merit(curve) for curve in asked.curves]
    best = asked.best.system
    undecided = [
        difference
        for difference in asked.differences
        if best in (difference.base, difference.system)
        and difference.verdict in (RatioVerdict.UNRESOLVED, RatioVerdict.DISTURBED)
    ]
    return make_finding(
        "other-peaks",
        system=best,
        workload=asked.workload,
        others_count=len(peaks) - 1,
        lowest_ratio=peaks[-1] / peaks[0],
        highest_ratio=peaks[1] / peaks[0],
        undecided=tuple(
            difference.base if difference.system == best else difference.system for difference in undecided
        ),
    )


def _comparison(asked: _Question, difference: Difference, *, in_full: bool) -> Finding:
    """Two peaks, the higher one first."""
    high = difference if difference.ratio.value >= 1 else difference.inverted
    differing = tuple((name, value, of_base) for name, of_base, value in high.other_factors)
    environments: dict[str, Any] = {} if difference.blocks is None else {"environments": difference.blocks.environments}
    return make_finding(
        "comparison",
        system=high.system,
        workload=difference.workload,
        base=high.base,
        verdict=high.verdict.value,
        ratio=high.ratio,
        smallest_effect=difference.smallest_effect,
        equal_within=difference.equal_within,
        repetitions_needed=difference.repetitions_needed,
        system_level=high.system_level,
        base_level=high.base_level,
        differing=differing if in_full else (),
        one_sided=difference.one_sided_factors if in_full else (),
        less_durable=asked.less_durable(high.system, high.base),
        **environments,
    )


def _pool(asked: _Question) -> Iterator[Finding]:
    pools = [curve.pool for curve in asked.curves if curve.pool is not None]
    per_core = {pool.per_core for pool in pools}
    alike = per_core.pop() if len(per_core) == 1 else None
    if alike is not None and len(asked.curves) > 1 and all(_is_pool_decided(curve) for curve in asked.curves):
        yield make_finding(
            "pool-per-core",
            workload=asked.workload,
            per_core=alike,
            client_shared_processors=any(pool.client_shared_processors for pool in pools),
            are_single_figures=any(pool.reason is PoolReason.SINGLE_FIGURES for pool in pools),
        )
        return
    for curve in () if asked.is_in_a_table else asked.curves:
        if (pool := curve.pool) is not None and pool.reason is not PoolReason.ONLY_LEVEL:  # that says nothing of a pool
            yield make_finding(
                "pool",
                system=curve.system,
                workload=curve.workload,
                connections=pool.connections,
                between=pool.between,
                client_shared_processors=pool.client_shared_processors,
            )


def _is_pool_decided(curve: Curve) -> bool:
    """Whether the peak is known, and one level: shown to be enough, or the highest of single figures."""
    has_peak = curve.peak is not None and curve.peak.is_inside_range
    unknown = (PoolReason.UNKNOWN, PoolReason.UNRESOLVED, PoolReason.OBJECTIVE)
    return has_peak and curve.pool is not None and curve.pool.reason not in unknown


def with_grades(
    answer: Iterable[Finding], systems: Iterable[SystemSummary], curves: Collection[Curve]
) -> Iterator[Finding]:
    """The findings of an answer, those that say how much or which is faster with a grade.

    Args:
        answer: Of a study.
        systems: Of the study.
        curves: Whose levels the findings are about.
    """
    imported = {system.name for system in systems if system.origin != MEASURED_ORIGIN}
    for finding in answer:
        rule = _RULES.get(finding.code)
        if rule is None:
            yield finding
            continue
        is_measured = imported.isdisjoint({finding.system, finding.known.get("base")})
        yield finding.model_copy(update={"grade": rule(finding, curves, is_measured)})


def _of_figure(estimate: Estimate | None, *, is_measured: bool, is_disturbed: bool) -> Grade:
    if estimate is None or is_disturbed:
        return Grade.UNKNOWN
    return Grade.MEASURED if is_measured and is_repeated(estimate) else Grade.INDICATED


def _of_level(finding: Finding, curves: Collection[Curve], is_measured: bool) -> Grade:
    """By the cell that the figure is of; one interval of the answer may be that of a maximum."""
    cells = (
        cell
        for curve in curves
        if (curve.system, curve.workload) == (finding.system, finding.workload)
        for cell in curve.cells
        if cell.level == finding.level
    )
    cell = next(cells, None)
    if cell is None:
        return Grade.UNKNOWN
    if cell.level.kind.is_at_rate and not cell.is_disturbed:
        is_enough = cell.throughput_tps.trial_count >= RATE_REPETITIONS_NEEDED
        return Grade.MEASURED if is_measured and is_enough else Grade.INDICATED
    return _of_figure(cell.throughput_tps, is_measured=is_measured, is_disturbed=cell.is_disturbed)


def _of_capacity(finding: Finding, _: Collection[Curve], is_measured: bool) -> Grade:
    seen = finding.known
    return _of_figure(seen["capacity_tps"], is_measured=is_measured, is_disturbed=seen["is_disturbed"])


def _of_comparison(finding: Finding, _: Collection[Curve], is_measured: bool) -> Grade:
    ratio: Any = finding.known["ratio"]
    is_single = ratio.bounds is None or ratio.bounds.basis == "within-run"
    return of_verdict(finding.known["verdict"], is_measured=is_measured and not is_single)


def grade_of_pool(pool: PoolAdvice) -> Grade:
    """The grade of advice on a connection pool: what imported figures say is indicated, repeated or not."""
    if pool.reason in (PoolReason.UNKNOWN, PoolReason.UNRESOLVED):
        return Grade.UNKNOWN
    return Grade.INDICATED if pool.is_published else Grade.MEASURED


def _of_pool(finding: Finding, curves: Collection[Curve], _: bool) -> Grade:
    """By the least known pool where it is advice for all systems."""
    return worst(
        grade_of_pool(curve.pool)
        for curve in curves
        if curve.pool is not None
        and curve.workload == finding.workload
        and (finding.system is None or curve.system == finding.system)
    )


_RULES: Mapping[str, Callable[[Finding, Collection[Curve], bool], Grade]] = {
    "peak": _of_level,
    "sustained-rate": _of_level,
    "within-objective": _of_level,
    "capacity": _of_capacity,
    "comparison": _of_comparison,
    "capacity-compared": _of_comparison,
    "pool": _of_pool,
    "pool-per-core": _of_pool,
}


def cost_answer(costs: Iterable[WorkloadCost]) -> Iterator[Finding]:
    """The cheapest first; of many systems the cheapest alone. In several currencies the section on costs says so."""
    for cost in costs:
        if len(cost.currencies) > 1:
            continue
        if len(cost.systems) > TOLD_ONE_BY_ONE:
            cheapest = cost.systems[:1]
            yield make_finding(
                "cheapest", system=cheapest[0].system, workload=cost.workload, **_figures(cost, cheapest)
            )
        else:
            yield make_finding("costs", workload=cost.workload, **_figures(cost, cost.systems))


def _figures(workload_cost: WorkloadCost, system_costs: Sequence[SystemCost]) -> dict[str, Any]:
    return {
        "systems": tuple(system.system for system in system_costs),
        "costs_per_million": tuple(system.per_million.value for system in system_costs),
        "currency": workload_cost.currencies[0] or None,
        "basis": workload_cost.basis.value,
        "utilisation": workload_cost.utilisation,
        "is_decided": workload_cost.currencies[0] not in workload_cost.undecided,
        "without_price": workload_cost.without_price,
        "without_capacity": workload_cost.without_capacity,
    }


AB_FORMAT = 1
"""Version of this schema."""


class AbComparison(Document):
    """One side against the first one.

    Attributes:
        system: The side.
        base: The first side.
        ratio: Throughput of `system` over that of `base`, or the load that it bears. Its interval holds at every look;
            those of several sides hold together. Without bounds after fewer than three rounds, or six pairs of ramps.
        verdict: As in an analysis.
        equal_within: Share within which they count as equal.
        smallest_decided: The smallest ratio above 1 that would have been decided, had it been measured with this spread
            over these rounds: the half width of the interval. None without one.
        rounds: So many rounds, repetitions or pairs of ramps the ratio rests on.
        rounds_needed: How many more decide four times out of five, if the ratio stays; 0 where it is decided; None
            where that is not known, or more than 100.
        grade: How well it is known: `measured` by rounds, `indicated` where there are too few, `unknown` where the
            machine was disturbed.
    """

    system: str
    base: str
    ratio: Estimate
    verdict: RatioVerdict
    equal_within: float
    smallest_decided: float | None = None
    rounds: int
    rounds_needed: int | None = None
    grade: Grade


class AbSide(Document):
    """What was measured of one side.

    Attributes:
        name: Of the system.
        throughput_tps: Completed transactions per second. None where nothing was measured.
        response_ms_p99: 99th percentile of response time, milliseconds; None where it is not known.
        held_tps: A rate at which the objective held in a steady run, transactions per second; None where none did, and
            where throughputs are compared.
        knee_tps: The rate from which on most answers of its ramps were late, as geometric mean; None as for `held_tps`.
        durability: What it may lose of committed transactions, in words; None where that is not known.
        settings_causing_loss: The settings that make it so, as (name, value).
    """

    name: str
    throughput_tps: Estimate | None = None
    response_ms_p99: float | None = None
    held_tps: float | None = None
    knee_tps: float | None = None
    durability: str | None = None
    settings_causing_loss: tuple[tuple[str, str], ...] = ()


class AbAnswer(Document):
    """How some sides compare.

    Attributes:
        ab_format: Version of this schema.
        workload: Its name.
        connections: In a closed loop.
        took_turns: The servers took short turns, frozen in between; otherwise each was loaded in runs of its own.
        duration_s: Wall time from begin to end, setting up included, seconds.
        limit_s: The limit that was given for it, seconds.
        objective_ms_p99: Loads were compared that are borne with 99 % answered within so long, milliseconds; None where
            throughputs were.
        is_interrupted: Somebody ended it.
        comparisons: Of each side but the first, as far as both were measured.
        sides: In the order in which they were given.
        warnings: What makes the figures doubtful, the gravest first.
    """

    ab_format: int = AB_FORMAT
    workload: str
    connections: int
    took_turns: bool
    duration_s: float
    limit_s: float
    objective_ms_p99: float | None = None
    is_interrupted: bool = False
    comparisons: tuple[AbComparison, ...]
    sides: tuple[AbSide, ...]
    warnings: tuple[TrialWarning, ...] = ()

    @property
    def limit_s_needed(self) -> float | None:
        """A limit within which all is decided four times out of five, whole minutes in seconds; None if unknown."""
        needed = [comparison.rounds_needed for comparison in self.comparisons]
        rounds = max((comparison.rounds for comparison in self.comparisons), default=0)
        if not rounds or None in needed:
            return None
        most = max(count for count in needed if count is not None)
        return math.ceil(self.duration_s * (rounds + most) / rounds / 60) * 60.0 if most else None


def comparisons_of(ratios: Iterable[SystemRatio], base: str) -> tuple[AbComparison, ...]:
    """Each system of a study of one workload and level against one of them; its peaks are no second comparison."""
    without_peaks = [ratio for ratio in ratios if not (isinstance(ratio, Difference) and ratio.level is None)]
    return tuple(_against(base, ratio) for ratio in without_peaks if base in (ratio.base, ratio.system))


def _against(base: str, compared: SystemRatio) -> AbComparison:
    """A comparison of two systems, seen from one of them, with the interval that holds for all of them together."""
    system_ratio = compared.against(base)
    bounds = system_ratio.simultaneous or system_ratio.ratio.bounds
    return AbComparison(
        system=system_ratio.system,
        base=base,
        ratio=system_ratio.ratio.model_copy(update={"bounds": bounds}),
        verdict=system_ratio.verdict,
        equal_within=system_ratio.equal_within,
        smallest_decided=None if bounds is None else math.sqrt(bounds.high / bounds.low),
        rounds=system_ratio.ratio.trial_count,
        rounds_needed=system_ratio.repetitions_needed,
        grade=of_verdict(system_ratio.verdict, is_measured=bounds is not None),
    )


def sides_measured(analysis: Analysis) -> tuple[AbSide, ...]:
    """What was measured of each system of such a study."""
    cells = {curve.system: curve.cells[0] for curve in analysis.curves if curve.cells}
    climbed = {capacity.system: capacity for capacity in analysis.capacities}
    sides = []
    for system in analysis.systems:
        cell, durability, system_capacity = cells.get(system.name), system.durability, climbed.get(system.name)
        sides.append(
            AbSide(
                name=system.name,
                throughput_tps=None if cell is None else cell.throughput_tps,
                response_ms_p99=None if cell is None else cell.response_ms.p99,
                held_tps=None if system_capacity is None else system_capacity.low,
                knee_tps=None
                if system_capacity is None
                else knee_of(run for search in system_capacity.searches for run in search.capacity.runs),
                durability=None if durability is None else durability.name,
                settings_causing_loss=() if durability is None else durability.causes,
            )
        )
    return tuple(sides)
