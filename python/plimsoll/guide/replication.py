"""The section "Source and replicas": each server of a system, lag over time, what another replica adds, semi-sync.

A chart shows throughput against the number of replicas with the line of the fleet's arithmetic; tables and sentences
say what acknowledged commits cost. Deliberately not here: how any of it is found (`plimsoll.analyse`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from plimsoll.analyse.explain.replication_model import (
    CommitCost,
    CommitPoint,
    FleetCosts,
    LagState,
    ReplicaScaling,
    ScalingPoint,
    ScalingStep,
    ServerFigures,
    ServersOfLevel,
)
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.guide.drawing import alt
from plimsoll.guide.marks import Chart, Row, Style, axis_y, chart_of, finish, rate_words, series_colours, series_dashes
from plimsoll.guide.sections import Section, SectionChart
from plimsoll.guide.sources import Links, href, recordings_line
from plimsoll.guide.tables import (
    NOT_KNOWN,
    Column,
    Entry,
    Table,
    per_unit,
    show_change,
    show_ms,
    show_rate,
    show_ratio,
    show_statistic,
    text_column,
)
from plimsoll.guide.words import clean
from plimsoll.prose.phrases import rate_with_interval
from plimsoll.prose.ratios import verdict_word
from plimsoll.units import format_ms, format_number, format_percent, format_rate
from plimsoll.wording import counted, listed

TOTALS_NOTE = (
    "Throughput adds up over the servers of a system: each transaction counts at the server on which it ran. Instances"
    " divide the data; replicas repeat it, and each of them applies every write. So data, memory and processors of"
    " replicas are paid for besides, and server CPU elsewhere in this guide is that of all servers together."
)
_COLUMNS_NOTE = (
    "CPU is processor time of the server for each transaction that ran on it, without its appliers. Apply is processor"
    " time of the applier for each replicated transaction. Lag is that of a heartbeat which comes every 50 ms. A stale"
    " read is one whose connection had written something that the replica did not have yet; wait is what waiting for"
    " such writes cost each read."
)
_LAG_NOTE = (
    "A lag grows where the smallest lag in each fifth of the window is above that in the fifth before. A lag that rises"
    " and comes back is bounded."
)


def replication_section(analysis: Analysis) -> Section | None:
    """The whole section; None without replicas."""
    replication = analysis.replication
    if not replication.levels:
        return None
    return Section(
        anchor="replication",
        title="Source and replicas",
        sentences=(*_lag_sentences(analysis), *scaling_sentences(analysis), *commit_sentences(analysis)),
        tables=(*_server_tables(analysis), *scaling_tables(analysis), *commit_tables(analysis)),
        charts=(*scaling_charts(analysis), *lag_charts(analysis)),
        notes=(TOTALS_NOTE, _COLUMNS_NOTE, _LAG_NOTE),
    )


def _unit_of(analysis: Analysis, workload: str) -> str:
    return next((summary.rate_unit for summary in analysis.workloads if summary.name == workload), "tps")


def _lag_sentences(analysis: Analysis) -> Iterator[str]:
    """For each system and workload whether its replicas keep up."""
    groups: dict[tuple[str, str], list[ServersOfLevel]] = {}
    for level in analysis.replication.levels:
        groups.setdefault((level.workload, level.system), []).append(level)
    for (workload, system), levels in groups.items():
        unit = _unit_of(analysis, workload)
        growing = [level for level in levels if any(server.lag_grows for server in level.servers)]
        if growing:
            first = growing[0]
            names = listed([server.instance for server in first.servers if server.lag_grows])
            yield (
                f"{workload}: the lag of {names} grows at {first.level.label(unit)}"
                f"{' and above' if len(growing) > 1 else ''}. What {system} does there is not sustained."
            )
        elif (largest_s := _largest_bounded_s(levels)) is not None:
            yield f"{workload}: the replicas of {system} keep up; the largest lag is {format_seconds(largest_s)}."
        else:
            yield f"{workload}: whether the replicas of {system} keep up is not known."


def _largest_bounded_s(levels: Sequence[ServersOfLevel]) -> float | None:
    lags = [lag for level in levels for server in level.servers for lag in server.lag]
    known = [lag.largest_s for lag in lags if lag.largest_s is not None and lag.state is LagState.BOUNDED]
    return max(known) if known and len(known) == len(lags) else None


def format_seconds(seconds: float) -> str:
    """A lag.

    >>> format_seconds(0.0512), format_seconds(12.34)
    ('51 ms', '12.3 s')
    """
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _server_tables(analysis: Analysis) -> Iterator[Table]:
    """A row for each level and server, a table for each system and workload."""
    names = dict.fromkeys((level.system, level.workload) for level in analysis.replication.levels)
    for system, workload in names:
        unit = _unit_of(analysis, workload)
        levels = [
            level for level in analysis.replication.levels if (level.system, level.workload) == (system, workload)
        ]
        columns = (
            Column(heading="level"),
            text_column("server"),
            text_column("role"),
            *(Column(heading=heading) for heading in (unit, "p50 ms", "p99 ms", "CPU ms", "apply ms")),
            *(Column(heading=heading) for heading in ("largest lag", "median lag")),
            text_column("lag"),
            *(Column(heading=heading) for heading in ("stale reads", "wait ms per read", "waits given up")),
            *(Column(heading=heading) for heading in ("failed", "errors", "outages")),
        )
        rows = tuple(row for level in levels for row in _rows(level, unit))
        yield Table(system=system, caption=f"{workload}: each server", columns=columns, rows=rows)


def _rows(level: ServersOfLevel, unit: str) -> Iterator[tuple[Entry, ...]]:
    label = level.level.figure(unit)
    yield from (_row(server, label, unit, level.trials) for server in level.servers)
    total = sum(server.throughput_tps for server in level.servers)
    rest = (Entry(""),) * 13
    yield (Entry(label), Entry("all"), Entry(""), Entry(_rate(total, unit), sources=level.trials), *rest)


def _row(server_figures: ServerFigures, label: str, unit: str, trials: tuple[str, ...]) -> tuple[Entry, ...]:
    is_replica = server_figures.role == "replica"
    lags = [lag.largest_s for lag in server_figures.lag if lag.largest_s is not None]
    medians = sorted(lag.median_s for lag in server_figures.lag if lag.median_s is not None)
    outages = f"{server_figures.outages_count:,}" + (
        f", longest {server_figures.outage_s:.1f} s" if server_figures.outages_count else ""
    )
    figures = (
        _rate(server_figures.throughput_tps, unit),
        show_statistic(server_figures.response_ms, "p50"),
        show_statistic(server_figures.response_ms, "p99"),
        show_ms(server_figures.cpu_ms_per_transaction),
        show_ms(server_figures.apply_ms),
        format_seconds(max(lags)) if lags else NOT_KNOWN,
        format_seconds(medians[len(medians) // 2]) if medians else NOT_KNOWN,
    )
    stale = NOT_KNOWN if server_figures.stale_ratio is None else format_percent(server_figures.stale_ratio)
    return (
        Entry(label),
        Entry(server_figures.instance),
        Entry(server_figures.role),
        *(Entry(text, sources=() if text == NOT_KNOWN else trials) for text in figures),
        Entry(
            _state(server_figures) if is_replica else NOT_KNOWN, mark="growing" if server_figures.lag_grows else None
        ),
        Entry(stale),
        Entry(show_ms(server_figures.wait_ms_per_read) if is_replica else NOT_KNOWN),
        Entry(f"{server_figures.wait_timeouts_count:,}" if is_replica else NOT_KNOWN),
        Entry(f"{server_figures.failed_count:,}"),
        Entry(f"{server_figures.errors_count:,}"),
        Entry(outages),
    )


def _state(server_figures: ServerFigures) -> str:
    states = {lag.state for lag in server_figures.lag}
    if LagState.GROWING in states:
        return "grows"
    return "bounded" if states == {LagState.BOUNDED} else "not known"


def _rate(tps: float, unit: str) -> str:
    return format_number(per_unit(tps, unit))


SHARED_WORDS = (
    "The servers share one machine's processors here, so another replica brings no processor time and takes some to"
    " apply every write. On machines of their own replicas bring theirs."
)
UNPLACED_WORDS = "It is not known which CPUs each server may use, so they count as shared."


def place_of(workload: str, alike: dict[str, str]) -> str:
    """A workload with what tells these systems from others of the study."""
    return ", ".join((workload, *(f"{name} {value}" for name, value in alike.items())))


def scaling_sentences(analysis: Analysis) -> Iterator[str]:
    """Where another replica stops helping: measured, then by the arithmetic."""
    for scaling in analysis.replication.scaling:
        start = f"{place_of(scaling.workload, scaling.alike)}{_reads(scaling)}"
        yield f"{start}: {_measured(scaling)}{_expected(scaling, _unit_of(analysis, scaling.workload))}"


def _reads(replica_scaling: ReplicaScaling) -> str:
    return (
        ""
        if replica_scaling.read_ratio is None
        else f" ({format_percent(replica_scaling.read_ratio)} of transactions only read)"
    )


def _measured(replica_scaling: ReplicaScaling) -> str:
    most = replica_scaling.points[-1].replicas
    if replica_scaling.stops_after is not None and replica_scaling.unresolved_from is None:
        grows = next(
            (point.lag_grows for point in replica_scaling.points if point.replicas > replica_scaling.stops_after), False
        )
        why = ", because lag then grows" if grows else ""
        return f"after {counted(replica_scaling.stops_after, 'replica')} another one does not help{why}."
    if replica_scaling.unresolved_from is not None:
        return (
            "whether another replica helps is not resolved from"
            f" {counted(replica_scaling.unresolved_from, 'replica')} on."
        )
    return f"each replica helps, up to the {most} that were measured."


def _expected(replica_scaling: ReplicaScaling, unit: str) -> str:
    costs = replica_scaling.costs
    if costs is None:
        return ""
    far = max(
        (abs(point.deviation_ratio) for point in replica_scaling.points if point.deviation_ratio is not None),
        default=0.0,
    )
    after = replica_scaling.stops_after_expected
    says = (
        " By the arithmetic of the fleet every replica helps"
        if after is None
        else f" By the arithmetic of the fleet another replica adds less than 5 % after {counted(after, 'replica')}"
    )
    limit = "" if costs.most_tps is None else f", and no number exceeds {format_rate(costs.most_tps, unit)}"
    shared = f" {SHARED_WORDS}" if costs.is_shared else ""
    unplaced = f" {UNPLACED_WORDS}" if not costs.is_placed else ""
    return f"{says}{limit}. The measured figures deviate from it by up to {format_percent(far)}.{shared}{unplaced}"


def scaling_tables(analysis: Analysis) -> Iterator[Table]:
    """A row for each number of replicas."""
    for scaling in analysis.replication.scaling:
        unit = _unit_of(analysis, scaling.workload)
        columns = (
            Column(heading="replicas"),
            text_column("system"),
            Column(heading="level"),
            Column(heading=unit),
            Column(heading="over one fewer"),
            text_column("another replica gives"),
            Column(heading=f"arithmetic {unit}"),
            Column(heading="deviation"),
        )
        rows = tuple(_point(point, scaling, unit) for point in scaling.points)
        notes = _notes(scaling.costs) if scaling.costs is not None else ()
        caption = f"{place_of(scaling.workload, scaling.alike)}: throughput by number of replicas"
        yield Table(caption=caption, columns=columns, rows=rows, notes=notes)


def _notes(costs: FleetCosts) -> tuple[str, ...]:
    formula = (
        "All servers share the processors: those over reads, writes and applying on each replica."
        if costs.is_shared
        else "The smaller of what the source can write and what the replicas can read beside applying every write."
    )
    return (
        f"Arithmetic: a read costs {format_ms(costs.read_ms)} of processor time, a write {format_ms(costs.write_ms)} on"
        f" the source and {format_ms(costs.apply_ms)} on each replica;"
        f" {format_percent(costs.write_ratio)} of transactions write. {formula} It rests on the systems with none and"
        " with one replica, so it agrees with these more than with others.",
    )


def _point(point: ScalingPoint, replica_scaling: ReplicaScaling, unit: str) -> tuple[Entry, ...]:
    shown = show_rate(point.throughput_tps, unit)
    step = next((each for each in replica_scaling.steps if each.count == point.replicas), None)
    change = None if step is None else show_change(step.ratio)
    expected = NOT_KNOWN if point.expected_tps is None else format_number(per_unit(point.expected_tps, unit))
    deviation = NOT_KNOWN if point.deviation_ratio is None else format_percent(point.deviation_ratio, signed=True)
    return (
        Entry(str(point.replicas)),
        Entry(point.system),
        Entry(point.level.figure(unit)),
        replace(shown, mark="lag grows" if point.lag_grows else None, sources=point.trials),
        change or Entry(NOT_KNOWN),
        Entry(NOT_KNOWN if step is None else _step_verdict(step)),
        Entry(expected),
        Entry(deviation),
    )


def _step_verdict(step: ScalingStep) -> str:
    is_known = step.verdict is not RatioVerdict.UNTESTABLE
    return verdict_word(step.verdict, "more", "less", "no more") if is_known else "not known: no repetitions"


def commit_sentences(analysis: Analysis) -> Iterator[str]:
    """How much longer writes take that wait for replicas: the dearest of each table."""
    for commit in analysis.replication.commits:
        known = [
            point for point in commit.points[1:] if point.ratio is not None and point.verdict == RatioVerdict.SLOWER
        ]
        if known:
            worst = max(known, key=lambda point: point.ratio.value if point.ratio is not None else 0.0)
            assert worst.ratio is not None, "chosen so"
            yield (
                f"{place_of(commit.workload, commit.alike)}: writes take {show_ratio(worst.ratio).text} times as long"
                f" with {_way(worst)} as with {_way(commit.points[0])}."
            )


def _way(point: CommitPoint) -> str:
    replicas = counted(point.acknowledging, "acknowledging replica")
    way = "asynchronous replication" if point.acknowledging == 0 else replicas
    return f"{way} over a delay of {format_ms(point.delay_ms)}" if point.delay_ms else way


def commit_tables(analysis: Analysis) -> Iterator[Table]:
    """A row for each way of replication."""
    for commit in analysis.replication.commits:
        columns = (
            Column(heading="acknowledging replicas"),
            Column(heading="delay, one way"),
            Column(heading="replicas"),
            text_column("system"),
            *(Column(heading=f"{name} ms") for name in ("mean", "p50", "p95", "p99")),
            Column(heading="mean over the first"),
            text_column("takes"),
        )
        rows = tuple(_commit(point) for point in commit.points)
        caption = f"{_commits_place(commit, analysis)}: response time of writes"
        notes = (
            "Response times of transactions that write, on the source. Each mean is compared with that of the first"
            " row, within repetitions. In a closed loop slower commits also mean less load; rates compare at equal"
            " load.",
        )
        yield Table(caption=caption, columns=columns, rows=rows, notes=notes)


def _commits_place(commit_cost: CommitCost, analysis: Analysis) -> str:
    label = commit_cost.level.label(_unit_of(analysis, commit_cost.workload))
    return f"{place_of(commit_cost.workload, commit_cost.alike)} at {label}"


def _commit(point: CommitPoint) -> tuple[Entry, ...]:
    is_unknown = point.verdict in ("", RatioVerdict.UNTESTABLE)
    ratio = None if point.ratio is None else show_ratio(point.ratio)
    times = (show_statistic(point.response_ms, name) for name in ("mean", "p50", "p95", "p99"))
    return (
        Entry(str(point.acknowledging)),
        Entry(format_ms(point.delay_ms) if point.delay_ms else "none"),
        Entry(str(point.replicas)),
        Entry(point.system),
        *(Entry(text, sources=point.trials) for text in times),
        ratio or Entry(NOT_KNOWN),
        Entry(NOT_KNOWN if is_unknown else verdict_word(RatioVerdict(point.verdict), "shorter", "longer")),
    )


CHARTS_MAX = 6
"""So many systems under a workload have a chart of lag; those with the largest lag first."""

_ARITHMETIC = "arithmetic"


def lag_charts(analysis: Analysis) -> Iterator[SectionChart]:
    """One for each system and workload: at the level where a lag grows first, else at that with the largest lag."""
    groups: dict[tuple[str, str], list[ServersOfLevel]] = {}
    for level in analysis.replication.levels:
        if any(lag.lag_s for server in level.servers for lag in server.lag):
            groups.setdefault((level.system, level.workload), []).append(level)
    chosen = [_chosen(levels) for levels in groups.values()]
    for level in sorted(chosen, key=lambda level: -_largest_level_s(level))[:CHARTS_MAX]:
        label = level.level.label(_unit_of(analysis, level.workload))
        yield SectionChart(title=f"{level.system}, {level.workload}, {label}: lag", draw=_LagChart(level, analysis))


def _chosen(levels: Sequence[ServersOfLevel]) -> ServersOfLevel:
    growing = [level for level in levels if any(server.lag_grows for server in level.servers)]
    return growing[0] if growing else max(levels, key=_largest_level_s)


def _largest_level_s(level: ServersOfLevel) -> float:
    return max((lag.largest_s or 0.0 for server in level.servers for lag in server.lag), default=0.0)


class _LagChart:
    """Draws the lag of each replica of a level, a line for each trial."""

    def __init__(self, level: ServersOfLevel, analysis: Analysis) -> None:
        self._level, self._links = level, Links(analysis)

    def __call__(self, style: Style) -> Chart:
        """The chart in a style."""
        rows = [
            {
                "replica": clean(server.instance),
                "trial": lag.trial_id,
                "second": lag.from_s + (index + 0.5) * lag.step_s,
                "lag": value,
                **self._links.of([lag.trial_id]),
            }
            for server in self._level.servers
            for lag in server.lag
            for index, value in enumerate(lag.lag_s)
            if value is not None
        ]
        replicas = list(dict.fromkeys(row["replica"] for row in rows))
        colour = _colour("replica:N", replicas, style)
        x = alt.X("second:Q", axis=alt.Axis(title="Seconds since the load began", tickCount=6, format=",~r"))
        top = max(row["lag"] for row in rows) * 1.06 or 1.0
        y = axis_y("lag:Q", "Lag, seconds", alt.Scale(domain=[0, top], nice=False), tickCount=4)
        tooltip = [
            alt.Tooltip("replica:N"),
            alt.Tooltip("second:Q", format=".0f"),
            alt.Tooltip("lag:Q", title="lag, s", format=".4~r"),
            recordings_line(),
        ]
        base = chart_of(rows)
        line = base.mark_line(strokeWidth=1.6).encode(x=x, y=y, color=colour, detail=alt.Detail("trial:N"))
        point = base.mark_point(filled=True, size=14, opacity=0.8)
        return finish(alt.layer(line, point.encode(x=x, y=y, color=colour, tooltip=tooltip, href=href())), style)


def _colour(field: str, names: Sequence[str], style: Style) -> alt.Color:
    scale = alt.Scale(domain=list(names), range=series_colours(style.palette, len(names)))
    return alt.Color(field, scale=scale, legend=alt.Legend())


def scaling_charts(analysis: Analysis) -> Iterator[SectionChart]:
    """One for each workload: a line for each family of systems, dashed what the arithmetic says."""
    for workload in dict.fromkeys(scaling.workload for scaling in analysis.replication.scaling):
        scalings = [scaling for scaling in analysis.replication.scaling if scaling.workload == workload]
        yield SectionChart(
            title=f"{workload}: throughput by number of replicas", draw=_ScalingChart(scalings, analysis)
        )


class _ScalingChart:
    """Draws throughput against the number of replicas, with the band of the confidence interval."""

    def __init__(self, scalings: Sequence[ReplicaScaling], analysis: Analysis) -> None:
        self._scalings, self._links = scalings, Links(analysis)
        self._unit = _unit_of(analysis, scalings[0].workload)

    def __call__(self, style: Style) -> Chart:
        """The chart in a style."""
        rows = [row for scaling in self._scalings for row in self._rows(scaling)]
        names = list(dict.fromkeys(row["system"] for row in rows))
        colour = _colour("system:N", names, style)
        kinds = ["measured", _ARITHMETIC]
        dash = alt.StrokeDash("kind:N", scale=alt.Scale(domain=kinds, range=[series_dashes(1)[0], [6, 4]]))
        counts = sorted({row["replicas"] for row in rows})
        x = alt.X("replicas:Q", axis=alt.Axis(title="Replicas", values=counts, format="d"))
        top = max(row["high"] or row["rate"] for row in rows) * 1.06 or 1.0
        y = axis_y("rate:Q", f"Throughput, {rate_words(self._unit)}", alt.Scale(domain=[0, top], nice=False))
        tooltip = [
            alt.Tooltip("system:N", title="systems"),
            alt.Tooltip("kind:N", title="is"),
            alt.Tooltip("replicas:Q"),
            alt.Tooltip("shown:N", title="throughput"),
            recordings_line(),
        ]
        base = chart_of(rows)
        band = base.mark_area(opacity=0.16).encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), color=colour)
        band = band.transform_filter("isValid(datum.low)")
        line = base.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour, strokeDash=dash)
        point = base.mark_point(filled=True, size=48, opacity=1).transform_filter("datum.kind == 'measured'")
        return finish(alt.layer(band, line, point.encode(x=x, y=y, color=colour, tooltip=tooltip, href=href())), style)

    def _rows(self, replica_scaling: ReplicaScaling) -> Iterator[Row]:
        name = clean(place_of(replica_scaling.workload, replica_scaling.alike))
        for point in replica_scaling.points:
            bounds = point.throughput_tps.bounds
            known = bounds if bounds is not None and not bounds.is_vague else None
            yield {
                "system": name,
                "kind": "measured",
                "replicas": point.replicas,
                "rate": per_unit(point.throughput_tps.value, self._unit),
                "low": None if known is None else per_unit(known.low, self._unit),
                "high": None if known is None else per_unit(known.high, self._unit),
                "shown": rate_with_interval(point.throughput_tps, self._unit),
                **self._links.of(point.trials),
            }
            if point.expected_tps is not None:
                rate = per_unit(point.expected_tps, self._unit)
                yield {
                    "system": name,
                    "kind": _ARITHMETIC,
                    "replicas": point.replicas,
                    "rate": rate,
                    "low": None,
                    "high": None,
                    "shown": f"{rate:,.0f} {self._unit}",
                    **self._links.of(point.trials),
                }
