"""Whether the second of two systems is faster or slower than the first: by cell, and over all of them.

The unit is the repetition. Two systems of one study are compared within its repetitions, so that what a repetition has
in common (the hour, the state of the machine) cancels: paired t on logarithms. Two studies share no repetitions:
Welch's t. How a machine moves between the times of two studies shows only across sessions (`compare_sides`). Over all
cells together the unit is again the repetition: the mean of the logarithms of its cells. Where repetitions are missing
the intervals are those within single runs, and no verdict is given. Duets are compared by their turns, and studies
that went on until their answer was decided by intervals that allow that (`compare_cells`). Where the machine was not
equally fast for both sides there is no verdict (`compare_cells`).

All verdicts of a metric are corrected together (`compare_verdicts`). p99 is that of each repetition, compared in the
same way. Capacities are a metric of their own (`compare_capacities`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import TypeVar

from plimsoll import __version__
from plimsoll.analyse.answers.compare_capacities import (
    capacity_differences,
    capacity_pairs,
    capacity_places,
    compare_capacities,
    objective_label,
)
from plimsoll.analyse.answers.compare_cells import (
    CellKey,
    ComparedConditions,
    ComparedRatio,
    Sample,
    by_cell,
    compared_conditions,
    response,
    samples_together,
    throughput,
)
from plimsoll.analyse.answers.compare_model import (
    CapacityComparison,
    CellComparison,
    CompareAnswer,
    Metric,
    MetricComparison,
    Sessions,
)
from plimsoll.analyse.answers.compare_sides import Design, Side, condition_differences, span
from plimsoll.analyse.answers.compare_verdicts import GatePlace, GateRule, judge_gates, judged
from plimsoll.analyse.findings.finding_model import Finding, Grade, make_finding, of_verdict
from plimsoll.analyse.study.cell_model import EQUAL_WITHIN, SpreadKind
from plimsoll.analyse.study.cells import level_of
from plimsoll.analyse.study.environments import began_unix_s
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.errors import SpecError


@dataclass(frozen=True, slots=True)
class _Cells:
    """What both sides have at each workload and level, in one order.

    Attributes:
        overall: Throughput over all cells together; None where there is at most one.
        parts: The cells that this is the mean of.
    """

    keys: Sequence[CellKey]
    base: dict[CellKey, list[TrialSummary]]
    system: dict[CellKey, list[TrialSummary]]
    throughput: Sequence[Sample]
    response: Sequence[Sample]
    overall: Sample | None
    parts: Sequence[int]


def compare_sides(
    base: Side,
    system: Side,
    *,
    design: Design,
    rules: Sequence[GateRule] = (),
    equal_within: float = EQUAL_WITHIN,
) -> CompareAnswer:
    """Compares two systems at every workload and level that both have, and their capacities.

    Args:
        base: What is compared with.
        system: What is compared.
        design: How the two were measured against each other.
        rules: Of `--fail-if`.
        equal_within: Share within which the two count as equal.

    Raises:
        SpecError: They have no workload with a level or an objective in common.
    """
    cells, pairs = _cells(base, system, design), capacity_pairs(base, system, design.baselines)
    conditions = compared_conditions(base, system)
    of_both = [pair for pair in pairs if pair.is_of_both]
    if not cells.keys and not of_both:
        raise SpecError(
            f"{base.facts.name} and {system.facts.name} have no workload and level, and no capacity at one objective,"
            f" in common: {_has(base)}; {_has(system)}"
        )
    comparisons, overall = _compare_cells(cells, design, equal_within, conditions)
    capacities, over_capacities = compare_capacities(of_both, conditions, design=design, equal_within=equal_within)
    overall = overall or over_capacities
    assert overall is not None, "there is a cell, or a capacity"
    places = [*_places(cells, comparisons, overall, design), *capacity_places(pairs, conditions, design=design)]
    differing = [*capacity_differences(pairs), *condition_differences(base.all_trials, system.all_trials)]
    is_measured = all(trial.trial.origin.kind == "measured" for trial in (*base.all_trials, *system.all_trials))
    overall = _graded(overall, is_measured=is_measured)
    comparisons = [_graded(comparison, is_measured=is_measured) for comparison in comparisons]
    capacities = [_graded(capacity, is_measured=is_measured) for capacity in capacities]
    return CompareAnswer(
        **overall.model_dump(include=set(MetricComparison.model_fields)),
        plimsoll_version=__version__,
        base=base.facts,
        system=system.facts,
        is_paired=design.is_paired,
        at_any_look=design.at_any_look,
        is_duet=any(sample.turns is not None for sample in cells.throughput),
        sessions=design.sessions,
        baselines=tuple(baseline.facts for baseline in design.baselines),
        differing=tuple(differing),
        comparisons=tuple(comparisons),
        capacities=tuple(capacities),
        gates=judge_gates(rules, places),
        notes=tuple(
            notes(
                base,
                system,
                comparisons,
                capacities,
                design=design,
                only=(cells.base.keys() - cells.system.keys(), cells.system.keys() - cells.base.keys()),
            )
        ),
    )


Compared = TypeVar("Compared", bound=MetricComparison)


def _graded(compared: Compared, *, is_measured: bool) -> Compared:
    """A comparison, and that of its p99 where it has one, with how well it is known."""
    is_single = compared.low is None or compared.basis is SpreadKind.WITHIN_RUN
    grade = (
        Grade.UNKNOWN
        if compared.ratio is None
        else of_verdict(compared.verdict, is_measured=is_measured and not is_single)
    )
    update: dict[str, object] = {"grade": grade}
    if isinstance(compared, CellComparison) and compared.p99 is not None:
        update["p99"] = _graded(compared.p99, is_measured=is_measured)
    return compared.model_copy(update=update)


def _cells(base: Side, system: Side, design: Design) -> _Cells:
    of_base, of_system = by_cell(base.trials), by_cell(system.trials)
    order = {workload: index for index, workload in enumerate(dict.fromkeys(workload for workload, _ in of_base))}
    keys = sorted(of_base.keys() & of_system.keys(), key=lambda key: (order[key[0]], key[1]))
    baselines = [by_cell(side.trials) for side in design.baselines]
    at = [(of_base[key], of_system[key], design, [side[key] for side in baselines]) for key in keys]
    samples = [throughput(*each) for each in at]
    parts = [index for index, key in enumerate(keys) if not key[1][0]] or list(range(len(keys)))
    overall = (
        samples[parts[0]]
        if len(parts) == 1
        else samples_together([samples[index] for index in parts])
        if parts
        else None
    )
    return _Cells(
        keys=keys,
        base=of_base,
        system=of_system,
        throughput=samples,
        response=[response(*each) for each in at],
        overall=overall if len(keys) > 1 else None,
        parts=parts,
    )


def _compare_cells(
    cells: _Cells, design: Design, equal_within: float, conditions: ComparedConditions
) -> tuple[list[CellComparison], MetricComparison | None]:
    """Every cell, and all of them together; of those that met unlike conditions nothing is said."""
    unlike = [conditions.at([key]) for key in cells.keys]
    over_all = [] if cells.overall is None else [conditions.at([cells.keys[index] for index in cells.parts])]
    of_throughput = judged(
        cells.throughput, design, equal_within, [*unlike, *over_all], overall=cells.overall, parts=cells.parts
    )
    of_response = judged(cells.response, design, equal_within, unlike, higher_is_slower=True)
    comparisons = [
        CellComparison(
            **comparison.model_dump(),
            workload=key[0],
            level=level_of(cells.base[key][0].trial),
            p99=p99 if p99.ratio else None,
        )
        for key, comparison, p99 in zip(cells.keys, of_throughput, of_response, strict=False)
    ]
    return comparisons, of_throughput[-1] if of_throughput else None


def _places(
    cells: _Cells, comparisons: Sequence[CellComparison], overall: MetricComparison, design: Design
) -> Iterator[GatePlace]:
    """Where the rules are tested; where both sides met unlike conditions nothing can be."""
    for cell, tps, times in zip(comparisons, cells.throughput, cells.response, strict=True):
        samples = {Metric.THROUGHPUT: tps, Metric.P99: times}
        yield GatePlace(
            (cell.workload, cell.level.label() or "level not known"),
            {metric: _tested(sample, design, cell) for metric, sample in samples.items()},
            is_dead=bool(cell.base_value) and cell.system_value == 0.0,
        )
    if cells.overall is not None:
        yield GatePlace(("", ""), {Metric.THROUGHPUT: _tested(cells.overall, design, overall)})


def _tested(sample: Sample, design: Design, metric_comparison: MetricComparison) -> ComparedRatio | None:
    """What a rule is tested by; None where both sides met unlike conditions, or sessions were not compared."""
    if metric_comparison.unlike is not None or design.sessions is Sessions.APART:
        return None
    return sample.ratio(design)


def _has(side: Side) -> str:
    levels: dict[str, dict[str, None]] = {}
    for trial in side.trials:
        level = trial.trial.level.label() or "a level that is not known"
        levels.setdefault(trial.trial.workload.name, {})[level] = None
    for search in side.searches:
        capacity = f"a capacity ({objective_label(search.capacity.objective)})"
        levels.setdefault(search.workload, {})[capacity] = None
    texts = [f"{workload} at {', '.join(level)}" for workload, level in levels.items()]
    return f"{side.facts.name} has {'; '.join(texts) or 'only runs of searches that are not known'}"


_APART_S = 3600.0
_WITHIN_STUDY = SpreadKind.WITHIN_STUDY


def notes(
    base: Side,
    system: Side,
    cells: Sequence[CellComparison],
    capacities: Sequence[CapacityComparison],
    *,
    design: Design,
    only: tuple[Set[object], Set[object]],
) -> Iterator[Finding]:
    """What limits a comparison, the gravest first.

    Args:
        base: The first side.
        system: The second.
        cells: What was compared at levels.
        capacities: Which capacities were compared.
        design: How both sides were measured against each other.
        only: Cells that only the first, and only the second side has.
    """
    yield from _of_few_repetitions(cells, capacities)
    yield from _of_sessions(base, system, design)
    if any(cell.level.kind.is_at_rate for cell in cells):
        yield make_finding("at-a-rate")
    for side in (base, system):
        yield from _left_out(side)
    if only[0] or only[1]:
        yield make_finding("cells-unmatched", base_count=len(only[0]), system_count=len(only[1]))
    for side in (base, system):
        codes = Counter(
            code for trial in side.answering for code in {warning.code for warning in trial.outcome.warnings}
        )
        if codes:
            yield make_finding("recorded-warnings", system=side.facts.name, codes=tuple(codes.most_common()))


def _left_out(side: Side) -> Iterator[Finding]:
    facts = side.facts
    if facts.left_out_count:
        yield make_finding("trials-left-out", system=facts.name, trials_count=facts.left_out_count)
    if facts.unfinished_count:
        yield make_finding("searches-unfinished", system=facts.name, searches_count=facts.unfinished_count)


def _of_few_repetitions(cells: Sequence[CellComparison], capacities: Sequence[CapacityComparison]) -> Iterator[Finding]:
    untestable = sum(cell.verdict is RatioVerdict.UNTESTABLE for cell in cells if cell.basis is not _WITHIN_STUDY)
    if any(cell.basis is SpreadKind.WITHIN_RUN for cell in cells):
        yield make_finding("within-run-only")
    elif untestable:
        yield make_finding("untestable-cells", cells_count=untestable, of_count=len(cells))
    if any(_is_of_single_searches(capacity) for capacity in capacities):
        yield make_finding("single-searches")


def _is_of_single_searches(capacity_comparison: CapacityComparison) -> bool:
    is_open = capacity_comparison.verdict is RatioVerdict.UNTESTABLE and capacity_comparison.ratio is not None
    return is_open and min(capacity_comparison.base_repetitions, capacity_comparison.system_repetitions) == 1


def _of_sessions(base: Side, system: Side, design: Design) -> Iterator[Finding]:
    """What is known of how the machine moved between the times of both."""
    apart_s = _apart_s(base, system) or 0.0
    match design.sessions:
        case Sessions.ONE_STUDY if apart_s > _APART_S:
            yield make_finding("measured-apart", apart_h=apart_s / 3600)
        case Sessions.APART:
            yield make_finding("sessions-not-compared", apart_h=apart_s / 3600)
        case Sessions.BASELINE:
            spans = [times for baseline in (base, *design.baselines) if (times := span(baseline)) is not None]
            covered_s = max(last for _, last in spans) - min(first for first, _ in spans)
            yield make_finding("baselines", names=tuple(baseline.facts.name for baseline in design.baselines))
            if apart_s > covered_s:
                yield make_finding("baselines-shorter", covered_h=covered_s / 3600, apart_h=apart_s / 3600)
        case Sessions.UNKNOWN:
            yield make_finding("times-not-known")


def _apart_s(base: Side, system: Side) -> float | None:
    """Between the trials of one side and those of the other; None where they overlap or nothing is known."""
    times = [[began for trial in side.answering if (began := began_unix_s(trial.trial))] for side in (base, system)]
    if not all(times):
        return None
    return max(min(times[1]) - max(times[0]), min(times[0]) - max(times[1]), 0.0) or None
