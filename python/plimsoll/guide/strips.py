"""How each cell went over time, as strips: throughput and p99 of every repetition, upon each other.

Time counts from where the measured window of a repetition begins, so that all of them line up: what lies before is
warm-up. Strips are drawn here and not by Vega: a study of a hundred cells would take longer to draw than to analyse,
and a strip has nothing to say to a pointer. Lines follow the width of their place; words stand beside them, in the
page. Deliberately not here: what stands out in a trial (`plimsoll.analyse.stalls`), which comes as stretches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from plimsoll.analyse.capacity_model import SystemCapacity
from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.model import Analysis, WorkloadSummary
from plimsoll.analyse.steady_model import StateKind
from plimsoll.analyse.trial_model import MeasuredTrial, TrialSeries
from plimsoll.analyse.weather_model import TrialCondition
from plimsoll.guide.look import SERIES_COUNT
from plimsoll.guide.numbers import per_unit
from plimsoll.prose.phrases import counted, listed
from plimsoll.units import format_duration, format_ms, format_number, format_rate

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
class _Told:
    """What is said of some trials that are drawn upon each other."""

    system: str
    title: str
    throughput: str
    mark: str = ""
    state: str = ""
    is_answer: bool = True


def cell_strips(analysis: Analysis, workload: WorkloadSummary) -> tuple[CellStrips, ...]:
    """Every cell of which it is known how its trials went, and the longer runs of every search, by system."""
    by_id = {one.trial_id: one for one in analysis.trials}
    colours = {one.name: index % SERIES_COUNT for index, one in enumerate(analysis.systems)}
    curves = (one for one in analysis.curves if one.workload == workload.name)
    capacities = (one for one in analysis.capacities if one.workload == workload.name)
    told = [each for curve in curves for each in _of_curve(curve, workload.rate_unit)]
    told += [_of_capacity(one, workload.rate_unit) for one in capacities]
    drawn = (
        _drawn(one, [by_id[name] for name in trials if name in by_id], workload.rate_unit, colours[one.system])
        for one, trials in told
    )
    return tuple(one for one in drawn if one is not None)


def _of_curve(curve: Curve, unit: str) -> Iterator[tuple[_Told, tuple[str, ...]]]:
    best = None if curve.peak is None else curve.peak.level.order
    for cell in curve.cells:
        is_best = cell.level.order == best
        told = _Told(
            system=curve.system,
            title=cell.level.label(unit),
            throughput=format_rate(cell.throughput_tps.value, unit),
            mark="best" if is_best and len(curve.cells) > 1 else "",
            state=_state_words(cell.conditions),
            is_answer=is_best,
        )
        yield told, cell.trials


def _of_capacity(one: SystemCapacity, unit: str) -> tuple[_Told, tuple[str, ...]]:
    runs = [run for search in one.searches for run in search.capacity.runs if run.is_long]
    rates = dict.fromkeys(format_number(per_unit(run.rate_tps, unit)) for run in runs if run.rate_tps is not None)
    capacity = "not known" if one.capacity_tps is None else f"capacity {format_rate(one.capacity_tps.value, unit)}"
    title = f"steady runs at {listed(list(rates))} {unit}"
    return _Told(system=one.system, title=title, throughput=capacity), tuple(run.trial_id for run in runs)


def _state_words(conditions: Sequence[TrialCondition]) -> str:
    """Such as `steady`, or `drifting in 2 of 4 repetitions`, the worst state first."""
    states = [one.steady.state for one in conditions if one.steady is not None]
    found = [(state, states.count(state)) for state in reversed(StateKind) if state in states]
    if len(found) < 2:
        return "".join(state.value for state, _ in found)
    unsteady = [f"{state.value} in {count}" for state, count in found if state is not StateKind.STEADY]
    return f"{listed(unsteady)} of {counted(len(states), 'repetition')}"


def _drawn(told: _Told, trials: Sequence[MeasuredTrial], unit: str, colour: int) -> CellStrips | None:
    known = [(one.trial_id, one.series) for one in trials if one.series is not None]
    if not known:
        return None
    series = [one for _, one in known]
    begin = min(one.from_s - one.window_from_s for one in series)
    end = max(one.to_s - one.window_from_s for one in series)
    window_s = max(one.window_to_s - one.window_from_s for one in series)
    frame = _Frame(begin, max(end, begin + 1e-9))
    rates = [[per_unit(value, unit) for value in one.throughput_tps] for one in series]
    strips = [_strip(unit, series, rates, frame, format_number)]
    if any(one.response_ms_p99 for one in series):
        strips.append(_strip("p99", series, [one.response_ms_p99 for one in series], frame, format_ms))
    return CellStrips(
        system=told.system,
        title=told.title,
        throughput=told.throughput,
        mark=told.mark,
        state=told.state,
        colour=colour,
        strips=tuple(strips),
        spans=tuple(_spans(series, frame, window_s)),
        window=format_duration(window_s),
        begin_percent=round(100 * frame.x(0.0) / WIDTH, 1),
        warm_up=format_duration(-begin) if begin < 0 else "",
        trials=tuple(name for name, _ in known),
        is_answer=told.is_answer,
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
    top = max((value for one in values for value in one if value is not None), default=0.0) or 1.0
    lines = tuple(
        _line(one, own, frame, top * _ROOM, index % _TONES)
        for index, (one, own) in enumerate(zip(series, values, strict=True))
    )
    return Strip(name, show(top), lines)


def _line(one: TrialSeries, values: Sequence[Value], frame: _Frame, top: float, tone: int) -> StripLine:
    middles = [one.from_s + one.step_s * (index + 0.5) for index in range(len(values))]
    points = [
        (frame.x(at - one.window_from_s), None if value is None else round(HEIGHT * (1 - value / top)))
        for at, value in zip(middles, values, strict=True)
    ]
    inside = [one.window_from_s <= at < one.window_to_s for at in middles]
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
    for one in series:
        for stretch in one.stretches:
            yield from _span(stretch.kind, frame, stretch.from_s - one.window_from_s, stretch.to_s - one.window_from_s)


def _span(kind: str, frame: _Frame, from_s: float, to_s: float) -> Iterator[Span]:
    left, right = frame.x(from_s), frame.x(to_s)
    if right > left:
        yield Span(kind, left, right - left)
