"""A log that sysbench 0.4, 0.5, 1.0 or 1.1 printed, as the runs in it: header, interval lines, final reports.

Lines of anything else are passed over. What seems meant for us and cannot be read is told with its line, never guessed;
a number that is not plain is no number. Deliberately not here: what becomes of a run (`sysbench`), and which system it
was (`log_places`).
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from plimsoll.importers.log_places import CONNECTIONS_MAX, WAREHOUSES_MAX
from plimsoll.importers.text_files import UnreadLines, lines_of

TIME_S_MAX = 10_000_000
"""About four months."""

_OBJECT_LINES_MAX = 40
_FATAL_LINES_KEPT = 3
_BUCKETS_MAX = 1_024  # as many as sysbench has

_BANNER = re.compile(r"sysbench (\d{1,3}\.\d{1,3}[\w.-]{0,60}):?(?:\s.*)?", re.ASCII)
_OPTIONS = "Running the test with following options:"
_SETTINGS = {
    "threads": re.compile(r"Number of threads: (\d{1,9})", re.ASCII),
    "warm_up_s": re.compile(r"Warmup time: (\d{1,9})s", re.ASCII),
    "rate": re.compile(r"Target transaction rate: (\d{1,9})/sec", re.ASCII),
    "report_interval_s": re.compile(r"Report intermediate results every (\d{1,9}) second\(s\)", re.ASCII),
}
_BOUNDS = {"threads": CONNECTIONS_MAX, "report_interval_s": TIME_S_MAX}
_CHECKPOINT = re.compile(r"\[\s*\d+s\s*\] Checkpoint report:")
_HISTOGRAM = "Latency histogram (values are in milliseconds)"
_OBJECT = re.compile(r'[\[, ]*\{\s*(?:"time"|$)')
_REPORT = re.compile(r"(?:SQL|OLTP test) statistics:")


@dataclass(frozen=True, slots=True)
class Interval:
    """One interval line in its place.

    Attributes:
        follows: Whether nothing that could not be read stands between it and the line before.
    """

    stated: IntervalLine
    follows: bool


@dataclass(slots=True)
class Run:
    """One run of sysbench, as its log tells it. What the log does not say is None, empty or 0.

    Attributes:
        lines: First and last line in the file, counted from 1.
        version: As sysbench calls itself.
        command: The command line before it.
        settings: Of the header: `threads`, `warm_up_s`, `rate` (per second), `report_interval_s`.
        intervals: Their times rise.
        figures: Of the final report, by the names of `sysbench_log.figures`.
        histogram: Milliseconds and transactions of each bucket, where `--histogram` was asked for.
        fatal: What FATAL lines say, the first ones.
        has_checkpoints: Whether there were reports before the final one, which then covers the rest only.
        has_header: Whether its options were printed.
        digest: Of all its bytes.
    """

    lines: tuple[int, int]
    version: str | None = None
    command: Command | None = None
    settings: dict[str, int] = field(default_factory=dict)
    intervals: list[Interval] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)
    histogram: list[tuple[float, int]] = field(default_factory=list)
    fatal: list[str] = field(default_factory=list)
    has_checkpoints: bool = False
    has_header: bool = False
    digest: str = ""

    @property
    def has_results(self) -> bool:
        """Whether anything of a run was seen, be it only its beginning: a `prepare` has nothing of it."""
        return self.has_header or bool(self.intervals) or "transactions" in self.figures

    @property
    def is_whole(self) -> bool:
        """Whether its final report is there to the end of what counts."""
        return {"transactions", "total time"} <= self.figures.keys()

    @property
    def stated(self) -> dict[str, str | int | None]:
        """What the log says about where the run belongs."""
        command = self.command
        warehouses = command.warehouses if command else None
        workload = command.workload if command else None
        return {"workload": workload, "connections": self.connections, "warehouses": warehouses}

    @property
    def connections(self) -> int | None:
        """How many the log states; without a header as many as were at work at once."""
        stated = self.settings.get("threads") or (self.command.connections if self.command else None)
        return stated or max((interval.stated.running for interval in self.intervals), default=0) or None


@dataclass(frozen=True, slots=True)
class Log:
    """What a file holds.

    Attributes:
        runs: In their order.
    """

    runs: tuple[Run, ...]
    unread: UnreadLines


def read_log(path: Path) -> Log:
    """Reads a log; a file with nothing of sysbench in it has no runs.

    Raises:
        SpecError: The file cannot be read, or is too large.
    """
    unread = UnreadLines(str(path))
    reader = _Reader(unread)
    for number, line, text in lines_of(path, unread):
        reader.feed(number, line, text)
    return Log(reader.finish(), unread)


class _Reader:
    def __init__(self, unread: UnreadLines) -> None:
        self._skip = unread.skip
        self._runs: list[Run] = []
        self._object: list[str] = []
        self._begin(1)

    def feed(self, number: int, line: bytes, text: str) -> None:
        """Takes the next line of the file: its bytes, and its text without blanks around it."""
        self._part(number, text)
        self._digest.update(line.rstrip(b"\r") + b"\n")
        self._run.lines = (self._run.lines[0], number)
        if self._object == ["{"] and not text.startswith('"time"'):
            self._object = []  # somebody else's bracket
        if self._object or _OBJECT.match(text):
            self._of_object(number, text.lstrip("[, "))
        elif text:
            self._line(number, text)

    def finish(self) -> tuple[Run, ...]:
        """The runs in what was fed."""
        self._end()
        return tuple(self._runs)

    def _begin(self, number: int) -> None:
        self._run = Run(lines=(number, number))
        self._digest = hashlib.sha256()
        self._follows = True
        self._in_report = self._in_checkpoint = False

    def _end(self) -> None:
        if self._object:
            self._skip(self._run.lines[1], "ends within an object of JSON", self._object[0])
            self._object = []
        self._run.digest = self._digest.hexdigest()
        if self._run.has_results:
            self._runs.append(self._run)

    def _part(self, number: int, text: str) -> None:
        """Begins another run where a line can only be the first of one."""
        run = self._run
        command = command_line(text)
        banner = _BANNER.fullmatch(text)
        begun = run.has_results or run.version is not None
        if (command and (begun or run.command)) or (banner and begun) or (text == _OPTIONS and run.has_header):
            self._end()
            self._begin(number)
        if command:
            self._run.command = command
        if banner:
            self._run.version = banner[1].rstrip(":")
        self._run.has_header |= text == _OPTIONS

    def _line(self, number: int, text: str) -> None:
        if text.startswith("FATAL:"):
            self._fatal(text)
        elif _CHECKPOINT.fullmatch(text):
            self._run.has_checkpoints = self._in_checkpoint = True
        elif _REPORT.fullmatch(text):
            self._in_report, self._in_checkpoint = not self._in_checkpoint, False
        elif text == _HISTOGRAM:
            self._run.histogram = []
        elif bucket := histogram_line(text):
            self._run.histogram += [bucket] if len(self._run.histogram) < _BUCKETS_MAX else []
        elif stated := interval_line(text):
            self._interval(number, text, stated)
        elif looks_like_interval(text):
            self._lose(number, "cannot be read as an interval line", text)
        elif self._in_report:
            self._figure(number, text)
        else:
            self._setting(number, text)

    def _fatal(self, text: str) -> None:
        text = text.removeprefix("FATAL:").strip()
        if len(self._run.fatal) < _FATAL_LINES_KEPT and text not in self._run.fatal:
            self._run.fatal.append(text)

    def _interval(self, number: int, text: str, stated: IntervalLine) -> None:
        before = self._run.intervals[-1].stated.time_s if self._run.intervals else 0
        if stated.time_s <= before:
            self._lose(number, "its time does not rise", text)
            return
        self._run.intervals.append(Interval(stated, self._follows))
        self._follows = True

    def _of_object(self, number: int, text: str) -> None:
        """Collects an object of the JSON report, which is printed over several lines."""
        self._object.append(text)
        whole = "".join(self._object)
        if whole.count("{") > whole.count("}") and len(self._object) < _OBJECT_LINES_MAX:
            return
        self._object = []
        stated = interval_object(whole.strip("[], "))
        if stated is None:
            self._lose(number, "cannot be read as an object of the JSON report", whole)
        else:
            self._interval(number, whole, stated)

    def _figure(self, number: int, text: str) -> None:
        parsed = figures(text)
        if parsed is None:
            self._skip(number, "cannot be read as a figure of the final report", text)
        for name, value in (parsed or {}).items():
            self._run.figures.setdefault(name, value)

    def _setting(self, number: int, text: str) -> None:
        for name, pattern in _SETTINGS.items():
            match = pattern.fullmatch(text)
            if match and not 0 < int(match[1]) <= _BOUNDS.get(name, TIME_S_MAX):
                self._skip(number, "its number is out of range", text)
            elif match:
                self._run.settings.setdefault(name, int(match[1]))

    def _lose(self, number: int, what: str, text: str) -> None:
        """Skips an interval: the next one does not follow the one before."""
        self._skip(number, what, text)
        self._follows = False


RATE_MAX = 1e9
"""No server does more of anything in a second; what states more is damaged."""

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
        report = json.loads(text)
        qps = report["qps"]
        rates = (report["tps"], qps["reads"], qps["writes"], qps["other"], report["errors"], report["reconnects"])
        values = (report["time"], report["threads"], *rates)
        if any(type(value) not in (int, float) for value in values):
            return None
        return _checked(int(report["time"]), int(report["threads"]), [float(rate) for rate in rates])
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
