"""The section "Long trials": throughput and p99 response time minute by minute, with the verdict on drift.

Deliberately not here: how drift is found (`plimsoll.analyse.steps`), and short trials (`strips`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

from plimsoll.analyse.long_model import LongTrial, Trend
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.steady_model import StateKind
from plimsoll.guide.chart_links import Links, href, recordings_line
from plimsoll.guide.drawing import alt
from plimsoll.guide.labels import chart_of
from plimsoll.guide.look import Look
from plimsoll.guide.marks import Chart, Row, Series, axis_y, finish, names, rate_words
from plimsoll.guide.numbers import NOT_KNOWN, per_unit
from plimsoll.guide.sections import Section, SectionChart
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.guide.words import clean
from plimsoll.units import format_duration, format_ms, format_percent, format_rate

CELLS_DRAWN_MAX = 6
"""Of more, those whose throughput or p99 changed most are drawn; the table has all."""

_MARGIN = 0.15


def long_trials_section(analysis: Analysis) -> Section | None:
    """The whole section; None without a long trial."""
    found = analysis.long_trials
    if not found:
        return None
    units = {one.name: one.rate_unit for one in analysis.workloads}
    cells = [list(trials) for _, trials in itertools.groupby(found, key=lambda one: (*_names(one), one.level.order))]
    drawn = sorted(cells, key=_change, reverse=True)[:CELLS_DRAWN_MAX]
    return Section(
        anchor="long-trials",
        title="Long trials",
        sentences=tuple(drift_sentence(trials, units) for trials in cells),
        tables=(_table(found, units),),
        charts=tuple(itertools.chain.from_iterable(_charts(one, units, analysis) for one in cells if one in drawn)),
        notes=(
            "Each point is a minute, or several in a window of more than four hours; its p99 comes from the merged"
            " histograms of its intervals. A dashed line shows a drift. The change is that from the beginning of the"
            " window to its end, by the median slope.",
        ),
    )


def _names(one: LongTrial) -> tuple[str, str]:
    return one.system, one.workload


def _change(trials: Sequence[LongTrial]) -> float:
    return max(abs(trend.change_ratio) for one in trials for trend in (one.throughput, one.response) if trend)


def drift_sentence(trials: Sequence[LongTrial], units: dict[str, str]) -> str:
    """What the long trials of one cell say of drift."""
    first = trials[0]
    unit = units.get(first.workload, "tps")
    length = format_duration(max(one.window_s for one in trials))
    count = "" if len(trials) == 1 else f", {len(trials)} trials"
    place = f"{first.system}, {first.workload}, {first.level.label(unit)}{count}"
    throughput = _verdict("throughput", [one.throughput for one in trials])
    response = _verdict("p99 response time", [one.response for one in trials if one.response is not None])
    return f"{place}: over {length}, {throughput}; {response}."


def _verdict(what: str, trends: Sequence[Trend]) -> str:
    if not trends:
        return f"whether {what} drifted is not known"
    drifting = [one.change_ratio for one in trends if one.state is StateKind.DRIFTING]
    if drifting:
        worst = max(drifting, key=abs)
        some = "" if len(drifting) == len(trends) else f" in {len(drifting)} of {len(trends)} trials"
        return f"{what} drifted{some}: {format_percent(worst, signed=True)} from the beginning to the end"
    other = sorted({one.state for one in trends} - {StateKind.STEADY})
    state = "did not drift" if not other else f"did not drift, but was {' and '.join(other)}"
    changes = sorted(one.change_ratio for one in trends)
    span = format_percent(changes[0], signed=True)
    if len(changes) > 1:
        span = f"{span} to {format_percent(changes[-1], signed=True)}"
    return f"{what} {state} ({span})"


def _table(found: Sequence[LongTrial], units: dict[str, str]) -> Table:
    words = ("system", "workload", "level")
    columns = (
        *(Column(heading=heading, numeric=False) for heading in words),
        Column(heading="repetition"),
        Column(heading="window"),
        Column(heading="first minute"),
        Column(heading="last minute"),
        Column(heading="change"),
        Column(heading="throughput", numeric=False),
        Column(heading="p99, first minute"),
        Column(heading="p99, last minute"),
        Column(heading="p99, change"),
        Column(heading="p99", numeric=False),
    )
    rows = tuple(_row(one, units.get(one.workload, "tps")) for one in found)
    return Table(caption="Drift over long windows", columns=columns, rows=rows)


def _row(one: LongTrial, unit: str) -> tuple[Entry, ...]:
    sources = (one.trial_id,)
    p99 = one.response_ms_p99 or (None,)
    return (
        Entry(one.system),
        Entry(one.workload),
        Entry(one.level.label(unit)),
        Entry(str(one.repetition + 1), sources=sources),
        Entry(format_duration(one.window_s)),
        Entry(format_rate(one.throughput_tps[0], unit), sources=sources),
        Entry(format_rate(one.throughput_tps[-1], unit), sources=sources),
        Entry(format_percent(one.throughput.change_ratio, signed=True), sources=sources),
        Entry(one.throughput.state.value),
        Entry(_ms(p99[0]), sources=sources),
        Entry(_ms(p99[-1]), sources=sources),
        Entry(NOT_KNOWN if one.response is None else format_percent(one.response.change_ratio, signed=True)),
        Entry(NOT_KNOWN if one.response is None else one.response.state.value),
    )


def _ms(value: float | None) -> str:
    return NOT_KNOWN if value is None else format_ms(value)


def _charts(trials: list[LongTrial], units: dict[str, str], analysis: Analysis) -> Iterator[SectionChart]:
    first = trials[0]
    unit = units.get(first.workload, "tps")
    place = f"{first.system}, {first.workload}, {first.level.label(unit)}"

    def throughput(look: Look) -> Chart:
        rows = _rows(trials, lambda one: [per_unit(value, unit) for value in one.throughput_tps], analysis)
        lines = [(one, one.throughput, per_unit(_mean(one.throughput_tps), unit)) for one in trials]
        return _chart(rows, lines, rate_words(unit), analysis, look)

    def response(look: Look) -> Chart:
        rows = _rows(trials, lambda one: one.response_ms_p99, analysis)
        known = [(one, one.response) for one in trials if one.response is not None]
        lines = [(one, trend, _mean([p99 or 0.0 for p99 in one.response_ms_p99])) for one, trend in known]
        return _chart(rows, lines, "p99 response time, ms", analysis, look)

    yield SectionChart(title=f"{place}: throughput by minute", draw=throughput)
    if any(value is not None for one in trials for value in one.response_ms_p99):
        yield SectionChart(title=f"{place}: p99 response time by minute", draw=response)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _rows(
    trials: Sequence[LongTrial], values: Callable[[LongTrial], Sequence[float | None]], analysis: Analysis
) -> list[Row]:
    links = Links(analysis)
    return [
        {
            "system": clean(one.system),
            "trial": one.trial_id,
            "minute": (index + 0.5) * one.step_s / 60,
            "value": value,
            **links.of([one.trial_id]),
        }
        for one in trials
        for index, value in enumerate(values(one))
        if value is not None
    ]


def _chart(
    rows: list[Row], lines: Sequence[tuple[LongTrial, Trend, float]], title: str, analysis: Analysis, look: Look
) -> Chart:
    """A line for each trial over minutes, and a dashed one where a drift is established."""
    low, high = min(row["value"] for row in rows), max(row["value"] for row in rows)
    room = max(high - low, 0.1 * high) * _MARGIN
    scale = alt.Scale(domain=[max(low - room, 0.0), high + room], nice=False, zero=False)
    length = max(one.window_s for one, _, _ in lines) / 60 if lines else max(row["minute"] for row in rows)
    x = alt.X(
        "minute:Q",
        scale=alt.Scale(domain=[0, length], nice=False),
        axis=alt.Axis(title="Minutes of the measured window", tickCount=6, format=",~r"),
    )
    y = axis_y("value:Q", title, scale, tickCount=4)
    marks = Series(names(analysis), look)
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
    if slopes := [row for one in lines for row in _slope(*one)]:
        slope = chart_of(slopes).mark_line(strokeDash=[6, 4], strokeWidth=1.5, color=look.palette.ink)
        layers.append(slope.encode(x=x, y=y, detail=alt.Detail("trial:N")))
    return finish(alt.layer(*layers), look)


def _slope(one: LongTrial, trend: Trend, mean: float) -> list[Row]:
    """Both ends of the line of an established drift; nothing where there is none."""
    if trend.state is not StateKind.DRIFTING:
        return []
    half = trend.change_ratio / 2
    ends = ((0.0, 1 - half), (one.window_s / 60, 1 + half))
    return [{"trial": one.trial_id, "minute": minute, "value": mean * factor} for minute, factor in ends]
