"""The section "Where the time goes": what limits each curve, and what a transaction used and waited for.

Deliberately not here: what limits, in words (`where_words`), and how that is found (`plimsoll.analyse.where_time`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from plimsoll.analyse.model import Analysis
from plimsoll.analyse.where_model import WhereLevel, WherePart, WhereTime
from plimsoll.guide.chart_links import Links, href, recordings_line
from plimsoll.guide.drawing import alt
from plimsoll.guide.labels import chart_of
from plimsoll.guide.look import Look
from plimsoll.guide.marks import Chart, axis_y, finish
from plimsoll.guide.numbers import NOT_KNOWN
from plimsoll.guide.sections import Section, SectionChart, best_systems, folded_but_best
from plimsoll.guide.server_summaries import counted_tables
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.guide.where_words import PARTS, where_sentence
from plimsoll.units import format_ms, format_number

_COLOURS = dict(zip(PARTS, (0, 1, 4, 3, 2, 5, 6), strict=True))
_COUNTS = {
    "page_reads": "pages read",
    "written_kb": "KB written",
    "redo_kb": "KB of redo",
    "flushes": "flushes",
    "context_switches": "context switches",
    "row_lock_waits": "row-lock waits",
}
_NOTE = (
    "Milliseconds and counts are for each transaction. Parts add up to the mean response time. Unexplained is what no"
    " other part takes: network, latches and waits that nobody counts. Server CPU includes the server's background"
    " threads, client CPU the load engine's work between transactions."
)
_OUTSIDE_NOTE = (
    "Outside is measured time for which the response time has no room. Room goes to waits first, then to server CPU,"
    " then to client CPU, so time in which server and client were both busy counts as server CPU."
)
_ESTIMATE_NOTE = (
    "Redo and binary log is estimated as flushes times the time of a flush; with group commit the true wait is longer."
)


def where_section(analysis: Analysis) -> Section | None:
    """The whole section; None without telemetry."""
    found = analysis.where_time
    if not found:
        return None
    units = {one.name: one.rate_unit for one in analysis.workloads}
    links, best = Links(analysis), best_systems(analysis)
    levels = [level for one in found for level in one.levels]
    has_outside = any(level.outside_ms for level in levels)
    is_estimate = any(level.redo_is_estimate for level in levels)
    return Section(
        anchor="where-time",
        title="Where the time goes",
        sentences=tuple(where_sentence(one, units.get(one.workload, "tps"), analysis.storage_use) for one in found),
        tables=tuple(folded_but_best(table, one.workload, best) for one in found for table in _tables(one, links)),
        charts=tuple(chart for one in found if (chart := _chart(one, _top_ms(one, found), links)) is not None),
        notes=(_NOTE, *((_OUTSIDE_NOTE,) if has_outside else ()), *((_ESTIMATE_NOTE,) if is_estimate else ())),
    )


def _tables(one: WhereTime, links: Links) -> tuple[Table, ...]:
    """Where the time of a transaction goes, what it uses, and what the server itself counted.

    Times and uses are two tables, since one would be wider than paper.
    """
    by_level = (_linked(table, one, links) for table in filter(None, (_times(one), _uses(one))))
    return (*by_level, *counted_tables(one))


def _linked(table: Table, one: WhereTime, links: Links) -> Table:
    """With the recordings of each level, a row of the table, behind its figures."""
    rows = []
    for level, row in zip(one.levels, table.rows, strict=True):
        trials = links.trials_of(one.system, one.workload, level.level)
        rows.append((row[0], *(replace(entry, sources=trials) for entry in row[1:])))
    return replace(table, rows=tuple(rows))


def _times(one: WhereTime) -> Table:
    parts = [part for part in PARTS if any(part in level.parts_ms for level in one.levels)]
    columns = [Column(heading=one.kind.axis.lower()), Column(heading="response ms")]
    columns += [Column(heading=f"{PARTS[part]} ms") for part in parts]
    has_outside = any(level.outside_ms for level in one.levels)
    columns += [Column(heading="outside ms")] if has_outside else []
    rows = tuple(
        (
            Entry(level.level.figure()),
            Entry(_figure(level.response_ms)),
            *(Entry(_figure(level.parts_ms.get(part)), _share(level, part)) for part in parts),
            *((Entry(_figure(sum(level.outside_ms.values()))),) if has_outside else ()),
        )
        for level in one.levels
    )
    caption = f"{one.workload}: time per transaction"
    return Table(caption=caption, system=one.system, columns=tuple(columns), rows=rows)


def _uses(one: WhereTime) -> Table | None:
    counts = [name for name in _COUNTS if any(name in level.per_transaction for level in one.levels)]
    resources = list(dict.fromkeys(name for level in one.levels for name in level.utilisation))
    if not counts and not resources:
        return None
    columns = [Column(heading=one.kind.axis.lower())]
    columns += [Column(heading=_COUNTS[name], group="per transaction") for name in counts]
    columns += [Column(heading=f"{name} %", group="busy") for name in resources]
    rows = tuple(
        (
            Entry(level.level.figure()),
            *(Entry(_figure(level.per_transaction.get(name))) for name in counts),
            *(Entry(_percent(level.utilisation.get(name))) for name in resources),
        )
        for level in one.levels
    )
    caption = f"{one.workload}: what a transaction uses, and how busy resources were"
    return Table(caption=caption, system=one.system, columns=tuple(columns), rows=rows)


def _figure(value: float | None) -> str:
    return NOT_KNOWN if value is None else format_number(value)


def _percent(ratio: float | None) -> str:
    return NOT_KNOWN if ratio is None else f"{ratio * 100:.0f}"


def _share(level: WhereLevel, part: WherePart) -> str | None:
    if part is not WherePart.UNEXPLAINED or level.unexplained_ratio is None:
        return None
    return f"{level.unexplained_ratio * 100:.0f} %"


def _top_ms(one: WhereTime, found: Iterable[WhereTime]) -> float:
    """The longest response time under the same workload and kind of load: heights of its charts can be compared."""
    alike = (other for other in found if (other.workload, other.kind) == (one.workload, one.kind))
    return max(sum(level.parts_ms.values()) for other in alike for level in other.levels)


def _chart(one: WhereTime, top_ms: float, links: Links) -> SectionChart | None:
    parts = [part for part in PARTS if any(level.parts_ms.get(part, 0.0) > 0 for level in one.levels)]
    if not parts:
        return None
    return SectionChart(
        title=f"{one.workload}, {one.system}: response time by part",
        draw=lambda look: where_chart(one, top_ms, look, links),
        key=tuple((PARTS[part], _COLOURS[part]) for part in parts),
    )


def where_chart(one: WhereTime, top_ms: float, look: Look, links: Links) -> Chart:
    """Mean response time of each level, stacked by part, on an axis that ends at `top_ms`."""
    rows = [
        {
            "level": level.level.figure(),
            "part": PARTS[part],
            "ms": level.parts_ms.get(part, 0.0),
            "order": order,
            "shown": format_ms(level.parts_ms.get(part, 0.0)),
            **links.of_cell(one.system, one.workload, level.level),
        }
        for level in one.levels
        for order, part in enumerate(PARTS)
    ]
    chart = chart_of(rows).mark_bar(stroke=look.palette.paper, strokeWidth=1)
    chart = chart.encode(
        x=alt.X(
            "level:O", sort=None, axis=alt.Axis(title=one.kind.axis, labelAngle=0, ticks=False, labelOverlap="greedy")
        ),
        y=axis_y("ms:Q", "Milliseconds for each transaction", alt.Scale(domain=[0, top_ms * 1.03], nice=False)),
        color=alt.Color(
            "part:N",
            scale=alt.Scale(domain=list(PARTS.values()), range=[look.palette.shares[_COLOURS[part]] for part in PARTS]),
            legend=alt.Legend() if look.legend else None,
        ),
        order=alt.Order("order:Q"),
        tooltip=[
            alt.Tooltip("level:O"),
            alt.Tooltip("part:N"),
            alt.Tooltip("shown:N", title="time"),
            recordings_line(),
        ],
        href=href(),
    )
    return finish(chart, look)
