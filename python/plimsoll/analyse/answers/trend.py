"""Studies that ask the same question, in order: whether the level of a figure changed, since which study, by how much.

The unit is the study. Its repetitions share a session of a machine, so they say nothing of how sessions differ
(`compare_sides`); here the other studies say it. Shifts are found by ranks (`plimsoll.stats.level_shifts`), and places
of one metric are corrected together (Holm). How large a shift is follows from the means of the logarithms on both
sides, with the spread of studies around their levels and the memory of neighbours (t test).

A study whose machine was disturbed for too long is no part of what is tested, by the rule that holds for cells
(`conditions.is_disturbed`), over the seconds of all studies together. Where that is so of most studies, none of them is
an exception: all are tested, and what is found is indicated and not measured. Where the studies before and after a
shift met unlike conditions nothing is said of its size, and neither of the newest studies.

The rules of `--fail-if` compare the newest studies with those before them, back to the last shift that is older for
sure (by its confidence set). They are tested on each begin among the newest, also where a shift was found there: its
place is an estimate, and the ratio at a begin too early is too small. The worst counts: with its chance times their
number where a rule would fail (Bonferroni), and as it is where a rule would pass, since all of them must
(`compare_verdicts`).

Assumptions: the logarithms of studies around their level are about normal and as far spread in all of the history.
Deliberately not here: reading studies (`plimsoll.guide.sides`), and words (`plimsoll.guide.trend`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np

from plimsoll import __version__
from plimsoll.analyse.answers.compare_capacities import place_of
from plimsoll.analyse.answers.compare_cells import CellKey, by_cell
from plimsoll.analyse.answers.compare_model import ConditionDifference, Metric
from plimsoll.analyse.answers.compare_sides import Side
from plimsoll.analyse.answers.compare_verdicts import GatePlace, GateRule, judge_gates
from plimsoll.analyse.answers.trend_model import TrendAnswer, TrendPlace, TrendPoint, TrendShift, TrendStudy
from plimsoll.analyse.findings.finding_model import Finding, Grade, make_finding, of_verdict, worst
from plimsoll.analyse.study.capacities import capacities, deciding_runs
from plimsoll.analyse.study.cell_model import EQUAL_WITHIN, Bounds, Estimate, SpreadKind
from plimsoll.analyse.study.cells import level_of
from plimsoll.analyse.study.comparison import ALPHA, NO_SPREAD, LogRatio, judge
from plimsoll.analyse.study.conditions import is_disturbed, met_by, together, unlike
from plimsoll.analyse.study.environments import began_unix_s, changes
from plimsoll.analyse.study.systems import option_text
from plimsoll.analyse.study.throughput import cell_figure
from plimsoll.analyse.trial.condition_model import Disturbance, UnlikeConditions
from plimsoll.analyse.trial.trial_summary import TrialSummary, p99_ms
from plimsoll.errors import SpecError
from plimsoll.record.capacity import CapacityObjective
from plimsoll.record.level import Level
from plimsoll.record.model import TrialRecord
from plimsoll.stats.level_shifts import (
    SHORTEST,
    Levels,
    ShiftKind,
    chance_of_any,
    detectable_shift,
    level_shifts,
    with_begin,
)
from plimsoll.stats.significance import holm
from plimsoll.stats.variance import MeanVariance

POWER = 0.9
"""Share of histories in which a detectable shift is found."""

NEWEST = 5
"""So many studies count as the newest, unless the user says otherwise."""

_CHANGES_MAX = 50
"""Of one study; another version has hundreds of variables that the one before it lacks."""

STUDIES_NEEDED = 2


@dataclass(frozen=True, slots=True)
class PastStudy:
    """One study of the history.

    Attributes:
        name: As the user wrote it.
        sides: Its systems, each with at least one complete trial; empty where no trial is complete.
        failed: Its trials, where none is complete.
    """

    name: str
    sides: Sequence[Side]
    failed: Sequence[TrialRecord] = ()

    @property
    def trials(self) -> list[TrialSummary]:
        """All of them, runs of searches included."""
        return [trial for side in self.sides for trial in side.all_trials]

    @property
    def _records(self) -> list[TrialRecord]:
        return [trial.trial for trial in self.trials] or list(self.failed)

    @property
    def labels(self) -> dict[str, str]:
        """Those that all of its trials have."""
        labels = [record.labels for record in self._records] or [{}]
        return {name: value for name, value in labels[0].items() if all(of.get(name) == value for of in labels)}

    @property
    def began_unix_s(self) -> float | None:
        """When its first trial began; None where that is not known of every trial."""
        begins = [began_unix_s(record) for record in self._records]
        return min(begins) if begins and all(begins) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where figures of several studies are compared.

    Attributes:
        level: Of the load; None for a capacity.
        objective: Of a capacity; None for a level.
        is_measured: Here, and not imported.
    """

    system: str
    workload: str
    level: Level | None = None
    objective: CapacityObjective | None = None
    is_measured: bool = True


@dataclass(frozen=True, slots=True)
class _Series:
    """One metric of one place.

    Attributes:
        points: By study.
        is_mostly_disturbed: The machine was disturbed in most studies, so that those count too.
    """

    place: _Place
    metric: Metric
    points: tuple[TrendPoint, ...]
    is_mostly_disturbed: bool = False

    @property
    def used(self) -> list[TrendPoint]:
        """The points that are tested."""
        return [point for point in self.points if point.is_used]

    @property
    def sense(self) -> float:
        """1 where more is faster, -1 where more is slower."""
        return -1.0 if self.metric is Metric.P99 else 1.0

    @property
    def speeds(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Logarithms, turned so that more is faster."""
        return self.sense * np.log([point.value.value for point in self.used])


def trend(
    studies: Sequence[PastStudy],
    *,
    order_by: str | None = None,
    rules: Sequence[GateRule] = (),
    newest: int = NEWEST,
    equal_within: float = EQUAL_WITHIN,
) -> TrendAnswer:
    """Finds what changed over studies that ask the same question.

    Args:
        studies: At least two with a complete trial. Others are left out, with a note.
        order_by: The label whose values order them; None for the time.
        rules: Of `--fail-if`.
        newest: How many studies count as the newest at most.
        equal_within: Share within which two levels count as equal.

    Raises:
        SpecError: They are too few, lack the label, do not ask the same question, or have no place in common.
    """
    complete = [study for study in studies if study.sides]
    if len(complete) < STUDIES_NEEDED:
        raise SpecError(
            "trend: name the folders of at least two studies"
            + (" that have a complete trial" if len(studies) > len(complete) else "")
        )
    _refuse_other_questions(complete)
    ordered, ordered_by = _ordered(complete, order_by)
    is_newest_empty = _is_newest_empty(studies, ordered[-1], ordered_by)
    series = _all_series(ordered)
    if not series:
        raise SpecError("trend: the studies have no system, workload and level, and no capacity, in common")
    places, tested = _judged(series, newest, equal_within)
    return TrendAnswer(
        plimsoll_version=__version__,
        grade=_grade(places, ordered),
        ordered_by=ordered_by,
        studies=tuple(_study(study, before) for before, study in zip([None, *ordered], ordered, strict=False)),
        places=tuple(places),
        newest=newest,
        gates=judge_gates(rules, list(_gate_places(places, tested, len(ordered) + is_newest_empty))),
        notes=(
            *_empty_notes(studies, is_newest=is_newest_empty and bool(rules)),
            *_notes(ordered, places, ordered_by),
        ),
    )


def _refuse_other_questions(studies: Sequence[PastStudy]) -> None:
    """One workload has the same kind and options in every study."""
    first: dict[str, tuple[str, Mapping[str, object]]] = {}
    faults = []
    for study in studies:
        for name, workload in {trial.trial.workload.name: trial.trial.workload for trial in study.trials}.items():
            options = {"kind": workload.kind, **workload.options}
            where, known = first.setdefault(name, (study.name, options))
            for option in sorted(known.keys() & options.keys()):
                if known[option] != options[option]:
                    values = option_text(options[option]), option_text(known[option])
                    faults.append(
                        f"{study.name}: asks another question: {option} of workload {name} is {values[0]}, and"
                        f" {values[1]} in {where}"
                    )
    if faults:
        raise SpecError(*faults[:10])


def _ordered(studies: Sequence[PastStudy], label: str | None) -> tuple[list[PastStudy], str]:
    if label is not None:
        missing = [f"{study.name}: has no label {label!r}" for study in studies if label not in study.labels]
        if missing:
            raise SpecError(*missing[:10])
        return sorted(studies, key=lambda study: natural(study.labels[label])), label
    if any(study.began_unix_s is None for study in studies):
        return list(studies), "given"
    return sorted(studies, key=lambda study: study.began_unix_s or 0.0), "time"


def _is_newest_empty(studies: Sequence[PastStudy], newest: PastStudy, ordered_by: str) -> bool:
    """Whether a study without a complete trial is newer than the newest other one.

    One that does not say where it stands in the order is, if it was named behind all others.
    """
    last = max(number for number, study in enumerate(studies) if study.sides)
    for number, study in enumerate(studies):
        if study.sides:
            continue
        if ordered_by == "time" and study.began_unix_s is not None and newest.began_unix_s is not None:
            is_newer = study.began_unix_s > newest.began_unix_s
        elif ordered_by in study.labels and ordered_by in newest.labels:
            is_newer = natural(study.labels[ordered_by]) > natural(newest.labels[ordered_by])
        else:
            is_newer = number > last
        if is_newer:
            return True
    return False


def natural(text: str) -> list[tuple[bool, int, str]]:
    """A key by which numbers within text count as numbers.

    >>> sorted(["11.10", "11.4", "9.0"], key=natural)
    ['9.0', '11.4', '11.10']
    """
    parts = re.findall(r"[0-9]{1,18}|[^0-9]+|[0-9]+", text)
    return [
        (part.isascii() and part.isdigit(), int(part) if part.isascii() and part.isdigit() else 0, part)
        for part in parts
    ]


def _all_series(studies: Sequence[PastStudy]) -> list[_Series]:
    """Every metric of every place that at least two studies have: levels rising, then capacities."""
    met_of = iter(met_by([trial for study in studies for trial in study.trials]))
    cells: dict[tuple[str, CellKey], dict[int, list[tuple[TrialSummary, Disturbance | None]]]] = {}
    searched: dict[tuple[str, str, str], tuple[_Place, list[TrendPoint]]] = {}
    for index, study in enumerate(studies):
        for side in study.sides:
            met = {trial.trial.trial_id: next(met_of) for trial in side.all_trials}
            for key, trials in by_cell(side.trials).items():
                pairs = [(trial, met[trial.trial.trial_id]) for trial in trials]
                cells.setdefault((trials[0].trial.system.name, key), {})[index] = pairs
            for place, point in _capacity_points(index, side, met):
                key_of_capacity = place.system, place.workload, str(place.objective)
                searched.setdefault(key_of_capacity, (place, []))[1].append(point)
    order = {key: number for number, key in enumerate(dict.fromkeys((key[0], key[1][0]) for key in cells))}
    in_order = sorted(cells.items(), key=lambda cell: (order[cell[0][0], cell[0][1][0]], cell[0][1][1]))
    series = [_of_level(by_study, metric) for _, by_study in in_order for metric in Metric]
    series += [_Series(place, Metric.THROUGHPUT, tuple(points)) for place, points in searched.values()]
    return [_without_disturbed(each) for each in series if len(each.points) >= STUDIES_NEEDED]


def _of_level(by_study: Mapping[int, Sequence[tuple[TrialSummary, Disturbance | None]]], metric: Metric) -> _Series:
    points = []
    for index, trials in sorted(by_study.items()):
        values = [trial.throughput_tps if metric is Metric.THROUGHPUT else p99_ms(trial) for trial, _ in trials]
        known = [value for value in values if value is not None]
        figure = cell_figure(known)
        if len(known) == len(values) and figure is not None:  # otherwise the others would be a choice
            estimate = Estimate(value=figure, bounds=_within_study(known), trial_count=len(known))
            points.append(_point(index, estimate, together(met for _, met in trials)))
    first = next(iter(by_study.values()))[0][0].trial
    place = _Place(
        system=first.system.name,
        workload=first.workload.name,
        level=level_of(first),
        is_measured=first.origin.kind == "measured",
    )
    return _Series(place, metric, tuple(points))


def _capacity_points(
    index: int, side: Side, met: Mapping[str, Disturbance | None]
) -> Iterator[tuple[_Place, TrendPoint]]:
    """The capacities of a system in one study; what searches found there is what is known of the machine, too."""
    for capacity in capacities(side.searches):
        if capacity.capacity_tps is not None:
            disturbance = together(met.get(trial_id) for trial_id in deciding_runs([capacity]))
            place = _Place(system=side.facts.system, workload=capacity.workload, objective=capacity.objective)
            yield place, _point(index, capacity.capacity_tps, disturbance)


def _point(index: int, estimate: Estimate, disturbance: Disturbance | None) -> TrendPoint:
    return TrendPoint(study_index=index, value=estimate, disturbance=disturbance, is_used=estimate.value > 0.0)


def _without_disturbed(series: _Series) -> _Series:
    """The same without the disturbed studies, unless most are."""
    disturbed = [is_disturbed(point.disturbance) for point in series.points]
    if 2 * sum(disturbed) > len(disturbed):
        return replace(series, is_mostly_disturbed=True)
    points = [
        point.model_copy(update={"is_used": False}) if is_left_out else point
        for point, is_left_out in zip(series.points, disturbed, strict=True)
    ]
    return replace(series, points=tuple(points))


def _within_study(values: Sequence[float]) -> Bounds | None:
    if len(values) < 2 or min(values) <= 0.0:
        return None
    logs = np.log(values)
    variance = MeanVariance(float(logs.var(ddof=1)) / len(values), len(values) - 1)
    mean, width = float(logs.mean()), variance.half_width()
    if variance.variance <= NO_SPREAD or width > 10:
        return None
    return Bounds(
        low=math.exp(mean - width),
        high=math.exp(mean + width),
        basis=SpreadKind.WITHIN_STUDY,
        degrees=variance.degrees,
        method="t on logarithms of the repetitions of one study",
    )


class NewestRatio:
    """The newest studies over those before them, by each begin among them: a ratio of which any limit can be tested.

    Each begin is one hypothesis. That some begin is beyond a limit is tested by the clearest, times their number; that
    none is, by the least clear.

    Attributes:
        basis: What they rest on.
    """

    def __init__(self, ratios: Sequence[LogRatio], *, higher_is_slower: bool) -> None:
        assert ratios, "there is a begin"
        self._ratios, self._higher_is_slower = ratios, higher_is_slower
        self.basis: SpreadKind | None = SpreadKind.SESSIONS

    @property
    def worst(self) -> LogRatio:
        """That of the slowest newest studies, as far as its interval goes."""
        if self._higher_is_slower:
            return max(self._ratios, key=lambda ratio: ratio.log_limits(0.95)[0])
        return min(self._ratios, key=lambda ratio: ratio.log_limits(0.95)[1])

    @property
    def value(self) -> float:
        """The logarithm of that."""
        return self.worst.value

    def chance_at_most(self, log: float) -> float:
        """P value of "at most exp(log)"."""
        return self._chance([ratio.chance_at_most(log) for ratio in self._ratios], of_any=self._higher_is_slower)

    def chance_at_least(self, log: float) -> float:
        """P value of "at least exp(log)"."""
        return self._chance([ratio.chance_at_least(log) for ratio in self._ratios], of_any=not self._higher_is_slower)

    def further_beyond(self, log: float, alpha: float) -> int | None:
        """None: further studies decide, and no repetitions."""

    @staticmethod
    def _chance(chances: Sequence[float], *, of_any: bool) -> float:
        return min(1.0, min(chances) * len(chances)) if of_any else max(chances)


def _judged(
    all_series: Sequence[_Series], newest: int, equal_within: float
) -> tuple[list[TrendPlace], list[NewestRatio | None]]:
    """Every place with its shifts, and what its newest studies are tested by."""
    places: list[TrendPlace] = []
    tested: list[NewestRatio | None] = []
    levels = _levels(all_series)
    counts = {metric: sum(series.metric is metric for series in all_series) for metric in Metric}
    for series, series_levels in zip(all_series, levels, strict=True):
        alpha, ratios = ALPHA / counts[series.metric], _newest(series, series_levels, newest)
        place = _place(series, series_levels, alpha, newest)
        shifts = tuple(_shift(series, series_levels, index, equal_within) for index in range(len(series_levels.shifts)))
        places.append(place.model_copy(update={"shifts": shifts, **_clearest(series, ratios, alpha, equal_within)}))
        tested.append(
            NewestRatio(list(ratios.values()), higher_is_slower=series.metric is Metric.P99) if ratios else None
        )
    return places, tested


def _levels(all_series: Sequence[_Series]) -> list[Levels]:
    """The stretches of each series: Holm over the series of a metric, by the clearest shift of each."""
    levels: dict[int, Levels] = {}
    for metric in Metric:
        of_metric = [index for index, series in enumerate(all_series) if series.metric is metric]
        least = ALPHA / max(len(of_metric), 1)
        chances = {index: chance_of_any(all_series[index].speeds, least) for index in of_metric}
        corrected = dict(zip(of_metric, holm(list(chances.values())), strict=True))
        for index in of_metric:
            factor = corrected[index] / chances[index]
            alpha = ALPHA / max(factor, 1.0) if corrected[index] <= ALPHA else 0.0
            levels[index] = level_shifts(all_series[index].speeds, alpha)
    return [levels[index] for index in range(len(all_series))]


def _place(series: _Series, levels: Levels, alpha: float, newest: int) -> TrendPlace:
    """A place with what would be found in it."""
    used = series.used
    edges = [0, *(shift.begin for shift in levels.shifts), len(used)]
    size = edges[-1] - edges[-2]
    recent = min(max(newest, SHORTEST), size // 2)
    share = alpha * size / max(len(used), 1)  # stretches are split again at their share of the level
    detectable = detectable_shift(size, recent, round(levels.correlation, 1), share, POWER)
    if detectable.shift is None and recent < size // 2:
        recent = size // 2
        detectable = detectable_shift(size, recent, round(levels.correlation, 1), share, POWER)
    is_known = levels.degrees > 0 and levels.variance > NO_SPREAD and detectable.shift is not None
    ratio = math.exp((detectable.shift or 0.0) * math.sqrt(levels.variance)) if is_known else None
    return TrendPlace(
        system=series.place.system,
        workload=series.place.workload,
        level=series.place.level,
        objective=series.place.objective,
        metric=series.metric,
        points=series.points,
        deviation_ratio=math.sqrt(levels.variance) if levels.degrees > 0 else None,
        correlation=levels.correlation,
        detectable_ratio=ratio,
        detectable_studies=recent,
        detectable_power=detectable.power,
        is_mostly_disturbed=series.is_mostly_disturbed,
    )


def _clearest(series: _Series, ratios: Mapping[int, LogRatio], alpha: float, equal_within: float) -> dict[str, object]:
    """What the newest studies are over those before them, by the most likely begin."""
    if not ratios:
        return {"newest": None, "newest_count": 0}
    speeds = series.speeds

    def left(count: int) -> float:
        return sum(float(((part - part.mean()) ** 2).sum()) for part in np.split(speeds, [len(speeds) - count]))

    count = min(ratios, key=left)
    ratio = ratios[count]
    judged = judge([ratio], alpha=alpha / len(ratios), equal_within=equal_within)[0]
    if series.metric is Metric.P99:
        judged = judged.model_copy(update={"verdict": judged.verdict.inverted})
    return {"newest": judged, "newest_count": count}


def _shift(series: _Series, levels: Levels, index: int, equal_within: float) -> TrendShift:
    used, shift = series.used, levels.shifts[index]
    edges = [0, *(each.begin for each in levels.shifts), len(used)]
    before, after = used[edges[index] : edges[index + 1]], used[edges[index + 1] : edges[index + 2]]
    log_ratio = _log_ratio(before, after, levels)
    change = judge([log_ratio], equal_within=equal_within)[0]
    if series.metric is Metric.P99:
        change = change.model_copy(update={"verdict": change.verdict.inverted})
    conditions = _conditions(before, after)
    change = change if conditions is None else change.withheld
    is_sure = shift.kind in (ShiftKind.LASTING, ShiftKind.ENDED, ShiftKind.RETURN) and not series.is_mostly_disturbed
    grade = of_verdict(change.verdict, is_measured=series.place.is_measured and is_sure)
    return TrendShift(
        study_index=used[shift.begin].study_index,
        earliest_index=used[shift.earliest].study_index,
        latest_index=used[shift.latest].study_index,
        kind=shift.kind,
        change=change,
        chance=shift.chance,
        before_value=_level(before),
        after_value=_level(after),
        unlike=conditions,
        grade=grade,
    )


def _conditions(before: Sequence[TrendPoint], after: Sequence[TrendPoint]) -> UnlikeConditions | None:
    """What the studies on both sides met, where the machine was not equally fast."""
    return unlike(*(together(point.disturbance for point in side) for side in (before, after)))


def _level(points: Sequence[TrendPoint]) -> float:
    return math.exp(math.fsum(math.log(point.value.value) for point in points) / len(points))


@dataclass(frozen=True, slots=True)
class Stretch:
    """Studies of one level.

    Attributes:
        first: Index of the first of them that is tested.
        last: Index of the last one.
        level: Their geometric mean.
    """

    first: int
    last: int
    level: float


def levels_of(place: TrendPlace) -> list[Stretch]:
    """The stretches between the shifts of a place, in their order; none where no study is tested."""
    begins = {shift.study_index for shift in place.shifts}
    stretches: list[list[TrendPoint]] = []
    for point in place.points:
        if point.is_used:
            if not stretches or point.study_index in begins:
                stretches.append([])
            stretches[-1].append(point)
    return [Stretch(points[0].study_index, points[-1].study_index, _level(points)) for points in stretches]


def _log_ratio(before: Sequence[TrendPoint], after: Sequence[TrendPoint], levels: Levels) -> LogRatio:
    """One level over another, by the spread of studies around their levels."""
    variance = sum(levels.variance_of_mean(len(side)) for side in (before, after))
    return LogRatio(
        value=math.log(_level(after) / _level(before)),
        variance=MeanVariance(variance, max(levels.degrees / levels.widening, 1.0)),
        repetitions=min(len(before), len(after)),
        basis=SpreadKind.SESSIONS,
        method=f"t on logarithms, with the spread of {len(levels.deviations)} studies around their levels",
    )


def _newest(series: _Series, levels: Levels, newest: int) -> dict[int, LogRatio]:
    """The newest studies over those before them, by how many they are; nothing where nothing can be said.

    A shift that may have begun among the newest, by its confidence set, is no older one: its place and its kind are
    estimated, so each begin is tested all the same.
    """
    used, size = series.used, len(series.used)
    if not used or series.points[-1].study_index != used[-1].study_index:
        return {}
    older = tuple(takewhile(lambda shift: shift.latest < size - newest, levels.shifts))
    first = older[-1].begin if older else 0
    begin = levels.shifts[-1].begin if len(older) < len(levels.shifts) else size - 1
    if levels.variance <= NO_SPREAD or _conditions(used[first:begin], used[begin:]) is not None:
        return {}
    before_them = replace(levels, shifts=older)
    splits = {
        count: with_begin(series.speeds, before_them, size - count)
        for count in range(1, min(newest, size - first - SHORTEST) + 1)
    }
    return {
        count: _log_ratio(used[first : size - count], used[size - count :], split)
        for count, split in splits.items()
        if split.degrees > 0 and split.variance > NO_SPREAD
    }


def _gate_places(
    places: Sequence[TrendPlace], tested: Sequence[NewestRatio | None], studies_count: int
) -> Iterator[GatePlace]:
    """Where rules are tested. A place that the newest study lacks is one of which nothing can be said."""
    systems_count = len({place.system for place in places})
    ratios: dict[tuple[str, str], dict[Metric, NewestRatio | None]] = {}
    dead = set()
    for place, ratio in zip(places, tested, strict=True):
        name, last = place_name(place, with_system=systems_count > 1), place.points[-1]
        is_of_newest = last.study_index == studies_count - 1
        ratios.setdefault(name, {})[place.metric] = ratio if is_of_newest else None
        if is_of_newest and place.metric is Metric.THROUGHPUT and last.value.value == 0.0:
            dead.add(name)
    for name, by_metric in ratios.items():
        yield GatePlace(name, by_metric, is_dead=name in dead)


def place_name(place: TrendPlace, *, with_system: bool) -> tuple[str, str]:
    """Workload and level, or objective of a capacity, with the system where there are several."""
    workload = f"{place.system}, {place.workload}" if with_system else place.workload
    if place.objective is not None:
        return place_of(workload, place.objective)
    return workload, (place.level.label() if place.level is not None else "") or "level not known"


def _study(study: PastStudy, before: PastStudy | None) -> TrendStudy:
    versions = dict.fromkeys(version for side in study.sides for version in side.facts.server_versions)
    return TrendStudy(
        name=study.name,
        study=study.sides[0].facts.study,
        labels=study.labels,
        began_unix_s=study.began_unix_s,
        server_versions=tuple(versions),
        trials_count=sum(side.facts.trials_count for side in study.sides),
        left_out_count=sum(side.facts.left_out_count for side in study.sides),
        changes=() if before is None else tuple(_changes(before, study)),
    )


def _changes(before: PastStudy, after: PastStudy) -> list[ConditionDifference]:
    """What is not as it was, of all systems that both studies have; each once."""
    of_before = {side.facts.system: side.all_trials[0].environment for side in before.sides if side.all_trials}
    differences: dict[tuple[str, str, str], ConditionDifference] = {}
    for side in after.sides:
        if side.facts.system not in of_before or not side.all_trials:
            continue
        for change in changes(of_before[side.facts.system], side.all_trials[0].environment):
            difference = ConditionDifference(
                what=change.what,
                base=change.before,
                system=change.after,
                is_compared=change.what.startswith("version of "),
            )
            differences.setdefault((change.what, change.before, change.after), difference)
    return list(differences.values())[:_CHANGES_MAX]


def _grade(places: Sequence[TrendPlace], studies: Sequence[PastStudy]) -> Grade:
    """Of the newest shift of each place; where throughput has none, whether one could have been found."""
    still = [Grade.UNKNOWN if place.detectable_ratio is None else Grade.MEASURED for place in places]
    newest = [
        place.shifts[-1].grade if place.shifts else Grade.INDICATED if place.is_mostly_disturbed else grade
        for place, grade in zip(places, still, strict=True)
        if place.shifts or place.metric is Metric.THROUGHPUT
    ]
    is_measured = all(trial.trial.origin.kind == "measured" for study in studies for trial in study.trials)
    return worst([*newest, *([] if is_measured else [Grade.INDICATED])])


def _empty_notes(studies: Sequence[PastStudy], *, is_newest: bool) -> Iterator[Finding]:
    """Which studies have no complete trial, and that rules are undecided where the newest is one of them."""
    empty = tuple(study.name for study in studies if not study.sides)
    if empty:
        yield make_finding("studies-without-trials", names=empty)
    if is_newest:
        yield make_finding("newest-without-trials")


def _notes(studies: Sequence[PastStudy], places: Sequence[TrendPlace], ordered_by: str) -> Iterator[Finding]:
    disturbed = sorted({point.study_index for place in places for point in place.points if not point.is_used})
    if disturbed:
        yield make_finding("studies-disturbed", names=tuple(studies[index].name for index in disturbed))
    if any(place.is_mostly_disturbed for place in places):
        yield make_finding("mostly-disturbed")
    if ordered_by == "given":
        yield make_finding("order-given")
    left_out = [study.name for study in studies if any(side.facts.left_out_count for side in study.sides)]
    if left_out:
        yield make_finding("studies-with-trials-left-out", names=tuple(left_out))
    missing = [
        study.name
        for index, study in enumerate(studies)
        if any(index not in {point.study_index for point in place.points} for place in places)
    ]
    if missing:
        yield make_finding("studies-without-places", names=tuple(missing))
    if any(place.level is not None and place.level.kind.is_at_rate for place in places):
        yield make_finding("at-a-rate")
