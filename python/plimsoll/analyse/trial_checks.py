"""Doubts that one trial gives rise to by itself: what it ran on, and how it ran.

Each check says for itself from which value on it doubts, and why there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from plimsoll.analyse import catalogue
from plimsoll.analyse.drift import INTERVALS_NEEDED
from plimsoll.analyse.durations import percentile_ms
from plimsoll.analyse.findings import Finding
from plimsoll.analyse.instances import lag_of
from plimsoll.analyse.stall_text import stall_words
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.record.model import InstanceFacts, Outcome, TrialWarning
from plimsoll.units import format_bytes, format_ms, format_percent, format_rate, parse_whole

_MEMORY_FILE_SYSTEMS = ("tmpfs", "ramfs", "devtmpfs")
FLUSH_MS_OF_A_DEVICE = 0.05
"""No device makes a write durable faster: enterprise NVMe with power-loss protection needs about as long."""

_DRIFT_CHANCE = 0.01
_DRIFT_CHANGE_RATIO = 0.05

_ROWS_FOUND_RATIO = 0.9
_RANGES_IN_TABLE = 20
"""In a table of fewer ranges than this, ranges that reach beyond its end make up for missing rows."""

_CLIENT_LIMIT_RATIO = 0.8
"""Above this share of what the client can drive at most, its own queueing shows in throughput."""

_LATE_MS = 1.0
_LATE_RATIO = 0.1
"""A client is late when that shows in what users wait: more than a tenth of the median, and than 1 ms."""

Weighed = tuple[TrialWarning, float]
Check = Callable[[TrialSummary], Iterator[Weighed]]


def check_trials(trials: Iterable[TrialSummary]) -> Iterator[Finding]:
    """All doubts about single trials, those that recordings already carry first."""
    for one in trials:
        for check in _CHECKS:
            for warning, weight in check(one):
                yield _at(one, warning, weight)


def _at(one: TrialSummary, warning: TrialWarning, weight: float) -> Finding:
    trial = one.trial
    return Finding(
        warning=warning,
        system=trial.system.name,
        workload=trial.workload.name,
        connections=trial.level.connections if trial.level.rate_tps is None else None,
        rate_tps=trial.level.rate_tps,
        weight=weight,
    )


def _recorded(one: TrialSummary) -> Iterator[Weighed]:
    yield from ((warning, 0.0) for warning in one.outcome.warnings)


def _client_on_server_host(one: TrialSummary) -> Iterator[Weighed]:
    if one.environment.client.on_server_host:
        share = one.cpu.client
        took = "" if share is None else f"; it took {format_percent(share)} of the processors"
        yield catalogue.CLIENT_ON_SERVER_HOST.seen(f"the client ran on the server's host{took}"), share or 0.0


def _server_place_unknown(one: TrialSummary) -> Iterator[Weighed]:
    client = one.environment.client
    if client.on_server_host is None and client.server_place is not None:
        yield catalogue.SERVER_PLACE_UNKNOWN.seen(client.server_place), 0.0


def _short_window(one: TrialSummary) -> Iterator[Weighed]:
    if one.counts is not None and one.counts.rates_tps.size < INTERVALS_NEEDED:
        size = one.counts.rates_tps.size
        seen = f"{size} intervals ({one.counts.duration_s:.1f} s) were measured, fewer than {INTERVALS_NEEDED}"
        yield catalogue.SHORT_WINDOW.seen(seen), -float(size)


def _stalled(one: TrialSummary) -> Iterator[Weighed]:
    if one.quiet.stalls:
        yield catalogue.THROUGHPUT_STALLED.seen(stall_words(one)), one.quiet.stalled_ratio


def _unfinished(one: TrialSummary) -> Iterator[Weighed]:
    """Recordings from before it was kept how old they were only say that there were some."""
    response, counts = one.histograms.get("response"), one.counts
    ages = None if response is None else response.in_flight
    if counts is not None and ages is not None and one.unfinished_count:
        oldest = format_ms(ages.max_ns / 1e6)
        of = counts.completed + counts.failed + counts.dropped + one.unfinished_count
        told = f"{one.unfinished_count:,} of {of:,} transactions never ended"
        seen = f"{told}; at the end of the window the oldest was {oldest} old"
        yield catalogue.TRANSACTIONS_UNFINISHED.seen(seen), one.unfinished_count / of
    elif one.unfinished_count is None and (never := _never_ended(one.outcome)):
        seen = f"{never:,} transactions had not ended when the load did; their age was not recorded"
        yield catalogue.TRANSACTIONS_UNFINISHED.seen(seen), 0.0


def _never_ended(outcome: Outcome) -> int:
    reported = outcome.reported.counts.get("unfinished", 0) if outcome.reported is not None else 0
    return reported if outcome.account is None else outcome.account.unfinished_count


def _drift(one: TrialSummary) -> Iterator[Weighed]:
    drift = one.drift
    if drift is None or drift.chance > _DRIFT_CHANCE or abs(drift.change_ratio) < _DRIFT_CHANGE_RATIO:
        return
    change = format_percent(drift.change_ratio, signed=True)
    seen = f"throughput moved by {change} from the begin to the end of the window"
    yield catalogue.THROUGHPUT_DRIFTS.seen(seen), abs(drift.change_ratio)


def _data_and_memory(one: TrialSummary) -> Iterator[Weighed]:
    memory_bytes = one.environment.host.memory_bytes
    for instance in one.environment.instances:
        pool_bytes = buffer_pool_bytes(instance)
        if instance.data_bytes is None or pool_bytes is None or instance.data_bytes <= pool_bytes:
            continue
        sizes = f"{format_bytes(instance.data_bytes)} of data, {format_bytes(pool_bytes)} of buffer pool"
        yield catalogue.DATA_LARGER_THAN_BUFFER_POOL.seen(sizes), instance.data_bytes / pool_bytes
        method = instance.variables.get("innodb_flush_method", "")
        if memory_bytes and instance.data_bytes < memory_bytes - pool_bytes and not method.startswith("O_DIRECT"):
            host = f"{format_bytes(memory_bytes)} of memory in the host, innodb_flush_method = {method or 'unknown'}"
            yield catalogue.DATA_IN_PAGE_CACHE.seen(f"{sizes}, {host}"), instance.data_bytes / pool_bytes


def buffer_pool_bytes(instance: InstanceFacts) -> int | None:
    """Size of the buffer pool; None when the server's variables are unknown."""
    return parse_whole(instance.variables.get("innodb_buffer_pool_size", "")) or None


def _flush(one: TrialSummary) -> Iterator[Weighed]:
    for instance in one.environment.instances:
        storage = instance.storage
        if storage is None:
            continue
        if storage.file_system in _MEMORY_FILE_SYSTEMS:
            seen = f"{storage.path or 'the data directory'} is on {storage.file_system}, which is memory"
            yield catalogue.FLUSH_COSTS_NOTHING.seen(seen), 2.0
        elif storage.flush_ms_median is not None and storage.flush_ms_median < FLUSH_MS_OF_A_DEVICE:
            seen = f"a small write with fdatasync took {storage.flush_ms_median * 1000:.0f} µs in the data directory"
            yield catalogue.FLUSH_COSTS_NOTHING.seen(seen), 1.0


def _query_cache(one: TrialSummary) -> Iterator[Weighed]:
    for instance in one.environment.instances:
        kind = instance.variables.get("query_cache_type", "OFF").upper()
        size = instance.variables.get("query_cache_size", "0")
        if kind not in ("OFF", "0") and size not in ("", "0"):
            yield catalogue.QUERY_CACHE_ON.seen(f"query_cache_type = {kind}, query_cache_size = {size}"), 0.0


def _key_range(one: TrialSummary) -> Iterator[Weighed]:
    counts = one.counts
    if counts is None or counts.completed == 0:
        return
    rows = {"returned": counts.rows_returned, "changed": counts.rows_affected}
    for what, expected in expected_rows(one).items():
        found = rows[what] / counts.completed
        if found < _ROWS_FOUND_RATIO * expected:
            seen = f"{found:.1f} rows were {what} per transaction, where {expected:.0f} were to be expected"
            yield catalogue.KEY_RANGE_MISSES_DATA.seen(seen), 1 - found / expected


def expected_rows(one: TrialSummary) -> dict[str, float]:
    """Rows that each transaction of an OLTP workload returns and changes at least; empty where that is unknown."""
    kind, options = one.trial.workload.kind, one.trial.workload.options
    if kind in ("oltp_point_select", "oltp_0.4_simple"):
        return {"returned": 1.0}
    if kind not in ("oltp_read_only", "oltp_read_write", "oltp_write_only", "oltp_0.4_complex"):
        return {}
    value = {name: float(count) for name, count in options.items() if isinstance(count, int)}
    expected = {}
    if kind != "oltp_read_only" and not options.get("read_only"):
        updates = value.get("index_updates", 0.0) + value.get("non_index_updates", 0.0)
        expected["changed"] = updates + 2 * value.get("delete_inserts", 0.0)
    reads = kind != "oltp_write_only" and not options.get("write_only")
    if reads and {"point_selects", "range_size", "table_size"} <= value.keys():
        expected["returned"] = _rows_read(value, ranges=bool(options.get("range_selects", True)))
    return {what: count for what, count in expected.items() if count > 0}


def _rows_read(value: dict[str, float], *, ranges: bool) -> float:
    """Rows that the selects of a transaction return; 0 where ranges may reach beyond the table."""
    if value["table_size"] < _RANGES_IN_TABLE * value["range_size"]:
        return 0.0
    whole = value.get("simple_ranges", 0.0) + value.get("order_ranges", 0.0)
    in_ranges = whole * value["range_size"] + value.get("sum_ranges", 0.0)
    return value["point_selects"] + (in_ranges if ranges else 0.0)


def _dispatch(one: TrialSummary) -> Iterator[Weighed]:
    late = one.histograms.get("dispatch_delay")
    response = one.histograms.get("response")
    if late is None or response is None:
        return
    late_ms, median_ms = percentile_ms(late, 0.99), percentile_ms(response, 0.5)
    if late_ms is not None and median_ms is not None and late_ms > max(_LATE_MS, _LATE_RATIO * median_ms):
        seen = f"the client sent 1 % of the transactions {format_ms(late_ms)} or more after a connection was free"
        yield catalogue.CLIENT_SATURATED.seen(seen), late_ms


def _run_queue(one: TrialSummary) -> Iterator[Weighed]:
    """On the server's host the two compete anyway, and another warning says so."""
    waits, response = one.client_waits_s_per_s, one.histograms.get("response")
    if waits is None or response is None or one.throughput_tps == 0 or one.environment.client.on_server_host:
        return
    waited_ms = waits / one.throughput_tps * 1000
    mean_ms = response.sum_ns / response.total / 1e6
    if waited_ms > _LATE_RATIO * mean_ms:
        share = waited_ms / mean_ms
        seen = (
            f"the client's threads waited {format_ms(waited_ms)} for a processor per transaction,"
            f" {format_percent(share)} of the mean response time"
        )
        yield catalogue.CLIENT_SATURATED.seen(seen), share


def _lagging_instance(one: TrialSummary) -> Iterator[Weighed]:
    if one.counts is None or not one.instances_tps:
        return
    lag = lag_of(one.instances_tps, one.trial.level, one.counts.duration_s)
    if lag is not None:
        carried, expected = format_rate(lag.throughput_tps), format_rate(lag.expected_tps)
        seen = f"{lag.instance} carried {carried}, where {expected} were to be expected of it"
        yield catalogue.INSTANCE_LAGS.seen(seen), 1 - lag.throughput_tps / lag.expected_tps


def client_near_its_limit(one: TrialSummary) -> Iterator[Weighed]:
    """A doubt when throughput came near what the client reaches against a server that answers at once."""
    limit_tps = one.environment.client.limit_tps
    if limit_tps is not None and one.throughput_tps > _CLIENT_LIMIT_RATIO * limit_tps:
        share = one.throughput_tps / limit_tps
        seen = (
            f"throughput was {format_percent(share)} of the {format_rate(limit_tps)} that this client reaches against a"
            " server that answers at once"
        )
        yield catalogue.CLIENT_SATURATED.seen(seen), share


CHECKS_OF_A_RUN: tuple[Check, ...] = (_stalled, _unfinished, client_near_its_limit)
"""Those that a single run without a recording is held to, the gravest first."""

_CHECKS: tuple[Check, ...] = (
    _recorded,
    _stalled,
    _unfinished,
    _client_on_server_host,
    _server_place_unknown,
    _short_window,
    _drift,
    _lagging_instance,
    _data_and_memory,
    _flush,
    _query_cache,
    _key_range,
    _dispatch,
    _run_queue,
    client_near_its_limit,
)
