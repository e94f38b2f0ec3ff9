"""The section "Where the time goes": what limits each curve, and what a transaction used and waited for.

Deliberately not here: how that is found (`plimsoll.analyse.where_time`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import altair as alt

from plimsoll.analyse.cell_model import Estimate
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.own_processors import CLIENT_CPUS, CPUS_OF, SERVER_CPUS
from plimsoll.analyse.where_model import WhereLevel, WherePart, WhereTime, WhereVerdict
from plimsoll.analyse.where_time import BUSIEST, CPU, OTHERS_RATIO
from plimsoll.guide.chart_links import HREF, RECORDINGS, Links
from plimsoll.guide.labels import chart_of
from plimsoll.guide.look import Look
from plimsoll.guide.marks import Chart, axis_y, finish
from plimsoll.guide.numbers import NOT_KNOWN
from plimsoll.guide.sections import Section, SectionChart, best_systems, folded_but_best
from plimsoll.guide.server_summaries import counted_tables
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.prose.phrases import rate_with_interval
from plimsoll.units import format_ms, format_number, format_percent, format_rate

PARTS: Mapping[WherePart, str] = {
    WherePart.SERVER_CPU: "server CPU",
    WherePart.CLIENT_CPU: "client CPU",
    WherePart.RUN_QUEUE: "waiting for a CPU",
    WherePart.ROW_LOCKS: "row locks",
    WherePart.REDO: "redo and binary log",
    WherePart.STORAGE_READS: "storage reads",
    WherePart.UNEXPLAINED: "unexplained",
}
_COLOURS = dict(zip(PARTS, (0, 1, 4, 3, 2, 5, 6), strict=True))
_COUNTS = {
    "page_reads": "pages read",
    "written_kb": "KB written",
    "redo_kb": "KB of redo",
    "flushes": "flushes",
    "context_switches": "context switches",
    "row_lock_waits": "row-lock waits",
}
CPUS = (CPU, BUSIEST, SERVER_CPUS, CLIENT_CPUS)
WIDE_FACTOR = 3.0
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
        sentences=tuple(where_sentence(one, units.get(one.workload, "tps")) for one in found),
        tables=tuple(folded_but_best(table, one.workload, best) for one in found for table in _tables(one, links)),
        charts=tuple(chart for one in found if (chart := _chart(one, _top_ms(one, found), links)) is not None),
        notes=(_NOTE, *((_OUTSIDE_NOTE,) if has_outside else ()), *((_ESTIMATE_NOTE,) if is_estimate else ())),
    )


def where_sentence(one: WhereTime, unit: str) -> str:
    """What limits one curve, and what more processors would give."""
    place = f"{one.workload}, {one.system}"
    match one.verdict:
        case WhereVerdict.SATURATED | WhereVerdict.FIRST_TO_SATURATE:
            return f"{place}: {_resource_sentence(one, unit)}{_what_if(one, unit)}"
        case WhereVerdict.WAIT_GROWS if one.part is not None:
            return f"{place}: no hardware resource limits throughput{_growth(one, one.part)}"
        case WhereVerdict.UNEXPLAINED_WAIT_GROWS:
            grown = format_ms(one.growth_ms or 0.0)
            return (
                f"{place}: no hardware resource limits throughput, and no counter says what does: time that nothing"
                f" explains grew by {grown} per transaction."
            )
        case WhereVerdict.NOTHING_GROWS if len(one.levels) == 1:
            return f"{place}: no resource was busy at the only level that was measured: more load would show the limit."
        case WhereVerdict.NOTHING_GROWS:
            return (
                f"{place}: no resource was busy at the highest throughput and response time hardly grew: more load"
                " would show the limit."
            )
    return f"{place}: telemetry does not say what limits throughput."


def _growth(one: WhereTime, part: WherePart) -> str:
    """The wait that grew, or the client's processor time; ends the sentence."""
    grown = format_ms(one.growth_ms or 0.0)
    if part is WherePart.CLIENT_CPU:
        return (
            f". No wait of the server grew as much as the client's own processor time: by {grown} per transaction. If"
            " the client shares CPUs with the server, give it CPUs of its own."
        )
    wait = "row locks" if part is WherePart.ROW_LOCKS else PARTS[part]
    on = f" on {one.table}" if one.table else ""
    return f": {wait}{on}. That wait grew by {grown} per transaction."


def _resource_sentence(one: WhereTime, unit: str) -> str:
    demand = next(demand for demand in one.demands if demand.resource == one.resource)
    name, verb = _name(demand.resource)
    used = format_percent(demand.utilisation_ratio)
    if one.verdict is WhereVerdict.SATURATED:
        text = f"{name} {verb} saturated: {used} busy at the highest throughput."
    else:
        at = _rate(demand.saturation_tps, unit)
        text = (
            f"{name} {verb} the first to saturate, at about {at} if demand per transaction stays the same: {used} busy"
            " at the highest throughput."
        )
    rival = f" The repetitions leave open whether it is {_name(one.rival)[0]}." if one.rival else ""
    shared = f" The client took {format_percent(one.client_ratio)} of the busy time." if one.client_ratio else ""
    others = ""
    if one.others_ratio is not None and one.others_ratio >= OTHERS_RATIO and demand.resource in CPUS:
        others = f" Neither server nor client used {format_percent(one.others_ratio)} of it: something else did."
    client = " The server may sustain more: give the client more CPUs." if demand.resource == CLIENT_CPUS else ""
    return f"{text}{rival}{shared}{others}{client}"


def _name(resource: str | None) -> tuple[str, str]:
    """A resource in words, and the verb that goes with it."""
    plural = {CPU: "the processors", SERVER_CPUS: "the server's processors", CLIENT_CPUS: "the client's processors"}
    if resource in plural:
        return plural[resource], "are"
    if resource is not None and resource.startswith(CPUS_OF):
        return f"the CPUs of {resource.removeprefix(CPUS_OF)}", "are"
    return {"busiest cpu": "a single CPU"}.get(resource or "", f"the {resource}"), "is"


def _rate(estimate: Estimate, unit: str) -> str:
    """A throughput; an interval wider than a factor of 3 is said in words."""
    bounds = estimate.bounds
    if bounds is not None and bounds.high > WIDE_FACTOR * bounds.low:
        return f"{format_rate(estimate.value, unit)} (95 % CI wider than a factor of 3)"
    return rate_with_interval(estimate, unit)


def _what_if(one: WhereTime, unit: str) -> str:
    if one.what_if is None:
        return ""
    limit = (
        "" if one.what_if.limited_by == one.resource else f", where {_name(one.what_if.limited_by)[0]} would saturate"
    )
    return (
        f" Twice the CPUs: at most {_rate(one.what_if.bound_tps, unit)}{limit}, assuming that demands stay"
        " the same and contention does not rise."
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
        tooltip=[alt.Tooltip("level:O"), alt.Tooltip("part:N"), alt.Tooltip("shown:N", title="time"), RECORDINGS],
        href=HREF,
    )
    return finish(chart, look)
