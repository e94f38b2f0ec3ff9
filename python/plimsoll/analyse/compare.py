"""Whether the second of two systems is faster or slower than the first: by workload and level, and over all of them.

The unit is the repetition. Two systems of one study are compared within its repetitions, so that what a repetition has
in common (the hour, the state of the machine) cancels: paired t on logarithms. Two studies share no repetitions:
Welch's t. What lies between the times of two studies counts as a difference of the systems; nothing in the recordings
tells the two apart. Over all cells together the unit is again the repetition: the mean of the logarithms of its cells.
Where repetitions are missing the intervals are those within single runs, and no verdict is given.

All verdicts of a metric are corrected together (`comparison`). p99 is that of each repetition, compared in the same
way.

Deliberately not here: reading recordings, rules of `--fail-if` (`gate`), and sentences (`plimsoll.guide.compare`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll import __version__
from plimsoll.analyse.cell_model import SpreadKind
from plimsoll.analyse.cells import level_of
from plimsoll.analyse.compare_model import (
    CellComparison,
    CompareAnswer,
    Metric,
    MetricComparison,
)
from plimsoll.analyse.compare_notes import notes
from plimsoll.analyse.compared_side import Side
from plimsoll.analyse.compared_trial import p99_ms
from plimsoll.analyse.comparison import EQUAL_WITHIN, Comparison, LogRatio, judge, repetition_ratio, welch
from plimsoll.analyse.differing_conditions import condition_differences
from plimsoll.analyse.gate import GatePlace, GateRule, judge_gates
from plimsoll.analyse.model import DifferenceVerdict
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.analyse.within_run import MeanVariance
from plimsoll.errors import SpecError
from plimsoll.record.level import Level

_Key = tuple[str, tuple[bool, float]]
"""Workload and order of the level."""

Values = Mapping[int, float]
"""A figure of each repetition."""


@dataclass(frozen=True, slots=True)
class _Sample:
    """A figure of both sides in one place.

    Attributes:
        base: By repetition.
        system: By repetition.
        within: Variance of the logarithm of the ratio as it shows within one run of each side; None for more runs.
    """

    base: Values
    system: Values
    within: MeanVariance | None = None

    def ratio(self, *, paired: bool) -> LogRatio | None:
        """By repetitions, else within the runs; None where neither is known."""
        base, system = self.base, self.system
        if min((*base.values(), *system.values()), default=0.0) <= 0.0:
            return None
        common = sorted(base.keys() & system.keys()) if paired else []
        if len(common) >= 2:
            found = repetition_ratio([base[one] for one in common], [system[one] for one in common], paired=True)
        else:
            found = repetition_ratio(list(base.values()), list(system.values()), paired=False)
        if found is not None or self.within is None or self.within.variance == 0.0:
            return found
        return LogRatio(
            value=math.log(sum(system.values()) / sum(base.values())),
            variance=self.within,
            repetitions=1,
            basis=SpreadKind.WITHIN_RUN,
            method="Welch's t on logarithms, within one run of each: repetitions may differ more",
        )


def compare_sides(
    base: Side,
    system: Side,
    *,
    is_paired: bool,
    rules: Sequence[GateRule] = (),
    equal_within: float = EQUAL_WITHIN,
) -> CompareAnswer:
    """Compares two systems at every workload and level that both have.

    Args:
        base: What is compared with.
        system: What is compared.
        is_paired: Whether equal repetitions of both were measured next to each other, as within one study.
        rules: Of `--fail-if`.
        equal_within: Share within which the two count as equal.

    Raises:
        SpecError: They have no workload and level in common.
    """
    one, other = _by_cell(base.trials), _by_cell(system.trials)
    order = {workload: index for index, workload in enumerate(dict.fromkeys(workload for workload, _ in one))}
    keys = sorted(one.keys() & other.keys(), key=lambda key: (order[key[0]], key[1]))
    if not keys:
        raise SpecError(
            f"{base.facts.name} and {system.facts.name} have no workload and level in common: {_cells_text(base)};"
            f" {_cells_text(system)}"
        )
    throughput = [_throughput(one[key], other[key]) for key in keys]
    response = [_response(one[key], other[key]) for key in keys]
    closed = [index for index, key in enumerate(keys) if not key[1][0]] or list(range(len(keys)))
    overall = throughput[closed[0]] if len(closed) == 1 else _together([throughput[index] for index in closed])
    is_family = len(keys) > 1
    of_throughput = _judged([*throughput, *([overall] if is_family else [])], is_paired, equal_within)
    of_response = _judged(response, is_paired, equal_within, higher_is_slower=True)
    cells = tuple(
        CellComparison(
            **found.model_dump(), workload=key[0], level=level_of(one[key][0].trial), p99=p99 if p99.ratio else None
        )
        for key, found, p99 in zip(keys, of_throughput, of_response, strict=False)
    )
    places = [
        GatePlace(
            _place(cell),
            {Metric.THROUGHPUT: tps.ratio(paired=is_paired), Metric.P99: times.ratio(paired=is_paired)},
            is_dead=bool(cell.base_value) and cell.system_value == 0.0,
        )
        for cell, tps, times in zip(cells, throughput, response, strict=True)
    ]
    if is_family:
        places.append(GatePlace(("", ""), {Metric.THROUGHPUT: overall.ratio(paired=is_paired)}))
    return CompareAnswer(
        **of_throughput[-1].model_dump(),
        plimsoll_version=__version__,
        base=base.facts,
        system=system.facts,
        is_paired=is_paired,
        differing=tuple(condition_differences(base.trials, system.trials)),
        comparisons=cells,
        gates=judge_gates(rules, places),
        notes=tuple(notes(base, system, cells, only=(one.keys() - other.keys(), other.keys() - one.keys()))),
    )


def _by_cell(trials: Sequence[TrialSummary]) -> dict[_Key, list[TrialSummary]]:
    found: dict[_Key, list[TrialSummary]] = {}
    for one in trials:
        found.setdefault((one.trial.workload.name, one.trial.level.order), []).append(one)
    return found


def _place(cell: CellComparison) -> tuple[str, str]:
    return cell.workload, cell.level.label() or "level not known"


def _cells_text(side: Side) -> str:
    levels: dict[str, dict[str, None]] = {}
    for one in side.trials:
        levels.setdefault(one.trial.workload.name, {})[_level_text(one.trial.level)] = None
    texts = [f"{workload} at {', '.join(found)}" for workload, found in levels.items()]
    return f"{side.facts.name} has {'; '.join(texts)}"


def _level_text(level: Level) -> str:
    return level.label() or "a level that is not known"


def _throughput(base: Sequence[TrialSummary], system: Sequence[TrialSummary]) -> _Sample:
    within = [one.within for one in (*base, *system)]
    known = [one for one in within if one is not None]
    is_single = len(base) == len(system) == 1 and len(known) == 2
    return _Sample(
        _numbered(base, [one.throughput_tps for one in base]),
        _numbered(system, [one.throughput_tps for one in system]),
        welch([(one.variance, one.degrees) for one in known]) if is_single else None,
    )


def _response(base: Sequence[TrialSummary], system: Sequence[TrialSummary]) -> _Sample:
    """Where one repetition has none, the others would be a choice: then the cell has none."""
    one, other = ([p99_ms(trial) for trial in side] for side in (base, system))
    known, others = ([value for value in side if value is not None] for side in (one, other))
    if len(known) < len(base) or len(others) < len(system):
        return _Sample({}, {})
    return _Sample(_numbered(base, known), _numbered(system, others))


def _numbered(trials: Sequence[TrialSummary], values: Sequence[float]) -> Values:
    """Values by repetition; by their place where the source gave several trials one number."""
    numbers = [one.trial.repetition for one in trials]
    return dict(zip(numbers if len(set(numbers)) == len(numbers) else range(len(values)), values, strict=True))


def _together(samples: Sequence[_Sample]) -> _Sample:
    """The geometric mean over cells of each repetition that all cells have."""
    within = [one.within for one in samples]
    known = [one for one in within if one is not None]
    spread = welch([(one.variance / len(known) ** 2, one.degrees) for one in known]) if known else None
    return _Sample(
        _geometric([one.base for one in samples]),
        _geometric([one.system for one in samples]),
        spread if len(known) == len(samples) else None,
    )


def _geometric(cells: Sequence[Values]) -> Values:
    common = sorted(set.intersection(*(set(one) for one in cells)))
    if any(one[number] <= 0.0 for one in cells for number in common):
        return dict.fromkeys(common, 0.0)
    return {number: math.exp(sum(math.log(one[number]) for one in cells) / len(cells)) for number in common}


def _judged(
    samples: Sequence[_Sample], paired: bool, equal_within: float, *, higher_is_slower: bool = False
) -> list[MetricComparison]:
    """Judges a family; a place without repetitions has no verdict and is no part of it."""
    ratios = [sample.ratio(paired=paired) for sample in samples]
    family = [one for one in ratios if one is not None and one.basis is not SpreadKind.WITHIN_RUN]
    verdicts = iter(judge(family, equal_within=equal_within))
    return [
        _compared(
            sample,
            ratio,
            next(verdicts) if ratio is not None and ratio.basis is not SpreadKind.WITHIN_RUN else None,
            equal_within=equal_within,
            higher_is_slower=higher_is_slower,
        )
        for sample, ratio in zip(samples, ratios, strict=True)
    ]


_SWAPPED = {DifferenceVerdict.FASTER: DifferenceVerdict.SLOWER, DifferenceVerdict.SLOWER: DifferenceVerdict.FASTER}


def _compared(
    sample: _Sample,
    ratio: LogRatio | None,
    judged: Comparison | None,
    *,
    equal_within: float,
    higher_is_slower: bool,
) -> MetricComparison:
    estimate = None if ratio is None else ratio.estimate()
    bounds = None if estimate is None else estimate.bounds
    verdict = DifferenceVerdict.UNTESTABLE if judged is None else judged.verdict
    base, system = _mean(sample.base), _mean(sample.system)
    plain = system / base if base and system is not None else None
    return MetricComparison(
        ratio=plain if estimate is None else estimate.value,
        low=None if bounds is None else bounds.low,
        high=None if bounds is None else bounds.high,
        verdict=_SWAPPED.get(verdict, verdict) if higher_is_slower else verdict,
        repetitions_needed=None if judged is None else judged.repetitions_needed,
        equal_within=equal_within,
        smallest_effect=None if judged is None else judged.smallest_effect,
        base_value=base,
        system_value=system,
        base_repetitions=len(sample.base),
        system_repetitions=len(sample.system),
        basis=None if ratio is None else ratio.basis,
        method="" if ratio is None else ratio.method,
    )


def _mean(values: Values) -> float | None:
    return sum(values.values()) / len(values) if values else None
