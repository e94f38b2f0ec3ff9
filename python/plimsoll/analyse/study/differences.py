"""How systems differ under the same workload: at equal levels, and at their peaks.

At an equal level only the systems differ. Two peaks that lie at different levels (`curves`) include every other factor
that is not the same: with more than one of them these trials cannot separate their effects.

Up to six systems are compared each with each, more than six each with the best of the workload. All comparisons of a
workload are one family, which Holm's procedure corrects: where none of the systems differ, any of them is called
faster or slower in at most 5 % of studies. Where only comparisons with the best are shown, the best was chosen from
the same data, so the family counts all pairs.

Response times are compared where both systems were read at one level: at another one a queue has another length. They
are a family of their own. Each repetition gives one figure, as in `plimsoll compare`: paired where the two were
measured in the same repetitions, by blocks where environments are measured in turn, else by Welch's test (1947).

Two sides whose machine was not equally fast (`conditions`) have no verdict and no interval. Their test stays in the
family, so that the others are judged as before.

Peaks of published tables that call their workload by different names, set beside each other. Two tables of one study
often hold the same work under two names, such as the names of their files. Where no system appears under more than one
workload, nothing else brings them together. Whether the work was the same is not known, so the workload is one more
factor that differs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from plimsoll.analyse.findings.finding_model import Finding, make_finding
from plimsoll.analyse.model import Difference, SystemSummary, WorkloadSummary
from plimsoll.analyse.study.cell_model import EQUAL_WITHIN, Durations, Estimate
from plimsoll.analyse.study.cells import MeasuredCell, response_of
from plimsoll.analyse.study.comparison import LogRatio, judge, repetition_ratio
from plimsoll.analyse.study.conditions import of_trials, unlike
from plimsoll.analyse.study.curve_model import Curve, Duet
from plimsoll.analyse.study.curves import LevelKey, compare_peaks, highest
from plimsoll.analyse.study.duets import by_rounds_alone, compare_turns
from plimsoll.analyse.study.factors import PER_INSTANCE, FactorComparison, Factors, compare_factors, factors_of
from plimsoll.analyse.study.ratio_model import Ratio, RatioVerdict, ResponseRatio
from plimsoll.analyse.study.ratios import compared_blocks, log_ratio, ratio_of, ratio_of_blocks
from plimsoll.analyse.study.sequential import (
    SYSTEMS_FOR_ALL_PAIRS,
    judge_at_any_look,
    judge_values,
    log_ratios,
    system_pairs,
)
from plimsoll.analyse.study.throughput import cell_figure
from plimsoll.analyse.trial.condition_model import Disturbance
from plimsoll.record.level import Level

_NO_FACTORS = FactorComparison()
"""At an equal level only the systems differ."""

LevelCells = Mapping[LevelKey, MeasuredCell]

_Key = tuple[str, str, LevelKey, LevelKey]
"""Two systems and the level of each."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two cells that are compared.

    Attributes:
        level: None for peaks.
        log_ratio: None where one of them has no spread.
        duet: Where they took turns.
    """

    base: MeasuredCell
    system: MeasuredCell
    level: Level | None
    log_ratio: LogRatio | None
    duet: Duet | None = None

    @property
    def names(self) -> tuple[str, str]:
        """Both systems."""
        return self.base.system, self.system.system

    @property
    def is_at_one_level(self) -> bool:
        """Whether both were read at the same level, be it the peak of both."""
        return self.base.level.order == self.system.level.order

    @property
    def key(self) -> _Key:
        """Equal for the comparison at a level and for that of two peaks at this level: they are one test."""
        return *self.names, self.base.level.order, self.system.level.order


def differences(
    cells: Sequence[MeasuredCell],
    systems: Sequence[SystemSummary],
    equal_within: float = EQUAL_WITHIN,
    *,
    at_any_look: bool = False,
    asked_count: int = 0,
    met: Mapping[str, Disturbance] = MappingProxyType({}),
) -> tuple[Difference, ...]:
    """Compares systems under each workload; peaks first, then levels, rising. Rates say nothing by their throughput.

    Args:
        cells: Of all workloads.
        systems: In the order in which they are compared.
        equal_within: Share within which two systems count as equal.
        at_any_look: Whether the study went on until its answer was decided (`sequential`).
        asked_count: How many questions such a study asks, those included of which nothing was measured yet: it shares
            its 5 % among all of them.
        met: How slow machines were, by trial: of two sides that met unlike conditions neither is called faster.
    """
    cells = [cell for cell in cells if not cell.level.kind.is_at_rate]
    summaries = {system.name: system for system in systems}
    workloads = dict.fromkeys(cell.workload for cell in cells)
    pairs = {
        workload: _pairs_of_workload(workload, cells, summaries, at_any_look=at_any_look) for workload in workloads
    }
    count = sum(pair.level is not None for every in pairs.values() for pair in every)
    tests_count = max(count, asked_count, 1) if at_any_look else None
    judged_differences = []
    for workload_pairs in pairs.values():
        if tests_count is not None:
            judged = _judged_at_any_look(workload_pairs, equal_within, tests_count)
        else:
            tests = {pair.key: pair.log_ratio for pair in workload_pairs if pair.log_ratio is not None}
            judged = _judged(tests, workload_pairs, equal_within)
        responses = _response_ratios(workload_pairs, equal_within, tests_count)
        duets = {pair.key: pair.duet for pair in workload_pairs if pair.duet is not None}
        if at_any_look:
            duets = {key: by_rounds_alone(duet) for key, duet in duets.items()}
        for pair in workload_pairs:
            ratio = judged.get(pair.key) or _untestable(pair, equal_within)
            difference = _difference(pair, ratio, duets.get(pair.key), summaries).model_copy(
                update={"response": responses.get(pair.key)}
            )
            judged_differences.append(
                difference.unless(unlike(*(of_trials(cell.trials, met) for cell in (pair.base, pair.system))))
            )
    return tuple(judged_differences)


def _pairs_of_workload(
    workload: str, cells: Sequence[MeasuredCell], summaries: Mapping[str, SystemSummary], *, at_any_look: bool
) -> list[_Pair]:
    by_system: dict[str, dict[LevelKey, MeasuredCell]] = {}
    for cell in sorted(cells, key=lambda cell: cell.level.order):
        if cell.workload == workload:
            by_system.setdefault(cell.system, {})[cell.level.order] = cell
    present = [name for name in summaries if name in by_system]
    return [
        pair
        for base, system in (system_pairs(present) if at_any_look else _system_pairs(present, by_system))
        for pair in (_of_peaks(by_system[base], by_system[system]), *_of_levels(by_system[base], by_system[system]))
        if pair.base.throughput.value_tps > 0 and pair.system.throughput.value_tps > 0
    ]


def _system_pairs(names: Sequence[str], by_system: Mapping[str, LevelCells]) -> Iterator[tuple[str, str]]:
    if len(names) <= SYSTEMS_FOR_ALL_PAIRS:
        yield from system_pairs(names)
        return
    all_cells = [cell for name in names for cell in by_system[name].values()]
    best = all_cells[highest([cell.throughput for cell in all_cells])].system
    yield from ((best, name) for name in names if name != best)


def _of_peaks(base: LevelCells, system: LevelCells) -> _Pair:
    means = [{key: cell.throughput for key, cell in cells.items()} for cells in (base, system)]
    compared = compare_peaks(*means)
    return _Pair(base[compared.levels[0]], system[compared.levels[1]], None, compared.log_ratio)


def _of_levels(base: LevelCells, system: LevelCells) -> Iterator[_Pair]:
    for order in sorted(base.keys() & system.keys()):
        turns = compare_turns(base[order], system[order])
        ratio = log_ratio(system[order].throughput, base[order].throughput) if turns is None else turns[0]
        yield _Pair(base[order], system[order], base[order].level, ratio, None if turns is None else turns[1])


def _judged(tests: Mapping[_Key, LogRatio], pairs: Sequence[_Pair], equal_within: float) -> dict[_Key, Ratio]:
    """By key: each test once.

    Args:
        tests: What is known of the ratios of one metric.
        pairs: All that is shown.
        equal_within: Share within which two systems count as equal.
    """
    tests = {key: log_ratio for key, log_ratio in tests.items() if log_ratio.is_testable}
    chosen_from = max(len({name for pair in pairs for name in pair.names}) / 2, 1.0)
    is_chosen = len({pair.base.system for pair in pairs}) == 1 and chosen_from > SYSTEMS_FOR_ALL_PAIRS / 2
    count = round(len(tests) * chosen_from) if is_chosen else 0
    return dict(zip(tests, judge(list(tests.values()), equal_within=equal_within, family_count=count), strict=True))


def _judged_at_any_look(pairs: Sequence[_Pair], equal_within: float, tests_count: int) -> dict[_Key, Ratio]:
    """By key. Peaks at different levels are a choice from all pairs of levels."""
    levels_count = len({pair.level.order for pair in pairs if pair.level is not None})
    judged = {}
    for pair in pairs:
        choices = 1 if pair.is_at_one_level else levels_count**2
        ratio = judge_at_any_look(
            pair.base, pair.system, tests_count=tests_count * max(choices, 1), equal_within=equal_within
        )
        if ratio is not None:
            judged[pair.key] = ratio
    return judged


_RESPONSE_STATISTICS = ("p99", "p95", "mean")
"""Response times are compared by the first of them that every repetition of both systems states."""


@dataclass(frozen=True, slots=True)
class _Responses:
    """A statistic of response times of two cells, milliseconds: one figure for each of their trials."""

    pair: _Pair
    statistic: str
    base_ms: tuple[float, ...]
    system_ms: tuple[float, ...]

    @property
    def by_repetition(self) -> tuple[dict[int, float], dict[int, float]]:
        """Those of both, by the number of the repetition."""
        sides = ((self.pair.base, self.base_ms), (self.pair.system, self.system_ms))
        base, system = (
            {trial.trial.repetition: ms for trial, ms in zip(cell.trials, times, strict=True)} for cell, times in sides
        )
        return base, system

    def log_ratio(self) -> LogRatio | None:
        """None where it is not known how repetitions differ."""
        base, system = self.pair.base.throughput.cell, self.pair.system.throughput.cell
        if compared_blocks(base, system) is not None:
            return ratio_of_blocks(
                replace(system, throughputs_tps=self.system_ms), replace(base, throughputs_tps=self.base_ms)
            )
        if base.repetitions is None or system.repetitions is None:
            return repetition_ratio(self.base_ms, self.system_ms, paired=False)
        base_ms, system_ms = self.by_repetition
        common = sorted(base_ms.keys() & system_ms.keys())
        if len(common) < _REPETITIONS_IN_PAIRS:
            return repetition_ratio(self.base_ms, self.system_ms, paired=False)
        return repetition_ratio([base_ms[at] for at in common], [system_ms[at] for at in common], paired=True)

    def untestable(self, equal_within: float) -> Ratio:
        """The ratio alone."""
        base, system = cell_figure(self.base_ms), cell_figure(self.system_ms)
        assert base, "only times above 0 are compared"
        assert system, "only times above 0 are compared"
        ratio = Estimate(value=system / base, trial_count=min(len(self.base_ms), len(self.system_ms)))
        return Ratio(ratio=ratio, verdict=RatioVerdict.UNTESTABLE, equal_within=equal_within)


_REPETITIONS_IN_PAIRS = 2
"""Two systems need so many repetitions in common to be compared within them."""


def _response_ratios(pairs: Sequence[_Pair], equal_within: float, tests_count: int | None) -> dict[_Key, ResponseRatio]:
    """How response times compare, by key; nothing where they are not known.

    Args:
        pairs: All that is shown of a workload.
        equal_within: Share within which two systems count as equal.
        tests_count: How many comparisons share the 5 % of a study that goes on until it is decided; None for others.
    """
    of_cells = {
        (cell.system, cell.level.order): _response_ms(cell)
        for pair in pairs
        if pair.is_at_one_level
        for cell in (pair.base, pair.system)
    }
    known = {}
    for pair in pairs:
        base, system = (of_cells.get((cell.system, cell.level.order), {}) for cell in (pair.base, pair.system))
        statistic = next((name for name in base if name in system), None)
        if pair.is_at_one_level and statistic is not None:
            known[pair.key] = _Responses(pair, statistic, base[statistic], system[statistic])
    if tests_count is None:
        tests = {key: log_ratio for key, of in known.items() if (log_ratio := of.log_ratio()) is not None}
        judged = _judged(tests, pairs, equal_within)
    else:
        values = {key: list(log_ratios(*of.by_repetition).values()) for key, of in known.items()}
        at_looks = {
            key: judge_values(of, tests_count=tests_count, equal_within=equal_within) for key, of in values.items()
        }
        judged = {key: ratio for key, ratio in at_looks.items() if ratio is not None}
    return {
        key: ResponseRatio(**{**ratio.as_fields, "verdict": ratio.verdict.inverted}, statistic=responses.statistic)
        for key, responses in known.items()
        for ratio in (judged.get(key) or responses.untestable(equal_within),)
    }


def _response_ms(cell: MeasuredCell) -> dict[str, tuple[float, ...]]:
    """The statistics that all of its trials state, and none as a lower bound, with one figure for each trial."""
    times = [response_of(trial) for trial in cell.trials]
    figures = {name: [_stated_ms(durations, name) for durations in times] for name in _RESPONSE_STATISTICS}
    return {name: known for name, of in figures.items() if len(known := tuple(ms for ms in of if ms)) == len(of)}


def _stated_ms(durations: Durations, name: str) -> float | None:
    value: float | None = None if name in durations.lower_bounds else getattr(durations, name)
    return value


def _untestable(pair: _Pair, equal_within: float) -> Ratio:
    ratio = ratio_of(pair.system.throughput, pair.base.throughput)
    assert ratio is not None, "pairs with a mean of zero are left out"
    return Ratio(ratio=ratio, verdict=RatioVerdict.UNTESTABLE, equal_within=equal_within)


def _difference(pair: _Pair, ratio: Ratio, duet: Duet | None, summaries: Mapping[str, SystemSummary]) -> Difference:
    base, system = pair.base, pair.system
    others = other_factors(base, system, summaries) if pair.level is None else _NO_FACTORS
    return Difference(
        **ratio.as_fields,
        workload=base.workload,
        base=base.system,
        system=system.system,
        level=pair.level,
        base_level=base.level if pair.level is None else None,
        system_level=system.level if pair.level is None else None,
        other_factors=others.differing,
        one_sided_factors=others.one_sided,
        duet=duet,
        blocks=compared_blocks(base.throughput.cell, system.throughput.cell),
    )


def other_factors(base: MeasuredCell, system: MeasuredCell, summaries: Mapping[str, SystemSummary]) -> FactorComparison:
    """Every factor that differs between two points of two systems, connections included."""
    base_factors, system_factors = (
        factors_of(summaries[cell.system], {**cell.trials[0].environment.reported_factors, **_level_factors(cell)})
        for cell in (base, system)
    )
    return compare_factors(base_factors, system_factors)


def _level_factors(cell: MeasuredCell) -> dict[str, str]:
    level = cell.trials[0].trial.level
    factors = {"connections": str(level.connections)}
    if level.connections_per_instance is not None:
        factors[PER_INSTANCE] = str(level.connections_per_instance)
    return factors


def across_workloads(
    workloads: Sequence[WorkloadSummary], systems: Mapping[str, SystemSummary], curves: Sequence[Curve]
) -> Iterator[Finding]:
    """Compares the highest peak of all with that of each other workload."""
    if not _stand_apart(workloads, systems, curves):
        return
    peaks = sorted((_highest(curves, workload.name) for workload in workloads), key=lambda curve: -_peak_tps(curve))
    yield from (_compared(peaks[0], lower, systems) for lower in peaks[1:] if _peak_tps(lower) > 0)


def _stand_apart(
    workloads: Sequence[WorkloadSummary], systems: Mapping[str, SystemSummary], curves: Sequence[Curve]
) -> bool:
    each_once = bool(curves) and len({curve.system for curve in curves}) == len(curves)
    published = all(system.origin != "measured" for system in systems.values())
    same_unit = len({workload.rate_unit for workload in workloads}) == 1
    return (
        len(workloads) > 1
        and each_once
        and published
        and same_unit
        and all(workload.kind is None for workload in workloads)
    )


def _highest(curves: Sequence[Curve], workload: str) -> Curve:
    return max((curve for curve in curves if curve.workload == workload), key=_peak_tps)


def _peak_tps(curve: Curve) -> float:
    return 0.0 if curve.peak is None else curve.peak.throughput_tps.value


def _compared(high: Curve, low: Curve, systems: Mapping[str, SystemSummary]) -> Finding:
    factors = compare_factors(_factors(high, systems), _factors(low, systems))
    return make_finding(
        "comparison-across-workloads",
        system=high.system,
        workload=high.workload,
        base=low.system,
        base_workload=low.workload,
        ratio=_peak_tps(high) / _peak_tps(low),
        differing=factors.differing,
        one_sided=factors.one_sided,
    )


def _factors(curve: Curve, systems: Mapping[str, SystemSummary]) -> Factors:
    assert curve.peak is not None, "only rates may have none"
    level = curve.peak.level
    point_factors = {"workload": curve.workload, "connections": str(level.connections)}
    if level.connections_per_instance is not None:
        point_factors[PER_INSTANCE] = str(level.connections_per_instance)
    return factors_of(systems[curve.system], point_factors)
