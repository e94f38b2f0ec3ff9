"""The state of trials and the weather of their machines as a table: trials in which the same was seen share a row.

Deliberately not here: each trial by itself, which `guide.json` has, and states beside the course of trials (`strips`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from plimsoll.analyse.disturbance import is_disturbed
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.steady_model import StateKind, SteadyState
from plimsoll.analyse.weather_model import TrialCondition
from plimsoll.guide.numbers import NOT_KNOWN
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.guide.words import grouped
from plimsoll.prose.phrases import levels_words, spans
from plimsoll.record.level import Level
from plimsoll.units import format_number, format_percent

SLOWER = "machine slower"

_COLUMNS = (
    Column(heading="system", numeric=False),
    Column(heading="workload", numeric=False),
    Column(heading="levels", numeric=False),
    Column(heading="repetitions", numeric=False),
    Column(heading="state", numeric=False),
    Column(heading="window"),
    Column(heading="what was seen", numeric=False),
)
_NOTES = (
    "Trials that are not listed were in a steady state on a machine as fast as around the other trials, and undisturbed"
    " as far as their recordings say.",
    "The window is what was measured, in seconds since the load began. Of several trials the lowest and the highest"
    " figure are given.",
)


@dataclass(frozen=True, slots=True)
class _Seen:
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
    seen: tuple[_Seen, ...]

    @property
    def kind(self) -> tuple[object, ...]:
        """What trials of one row have in common."""
        steady = self.condition.steady
        state = None if steady is None else steady.state
        return self.system, self.workload, state, bool(self.condition.slower), tuple(one.words for one in self.seen)


def condition_table(analysis: Analysis) -> Table | None:
    """Trials that were not in a steady state, disturbed, or whose machine was slow; None when there was none."""
    trials = [
        _Trial(curve.system, curve.workload, cell.level, one, tuple(_seen(one)))
        for curve in analysis.curves
        for cell in curve.cells
        for one in cell.conditions
        if one.slower
        or is_disturbed(one.disturbance)
        or (one.steady is not None and one.steady.state is not StateKind.STEADY)
    ]
    rows = tuple(_row(own) for _, alike in grouped(trials, lambda one: one.kind) for own in _by_repetitions(alike))
    return Table(caption="State of trials", columns=_COLUMNS, rows=rows, notes=_NOTES) if rows else None


def _by_repetitions(alike: Iterable[_Trial]) -> Iterator[list[_Trial]]:
    """Levels at which the same was seen in the same repetitions stand together."""
    levels = [own for _, own in grouped(alike, lambda one: one.level.order)]
    for _, together in grouped(levels, lambda own: tuple(sorted(one.condition.repetition for one in own))):
        yield [one for own in together for one in own]


def _row(own: Sequence[_Trial]) -> tuple[Entry, ...]:
    first, steady = own[0], own[0].condition.steady
    levels = {one.level.order: one.level for one in own}
    windows = [one.condition.steady for one in own if one.condition.steady is not None]
    seen = (_told([one.seen[index] for one in own]) for index in range(len(first.seen)))
    return (
        Entry(first.system),
        Entry(first.workload),
        Entry(levels_words(list(levels.values())) or NOT_KNOWN),
        Entry(spans(sorted({one.condition.repetition for one in own}))),
        Entry(NOT_KNOWN if steady is None else steady.state.value, mark=SLOWER if first.condition.slower else None),
        Entry(_window(windows)),
        Entry("; ".join(seen) or NOT_KNOWN),
    )


def _window(windows: Sequence[SteadyState]) -> str:
    if not windows:
        return NOT_KNOWN
    begins, ends = (_range([getattr(one, edge) for one in windows], _seconds) for edge in ("from_s", "to_s"))
    is_same = " to " not in f"{begins}{ends}"
    return f"{begins}–{ends} s" if is_same else f"from {begins} until {ends} s"


def _told(alike: Sequence[_Seen]) -> str:
    """What was seen in several trials, with the range of each figure."""
    first, *between = alike[0].words
    columns = zip(*(one.figures for one in alike), strict=True)
    ranges = (_range(values, show) for values, show in zip(columns, alike[0].shows, strict=True))
    return first + "".join(figure + words for figure, words in zip(ranges, between, strict=True))


def _range(values: Sequence[float], show: Callable[[float], str]) -> str:
    return " to ".join(dict.fromkeys(show(value) for value in (min(values), max(values))))


def _seen(one: TrialCondition) -> Iterator[_Seen]:
    yield from () if one.steady is None else _unsteady(one.steady)
    if one.disturbance is not None and is_disturbed(one.disturbance):
        figures = (one.disturbance.slowness, one.disturbance.slow_ratio)
        words = ("disturbed: machine ", " times as slow as at its best, slow in ", " of the seconds")
        yield _Seen(words, figures, (format_number, format_percent))
    for figure in one.slower:
        yield _Seen((f"{figure.figure}: ", " slower than the median"), (figure.ratio - 1,), (format_percent,))


def _unsteady(steady: SteadyState) -> Iterator[_Seen]:
    if len(steady.segments) > 1:
        means = [one.mean_tps for one in steady.segments]
        figures = (float(len(means)), min(means), max(means))
        yield _Seen(("", " segments, the lowest of ", " tps, the highest of ", " tps"), figures, (_count,) * 3)
    for one in steady.series:
        if one.change_ratio is not None:
            yield _Seen((f"{one.name} changed by ", ""), (one.change_ratio,), (_change,))
        if one.period_s is not None:
            period = (one.period_s, (steady.to_s - steady.from_s) / one.period_s)
            yield _Seen((f"{one.name}: period ", " s, ", " cycles measured"), period, (_seconds, _cycles))


def _change(ratio: float) -> str:
    return format_percent(ratio, signed=True)


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _cycles(value: float) -> str:
    return f"{value:.1f}"


def _seconds(value: float) -> str:
    return f"{value:.0f}"
