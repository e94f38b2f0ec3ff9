"""A log that sysbench printed, as the runs in it: header, interval lines, and the final report of each.

Lines of anything else are passed over. What seems meant for us and cannot be read is told with its line, never guessed.
Deliberately not here: what becomes of a run (`sysbench`), and which system it was (`log_places`).
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.importers.log_lines import Unread, lines_of
from plimsoll.importers.log_places import CONNECTIONS_MAX
from plimsoll.importers.sysbench_lines import (
    TIME_S_MAX,
    Command,
    IntervalLine,
    command_line,
    figures,
    histogram_line,
    interval_line,
    interval_object,
    looks_like_interval,
)

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
        figures: Of the final report, by the names of `sysbench_lines.figures`.
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
        return stated or max((one.stated.running for one in self.intervals), default=0) or None


@dataclass(frozen=True, slots=True)
class Log:
    """What a file holds.

    Attributes:
        runs: In their order.
    """

    runs: tuple[Run, ...]
    unread: Unread


def read_log(path: Path) -> Log:
    """Reads a log; a file with nothing of sysbench in it has no runs.

    Raises:
        SpecError: The file cannot be read, or is too large.
    """
    unread = Unread(str(path))
    reader = _Reader(unread)
    for number, line, text in lines_of(path, unread):
        reader.feed(number, line, text)
    return Log(reader.finish(), unread)


class _Reader:
    def __init__(self, unread: Unread) -> None:
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
        found = figures(text)
        if found is None:
            self._skip(number, "cannot be read as a figure of the final report", text)
        for name, value in (found or {}).items():
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
