"""The section "Where the time goes": what limits each curve, and what a transaction used and waited for.

The limit in words is the resource or the wait, what more processors would give, and what is not known. Tables of waits
and of statements are what the server's performance schema counted at the highest throughput. Deliberately not here: how
that is found (`plimsoll.analyse`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from plimsoll.analyse.explain.where_model import (
    BUSIEST,
    CPU,
    DATA_DEVICE,
    ResourceDemand,
    StorageUse,
    WhatIf,
    WhereLevel,
    WherePart,
    WhereTime,
    WhereVerdict,
    is_device,
)
from plimsoll.analyse.explain.where_time import OTHERS_RATIO
from plimsoll.analyse.findings.options import THROTTLED_RATIO
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.trial.processors import CLIENT_CPUS, CPUS_OF, SERVER_CPUS
from plimsoll.analyse.trial.resources import CPU_QUOTA, NETWORK
from plimsoll.guide.drawing import alt
from plimsoll.guide.marks import Chart, Style, axis_y, chart_of, finish
from plimsoll.guide.sections import Section, SectionChart, best_systems, folded_but_best
from plimsoll.guide.sources import Links, href, recordings_line
from plimsoll.guide.tables import NOT_KNOWN, Column, Entry, Table, text_column
from plimsoll.prose.phrases import confidence, rate_with_interval
from plimsoll.units import format_ms, format_number, format_percent, format_rate
from plimsoll.wording import listed

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
_NOTE = (
    "Milliseconds and counts are for each transaction. Parts add up to the mean response time. Unexplained is what no"
    " other part takes: network, latches and waits that nobody counts. Server CPU includes the server's background"
    " threads, client CPU the load engine's work between transactions."
)
_OUTSIDE_NOTE = (
    "Outside is measured time that exceeds the response time. The response time is filled with waits first, then with"
    " server CPU, then with client CPU, so time in which server and client were both busy counts as server CPU."
)
_ESTIMATE_NOTE = (
    "Redo and binary log is estimated as flushes times the time of a flush; with group commit the true wait is longer."
)


def where_section(analysis: Analysis) -> Section | None:
    """The whole section; None without telemetry."""
    breakdowns = analysis.where_time
    if not breakdowns:
        return None
    units = {workload.name: workload.rate_unit for workload in analysis.workloads}
    links, best = Links(analysis), best_systems(analysis)
    levels = [level for breakdown in breakdowns for level in breakdown.levels]
    has_outside = any(level.outside_ms for level in levels)
    is_estimate = any(level.redo_is_estimate for level in levels)
    return Section(
        anchor="where-time",
        title="Where the time goes",
        sentences=tuple(
            where_sentence(breakdown, units.get(breakdown.workload, "tps"), analysis.storage_use)
            for breakdown in breakdowns
        ),
        tables=tuple(
            folded_but_best(table, breakdown.workload, best)
            for breakdown in breakdowns
            for table in _tables(breakdown, links)
        ),
        charts=tuple(
            chart
            for breakdown in breakdowns
            if (chart := _chart(breakdown, _top_ms(breakdown, breakdowns), links)) is not None
        ),
        notes=(_NOTE, *((_OUTSIDE_NOTE,) if has_outside else ()), *((_ESTIMATE_NOTE,) if is_estimate else ())),
    )


def _tables(where: WhereTime, links: Links) -> tuple[Table, ...]:
    """Where the time of a transaction goes, what it uses, and what the server itself counted.

    Times and uses are two tables, since one would be wider than paper.
    """
    by_level = (_linked(table, where, links) for table in filter(None, (_times(where), _uses(where))))
    return (*by_level, *counted_tables(where))


def _linked(table: Table, where: WhereTime, links: Links) -> Table:
    """With the recordings of each level, a row of the table, behind its figures."""
    rows = []
    for level, row in zip(where.levels, table.rows, strict=True):
        trials = links.trials_of(where.system, where.workload, level.level)
        rows.append((row[0], *(replace(entry, sources=trials) for entry in row[1:])))
    return replace(table, rows=tuple(rows))


def _times(where: WhereTime) -> Table:
    parts = [part for part in PARTS if any(part in level.parts_ms for level in where.levels)]
    columns = [Column(heading=where.kind.axis.lower()), Column(heading="response ms")]
    columns += [Column(heading=f"{PARTS[part]} ms") for part in parts]
    has_outside = any(level.outside_ms for level in where.levels)
    columns += [Column(heading="outside ms")] if has_outside else []
    rows = tuple(
        (
            Entry(level.level.figure()),
            Entry(_figure(level.response_ms)),
            *(Entry(_figure(level.parts_ms.get(part)), _share(level, part)) for part in parts),
            *((Entry(_figure(sum(level.outside_ms.values()))),) if has_outside else ()),
        )
        for level in where.levels
    )
    caption = f"{where.workload}: time per transaction"
    return Table(caption=caption, system=where.system, columns=tuple(columns), rows=rows)


def _uses(where: WhereTime) -> Table | None:
    counts = [name for name in _COUNTS if any(name in level.per_transaction for level in where.levels)]
    resources = list(dict.fromkeys(name for level in where.levels for name in level.utilisation))
    if not counts and not resources:
        return None
    columns = [Column(heading=where.kind.axis.lower())]
    columns += [Column(heading=_COUNTS[name], group="per transaction") for name in counts]
    columns += [Column(heading=f"{name} %", group="busy") for name in resources]
    rows = tuple(
        (
            Entry(level.level.figure()),
            *(Entry(_figure(level.per_transaction.get(name))) for name in counts),
            *(Entry(_percent(level.utilisation.get(name))) for name in resources),
        )
        for level in where.levels
    )
    caption = f"{where.workload}: what a transaction uses, and how busy resources were"
    return Table(caption=caption, system=where.system, columns=tuple(columns), rows=rows)


def _figure(value: float | None) -> str:
    return NOT_KNOWN if value is None else format_number(value)


def _percent(ratio: float | None) -> str:
    return NOT_KNOWN if ratio is None else f"{ratio * 100:.0f}"


def _share(level: WhereLevel, part: WherePart) -> str | None:
    if part is not WherePart.UNEXPLAINED or level.unexplained_ratio is None:
        return None
    return f"{level.unexplained_ratio * 100:.0f} %"


def _top_ms(where: WhereTime, breakdowns: Iterable[WhereTime]) -> float:
    """The longest response time under the same workload and kind of load: heights of its charts can be compared."""
    alike = (other for other in breakdowns if (other.workload, other.kind) == (where.workload, where.kind))
    return max(sum(level.parts_ms.values()) for other in alike for level in other.levels)


def _chart(where: WhereTime, top_ms: float, links: Links) -> SectionChart | None:
    parts = [part for part in PARTS if any(level.parts_ms.get(part, 0.0) > 0 for level in where.levels)]
    if not parts:
        return None
    return SectionChart(
        title=f"{where.workload}, {where.system}: response time by part",
        draw=lambda style: where_chart(where, top_ms, style, links),
        key=tuple((PARTS[part], _COLOURS[part]) for part in parts),
    )


def where_chart(where: WhereTime, top_ms: float, style: Style, links: Links) -> Chart:
    """Mean response time of each level, stacked by part, on an axis that ends at `top_ms`."""
    rows = [
        {
            "level": level.level.figure(),
            "part": PARTS[part],
            "ms": level.parts_ms.get(part, 0.0),
            "order": order,
            "shown": format_ms(level.parts_ms.get(part, 0.0)),
            **links.of_cell(where.system, where.workload, level.level),
        }
        for level in where.levels
        for order, part in enumerate(PARTS)
    ]
    chart = chart_of(rows).mark_bar(stroke=style.palette.paper, strokeWidth=1)
    chart = chart.encode(
        x=alt.X(
            "level:O", sort=None, axis=alt.Axis(title=where.kind.axis, labelAngle=0, ticks=False, labelOverlap="greedy")
        ),
        y=axis_y("ms:Q", "Milliseconds for each transaction", alt.Scale(domain=[0, top_ms * 1.03], nice=False)),
        color=alt.Color(
            "part:N",
            scale=alt.Scale(
                domain=list(PARTS.values()), range=[style.palette.shares[_COLOURS[part]] for part in PARTS]
            ),
            legend=alt.Legend() if style.legend else None,
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
    return finish(chart, style)


CPUS = (CPU, BUSIEST, SERVER_CPUS, CLIENT_CPUS)
LARGE_RATIO = 0.2
"""From this share on, the part of response time that no source explains is said in words."""

_MOST_RATIO = 0.5
"""From this share of the busy time on, who took it is what limits."""

_NAMES = {
    CPU: ("the processors", "are"),
    BUSIEST: ("a single CPU", "is"),
    SERVER_CPUS: ("the server's processors", "are"),
    CLIENT_CPUS: ("the client's processors", "are"),
    CPU_QUOTA: ("the server's quota of processor time", "is"),
}
_PARALLEL = "a device that serves requests in parallel may still have capacity"


def where_sentence(where: WhereTime, unit: str, uses: Iterable[StorageUse] = ()) -> str:
    """What limits one curve, what more processors would give, and how much no source explains.

    Args:
        where: The curve.
        unit: Of its throughput.
        uses: What systems did to storage that fio measured.
    """
    use = next((use for use in uses if (use.system, use.workload) == (where.system, where.workload)), None)
    return f"{where.workload}, {where.system}: {_limit(where, unit, use)}{_throttled(where)}{_unexplained(where)}"


def _limit(where: WhereTime, unit: str, use: StorageUse | None) -> str:
    nothing, network = _no_hardware(where)
    match where.verdict:
        case WhereVerdict.SATURATED | WhereVerdict.FIRST_TO_SATURATE:
            return f"{_resource(where, unit, use)}{_what_if(where.what_if, unit, use)}"
        case WhereVerdict.WAIT_GROWS if where.part is not None:
            return f"{nothing} throughput{_growth(where, where.part)}{_rivals(where)}{network}"
        case WhereVerdict.UNEXPLAINED_WAIT_GROWS:
            return (
                f"{nothing} throughput, and no counter says what does: time that nothing explains grew by"
                f" {_grown(where)} per transaction.{_rivals(where)}{network}"
            )
        case WhereVerdict.NOTHING_GROWS if len(where.levels) == 1:
            return f"no resource was busy at the only level that was measured: more load would show the limit.{network}"
        case WhereVerdict.NOTHING_GROWS:
            return (
                "no resource was busy at the highest throughput and response time hardly grew: more load would show"
                f" the limit.{network}"
            )
    return "telemetry does not say what limits throughput."


def _no_hardware(where: WhereTime) -> tuple[str, str]:
    """That nothing is busy, as far as it is known; and a sentence about the rest."""
    if where.is_network_known:
        return "no hardware resource limits", ""
    return "neither processors nor disks limit", " The network was not measured at both ends, so it may be the limit."


def _growth(where: WhereTime, part: WherePart) -> str:
    """The wait that grew, or the client's processor time; ends the sentence."""
    if part is WherePart.CLIENT_CPU:
        return (
            f". No wait of the server grew as much as the client's own processor time: by {_grown(where)} per"
            " transaction. If the client shares CPUs with the server, give it CPUs of its own."
        )
    return f": {_wait(where, part)}. That wait grew by {_grown(where)} per transaction."


def _wait(where: WhereTime, part: WherePart) -> str:
    if part is WherePart.UNEXPLAINED:
        return "time that nothing explains"
    if part is WherePart.CLIENT_CPU:
        return "the client's own processor time"
    return f"{PARTS[part]} on {where.table}" if part is WherePart.ROW_LOCKS and where.table else PARTS[part]


def _grown(where: WhereTime) -> str:
    grown, bounds = format_ms(where.growth_ms or 0.0), where.growth_bounds
    if bounds is None:
        return grown
    low, high = map(format_ms, (bounds.low, bounds.high))
    return f"{grown} ({confidence(bounds)} CI {low} to {high})"


def _rivals(where: WhereTime) -> str:
    if not where.rival_parts:
        return ""
    others = listed([_wait(where, part) for part in where.rival_parts])
    return f" These trials do not resolve whether it grew more than {others}."


def _resource(where: WhereTime, unit: str, use: StorageUse | None) -> str:
    demand = next(demand for demand in where.demands if demand.resource == where.resource)
    name, verb = _name(demand.resource)
    used = _used(demand)
    at = rate_with_interval(demand.saturation_tps, unit)
    is_full = where.verdict is WhereVerdict.SATURATED
    if is_device(demand.resource):
        later = "" if is_full else f", and all the time at about {at} if demand per transaction stays the same"
        text = f"{name} {verb} the busiest resource: {used} at the highest throughput{later}; {_PARALLEL}."
        text += _of_fio(demand.resource, use)
    elif is_full and _is_of_others(where, demand.resource):
        text = (
            f"{name} {verb} saturated, but not by this load: {used} at the highest throughput, and"
            f" {format_percent(where.others_ratio or 0.0)} of the busy time went to processes other than server and"
            " client. End them, and measure again."
        )
    elif is_full:
        text = f"{name} {verb} saturated: {used} at the highest throughput."
    else:
        text = (
            f"{name} {verb} the first to saturate, at about {at} if demand per transaction stays the same: {used}"
            " at the highest throughput."
        )
    return f"{text}{_rival(where)}{_client_and_others(where, demand.resource)}"


def _is_of_others(where: WhereTime, resource: str) -> bool:
    """Whether most of the processors' busy time was neither the server's nor the client's."""
    return resource in CPUS and (where.others_ratio or 0.0) > _MOST_RATIO


def _used(demand: ResourceDemand) -> str:
    share = format_percent(demand.utilisation_ratio)
    if demand.resource.startswith(NETWORK):
        return f"{share} of its speed used"
    return f"{share} used" if demand.resource == CPU_QUOTA else f"{share} busy"


def _of_fio(resource: str, use: StorageUse | None) -> str:
    if use is None or use.device_ratio is None or not resource.startswith(DATA_DEVICE):
        return ""
    return f" It did {format_percent(use.device_ratio)} of the random reads and writes that fio reached on it."


def _rival(where: WhereTime) -> str:
    if where.rival is None:
        return ""
    name = _name(where.rival)[0]
    if is_device(where.resource) and not is_device(where.rival):
        used = next(_used(demand) for demand in where.demands if demand.resource == where.rival)
        return f" What limits may therefore be {name}: {used}."
    return f" The repetitions leave open whether it is {name}."


def _client_and_others(where: WhereTime, resource: str) -> str:
    shared = f" The client took {format_percent(where.client_ratio)} of the busy time." if where.client_ratio else ""
    others = ""
    is_told = where.verdict is WhereVerdict.SATURATED and _is_of_others(where, resource)
    if where.others_ratio is not None and where.others_ratio >= OTHERS_RATIO and resource in CPUS and not is_told:
        others = f" Neither server nor client used {format_percent(where.others_ratio)} of it: something else did."
    client = " The server may sustain more: give the client more CPUs." if resource == CLIENT_CPUS else ""
    return f"{shared}{others}{client}"


def _name(resource: str) -> tuple[str, str]:
    """A resource in words, and the verb that goes with it."""
    if resource.startswith(CPUS_OF):
        return f"the CPUs of {resource.removeprefix(CPUS_OF)}", "are"
    if resource.startswith(NETWORK):
        return f"the network link {resource.removeprefix(NETWORK)}", "is"
    return _NAMES.get(resource, (f"the {resource}", "is"))


def _what_if(what_if: WhatIf | None, unit: str, use: StorageUse | None) -> str:
    if what_if is None:
        return ""
    is_other = what_if.limited_by not in (CPU, SERVER_CPUS)
    limit = f", where {_name(what_if.limited_by)[0]} would saturate" if is_other else ""
    return (
        f" Twice the CPUs: at most {rate_with_interval(what_if.bound_tps, unit)}{limit}, assuming that demands stay"
        f" the same and contention does not rise.{_device_before(what_if, unit, use)}"
    )


def _device_before(what_if: WhatIf, unit: str, use: StorageUse | None) -> str:
    if what_if.device is None or what_if.device_busy_tps is None:
        return ""
    at = rate_with_interval(what_if.device_busy_tps, unit)
    text = f" From {at} on, {_name(what_if.device)[0]} would be busy all the time and may be the limit; {_PARALLEL}."
    if use is None or use.device_limit_tps is None or not what_if.device.startswith(DATA_DEVICE):
        return text
    enough = format_rate(use.device_limit_tps, unit)
    return f"{text} The random reads and writes that fio reached on it are enough for about {enough}."


def _throttled(where: WhereTime) -> str:
    level = _limit_level(where)
    stopped_s = 0.0 if level is None else level.throttled_s_per_s or 0.0
    if stopped_s <= THROTTLED_RATIO:
        return ""
    return (
        f" CPUs of the server's control group were stopped for {stopped_s:.2f} s in each second, because it had used up"
        " its quota of processor time."
    )


def _unexplained(where: WhereTime) -> str:
    """At the level that the verdict is about: where waits grow, that is the highest."""
    level = _limit_level(where) if where.resource else where.levels[-1]
    if level is None or level.unexplained_ratio is None or level.unexplained_ratio <= LARGE_RATIO:
        return ""
    share = format_percent(level.unexplained_ratio)
    return f" No source explains {share} of the response time at {level.level.label()}."


def _limit_level(where: WhereTime) -> WhereLevel | None:
    return next((level for level in where.levels if level.level == where.limit_level), None)


def counted_tables(where: WhereTime) -> tuple[Table, ...]:
    """The tables of one curve; none where the performance schema is off."""
    level = next((level for level in where.levels if level.level == where.limit_level), None)
    if level is None:
        return ()
    place = f"{where.workload}, {where.kind.axis.lower()} {level.level.figure()}"
    return tuple(
        table for table in (_waits(where.system, place, level), _statements(where.system, place, level)) if table
    )


def _waits(system: str, place: str, level: WhereLevel) -> Table | None:
    if not level.server_waits:
        return None
    columns = (
        text_column("wait"),
        Column(heading="count", group="per transaction"),
        Column(heading="ms", group="per transaction"),
    )
    rows = tuple(
        (Entry(wait.event), Entry(format_number(wait.count)), Entry(format_number(wait.ms)))
        for wait in level.server_waits
    )
    caption = f"{place}: waits of all threads, as the performance schema counts them"
    return Table(caption=caption, system=system, columns=columns, rows=rows)


def _statements(system: str, place: str, level: WhereLevel) -> Table | None:
    if not level.server_statements:
        return None
    columns = (
        text_column("statement"),
        Column(heading="count", group="per transaction"),
        Column(heading="ms", group="per transaction"),
        Column(heading="rows examined", group="per transaction"),
    )
    rows = tuple(
        (
            Entry(server_statement.kind),
            Entry(format_number(server_statement.count)),
            Entry(format_number(server_statement.ms)),
            Entry(format_number(server_statement.rows_examined)),
        )
        for server_statement in level.server_statements
    )
    caption = f"{place}: statements in the server, as the performance schema counts them"
    return Table(caption=caption, system=system, columns=columns, rows=rows)
