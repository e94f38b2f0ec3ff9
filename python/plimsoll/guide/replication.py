"""The section "Source and replicas": each server of a system, lag over time, what another replica adds, semi-sync.

Deliberately not here: how any of it is found (`plimsoll.analyse.replication`), and its charts (`replication_charts`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plimsoll.analyse.model import Analysis
from plimsoll.analyse.replication.model import LagState, ServerFigures, ServersOfLevel
from plimsoll.guide.numbers import NOT_KNOWN, per_unit, show_ms, show_statistic
from plimsoll.guide.replication_charts import lag_charts, scaling_charts
from plimsoll.guide.scale_out import commit_sentences, commit_tables, scaling_sentences, scaling_tables
from plimsoll.guide.sections import Section
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.prose.phrases import listed
from plimsoll.units import format_number, format_percent

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
    found = analysis.replication
    if not found.levels:
        return None
    return Section(
        anchor="replication",
        title="Source and replicas",
        sentences=(*_lag_sentences(analysis), *scaling_sentences(analysis), *commit_sentences(analysis)),
        tables=(*_server_tables(analysis), *scaling_tables(analysis), *commit_tables(analysis)),
        charts=(*scaling_charts(analysis), *lag_charts(analysis)),
        notes=(TOTALS_NOTE, _COLUMNS_NOTE, _LAG_NOTE),
    )


def _unit(analysis: Analysis, workload: str) -> str:
    return next((one.rate_unit for one in analysis.workloads if one.name == workload), "tps")


def _lag_sentences(analysis: Analysis) -> Iterator[str]:
    """For each system and workload whether its replicas keep up."""
    groups: dict[tuple[str, str], list[ServersOfLevel]] = {}
    for level in analysis.replication.levels:
        groups.setdefault((level.workload, level.system), []).append(level)
    for (workload, system), levels in groups.items():
        unit = _unit(analysis, workload)
        growing = [one for one in levels if any(server.lag_grows for server in one.servers)]
        if growing:
            first = growing[0]
            names = listed([one.instance for one in first.servers if one.lag_grows])
            yield (
                f"{workload}: the lag of {names} grows at {first.level.label(unit)}"
                f"{' and above' if len(growing) > 1 else ''}. What {system} does there is not sustained."
            )
        elif (largest_s := _largest_s(levels)) is not None:
            yield f"{workload}: the replicas of {system} keep up; the largest lag is {format_seconds(largest_s)}."
        else:
            yield f"{workload}: whether the replicas of {system} keep up is not known."


def _largest_s(levels: Sequence[ServersOfLevel]) -> float | None:
    lags = [lag for level in levels for server in level.servers for lag in server.lag]
    known = [one.largest_s for one in lags if one.largest_s is not None and one.state is LagState.BOUNDED]
    return max(known) if known and len(known) == len(lags) else None


def format_seconds(seconds: float) -> str:
    """A lag.

    >>> format_seconds(0.0512), format_seconds(12.34)
    ('51 ms', '12.3 s')
    """
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _server_tables(analysis: Analysis) -> Iterator[Table]:
    """A row for each level and server, a table for each system and workload."""
    names = dict.fromkeys((one.system, one.workload) for one in analysis.replication.levels)
    for system, workload in names:
        unit = _unit(analysis, workload)
        levels = [one for one in analysis.replication.levels if (one.system, one.workload) == (system, workload)]
        columns = (
            Column(heading="level"),
            Column(heading="server", numeric=False),
            Column(heading="role", numeric=False),
            *(Column(heading=heading) for heading in (unit, "p50 ms", "p99 ms", "CPU ms", "apply ms")),
            *(Column(heading=heading) for heading in ("largest lag", "median lag")),
            Column(heading="lag", numeric=False),
            *(Column(heading=heading) for heading in ("stale reads", "wait ms per read", "waits given up")),
            *(Column(heading=heading) for heading in ("failed", "errors", "outages")),
        )
        rows = tuple(row for level in levels for row in _rows(level, unit))
        yield Table(system=system, caption=f"{workload}: each server", columns=columns, rows=rows)


def _rows(level: ServersOfLevel, unit: str) -> Iterator[tuple[Entry, ...]]:
    label = level.level.figure(unit)
    yield from (_row(one, label, unit, level.trials) for one in level.servers)
    total = sum(one.throughput_tps for one in level.servers)
    rest = (Entry(""),) * 13
    yield (Entry(label), Entry("all"), Entry(""), Entry(_rate(total, unit), sources=level.trials), *rest)


def _row(one: ServerFigures, label: str, unit: str, trials: tuple[str, ...]) -> tuple[Entry, ...]:
    is_replica = one.role == "replica"
    lags = [lag.largest_s for lag in one.lag if lag.largest_s is not None]
    medians = sorted(lag.median_s for lag in one.lag if lag.median_s is not None)
    outages = f"{one.outages_count:,}" + (f", longest {one.outage_s:.1f} s" if one.outages_count else "")
    figures = (
        _rate(one.throughput_tps, unit),
        show_statistic(one.response_ms, "p50"),
        show_statistic(one.response_ms, "p99"),
        show_ms(one.cpu_ms_per_transaction),
        show_ms(one.apply_ms),
        format_seconds(max(lags)) if lags else NOT_KNOWN,
        format_seconds(medians[len(medians) // 2]) if medians else NOT_KNOWN,
    )
    stale = NOT_KNOWN if one.stale_ratio is None else format_percent(one.stale_ratio)
    return (
        Entry(label),
        Entry(one.instance),
        Entry(one.role),
        *(Entry(text, sources=() if text == NOT_KNOWN else trials) for text in figures),
        Entry(_state(one) if is_replica else NOT_KNOWN, mark="growing" if one.lag_grows else None),
        Entry(stale),
        Entry(show_ms(one.wait_ms_per_read) if is_replica else NOT_KNOWN),
        Entry(f"{one.wait_timeouts_count:,}" if is_replica else NOT_KNOWN),
        Entry(f"{one.failed_count:,}"),
        Entry(f"{one.errors_count:,}"),
        Entry(outages),
    )


def _state(one: ServerFigures) -> str:
    states = {lag.state for lag in one.lag}
    if LagState.GROWING in states:
        return "grows"
    return "bounded" if states == {LagState.BOUNDED} else "not known"


def _rate(tps: float, unit: str) -> str:
    return format_number(per_unit(tps, unit))
