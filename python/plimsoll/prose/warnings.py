"""Warnings in words: what was seen, how grave it is, and what to do about it.

There is one template for each kind of evidence. How grave a warning is follows from what it voids
(`plimsoll.analyse.findings.doubts`). docs/warnings.md describes the same codes.

A figure shows itself in the unit that its name ends in. What a template cannot say, a function does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from plimsoll.analyse.findings.doubts import Code, Doubt, Evidence, Voids, voids
from plimsoll.prose.phrases import changes_words, counted, first_few, listed, repeat_noun
from plimsoll.record.level import Level
from plimsoll.record.model import TrialWarning
from plimsoll.units import format_bytes, format_ms, format_number, format_percent, format_rate

_TOLD_MAX = 3
_VALUE_CHARACTERS_MAX = 60

_ASPECTS = {
    "definitions": "table definitions",
    "character-sets": "character sets or collations",
    "rows": "numbers of rows",
    "statistics": "index statistics",
    "plans": "execution plans",
    "machines": "CPUs or memory of the environments",
}


def _words(aspect: str) -> Callable[[Figures], str]:
    def said(seen: Figures) -> str:
        told = "; ".join(_one(what, values, seen["systems"]) for what, *values in seen["differences"][:_TOLD_MAX])
        rest = seen["differences_count"] - _TOLD_MAX
        return f"{_ASPECTS[aspect]} differ: {told}{f'; and {rest} more' if rest > 0 else ''}"

    return said


def _one(what: str, values: list[str | None], systems: tuple[str, ...]) -> str:
    """A difference with the systems by value."""
    by_value: dict[str, list[str]] = {}
    for system, value in zip(systems, values, strict=True):
        by_value.setdefault(_shown_difference(value), []).append(system)
    told = [f"{value} ({', '.join(own)})" for value, own in by_value.items()]
    return f"{what} is {', '.join(told)}"


def _shown_difference(value: str | None) -> str:
    if value is None:
        return "missing"
    return value if len(value) <= _VALUE_CHARACTERS_MAX else f"{value[: _VALUE_CHARACTERS_MAX - 1]}…"


EQUIVALENCE_EVIDENCE: Mapping[str, Callable[[Figures], str]] = {
    f"{aspect}-differ": _words(aspect) for aspect in _ASPECTS
}


def _cpus(seen: Figures) -> str:
    shown = ", ".join(map(str, seen["cpus"][:8])) + (", ..." if len(seen["cpus"]) > 8 else "")
    noun = "CPU" if seen["shared_count"] == 1 else "CPUs"
    return f"client and {seen['instance']} may both run on {seen['shared_count']} {noun} ({shown})"


def _durability(seen: Figures) -> str:
    causes = ", ".join(f"{name} = {value}" for name, value in seen["causes"])
    return f"{seen['instance']} {seen['durability']} ({causes})"


READINESS_EVIDENCE: Mapping[str, str | Callable[[Figures], str]] = {
    "burstable": "the instance type is {product_name}, whose processor time is limited by credits",
    "debug-build": "{instance} is a debug build: {sign}",
    "pools-and-memory": "buffer pools take {buffer_pool_bytes} of {memory_bytes} of memory",
    "pool-and-limit": "the buffer pool takes {buffer_pool_bytes} of the server's memory limit, {limit_bytes}",
    "governor": "the frequency governor is {governor}",
    "huge-pages": "transparent huge pages are set to always",
    "swap": "there are {swap_bytes} of swap, and vm.swappiness is {swappiness}",
    "clock": "the clock source is {clock_source}",
    "redo-and-pool": "the redo log has {redo_bytes}, the buffer pool {buffer_pool_bytes}",
    "durability": _durability,
    "turbo": "processors may run above their base frequency",
    "smt": "{threads_count} hardware threads share {cores_count} cores",
    "busy-before": "before any load, {busy_cpu_ratio} of the processors' time was taken by something else",
    "stolen-before": "before any load, the hypervisor took {steal_cpu_ratio} of the processors' time (steal)",
    "client-shares-cpus": _cpus,
    "limit": "{name}: {limit} are allowed, {wanted} are needed",
    "free-space": "{free_bytes} are free in {path}",
}

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

ADVICE: dict[Code, str] = {
    Code.NO_SERVER: (
        "If the script was to use a server, let it connect by sysbench.sql. Otherwise its figures say nothing about"
        " any server."
    ),
    Code.THROUGHPUT_STALLED: (
        "Look at the server's error log, storage and telemetry at that time, at the network and at the client; remove"
        " the cause and measure these trials again."
    ),
    Code.TRANSACTIONS_UNFINISHED: (
        "Find out what held them up (locks, a stalled server, the network), and measure these trials again."
    ),
    Code.REPLICA_LAG_GROWS: (
        "Take no figure of these trials as capacity: ask for less, or let the replica apply faster (more applier"
        " threads, more CPUs, less strict flushing), and measure again."
    ),
    Code.HOST_BUSY_ELSEWHERE: "Find and stop what else runs there, or measure on a quiet host.",
    Code.SERVER_THROTTLED: (
        "Raise the quota of processor time of the server's control group, or state that quota as a factor of the study."
    ),
    Code.BURSTABLE_INSTANCE: "Measure on an instance type with a fixed share of its processors.",
    Code.MEMORY_OVERCOMMITTED: "Set innodb_buffer_pool_size so that all buffer pools take at most 80 % of memory.",
    Code.CLIENT_SATURATED: (
        "Run the client on another host, or give it processors of its own, and measure these levels again."
    ),
    Code.DRIVERS_STARTED_APART: (
        "Look for what delays messages to that driver (network, a busy machine), or measure with a longer warm-up: only"
        " the beginning of the load is concerned."
    ),
    Code.DRIVER_DIFFERS: (
        "Look for what is different about that driver: its processors, what else runs there, its way to the server."
        " Replace it or leave it out, and measure these trials again."
    ),
    Code.REPETITION_LAGS: (
        "Look at the telemetry of that trial and at the server's error log, remove the cause and measure it again."
    ),
    Code.TURN_SHORT: (
        "Raise turn to ten times the mean response time or more (at most 10s), and duration with it. For transactions"
        " of more than a second, use the sequential design."
    ),
    Code.DEBUG_BUILD: "Measure a release build of the same version.",
    Code.DATA_DIFFERS: (
        "Make the tables of all systems with the same definitions, character set and rows; or state what differs as a"
        " factor."
    ),
    Code.MACHINES_DIFFER: (
        "Give both environments the same CPUs and memory and measure again; or state what differs as a parameter, if it"
        " is what you compare."
    ),
    Code.SERVER_PLACE_UNKNOWN: (
        "Run plimsoll where it sees the server's process, or against the server's own address, without a tunnel or a"
        " forwarded port."
    ),
    Code.CLIENT_ON_SERVER_HOST: (
        "Take differences between systems from such trials rather than absolute figures, or run the client on another"
        " host."
    ),
    Code.SINGLE_REPETITION: "Measure at least three repetitions.",
    Code.SHORT_WINDOW: "Measure at least 60 s; several minutes for workloads that write.",
    Code.LOG_CUT_SHORT: "Import the whole log, or run the load again.",
    Code.REPETITIONS_MAY_DIFFER: (
        "Import them again with {factor:NAME} or {workload} in --pattern where {any} stands, into a new study."
    ),
    Code.NOT_WARM_AT_LIMIT: "Raise warm_up_limit, or measure longer.",
    Code.WARM_UP_UNFINISHED: "Raise warm_up or warm_up_limit, and measure these trials again.",
    Code.THROUGHPUT_DRIFTS: "Warm up longer and measure longer, until throughput neither rises nor falls.",
    Code.THROUGHPUT_UNSTEADY: (
        "Look at the server's error log and at the telemetry of that time, remove the cause, or measure for long enough"
        " that such changes average out."
    ),
    Code.FEW_CYCLES: 'Measure for at least two whole cycles, or set duration = "auto".',
    Code.INNODB_DRIFTS: "Measure longer: throughput may change when the server has to do what it puts off.",
    Code.TARGET_INTERVAL_MISSED: "Raise duration_limit or the budget, or accept a wider target_interval.",
    Code.MACHINE_SLOWER: (
        "Find out what slowed the machine down (neighbours, heat, other processes). With a budget and a number of"
        " repetitions in the study file, such trials are measured again; rounds of a duet are not, since both systems"
        " of each pair of turns met the same machine."
    ),
    Code.PLANS_DIFFER: (
        "Run ANALYZE TABLE on all systems and compare indexes; if the plans still differ, that is part of what is"
        " compared."
    ),
    Code.LIMIT_TOO_LOW: "Raise the limit to what is needed, or use lower levels or fewer tables.",
    Code.LITTLE_SPACE: "Free space, or choose another data_dir, --to or PLIMSOLL_DATA_DIR.",
    Code.CPU_FREQUENCY_VARIES: "Set the governor to performance (cpupower frequency-set -g performance).",
    Code.HUGE_PAGES_ALWAYS: (
        "Write madvise or never to /sys/kernel/mm/transparent_hugepage/enabled and start the servers again."
    ),
    Code.SWAP_LIKELY: "Set vm.swappiness = 1 (sysctl), or turn swap off while you measure (swapoff -a).",
    Code.SLOW_CLOCK: "Use tsc where the machine offers it (boot with clocksource=tsc).",
    Code.REDO_LOG_SMALL: (
        "Raise innodb_redo_log_capacity (MySQL) or innodb_log_file_size (MariaDB) to half the buffer pool, or to what"
        " production has."
    ),
    Code.INSTANCE_LAGS: "Look at that instance's error log, storage and telemetry, remove the cause and measure again.",
    Code.INSTANCES_SKEWED: (
        "Look for what the instances do not share equally: CPUs, memory nodes, devices, rows. The sum is that of uneven"
        " instances until then."
    ),
    Code.ERRORS_OCCURRED: (
        "Look up the error codes in docs/warnings.md and in the server's log, remove the cause and measure again."
    ),
    Code.FAILED_TRIALS: "Remove the cause and run the study again: it runs the missing trials.",
    Code.TRIALS_NOT_RUN: "Run the study again: it runs what is missing.",
    Code.OUTAGE: (
        "Find out why the server closed the connections (see its error log), or why it or the network fell silent."
        " Measure these trials again unless the outage was meant."
    ),
    Code.CONNECTIONS_MISSING: (
        "Remove what limits connections, on the server or on the client's machine, and measure these trials again."
    ),
    Code.CONNECTIONS_STUCK: "Look at the network to the server, and at what the server's threads wait for.",
    Code.INTERVALS_LATE: "Run the client where it gets processor time, and measure these trials again.",
    Code.TELEMETRY_MISSING: "Remove the cause that the evidence names, and measure these trials again.",
    Code.COLLECT_FAILED: (
        "Look at the output of the hook in the recording, and correct the command; the figures of the trial stand."
    ),
    Code.PEAK_AT_LAST_LEVEL: "Add higher levels (of a search: --connections) until throughput falls.",
    Code.PEAK_AT_FIRST_LEVEL: "Add lower levels, down to one connection.",
    Code.LEVELS_DIFFER: "Measure all systems at the same levels.",
    Code.READ_ONLY_SLOWER: (
        "Look for a query cache, another data set, other range options or plans, or a cold start of the read-only"
        " trials."
    ),
    Code.KEY_RANGE_MISSES_DATA: "Set table_size to the number of rows that the tables have, or prepare them again.",
    Code.COLUMNS_NOT_COMPARED: "If that matters, use a type that keeps values as they are, such as DECIMAL or VARCHAR.",
    Code.NO_PROGRESS: "Find the statement with SHOW FULL PROCESSLIST on the server, and end whoever holds the lock.",
    Code.QUERY_CACHE_ON: (
        "Set query_cache_type = OFF and query_cache_size = 0, unless production runs with the query cache."
    ),
    Code.REPLICA_WRITABLE: "Set read_only = ON on the replica (MySQL: super_read_only = ON).",
    Code.DATA_LARGER_THAN_BUFFER_POOL: (
        "Enlarge the buffer pool, or measure with the ratio of data to memory that production has."
    ),
    Code.DATA_IN_PAGE_CACHE: "Set innodb_flush_method to O_DIRECT, or use more data than the host has memory.",
    Code.FLUSH_COSTS_NOTHING: "Put the data directory on the storage that production has.",
    Code.OPTION_NOT_IN_EFFECT: (
        "Remove the option, or set it to the server's value; the server's error log gives the reason."
    ),
    Code.CHARACTER_SET_KEPT: (
        "Leave the character set out of the columns' types in the workload file, or out of the system's server."
    ),
    Code.PATHS_ON_ONE_DEVICE: "Put them on devices of their own, or leave the paths out.",
    Code.HUGE_PAGES_UNUSED: (
        "Reserve more huge pages (sysctl vm.nr_hugepages) and allow the server to lock them; its error log names the"
        " cause."
    ),
    Code.ENVIRONMENT_CHANGED: "Undo the change, or remove the recordings from before it, and run the study again.",
    Code.ENCRYPTION_DIFFERS: (
        'Encrypt the connections of all systems alike, or set tls = "disabled" for those that are to be unencrypted.'
    ),
    Code.VARIABLES_DIFFER: "Set them to the same value, or state them as factors.",
    Code.NOT_DURABLE: "Use the settings that production has, and state them wherever you quote the figures.",
    Code.TURBO_ON: "Turn turbo off for the comparison of small differences, or measure long enough to be warm.",
    Code.SMT_ON: "Count cores and not hardware threads when you size, and give client and server whole cores.",
}


def warning(code: Code, evidence: str) -> TrialWarning:
    """A warning for a recording, whose evidence is already in words."""
    return TrialWarning(code=code.value, evidence=evidence, advice=ADVICE[code])


def differences_in_words(differences: Iterable[tuple[str, Mapping[str, str | None]]]) -> str:
    """Differences with the systems by value, such as `CPUs is 2 (metal), 1 (virtual)`."""
    return "; ".join(_one(what, list(values.values()), tuple(values)) for what, values in differences)


CONSEQUENCE: Mapping[Code, str] = {
    Code.CLIENT_ON_SERVER_HOST: "The client takes processor time from the server: absolute figures are too low.",
    Code.HOST_BUSY_ELSEWHERE: "Figures are too low, and differ from run to run.",
    Code.BURSTABLE_INSTANCE: "Throughput falls, often to a tenth, when the credits are used up.",
    Code.DEBUG_BUILD: "The server is several times slower than a release build, and not everywhere by the same factor.",
    Code.MEMORY_OVERCOMMITTED: "The kernel swaps, or kills the server when memory runs out.",
    Code.LIMIT_TOO_LOW: "Connections or statements beyond the limit fail, so the level is not what it says.",
    Code.LITTLE_SPACE: "A run may stop because the disk is full.",
    Code.CPU_FREQUENCY_VARIES: "Processors that idle are slowed down: low levels look worse than they are.",
    Code.HUGE_PAGES_ALWAYS: "The kernel rearranges memory in the background: response times have stalls.",
    Code.SWAP_LIKELY: "Parts of the buffer pool may be swapped out: throughput drops and recovers without a cause.",
    Code.SLOW_CLOCK: "Each time that is taken costs a system call or more, of the client and of the server.",
    Code.REDO_LOG_SMALL: "Writes wait for the flushing of pages (checkpoint age) before storage is the limit.",
    Code.REPLICA_WRITABLE: "A write that went to it by mistake would make it another server than its source.",
    Code.QUERY_CACHE_ON: "Repeated statements are answered from the cache and say nothing about the engine.",
    Code.DATA_LARGER_THAN_BUFFER_POOL: "Figures hold for this ratio of data to memory, and depend on storage.",
    Code.DATA_IN_PAGE_CACHE: "Reads come from the kernel's page cache, which production may not have room for.",
    Code.NOT_DURABLE: "Writes are faster than those of a server that keeps what it has committed.",
    Code.TURBO_ON: "Speed depends on temperature and on how many cores are busy.",
    Code.SMT_ON: "A second thread on a core adds about a quarter of a core, not a whole one.",
}
"""What each pre-flight finding does to figures."""


class Severity(Enum):
    """What warnings of a kind mean for the figures, the gravest first."""

    GRAVE = "Figures may mean something else than they seem to"
    UNCERTAIN = "Figures are less certain than they seem"
    CONTEXT = "What to know about the measurement"


_LESS_GRAVE = {Voids.CERTAINTY: Severity.UNCERTAIN, Voids.NOTHING: Severity.CONTEXT}


def severity_of(code: str) -> Severity:
    """How much a warning takes from the figures; least for codes that are not known.

    >>> severity_of("client-saturated").name, severity_of("from-a-later-version").name
    ('GRAVE', 'CONTEXT')
    """
    return _LESS_GRAVE.get(voids(code), Severity.GRAVE)
