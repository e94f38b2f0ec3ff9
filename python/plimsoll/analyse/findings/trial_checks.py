"""Doubts that one trial gives rise to by itself: what it ran on, how it ran, its state, its machine.

Each check says for itself from which value on it doubts, and why there. Turns of a duet that are short for their
transactions are doubted here as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict

import numpy as np

from plimsoll.analyse.explain.replication_model import LagState
from plimsoll.analyse.findings.doubts import Code, Doubt, Place, place_of, recorded
from plimsoll.analyse.findings.finding_model import Figure
from plimsoll.analyse.findings.options import check_character_sets, check_files, check_options, check_throttled
from plimsoll.analyse.findings.readiness_checks import recorded_conditions
from plimsoll.analyse.study.cell_model import EQUAL_WITHIN
from plimsoll.analyse.trial.condition_model import SeriesState, SlowFigure, StateKind, SteadyState
from plimsoll.analyse.trial.drivers import check_drivers
from plimsoll.analyse.trial.instances import lag_of, skew_of
from plimsoll.analyse.trial.percentiles import percentile_ms
from plimsoll.analyse.trial.processors import client_of_servers, cpus_of_sides, shares_processors, sides_of
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.record.model import Outcome
from plimsoll.stats.cycles import CYCLES_NEEDED
from plimsoll.stats.series import INTERVALS_NEEDED


def check_steadiness(one: TrialSummary) -> Iterator[Doubt]:
    """What is doubtful about the state that a trial was in."""
    if one.steady is None:
        return
    place = place_of(one.trial)
    yield from _changed(place, one.steady)
    for series in one.steady.series:
        if series.state is StateKind.DRIFTING and series.change_ratio is not None:
            code = Code.THROUGHPUT_DRIFTS if series.name == "throughput" else Code.INNODB_DRIFTS
            change = series.change_ratio
            yield place.doubt(code, "drift", abs(change), name=series.name, change_ratio=change)
        elif series.state is StateKind.CYCLIC:
            yield from _few_cycles(place, one.steady, series)


def check_turns(one: TrialSummary) -> Iterator[Doubt]:
    """Whether transactions took a large part of a turn."""
    response = one.histograms.get("response")
    if one.turns is None or one.turns.is_empty() or response is None or response.total == 0:
        return
    turn_s = float(np.median((one.turns["to_s"] - one.turns["from_s"]).to_numpy()))
    mean_ms = response.sum_ns / response.total / 1e6
    if mean_ms > RESPONSE_OF_TURN_RATIO * turn_s * 1000:
        yield place_of(one.trial).doubt(
            Code.TURN_SHORT, "turn-short", mean_ms / turn_s, response_ms_mean=mean_ms, turn_s=turn_s
        )


_MEMORY_FILE_SYSTEMS = ("tmpfs", "ramfs", "devtmpfs")
FLUSH_MS_OF_A_DEVICE = 0.05
"""No device makes a write durable faster: enterprise NVMe with power-loss protection needs about as long."""

_ROWS_FOUND_RATIO = 0.9
_RANGES_IN_TABLE = 20
"""In a table of fewer ranges than this, ranges that reach beyond its end make up for missing rows."""

_CLIENT_LIMIT_RATIO = 0.8
"""Above this share of what the client can drive at most, its own queueing shows in throughput."""

_LATE_MS = 1.0
_LATE_RATIO = 0.1
"""A client is late when that shows in what users wait: more than a tenth of the median, and than 1 ms."""

CLIENT_TAKES_RATIO = EQUAL_WITHIN
"""From this share of the servers' processors on, a client beside them matters.

Alone, a server that saturates its processors would sustain at most so much more: less than two systems may differ and
still count as equal.
"""

Check = Callable[[TrialSummary], Iterator[Doubt]]


def check_trials(trials: Iterable[TrialSummary]) -> Iterator[Doubt]:
    """All doubts about single trials, those that recordings already hold first."""
    for one in trials:
        for check in _CHECKS:
            yield from check(one)


def _recorded(one: TrialSummary) -> Iterator[Doubt]:
    yield from (recorded(warning, place_of(one.trial)) for warning in one.outcome.warnings)


def _client_on_server_host(one: TrialSummary) -> Iterator[Doubt]:
    share = one.cpu.client
    taken = client_of_servers(share, one.environment)
    if one.environment.client.on_server_host and (taken is None or taken >= CLIENT_TAKES_RATIO):
        cpus = cpus_of_sides(sides_of(one.environment))
        yield place_of(one.trial).doubt(
            Code.CLIENT_ON_SERVER_HOST, "client-on-server-host", share or 0.0, client_cpu_ratio=share, **cpus
        )


def _server_place_unknown(one: TrialSummary) -> Iterator[Doubt]:
    client = one.environment.client
    if client.on_server_host is None and client.server_place is not None:
        yield place_of(one.trial).doubt(Code.SERVER_PLACE_UNKNOWN, "server-place-unknown", reason=client.server_place)


def _short_window(one: TrialSummary) -> Iterator[Doubt]:
    if one.counts is not None and one.counts.rates_tps.size < INTERVALS_NEEDED:
        size = int(one.counts.rates_tps.size)
        yield place_of(one.trial).doubt(
            Code.SHORT_WINDOW,
            "short-window",
            -float(size),
            intervals_count=size,
            window_s=one.counts.duration_s,
            needed_count=INTERVALS_NEEDED,
        )


def _stalled(one: TrialSummary) -> Iterator[Doubt]:
    if figures := stall_figures(one):
        yield place_of(one.trial).doubt(Code.THROUGHPUT_STALLED, "stalled", one.quiet.stalled_ratio, **figures)


def stall_figures(one: TrialSummary) -> dict[str, Figure]:
    """When, how long and how much of the window nothing, or nearly nothing, completed; empty without a stall.

    Of several instances that with the longest stall.
    """
    if not one.quiet.stalls or one.counts is None:
        return {}
    longest = max(one.quiet.stalls, key=lambda stall: stall.length_s)
    alike = [stall for stall in one.quiet.stalls if stall.instance == longest.instance]
    return {
        "instance": longest.instance,
        "stalled_s": sum(stall.length_s for stall in alike),
        "window_s": one.counts.duration_s,
        "completed_count": sum(stall.completed for stall in alike),
        "stalls_count": len(alike),
        "longest_s": longest.length_s,
        "from_s": longest.from_s,
        "other_instances_count": len({stall.instance for stall in one.quiet.stalls}) - 1,
    }


def _unfinished(one: TrialSummary) -> Iterator[Doubt]:
    """Recordings from before it was kept how old they were only say that there were some."""
    response, counts = one.histograms.get("response"), one.counts
    ages = None if response is None else response.in_flight
    place, code = place_of(one.trial), Code.TRANSACTIONS_UNFINISHED
    if counts is not None and ages is not None and one.unfinished_count:
        of = counts.completed + counts.failed + counts.dropped + one.unfinished_count
        yield place.doubt(
            code,
            "unfinished",
            one.unfinished_count / of,
            unfinished_count=one.unfinished_count,
            all_count=of,
            oldest_ms=ages.max_ns / 1e6,
        )
    elif one.unfinished_count is None and (never := _never_ended(one.outcome)):
        yield place.doubt(code, "unfinished-of-unknown-age", unfinished_count=never)


def _never_ended(outcome: Outcome) -> int:
    reported = outcome.reported.counts.get("unfinished", 0) if outcome.reported is not None else 0
    return reported if outcome.account is None else outcome.account.unfinished_count


def _flush(one: TrialSummary) -> Iterator[Doubt]:
    place = place_of(one.trial)
    for instance in one.environment.instances:
        storage = instance.storage
        if storage is None:
            continue
        if storage.file_system in _MEMORY_FILE_SYSTEMS:
            facts = {"path": storage.path, "file_system": storage.file_system}
            yield place.doubt(Code.FLUSH_COSTS_NOTHING, "data-in-memory", 2.0, **facts)
        elif storage.flush_ms_median is not None and storage.flush_ms_median < FLUSH_MS_OF_A_DEVICE:
            median_us = storage.flush_ms_median * 1000
            yield place.doubt(Code.FLUSH_COSTS_NOTHING, "fast-flush", 1.0, flush_us_median=median_us)


def _key_range(one: TrialSummary) -> Iterator[Doubt]:
    counts = one.counts
    if counts is None or counts.completed == 0:
        return
    rows = {"returned": counts.rows_returned, "changed": counts.rows_affected}
    for what, expected in expected_rows(one).items():
        found = rows[what] / counts.completed
        if found < _ROWS_FOUND_RATIO * expected:
            figures = {"rows_per_transaction": found, "expected_rows_per_transaction": expected}
            yield place_of(one.trial).doubt(Code.KEY_RANGE_MISSES_DATA, f"rows-{what}", 1 - found / expected, **figures)


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


def _dispatch(one: TrialSummary) -> Iterator[Doubt]:
    late = one.histograms.get("dispatch_delay")
    response = one.histograms.get("response")
    if late is None or response is None or one.drivers:  # several are looked at one by one
        return
    late_ms, median_ms = percentile_ms(late, 0.99), percentile_ms(response, 0.5)
    if late_ms is not None and median_ms is not None and late_ms > max(_LATE_MS, _LATE_RATIO * median_ms):
        yield place_of(one.trial).doubt(Code.CLIENT_SATURATED, "client-late", late_ms, dispatch_ms_p99=late_ms)


def _run_queue(one: TrialSummary) -> Iterator[Doubt]:
    """On the server's host the two compete anyway, and another warning says so."""
    waits, response = one.client_waits_s_per_s, one.histograms.get("response")
    if waits is None or response is None or one.throughput_tps == 0 or shares_processors(one.environment):
        return
    if one.drivers:
        return
    waited_ms = waits / one.throughput_tps * 1000
    mean_ms = response.sum_ns / response.total / 1e6
    if waited_ms > _LATE_RATIO * mean_ms:
        share = waited_ms / mean_ms
        yield place_of(one.trial).doubt(
            Code.CLIENT_SATURATED, "client-waited", share, waited_ms_per_transaction=waited_ms, of_response_ratio=share
        )


def _lagging_instance(one: TrialSummary) -> Iterator[Doubt]:
    if one.counts is None or not one.instances_tps:
        return
    lag = lag_of(one.instances_tps, one.trial.level, one.counts.duration_s)
    if lag is not None:
        yield place_of(one.trial).doubt(
            Code.INSTANCE_LAGS,
            "instance-lags",
            1 - lag.throughput_tps / lag.expected_tps,
            instance=lag.instance,
            throughput_tps=lag.throughput_tps,
            expected_tps=lag.expected_tps,
        )
    elif (skew := skew_of(one.instances_tps, one.trial.level, one.counts.duration_s)) is not None:
        yield place_of(one.trial).doubt(Code.INSTANCES_SKEWED, "instances-skewed", skew.factor, **asdict(skew))


def _replica_lag(one: TrialSummary) -> Iterator[Doubt]:
    """A replica that does not keep up: what was measured is not sustained."""
    lags = [(server.instance, server.lag) for server in one.servers if server.lag is not None]
    for instance, lag in lags:
        if lag.state is LagState.GROWING:
            yield place_of(one.trial).doubt(
                Code.REPLICA_LAG_GROWS,
                "replica-lag-grows",
                lag.growth_s_per_s or 0.0,
                instance=instance,
                growth_s_per_s=lag.growth_s_per_s,
                largest_s=lag.largest_s,
                end_s=lag.end_s,
            )


def client_near_its_limit(one: TrialSummary) -> Iterator[Doubt]:
    """A doubt when throughput came near what the client reaches against a server that answers at once."""
    limit_tps = one.environment.client.limit_tps
    if limit_tps is not None and one.throughput_tps > _CLIENT_LIMIT_RATIO * limit_tps:
        share = one.throughput_tps / limit_tps
        yield place_of(one.trial).doubt(
            Code.CLIENT_SATURATED, "client-near-limit", share, of_limit_ratio=share, client_limit_tps=limit_tps
        )


CHECKS_OF_A_RUN: tuple[Check, ...] = (_stalled, _unfinished, check_drivers, client_near_its_limit)
"""Those that a single run without a recording is held to, the gravest first."""

_CHECKS: tuple[Check, ...] = (
    _recorded,
    _stalled,
    _unfinished,
    _replica_lag,
    _client_on_server_host,
    _server_place_unknown,
    _short_window,
    check_turns,
    check_throttled,
    check_steadiness,
    _lagging_instance,
    _flush,
    check_files,
    check_options,
    check_character_sets,
    recorded_conditions,
    _key_range,
    _dispatch,
    _run_queue,
    check_drivers,
    client_near_its_limit,
)


def _changed(place: Place, steady: SteadyState) -> Iterator[Doubt]:
    if len(steady.segments) < 2:
        return
    first, last = steady.segments[0], steady.segments[-1]
    if steady.warm_up_s is not None:
        change = first.mean_tps / last.mean_tps - 1 if last.mean_tps else 0.0
        yield place.doubt(
            Code.WARM_UP_UNFINISHED, "warm-up-unfinished", abs(change), first_s=steady.warm_up_s, change_ratio=change
        )
        return
    means = [one.mean_tps for one in steady.segments]
    yield place.doubt(
        Code.THROUGHPUT_UNSTEADY,
        "unsteady",
        max(means) - min(means),
        changes_count=len(means) - 1,
        low_tps=min(means),
        high_tps=max(means),
        from_s=steady.segments[1].from_s,
    )


def _few_cycles(place: Place, steady: SteadyState, series: SeriesState) -> Iterator[Doubt]:
    period_s, window_s = series.period_s or 0.0, steady.to_s - steady.from_s
    if window_s < CYCLES_NEEDED * period_s:
        cycles = window_s / period_s
        yield place.doubt(
            Code.FEW_CYCLES,
            "few-cycles",
            -cycles,
            name=series.name,
            cycles=cycles,
            period_s=period_s,
            window_s=window_s,
        )


def check_weather(trials: Iterable[TrialSummary], slow: Mapping[str, tuple[SlowFigure, ...]]) -> Iterator[Doubt]:
    """Trials whose machine was slower than around the others."""
    for one in trials:
        for figure in slow.get(one.trial.trial_id, ())[:1]:
            yield place_of(one.trial).doubt(
                Code.MACHINE_SLOWER,
                "machine-slower",
                figure.ratio,
                repetition=one.trial.repetition + 1,
                is_duet=one.turns is not None,
                figure=figure.figure,
                slower_ratio=figure.ratio - 1,
                limit_ratio=figure.limit_ratio - 1,
            )


RESPONSE_OF_TURN_RATIO = 0.1
"""Up to here the rate of a turn is right whatever response times are like and whatever transactions share."""
