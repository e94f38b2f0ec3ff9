"""How trials went: their state and the weather of their machines, outages, and each over time.

In the table of conditions, trials in which the same was seen share a row. Strips show throughput and p99 of every
repetition of a cell, upon each other; time counts from where the measured window of a repetition begins, so that all of
them line up: what lies before is warm-up. Strips are drawn here and not by Vega: a study of a hundred cells would take
longer to draw than to analyse, and a strip has nothing to say to a pointer. Lines follow the width of their place;
words stand beside them, in the page. Long trials are shown minute by minute, with the verdict on drift.
Deliberately not here: what stands out in a trial, and how drift is found (`plimsoll.analyse`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from plimsoll.analyse.model import Analysis, WorkloadSummary
from plimsoll.analyse.study.capacity_model import SystemCapacity
from plimsoll.analyse.study.conditions import is_disturbed
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.analyse.trial.condition_model import StateKind, SteadyState, TrialCondition
from plimsoll.analyse.trial.trial_model import LongTrial, MeasuredTrial, Trend, TrialOutage, TrialSeries
from plimsoll.guide.drawing import alt
from plimsoll.guide.marks import SERIES_COUNT, Chart, Row, Series, Style, axis_y, chart_of, finish, names, rate_words
from plimsoll.guide.sections import Section, SectionChart
from plimsoll.guide.sources import Links, href, recordings_line
from plimsoll.guide.tables import NOT_KNOWN, Column, Entry, Table, per_unit, text_column
from plimsoll.guide.words import clean, grouped
from plimsoll.prose.phrases import levels_words, spans
from plimsoll.record.level import Level
from plimsoll.units import format_duration, format_ms, format_number, format_percent, format_rate
from plimsoll.wording import counted, listed

SLOWER = "machine slower"

_CONDITION_COLUMNS = (
    text_column("system"),
    text_column("workload"),
    text_column("levels"),
    text_column("repetitions"),
    text_column("state"),
    Column(heading="window"),
    text_column("what was seen"),
)
_NOTES = (
    "Trials that are not listed were in a steady state on a machine as fast as around the other trials, and undisturbed"
    " as far as their recordings say.",
    "The window is what was measured, in seconds since the load began. Of several trials the lowest and the highest"
    " figure are given.",
)


@dataclass(frozen=True, slots=True)
class _Observation:
    """Something that was seen in one trial.

    Attributes:
        words: What stands before, between and behind its figures.
        figures: One less than words.
        shows: How each figure is written.
    """

    words: tuple[str, ...]
    figures: tuple[float, ...]
    shows: tuple[Callable[[float], str], ...]


@dataclass(frozen=True, slots=True)
class _Trial:
    """One trial that is worth a row."""

    system: str
    workload: str
    level: Level
    condition: TrialCondition
    seen: tuple[_Observation, ...]

    @property
    def kind(self) -> tuple[object, ...]:
        """What trials of one row have in common."""
        steady = self.condition.steady
        state = None if steady is None else steady.state
        return (
            self.system,
            self.workload,
            state,
            bool(self.condition.slower),
            tuple(observation.words for observation in self.seen),
        )


def condition_table(analysis: Analysis) -> Table | None:
    """Trials that were not in a steady state, disturbed, or whose machine was slow; None when there was none."""
    trials = [
        _Trial(curve.system, curve.workload, cell.level, condition, tuple(_seen(condition)))
        for curve in analysis.curves
        for cell in curve.cells
        for condition in cell.conditions
        if condition.slower
        or is_disturbed(condition.disturbance)
        or (condition.steady is not None and condition.steady.state is not StateKind.STEADY)
    ]
    rows = tuple(
        _condition_row(row_trials)
        for _, alike in grouped(trials, lambda trial: trial.kind)
        for row_trials in _by_repetitions(alike)
    )
    return Table(caption="State of trials", columns=_CONDITION_COLUMNS, rows=rows, notes=_NOTES) if rows else None


def _by_repetitions(alike: Iterable[_Trial]) -> Iterator[list[_Trial]]:
    """Levels at which the same was seen in the same repetitions stand together."""
    levels = [level_trials for _, level_trials in grouped(alike, lambda trial: trial.level.order)]
    for _, together in grouped(levels, lambda level: tuple(sorted(trial.condition.repetition for trial in level))):
        yield [trial for level_trials in together for trial in level_trials]


def _condition_row(trials: Sequence[_Trial]) -> tuple[Entry, ...]:
    first, steady = trials[0], trials[0].condition.steady
    levels = {trial.level.order: trial.level for trial in trials}
    windows = [trial.condition.steady for trial in trials if trial.condition.steady is not None]
    seen = (_observations_text([trial.seen[index] for trial in trials]) for index in range(len(first.seen)))
    return (
        Entry(first.system),
        Entry(first.workload),
        Entry(levels_words(list(levels.values())) or NOT_KNOWN),
        Entry(spans(sorted({trial.condition.repetition for trial in trials}))),
        Entry(NOT_KNOWN if steady is None else steady.state.value, mark=SLOWER if first.condition.slower else None),
        Entry(_window(windows)),
        Entry("; ".join(seen) or NOT_KNOWN),
    )


def _window(windows: Sequence[SteadyState]) -> str:
    if not windows:
        return NOT_KNOWN
    begins, ends = (_range([getattr(window, edge) for window in windows], _seconds) for edge in ("from_s", "to_s"))
    is_same = " to " not in f"{begins}{ends}"
    return f"{begins}–{ends} s" if is_same else f"from {begins} until {ends} s"


def _observations_text(alike: Sequence[_Observation]) -> str:
    """What was seen in several trials, with the range of each figure."""
    first, *between = alike[0].words
    columns = zip(*(observation.figures for observation in alike), strict=True)
    ranges = (_range(values, show) for values, show in zip(columns, alike[0].shows, strict=True))
    return first + "".join(figure + words for figure, words in zip(ranges, between, strict=True))


def _range(values: Sequence[float], show: Callable[[float], str]) -> str:
    return " to ".join(dict.fromkeys(show(value) for value in (min(values), max(values))))


def _seen(trial_condition: TrialCondition) -> Iterator[_Observation]:
    yield from () if trial_condition.steady is None else _unsteady(trial_condition.steady)
    if trial_condition.disturbance is not None and is_disturbed(trial_condition.disturbance):
        figures = (trial_condition.disturbance.slowness, trial_condition.disturbance.slow_ratio)
        words = ("disturbed: machine ", " times as slow as at its best, slow in ", " of the seconds")
        yield _Observation(words, figures, (format_number, format_percent))
    for figure in trial_condition.slower:
        yield _Observation((f"{figure.figure}: ", " slower than the median"), (figure.ratio - 1,), (format_percent,))


def _unsteady(steady: SteadyState) -> Iterator[_Observation]:
    if len(steady.segments) > 1:
        means = [segment.mean_tps for segment in steady.segments]
        figures = (float(len(means)), min(means), max(means))
        yield _Observation(("", " segments, the lowest of ", " tps, the highest of ", " tps"), figures, (_count,) * 3)
    for series in steady.series:
        if series.change_ratio is not None:
            yield _Observation((f"{series.name} changed by ", ""), (series.change_ratio,), (_signed_percent,))
        if series.period_s is not None:
            period = (series.period_s, (steady.to_s - steady.from_s) / series.period_s)
            yield _Observation((f"{series.name}: period ", " s, ", " cycles measured"), period, (_seconds, _cycles))


def _signed_percent(ratio: float) -> str:
    return format_percent(ratio, signed=True)


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _cycles(value: float) -> str:
    return f"{value:.1f}"


def _seconds(value: float) -> str:
    return f"{value:.0f}"


_OUTAGE_COLUMNS = (
    text_column("system"),
    text_column("workload"),
    Column(heading="level"),
    Column(heading="repetition"),
    Column(heading="began"),
    Column(heading="lasted"),
    Column(heading="connections lost"),
    Column(heading="transactions lost"),
    text_column("in the figures"),
)


def outage_table(analysis: Analysis) -> Table | None:
    """The longest outages of the trials that figures rest on; None when there was none."""
    if not analysis.outages:
        return None
    more = analysis.outages_count - len(analysis.outages)
    notes = ["An outage lasts from the first connection that was lost until they were back, as the client saw it."]
    notes += [f"{more:,} shorter ones are not listed."] if more else []
    return Table(
        caption="Outages",
        columns=_OUTAGE_COLUMNS,
        rows=tuple(_outage_row(outage, _trials(outage, analysis)) for outage in analysis.outages),
        notes=tuple(notes),
    )


def _trials(trial_outage: TrialOutage, analysis: Analysis) -> tuple[str, ...]:
    """The recording in which it was seen; none where the guide does not list it."""
    place = (trial_outage.system, trial_outage.workload, trial_outage.level, trial_outage.repetition)
    return tuple(
        trial.trial_id
        for trial in analysis.trials
        if (trial.system, trial.workload, trial.level, trial.repetition) == place
    )


def _outage_row(trial_outage: TrialOutage, trials: tuple[str, ...]) -> tuple[Entry, ...]:
    lasted = f"{trial_outage.length_s:.1f} s"
    return (
        Entry(trial_outage.system),
        Entry(trial_outage.workload),
        Entry(trial_outage.level.label()),
        Entry(f"{trial_outage.repetition + 1}"),
        Entry(f"{trial_outage.from_s:.1f} s", sources=trials),
        Entry(lasted if trial_outage.is_over else f"{lasted}, to the end", sources=trials),
        Entry(f"{trial_outage.connections_count:,}"),
        Entry(f"{trial_outage.lost_count:,}"),
        Entry("yes" if trial_outage.is_measured else "no: outside of what was measured"),
    )


WIDTH, HEIGHT = 1000, 100
"""Of the coordinates within a strip; the page stretches them."""

OPEN_COUNT = 8
"""With more cells than that under a workload, only those that the answer rests on are open."""

_TONES = 3
_ROOM = 1.08

Value = float | None


@dataclass(frozen=True, slots=True)
class StripLine:
    """One repetition.

    Attributes:
        warm: Path of what lies outside the window; empty where nothing does.
        measured: Path of the window.
        tone: 0, 1, 2: repetitions that follow each other differ in it.
    """

    warm: str
    measured: str
    tone: int


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a strip's width, in its coordinates.

    Attributes:
        kind: `warm-up`, `after`, or that of a stretch, such as `stall`.
    """

    kind: str
    left: int
    width: int


@dataclass(frozen=True, slots=True)
class Strip:
    """One measure over time.

    Attributes:
        name: Such as `tps`.
        top: The figure at its upper edge; the lower one is 0.
    """

    name: str
    top: str
    lines: tuple[StripLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CellStrips:
    """One cell over time, or the longer runs of a search.

    Attributes:
        title: Its level.
        throughput: Mean of its repetitions; of a search the capacity.
        mark: `best` for the best of several levels.
        state: In what state its trials were, in words; empty where nothing is known.
        colour: Index of its system's colour.
        window: How long it is, in words.
        begin_percent: Where the window begins, of the width.
        warm_up: How long the longest warm-up was, in words; empty for none.
        trials: Id of each repetition.
        is_answer: What the guide answers rests on it: it is the best of its curve, or led to a capacity.
    """

    system: str
    title: str
    throughput: str
    mark: str
    state: str
    colour: int
    strips: tuple[Strip, ...]
    spans: tuple[Span, ...]
    window: str
    begin_percent: float
    warm_up: str
    trials: tuple[str, ...]
    is_answer: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Caption:
    """What is said of some trials that are drawn upon each other."""

    system: str
    title: str
    throughput: str
    mark: str = ""
    state: str = ""
    is_answer: bool = True


def cell_strips(analysis: Analysis, workload: WorkloadSummary) -> tuple[CellStrips, ...]:
    """Every cell of which it is known how its trials went, and the longer runs of every search, by system."""
    by_id = {trial.trial_id: trial for trial in analysis.trials}
    colours = {system.name: index % SERIES_COUNT for index, system in enumerate(analysis.systems)}
    curves = (curve for curve in analysis.curves if curve.workload == workload.name)
    capacities = (capacity for capacity in analysis.capacities if capacity.workload == workload.name)
    captions = [each for curve in curves for each in _of_curve(curve, workload.rate_unit)]
    captions += [_of_capacity(capacity, workload.rate_unit) for capacity in capacities]
    drawn = (
        _drawn(caption, [by_id[name] for name in trials if name in by_id], workload.rate_unit, colours[caption.system])
        for caption, trials in captions
    )
    return tuple(strips for strips in drawn if strips is not None)


def _of_curve(curve: Curve, unit: str) -> Iterator[tuple[_Caption, tuple[str, ...]]]:
    best = None if curve.peak is None else curve.peak.level.order
    for cell in curve.cells:
        is_best = cell.level.order == best
        caption = _Caption(
            system=curve.system,
            title=cell.level.label(unit),
            throughput=format_rate(cell.throughput_tps.value, unit),
            mark="best" if is_best and len(curve.cells) > 1 else "",
            state=_state_words(cell.conditions),
            is_answer=is_best,
        )
        yield caption, cell.trials


def _of_capacity(system_capacity: SystemCapacity, unit: str) -> tuple[_Caption, tuple[str, ...]]:
    runs = [run for search in system_capacity.searches for run in search.capacity.runs if run.is_long]
    rates = dict.fromkeys(format_number(per_unit(run.rate_tps, unit)) for run in runs if run.rate_tps is not None)
    capacity = (
        "not known"
        if system_capacity.capacity_tps is None
        else f"capacity {format_rate(system_capacity.capacity_tps.value, unit)}"
    )
    title = f"steady runs at {listed(list(rates))} {unit}"
    caption = _Caption(system=system_capacity.system, title=title, throughput=capacity)
    return caption, tuple(run.trial_id for run in runs)


def _state_words(conditions: Sequence[TrialCondition]) -> str:
    """Such as `steady`, or `drifting in 2 of 4 repetitions`, the worst state first."""
    states = [condition.steady.state for condition in conditions if condition.steady is not None]
    counts = [(state, states.count(state)) for state in reversed(StateKind) if state in states]
    if len(counts) < 2:
        return "".join(state.value for state, _ in counts)
    unsteady = [f"{state.value} in {count}" for state, count in counts if state is not StateKind.STEADY]
    return f"{listed(unsteady)} of {counted(len(states), 'repetition')}"


def _drawn(caption: _Caption, trials: Sequence[MeasuredTrial], unit: str, colour: int) -> CellStrips | None:
    known = [(trial.trial_id, trial.series) for trial in trials if trial.series is not None]
    if not known:
        return None
    series = [trial_series for _, trial_series in known]
    begin = min(trial_series.from_s - trial_series.window_from_s for trial_series in series)
    end = max(trial_series.to_s - trial_series.window_from_s for trial_series in series)
    window_s = max(trial_series.window_to_s - trial_series.window_from_s for trial_series in series)
    frame = _Frame(begin, max(end, begin + 1e-9))
    rates = [[per_unit(value, unit) for value in trial_series.throughput_tps] for trial_series in series]
    strips = [_strip(unit, series, rates, frame, format_number)]
    if any(trial_series.response_ms_p99 for trial_series in series):
        strips.append(
            _strip("p99", series, [trial_series.response_ms_p99 for trial_series in series], frame, format_ms)
        )
    return CellStrips(
        system=caption.system,
        title=caption.title,
        throughput=caption.throughput,
        mark=caption.mark,
        state=caption.state,
        colour=colour,
        strips=tuple(strips),
        spans=tuple(_spans(series, frame, window_s)),
        window=format_duration(window_s),
        begin_percent=round(100 * frame.x(0.0) / WIDTH, 1),
        warm_up=format_duration(-begin) if begin < 0 else "",
        trials=tuple(name for name, _ in known),
        is_answer=caption.is_answer,
    )


@dataclass(frozen=True, slots=True)
class _Frame:
    """Seconds since the window began, from the left edge to the right one."""

    begin_s: float
    end_s: float

    def x(self, at_s: float) -> int:
        return round(WIDTH * min(max((at_s - self.begin_s) / (self.end_s - self.begin_s), 0.0), 1.0))


def _strip(
    name: str,
    series: Sequence[TrialSeries],
    values: Sequence[Sequence[Value]],
    frame: _Frame,
    show: Callable[[float], str],
) -> Strip:
    top = max((value for trial_values in values for value in trial_values if value is not None), default=0.0) or 1.0
    lines = tuple(
        _line(trial_series, trial_values, frame, top * _ROOM, index % _TONES)
        for index, (trial_series, trial_values) in enumerate(zip(series, values, strict=True))
    )
    return Strip(name, show(top), lines)


def _line(trial_series: TrialSeries, values: Sequence[Value], frame: _Frame, top: float, tone: int) -> StripLine:
    middles = [trial_series.from_s + trial_series.step_s * (index + 0.5) for index in range(len(values))]
    points = [
        (frame.x(at - trial_series.window_from_s), None if value is None else round(HEIGHT * (1 - value / top)))
        for at, value in zip(middles, values, strict=True)
    ]
    inside = [trial_series.window_from_s <= at < trial_series.window_to_s for at in middles]
    first = inside.index(True) if any(inside) else len(points)
    last = len(points) - inside[::-1].index(True) if any(inside) else len(points)
    warm = " ".join(filter(None, (_path(points[: first + 1]), _path(points[max(last - 1, 0) :]))))
    return StripLine(warm if first or last < len(points) else "", _path(points[first:last]), tone)


def _path(points: Sequence[tuple[int, int | None]]) -> str:
    """A line through points, broken where a value is not known."""
    parts: list[str] = []
    is_drawing = False
    for x, y in points:
        if y is not None:
            parts.append(f"{'' if is_drawing else 'M'}{x} {y}")
        is_drawing = y is not None
    return " ".join(parts) if len(parts) > 1 else ""


def _spans(series: Sequence[TrialSeries], frame: _Frame, window_s: float) -> Iterator[Span]:
    yield from _span("warm-up", frame, frame.begin_s, 0.0)
    yield from _span("after", frame, window_s, frame.end_s)
    for trial_series in series:
        for stretch in trial_series.stretches:
            yield from _span(
                stretch.kind,
                frame,
                stretch.from_s - trial_series.window_from_s,
                stretch.to_s - trial_series.window_from_s,
            )


def _span(kind: str, frame: _Frame, from_s: float, to_s: float) -> Iterator[Span]:
    left, right = frame.x(from_s), frame.x(to_s)
    if right > left:
        yield Span(kind, left, right - left)


CELLS_DRAWN_MAX = 6
"""Of more, those whose throughput or p99 changed most are drawn; the table has all."""

_MARGIN = 0.15


def long_trials_section(analysis: Analysis) -> Section | None:
    """The whole section; None without a long trial."""
    long_trials = analysis.long_trials
    if not long_trials:
        return None
    units = {workload.name: workload.rate_unit for workload in analysis.workloads}
    cells = [
        list(trials)
        for _, trials in itertools.groupby(long_trials, key=lambda trial: (*_names(trial), trial.level.order))
    ]
    drawn = sorted(cells, key=_largest_change, reverse=True)[:CELLS_DRAWN_MAX]
    return Section(
        anchor="long-trials",
        title="Long trials",
        sentences=tuple(drift_sentence(trials, units) for trials in cells),
        tables=(_table(long_trials, units),),
        charts=tuple(itertools.chain.from_iterable(_charts(cell, units, analysis) for cell in cells if cell in drawn)),
        notes=(
            "Each point is a minute, or several in a window of more than four hours; its p99 comes from the merged"
            " histograms of its intervals. A dashed line shows a drift. The change is that from the beginning of the"
            " window to its end, by the median slope.",
        ),
    )


def _names(long_trial: LongTrial) -> tuple[str, str]:
    return long_trial.system, long_trial.workload


def _largest_change(trials: Sequence[LongTrial]) -> float:
    return max(abs(trend.change_ratio) for trial in trials for trend in (trial.throughput, trial.response) if trend)


def drift_sentence(trials: Sequence[LongTrial], units: dict[str, str]) -> str:
    """What the long trials of one cell say of drift."""
    first = trials[0]
    unit = units.get(first.workload, "tps")
    length = format_duration(max(trial.window_s for trial in trials))
    count = "" if len(trials) == 1 else f", {len(trials)} trials"
    place = f"{first.system}, {first.workload}, {first.level.label(unit)}{count}"
    throughput = _verdict("throughput", [trial.throughput for trial in trials])
    response = _verdict("p99 response time", [trial.response for trial in trials if trial.response is not None])
    return f"{place}: over {length}, {throughput}; {response}."


def _verdict(what: str, trends: Sequence[Trend]) -> str:
    if not trends:
        return f"whether {what} drifted is not known"
    drifting = [trend.change_ratio for trend in trends if trend.state is StateKind.DRIFTING]
    if drifting:
        worst = max(drifting, key=abs)
        some = "" if len(drifting) == len(trends) else f" in {len(drifting)} of {len(trends)} trials"
        return f"{what} drifted{some}: {format_percent(worst, signed=True)} from the beginning to the end"
    other = sorted({trend.state for trend in trends} - {StateKind.STEADY})
    state = "did not drift" if not other else f"did not drift, but was {' and '.join(other)}"
    changes = sorted(trend.change_ratio for trend in trends)
    span = format_percent(changes[0], signed=True)
    if len(changes) > 1:
        span = f"{span} to {format_percent(changes[-1], signed=True)}"
    return f"{what} {state} ({span})"


def _table(trials: Sequence[LongTrial], units: dict[str, str]) -> Table:
    words = ("system", "workload", "level")
    columns = (
        *(text_column(heading) for heading in words),
        Column(heading="repetition"),
        Column(heading="window"),
        Column(heading="first minute"),
        Column(heading="last minute"),
        Column(heading="change"),
        text_column("throughput"),
        Column(heading="p99, first minute"),
        Column(heading="p99, last minute"),
        Column(heading="p99, change"),
        text_column("p99"),
    )
    rows = tuple(_long_trial_row(trial, units.get(trial.workload, "tps")) for trial in trials)
    return Table(caption="Drift over long windows", columns=columns, rows=rows)


def _long_trial_row(long_trial: LongTrial, unit: str) -> tuple[Entry, ...]:
    sources = (long_trial.trial_id,)
    p99 = long_trial.response_ms_p99 or (None,)
    return (
        Entry(long_trial.system),
        Entry(long_trial.workload),
        Entry(long_trial.level.label(unit)),
        Entry(str(long_trial.repetition + 1), sources=sources),
        Entry(format_duration(long_trial.window_s)),
        Entry(format_rate(long_trial.throughput_tps[0], unit), sources=sources),
        Entry(format_rate(long_trial.throughput_tps[-1], unit), sources=sources),
        Entry(format_percent(long_trial.throughput.change_ratio, signed=True), sources=sources),
        Entry(long_trial.throughput.state.value),
        Entry(_ms(p99[0]), sources=sources),
        Entry(_ms(p99[-1]), sources=sources),
        Entry(
            NOT_KNOWN if long_trial.response is None else format_percent(long_trial.response.change_ratio, signed=True)
        ),
        Entry(NOT_KNOWN if long_trial.response is None else long_trial.response.state.value),
    )


def _ms(value: float | None) -> str:
    return NOT_KNOWN if value is None else format_ms(value)


def _charts(trials: list[LongTrial], units: dict[str, str], analysis: Analysis) -> Iterator[SectionChart]:
    first = trials[0]
    unit = units.get(first.workload, "tps")
    place = f"{first.system}, {first.workload}, {first.level.label(unit)}"

    def throughput(style: Style) -> Chart:
        rows = _rows(trials, lambda trial: [per_unit(value, unit) for value in trial.throughput_tps], analysis)
        lines = [(trial, trial.throughput, per_unit(_mean(trial.throughput_tps), unit)) for trial in trials]
        return _chart(rows, lines, rate_words(unit), analysis, style)

    def response(style: Style) -> Chart:
        rows = _rows(trials, lambda trial: trial.response_ms_p99, analysis)
        known = [(trial, trial.response) for trial in trials if trial.response is not None]
        lines = [(trial, trend, _mean([p99 or 0.0 for p99 in trial.response_ms_p99])) for trial, trend in known]
        return _chart(rows, lines, "p99 response time, ms", analysis, style)

    yield SectionChart(title=f"{place}: throughput by minute", draw=throughput)
    if any(value is not None for trial in trials for value in trial.response_ms_p99):
        yield SectionChart(title=f"{place}: p99 response time by minute", draw=response)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _rows(
    trials: Sequence[LongTrial], values: Callable[[LongTrial], Sequence[float | None]], analysis: Analysis
) -> list[Row]:
    links = Links(analysis)
    return [
        {
            "system": clean(trial.system),
            "trial": trial.trial_id,
            "minute": (index + 0.5) * trial.step_s / 60,
            "value": value,
            **links.of([trial.trial_id]),
        }
        for trial in trials
        for index, value in enumerate(values(trial))
        if value is not None
    ]


def _chart(
    rows: list[Row], lines: Sequence[tuple[LongTrial, Trend, float]], title: str, analysis: Analysis, style: Style
) -> Chart:
    """A line for each trial over minutes, and a dashed one where a drift is established."""
    low, high = min(row["value"] for row in rows), max(row["value"] for row in rows)
    room = max(high - low, 0.1 * high) * _MARGIN
    scale = alt.Scale(domain=[max(low - room, 0.0), high + room], nice=False, zero=False)
    length = max(trial.window_s for trial, _, _ in lines) / 60 if lines else max(row["minute"] for row in rows)
    x = alt.X(
        "minute:Q",
        scale=alt.Scale(domain=[0, length], nice=False),
        axis=alt.Axis(title="Minutes of the measured window", tickCount=6, format=",~r"),
    )
    y = axis_y("value:Q", title, scale, tickCount=4)
    marks = Series(names(analysis), style)
    tooltip = [
        alt.Tooltip("minute:Q", format=".0f"),
        alt.Tooltip("value:Q", title=title, format=",.4~r"),
        recordings_line(),
    ]
    base = chart_of(rows)
    line = base.mark_line(strokeWidth=1.8).encode(x=x, y=y, color=marks.colour, detail=alt.Detail("trial:N"))
    point = base.mark_point(filled=True, size=22, opacity=0.9).encode(
        x=x, y=y, color=marks.colour, tooltip=tooltip, href=href()
    )
    layers = [line, point]
    if slopes := [row for line in lines for row in _slope(*line)]:
        slope = chart_of(slopes).mark_line(strokeDash=[6, 4], strokeWidth=1.5, color=style.palette.ink)
        layers.append(slope.encode(x=x, y=y, detail=alt.Detail("trial:N")))
    return finish(alt.layer(*layers), style)


def _slope(long_trial: LongTrial, trend: Trend, mean: float) -> list[Row]:
    """Both ends of the line of an established drift; nothing where there is none."""
    if trend.state is not StateKind.DRIFTING:
        return []
    half = trend.change_ratio / 2
    ends = ((0.0, 1 - half), (long_trial.window_s / 60, 1 + half))
    return [{"trial": long_trial.trial_id, "minute": minute, "value": mean * factor} for minute, factor in ends]
