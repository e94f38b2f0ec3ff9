"""Single lines of what sysbench 0.4, 0.5, 1.0 and 1.1 print, as values. A number that is not plain is no number.

Deliberately not here: what lines mean together (`sysbench_log`).
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import PurePosixPath

from plimsoll.importers.log_places import CONNECTIONS_MAX, WAREHOUSES_MAX

RATE_MAX = 1e9
"""No server does more of anything in a second; what states more is damaged."""

TIME_S_MAX = 10_000_000
"""About four months."""

_N = r"(\d{1,12}(?:\.\d{1,6})?)"
_COUNT = rf"(\d{{1,15}})(?:\s+\({_N} per sec\.\))?"
_ERRORS = rf"err/s:? {_N} reconn/s: {_N}"
_NEWER = rf"thds: (\d+) tps: {_N} qps: {_N} \(r/w/o: {_N}/{_N}/{_N}\) lat \(ms,\d+%\): {_N} {_ERRORS}"
_OLDER = (
    rf"threads: (\d+), tps: {_N}, reads(?:/s)?: {_N},? writes(?:/s)?: {_N},? response time: {_N}ms \(\d+%\)"
    rf"(?:,? errors(?:/s)?: +{_N},? reconnects(?:/s)?: +{_N})?"
)
_TIME = r"\[\s*(\d{1,9})s\s*\]"
_NEWER_LINE = re.compile(rf"{_TIME} {_NEWER}", re.ASCII)
_OLDER_LINE = re.compile(rf"{_TIME} {_OLDER}", re.ASCII)
_CSV_LINE = re.compile(rf"(\d{{1,9}}),(\d+),{','.join([_N] * 8)}", re.ASCII)
_INTERVAL_LIKE = re.compile(rf"{_TIME}(?!.*eps:).*(?:thds|threads|tps):|\d+(?:,[^,]*){{9}}$")

_FIGURES = {
    "read": _COUNT,
    "write": _COUNT,
    "other": _COUNT,
    "transactions": rf"(\d{{1,15}})\s+\({_N} per sec\.\)",
    "deadlocks": _COUNT,
    "ignored errors": _COUNT,
    "reconnects": _COUNT,
    "Number of unfinished transactions on forced shutdown": r"(\d{1,15})",
    "total time": rf"{_N}s",
    "time elapsed": rf"{_N}s",
    "min": rf"{_N}(ms|s)?",
    "avg": rf"{_N}(ms|s)?",
    "max": rf"{_N}(ms|s)?",
    "sum": rf"{_N}(ms|s)?",
}
_SAME_FIGURES = {
    "deadlocks": "ignored errors",
    "time elapsed": "total time",
    "Number of unfinished transactions on forced shutdown": "unfinished",
}
_FIGURE = re.compile(rf"({'|'.join(_FIGURES)}):\s+(.*)")
_PERCENTILE = re.compile(r"(?:approx\.\s+)?(\d{1,3})(?:st|nd|rd|th)? percentile:\s+(.*)", re.ASCII)
_HISTOGRAM_LINE = re.compile(r"(\d{1,7}\.\d{3}) \|\**\s+(\d{1,15})", re.ASCII)
_DURATION = re.compile(rf"{_N}(ms|s)?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalLine:
    """What one interval line states, all rates per second.

    Attributes:
        time_s: Its end, whole seconds since the run began, as printed.
        running: Connections that were still at work.
    """

    time_s: int
    running: int
    tps: float
    reads: float
    writes: float
    others: float
    errors: float
    reconnects: float


@dataclass(frozen=True, slots=True)
class Command:
    """A command line of sysbench that somebody put into the log.

    Attributes:
        workload: The script's or test's name, without folder and `.lua`.
        connections: Of `--threads` or `--num-threads`; None when it does not say.
        warehouses: Of sysbench-tpcc's `--scale`, in all sets that `--tables` asks for; None for other scripts.
    """

    workload: str | None
    connections: int | None
    warehouses: int | None = None


def interval_line(text: str) -> IntervalLine | None:
    """The interval line of sysbench itself, or a line of its CSV report; None when it is none of them, or damaged."""
    newer = _NEWER_LINE.fullmatch(text)
    if newer:
        time, running, tps, _, reads, writes, others, _, errors, reconnects = newer.groups()
    elif older := _OLDER_LINE.fullmatch(text):
        time, running, tps, reads, writes, _, errors, reconnects = older.groups()
        others = "0"
    elif csv := _CSV_LINE.fullmatch(text):
        time, running, tps, _, reads, writes, others, _, errors, reconnects = csv.groups()
    else:
        return None
    rates = [float(rate or 0) for rate in (tps, reads, writes, others, errors, reconnects)]
    return _checked(int(time), int(running), rates)


def interval_object(text: str) -> IntervalLine | None:
    """An object of sysbench's JSON report; None when it is damaged."""
    try:
        found = json.loads(text)
        qps = found["qps"]
        rates = (found["tps"], qps["reads"], qps["writes"], qps["other"], found["errors"], found["reconnects"])
        values = (found["time"], found["threads"], *rates)
        if any(type(value) not in (int, float) for value in values):
            return None
        return _checked(int(found["time"]), int(found["threads"]), [float(rate) for rate in rates])
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None


def looks_like_interval(text: str) -> bool:
    """Whether a line that is no interval line seems to be meant as one."""
    return _INTERVAL_LIKE.match(text) is not None


def _checked(time_s: int, running: int, rates: list[float]) -> IntervalLine | None:
    sound = all(0 <= rate <= RATE_MAX for rate in rates)  # NaN is in no range
    if not sound or not 0 < time_s <= TIME_S_MAX or not 0 <= running <= CONNECTIONS_MAX:
        return None
    tps, reads, writes, others, errors, reconnects = rates
    return IntervalLine(
        time_s=time_s,
        running=running,
        tps=tps,
        reads=reads,
        writes=writes,
        others=others,
        errors=errors,
        reconnects=reconnects,
    )


def figures(text: str) -> dict[str, float] | None:
    """What a line of the final report states: empty when it is no such line, None when its value cannot be read.

    Durations are in milliseconds, times in seconds. Percentiles are called `p95`.

    >>> figures("transactions:    10328  (1473.99 per sec.)"), figures("approx.  95 percentile:   0.0067s")
    ({'transactions': 10328.0, 'tps': 1473.99}, {'p95': 6.7})
    """
    if match := _PERCENTILE.fullmatch(text):
        value = _DURATION.fullmatch(match[2])
        return {f"p{int(match[1])}": _ms(value)} if value and 0 < int(match[1]) <= 100 else None
    label = _FIGURE.fullmatch(text)
    if label is None:
        return {}
    value = re.fullmatch(_FIGURES[label[1]], label[2], re.ASCII)
    if value is None:
        return None
    if label[1] in ("min", "avg", "max", "sum"):
        return {label[1]: _ms(value)}
    if label[1] == "transactions":
        return {"transactions": float(value[1]), "tps": float(value[2])}
    return {_SAME_FIGURES.get(label[1], label[1]): float(value[1])}


def histogram_line(text: str) -> tuple[float, int] | None:
    """A bucket of the histogram that `--histogram` prints: milliseconds and transactions; None for any other line.

    >>> histogram_line("0.473 |***                                      16")
    (0.473, 16)
    """
    match = _HISTOGRAM_LINE.fullmatch(text)
    return (float(match[1]), int(match[2])) if match else None


def _ms(match: re.Match[str]) -> float:
    """Newer versions print milliseconds without a unit, 0.4 and 0.5 with one: `ms`, before that `s`."""
    return round(float(match[1]) * (1000.0 if match[2] == "s" else 1.0), 9)


def command_line(text: str) -> Command | None:
    """A command that runs sysbench, as `set -x` of a shell puts it before its output; None for any other line.

    >>> command_line("+ sysbench /x/oltp_read_write.lua --mysql-user=me --threads=16 run")
    Command(workload='oltp_read_write', connections=16, warehouses=None)
    >>> command_line("$ ./tpcc.lua --threads=16 --tables=2 --scale=10 run")
    Command(workload='tpcc', connections=16, warehouses=20)
    """
    if not re.match(r"(?:[+$#] *)*(?:\S*/)?(?:sysbench|tpcc\.lua)\s.*\brun\b", text):
        return None
    try:
        program, *words = shlex.split(text.lstrip("+$# "))
    except ValueError:
        return None
    pairs = [word.removeprefix("--").split("=", 1) for word in words if re.match(r"--[\w-]+=", word)]
    options = {name.replace("_", "-"): value for name, value in pairs}
    named = [word for word in words if not word.startswith("-")]
    script = program if program.endswith(".lua") else options.get("test")
    script = script or next((word for word in named if word != "run"), None)
    workload = PurePosixPath(script).name.removesuffix(".lua") or None if script else None
    warehouses = _number(options.get("scale", ""), WAREHOUSES_MAX) if workload == "tpcc" else None
    sets = _number(options.get("tables", "1"), WAREHOUSES_MAX)
    connections = _number(options.get("threads") or options.get("num-threads") or "", CONNECTIONS_MAX)
    return Command(workload, connections, warehouses * sets if warehouses and sets else None)


def _number(text: str, most: int) -> int | None:
    return int(text) if re.fullmatch(r"[1-9]\d{0,7}", text) and int(text) <= most else None
