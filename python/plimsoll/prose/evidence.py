"""What was seen that gives rise to a warning, in words: one template for each kind of evidence.

A figure shows itself in the unit that its name ends in. What a template cannot say, a function does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from plimsoll.analyse.doubts import Code, Doubt
from plimsoll.analyse.warning_model import Evidence
from plimsoll.prose.catalogue import ADVICE
from plimsoll.prose.equivalence import EQUIVALENCE_EVIDENCE
from plimsoll.prose.phrases import changes_words, counted, first_few, listed, repeat_noun
from plimsoll.prose.readiness import READINESS_EVIDENCE
from plimsoll.record.level import Level
from plimsoll.record.model import TrialWarning
from plimsoll.units import format_bytes, format_ms, format_number, format_percent, format_rate

Figures = Mapping[str, Any]


def evidence_text(evidence: Evidence) -> str:
    """Evidence in words, without a full stop; as it stands in a recording where that has the words."""
    if not evidence.seen:
        return evidence.text
    template = EVIDENCE[evidence.seen]
    return template.format_map(_shown(evidence.figures)) if isinstance(template, str) else template(evidence.figures)


def recorded_warning(doubt: Doubt) -> TrialWarning:
    """A doubt as recordings and results hold it: with its words."""
    advice = doubt.advice or ADVICE[Code(doubt.code)]
    return TrialWarning(code=doubt.code, evidence=evidence_text(doubt.evidence), advice=advice)


def _shown(figures: Figures) -> dict[str, str]:
    unit = str(figures.get("rate_unit", "tps"))
    return {name: _quantity(name, value, unit) for name, value in figures.items()}


def _quantity(name: str, value: Any, rate_unit: str) -> str:
    """A figure in the unit that its name says.

    >>> _quantity("slow_tps", 100.0, "tpm"), _quantity("data_bytes", 2048, ""), _quantity("failed_count", 1200, "")
    ('6,000 tpm', '2.00 KiB', '1,200')
    """
    parts = name.split("_")
    formats: dict[str, Callable[[float], str]] = {
        "tps": lambda tps: format_rate(tps, rate_unit),
        "ratio": format_percent,
        "ms": format_ms,
        "bytes": format_bytes,
        "us": lambda us: f"{us:.0f} µs",
        "s": lambda seconds: f"{seconds:.1f} s",
    }
    if isinstance(value, int | float) and not isinstance(value, bool):
        known = next((formats[part] for part in parts if part in formats), None)
        return known(value) if known is not None else f"{value:,}" if isinstance(value, int) else format_number(value)
    return value.label(rate_unit) if isinstance(value, Level) else str(value)


def _stalled(seen: Figures) -> str:
    share = format_percent(seen["stalled_s"] / seen["window_s"])
    span = f"{seen['stalled_s']:.1f} of {seen['window_s']:.1f} s ({share})"
    where = "" if seen["instance"] is None else f" on {seen['instance']}"
    completed = seen["completed_count"]
    text = f"only {completed:,} transactions completed{where} in" if completed else f"nothing completed{where} for"
    text = f"{text} {span}"
    if seen["stalls_count"] > 1:
        text += f" in {seen['stalls_count']} stretches; the longest lasted {seen['longest_s']:.1f} s"
    text += f", from {seen['from_s']:.1f} s after the start of the load"
    others = seen["other_instances_count"]
    return f"{text}; {counted(others, 'more instance')} stalled as well" if others else text


def _errors(seen: Figures) -> str:
    codes = ", ".join(
        f"{code or 'no code'} ({kind}) {'once' if count == 1 else f'{count:,} times'}"
        for code, kind, count in seen["errors"]
    )
    retries = "1 retry" if seen["retries_count"] == 1 else f"{seen['retries_count']:,} retries"
    ending = f"{counted(seen['failed_count'], 'transaction')} failed, {retries}"
    return f"{codes}: {ending}" if codes else ending


def _client_beside(seen: Figures) -> str:
    share = seen["client_cpu_ratio"]
    took = "" if share is None else f" and took {format_percent(share)} of the processors"
    cpus = seen.get("client_cpus"), seen.get("server_cpus")
    where = f", on CPUs of its own ({cpus[0]}; server {cpus[1]})" if seen.get("are_apart") else ""
    if seen.get("shared_cpus"):
        where = f", shared CPU {seen['shared_cpus']} with it"
    return f"the client ran on the server's host{where}{took}"


def _client_processors(seen: Figures) -> str:
    idle = seen["idle_cpu_ratio"]
    rest = "" if idle is None else f"; {format_percent(idle)} was idle"
    return f"the client took {format_percent(seen['client_cpu_ratio'])} of the host's processors{rest}"


def _began(trial_id: str, unix_s: float) -> str:
    return f"{trial_id} ({datetime.fromtimestamp(unix_s, UTC):%Y-%m-%d %H:%M} UTC)" if unix_s else trial_id


def _environment_changed(seen: Figures) -> str:
    before = _began(seen["trial_before"], seen["began_before_unix_s"])
    after = _began(seen["trial_after"], seen["began_after_unix_s"])
    return (
        f"{seen['system']} changed between trials {before} and {after}: {changes_words(seen['changes'])}; they are"
        f" shown separately, as {' and '.join(seen['shown_as'])}"
    )


def _ways(seen: Figures) -> str:
    ways = "; ".join(f"{way} for {listed(names)}" for way, *names in seen["ways"])
    return f"connections were not encrypted alike: {ways}"


def _encryption_within(seen: Figures) -> str:
    ways = ", ".join(f"{way} ({counted(count, 'trial')})" for way, count in seen["trials"])
    return f"connections of {seen['system']} were not encrypted alike: {ways}"


def _levels(seen: Figures) -> str:
    ranges = "; ".join(f"{name}: {', '.join(map(str, levels))}" for name, *levels in seen["connections"])
    return f"connections measured: {ranges}"


def _drift(seen: Figures) -> str:
    change = format_percent(seen["change_ratio"], signed=True)
    return f"{seen.get('name', 'throughput')} changed by {change} from the start to the end of the window"


_SLOW = {"steal": "processor time left by the hypervisor", "other-processes": "processor time left by other processes"}


def _machine_slower(seen: Figures) -> str:
    name, _, when = seen["figure"].partition("-")
    what = _SLOW.get(seen["figure"]) or ("clock frequency" if name == "frequency" else f"the {name} reference {when}")
    return (
        f"{repeat_noun(is_duet=bool(seen.get('is_duet')))} {seen['repetition']}: {what} made the machine"
        f" {format_percent(seen['slower_ratio'])} slower than the median of the trials; up to"
        f" {format_percent(seen['limit_ratio'])} does not count"
    )


EVIDENCE: Mapping[str, str | Callable[[Figures], str]] = {
    "stalled": _stalled,
    "unfinished": (
        "{unfinished_count} of {all_count} transactions never ended; at the end of the window the oldest was"
        " {oldest_ms} old"
    ),
    "unfinished-of-unknown-age": (
        "{unfinished_count} transactions had not ended when the load did; their age was not recorded"
    ),
    "replica-lag-grows": lambda seen: (
        f"the lag of {seen['instance']} grew by {format_ms(seen['growth_s_per_s'] * 1000)} in each second, to"
        f" {seen['end_s']:.1f} s at the end of the window"
    ),
    "repetition-lags": lambda seen: (
        f"repetition {seen['repetition'] + 1} completed {format_rate(seen['throughput_tps'], seen['rate_unit'])}; the"
        f" median of the others is {format_rate(seen['others_tps_median'], seen['rate_unit'])}"
    ),
    "client-processors": _client_processors,
    "client-own-processors": "the client took {client_of_own_cpu_ratio} of the processors that it could use",
    "driver-late": (
        "driver {driver} sent 1 % of its transactions {dispatch_ms_p99} or more after a connection was free"
    ),
    "driver-waited": (
        "threads of driver {driver} waited {waited_ms_per_transaction} for a processor in each of its transactions,"
        " {of_response_ratio} of the mean response time"
    ),
    "drivers-started-apart": "driver {driver} began {spread_ms} after the first one (known to {error_ms})",
    "driver-part": ("driver {driver} completed {completed_ratio} of all transactions; its share is {expected_ratio}"),
    "driver-dispatch": (
        "driver {driver} sent 1 % of its transactions {dispatch_ms_p99} or more after a connection was free;"
        " of the others the median is {others_ms_p99}"
    ),
    "driver-round-trip": (
        "the fastest tenth of the transactions of driver {driver} took up to {fastest_ms} of service time; of the"
        " others the median is {others_ms}"
    ),
    "client-late": "the client sent 1 % of the transactions {dispatch_ms_p99} or more after a connection was free",
    "client-waited": (
        "the client's threads waited {waited_ms_per_transaction} for a processor per transaction, {of_response_ratio}"
        " of"
        " the mean response time"
    ),
    "client-near-limit": (
        "throughput was {of_limit_ratio} of the {client_limit_tps} that this client reaches against a server that"
        " answers"
        " at once"
    ),
    "client-on-server-host": _client_beside,
    "server-place-unknown": "{reason}",
    "busy-elsewhere": "{other_cpu_ratio} of the processors' time went neither to the server nor to the client",
    "stolen": "the hypervisor took {steal_cpu_ratio} of the processors' time (steal)",
    "server-throttled": lambda seen: (
        "its control group's quota of processor time stopped the server for"
        f" {seen['throttled_s_per_s']:.2f} s of CPU time in each second"
    ),
    "single": "levels were measured only once",
    "short-window": "{intervals_count} intervals ({window_s}) were measured, fewer than {needed_count}",
    "turn-short": "transactions took {response_ms_mean} on average, turns {turn_s}",
    "drift": _drift,
    "warm-up-unfinished": lambda seen: (
        f"throughput in the first {seen['first_s']:.0f} s of the window differed by"
        f" {format_percent(seen['change_ratio'], signed=True)} from the rest"
    ),
    "unsteady": (
        "the mean of throughput changed {changes_count} times, first {from_s} after the start of the load; it was"
        " between {low_tps} and {high_tps}"
    ),
    "few-cycles": lambda seen: (
        f"{seen['name']} is cyclic with a period of {seen['period_s']:.0f} s; the window of {seen['window_s']:.0f} s"
        f" holds {seen['cycles']:.1f} cycles"
    ),
    "machine-slower": _machine_slower,
    "instances-skewed": "{fastest} completed {fastest_tps}, {slowest} {slowest_tps}",
    "instance-lags": "{instance} completed {throughput_tps}; {expected_tps} were expected of it",
    "errors": _errors,
    "failed-trial": "{trial_id}: {reason}",
    "not-run": "{unrun_count} planned trials have no recording",
    "peak-at-last-level": "the highest throughput, {throughput_tps}, was at {level}, the last level",
    "sweep-at-last-level": (
        "the sweep was fastest, {throughput_tps}, with the most connections that it tried, {connections_count}: more"
        " connections may sustain more"
    ),
    "peak-at-first-level": "the highest throughput, {throughput_tps}, was at {level}, the first level",
    "levels": _levels,
    "read-only-slower": "{slow_workload} reached {slow_tps}, {fast_workload} reached {fast_tps}",
    "rows-returned": (
        "{rows_per_transaction} rows were returned per transaction; {expected_rows_per_transaction} were expected"
    ),
    "rows-changed": "{rows_per_transaction} rows were changed per transaction; {expected_rows_per_transaction} were"
    " expected",
    "writable-replica": "{instance} is a replica with read_only = OFF",
    "query-cache": "query_cache_type = {query_cache_type}, query_cache_size = {query_cache_size}",
    "data-and-buffer-pool": "{data_bytes} of data, {buffer_pool_bytes} of buffer pool",
    "data-and-memory": (
        "{data_bytes} of data, {buffer_pool_bytes} of buffer pool, {memory_bytes} of memory in the host,"
        " innodb_flush_method = {innodb_flush_method}"
    ),
    "data-in-memory": lambda seen: (
        f"{seen['path'] or 'the data directory'} is on {seen['file_system']}, which is memory"
    ),
    "fast-flush": "a small write with fdatasync took {flush_us_median} in the data directory",
    "option-ignored": "{option} = {given} was given; the server has no such variable and ignored it",
    "option-changed": "{option} = {given} was given; {effective} is in effect",
    "character-set-kept": lambda seen: (
        f"the server was given {seen['wanted']}; {counted(seen['columns_count'], 'column')}"
        f" {'has' if seen['columns_count'] == 1 else 'have'} another character set: {first_few(seen['columns'])}"
    ),
    "paths-on-one-device": "{roles} are on one device, {device}",
    "huge-pages-unused": "{huge_pages_bytes} in huge pages, {buffer_pool_bytes} of buffer pool",
    "environment-changed": _environment_changed,
    "encryption-within": _encryption_within,
    "encryption-between": _ways,
    "variables": lambda seen: (
        f"{counted(seen['variables_count'], 'variable')} differ{'s' if seen['variables_count'] == 1 else ''}:"
        f" {first_few(seen['variables'])}"
    ),
    **READINESS_EVIDENCE,
    **EQUIVALENCE_EVIDENCE,
}
