"""The live panel of a command that drives load: the last minute, cells that fill, the time left.

It stands on standard error where that is a terminal that can be written over, and is gone at the end. What it shows is
as wide as the terminal at that moment. It is drawn when something happens, seconds of load at most four times a second:
there is no thread, and nothing to do while nothing happens. Deliberately not here: what happens (`progress`, `running`,
`trial`), and the plain lines that stand in files.
"""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.live import Live
from rich.text import Text

from plimsoll.units import format_duration, format_ms, format_number, format_rate

LAST = 60
"""So many intervals are shown: a minute."""

_PAUSE_S = 0.25
"""At least so long between two pictures of what goes on all the time."""

_BLOCKS, _PLAIN_BLOCKS = "▁▂▃▄▅▆▇█", "_.-~=+*#"
_BAR, _PLAIN_BAR = ("━", "─"), ("#", "-")


class Panel:
    """A picture at the end of a terminal, with lines that stay above it."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._drawn_s = -math.inf

    def update(self, picture: RenderableType, *, is_rare: bool = True) -> None:
        """Shows a picture in place of the last one.

        Args:
            picture: What to show.
            is_rare: Draws it at once. What goes on all the time is drawn so often that a person can read it, and
                what comes next shows what was left out.
        """
        self._live.update(picture)
        now_s = time.monotonic()
        if is_rare or now_s - self._drawn_s >= _PAUSE_S:
            self._drawn_s = now_s
            self._live.refresh()

    def print(self, line: str) -> None:
        """Prints a line that stays."""
        self._live.console.print(line, markup=False, highlight=False)


def stderr_console(*, quiet: bool = False) -> Console:
    """Standard error as it is: a variable that asks for colours makes no terminal of a file."""
    is_terminal = sys.stderr.isatty()
    return Console(stderr=True, quiet=quiet, soft_wrap=not is_terminal, emoji=False, force_terminal=is_terminal)


@contextmanager
def panel_on(console: Console, *, is_wanted: bool = True) -> Iterator[Panel | None]:
    """A panel for the time that something runs; None where it is not wanted, and where nothing can be written over."""
    if not (is_wanted and console.is_terminal and not console.is_dumb_terminal):
        yield None
        return
    with Live(console=console, auto_refresh=False, transient=True, redirect_stdout=False) as live:
        yield Panel(live)


def _is_plain(console: Console) -> bool:
    return not console.encoding.lower().startswith("utf")


def line_of(text: str, style: str = "") -> Text:
    """A line that is cut where the terminal ends."""
    return Text(text, style=style, no_wrap=True, overflow="ellipsis")


@dataclass(frozen=True, slots=True)
class Bar:
    """How far something is, with words behind it. On a narrow terminal the words come first.

    Attributes:
        ratio: 0..1.
        words: What is done of what, and how long it will still take.
    """

    ratio: float
    words: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The bar has up to 30 columns."""
        width = min(30, options.max_width - len(self.words) - 1)
        full, empty = _PLAIN_BAR if _is_plain(console) else _BAR
        filled = round(width * min(max(self.ratio, 0.0), 1.0))
        yield line_of(f"{full * filled}{empty * (width - filled)} {self.words}" if width >= 4 else self.words)


def left_words(left_s: float) -> str:
    """How long something will still take."""
    return f"about {format_duration(max(left_s, 0.0))} left"


class LastMinute:
    """Throughput and 99th percentile of response time of the last intervals, as sparklines from 0 to their maximum."""

    def __init__(self) -> None:
        self._rates: deque[float | None] = deque(maxlen=LAST)
        self._times: deque[float | None] = deque(maxlen=LAST)

    def add(self, throughput_tps: float, response_ms_p99: float | None) -> None:
        """Takes in an interval; None where too little completed for a percentile."""
        self._rates.append(throughput_tps)
        self._times.append(response_ms_p99)

    def clear(self) -> None:
        """Another load begins."""
        self._rates.clear()
        self._times.clear()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """A line each; nothing before the first interval."""
        if not self._rates:
            return
        blocks = _PLAIN_BLOCKS if _is_plain(console) else _BLOCKS
        rate, last = format_rate(self._rates[-1] or 0.0), self._times[-1]
        shown = (("throughput", self._rates, rate), ("p99", self._times, "" if last is None else format_ms(last)))
        for name, values, figure in shown:
            width = min(LAST, options.max_width - 26)
            graph = sparkline(values, width, blocks) if width > 0 else ""
            yield line_of(f"  {name:10}  {graph} {figure}")


def sparkline(values: Iterable[float | None], width: int, blocks: str = _BLOCKS) -> str:
    """The last values as blocks from 0 to the greatest of them; a blank for None.

    >>> sparkline([0.0, 1.0, None, 7.0, 3.5], 4)
    '▂ █▅'
    """
    shown = list(values)[-width:]
    top = max((value for value in shown if value is not None), default=0.0)
    steps = len(blocks) - 1
    return "".join(" " if value is None else blocks[round(steps * value / top) if top > 0 else 0] for value in shown)


_UNITS = ((1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G"), (math.inf, ""))


@dataclass(slots=True)
class _Cell:
    """The repetitions of one system, workload and level so far."""

    figures: list[float] = field(default_factory=list)
    has_failed: bool = False

    def text(self, *, is_running: bool) -> str:
        """The mean so far, in at most seven characters."""
        if self.figures:
            mean = sum(self.figures) / len(self.figures)
            unit, letter = next((unit, letter) for unit, letter in _UNITS if mean < unit * 99_999.5)
            return f"{format_number(mean / unit)}{letter}"
        return "..." if is_running else "failed" if self.has_failed else "."


Row = tuple[str, str]
"""A system and a workload."""


class CellTable:
    """Cells of a study, which fill: a row for each system and workload, a column for each level.

    Of a large study, and on a small terminal, those around the cell that runs are shown.
    """

    ROWS_MAX = 8
    _COLUMN = 8
    _NAME_MAX = 32

    def __init__(self, cells: Iterable[tuple[Row, str]] = ()) -> None:
        """Cells in the order of the plan: the row, and what the level's column is called."""
        self._cells: dict[tuple[Row, str], _Cell] = {}
        self._last: tuple[Row, str] | None = None
        self._is_running = False
        for row, column in cells:
            self._cell(row, column)

    def _cell(self, row: Row, column: str) -> _Cell:
        return self._cells.setdefault((row, column), _Cell())

    def begin(self, row: Row, column: str) -> None:
        """A trial of the cell runs."""
        self._cell(row, column)
        self._last, self._is_running = (row, column), True

    def end(self, row: Row, column: str, throughput_tps: float | None) -> None:
        """A trial of the cell is recorded; None where it counts for nothing."""
        cell = self._cell(row, column)
        if throughput_tps is None:
            cell.has_failed = True
        else:
            cell.figures.append(throughput_tps)
        self._is_running = False

    def put(self, row: Row, column: str, throughput_tps: float) -> None:
        """Shows a figure in place of all before it."""
        self._cell(row, column).figures = [throughput_tps]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Nothing for a single cell, which the other lines show."""
        if len(self._cells) < 2:
            return
        rows = list(dict.fromkeys(row for row, _ in self._cells))
        columns = list(dict.fromkeys(column for _, column in self._cells))
        names = _names(rows)
        width = min(max(map(len, names.values())), self._NAME_MAX, max(options.max_width // 3, 12))
        row, column = self._last or (rows[0], columns[0])
        shown_rows = _around(rows, rows.index(row), max(min(self.ROWS_MAX, console.height - 12), 1))
        shown = _around(columns, columns.index(column), max((options.max_width - width) // self._COLUMN, 1))
        heading = "".join(f"{column[: self._COLUMN - 1]:>{self._COLUMN}}" for column in shown)
        yield line_of(f"{'tps':{width}}{heading}", style="dim")
        for row in shown_rows:
            line = line_of(f"{_shortened(names[row], width):{width}}")
            for column in shown:
                is_running = self._is_running and (row, column) == self._last
                cell = self._cells.get((row, column))
                text = "" if cell is None else cell.text(is_running=is_running)
                line.append(f"{text:>{self._COLUMN}}", style="bold reverse" if is_running else "")
            yield line
        hidden = [(len(rows) - len(shown_rows), "rows"), (len(columns) - len(shown), "levels")]
        if more := [f"{count} more {what}" for count, what in hidden if count]:
            yield line_of(f"and {' and '.join(more)}", style="dim")


def _names(rows: Sequence[Row]) -> dict[Row, str]:
    """Rows by what tells them apart: the workload is named where there are several."""
    if len({workload for _, workload in rows}) == 1:
        return {row: row[0] for row in rows}
    return {row: f"{row[0]}, {row[1]}" for row in rows}


def _shortened(name: str, width: int) -> str:
    """The beginning and the end of a name: systems often differ at its end.

    >>> _shortened("innodb_flush_log_at_trx_commit=2", 16)
    'innodb_..ommit=2'
    """
    if len(name) <= width:
        return name
    end = (width - 2) // 2
    return f"{name[: width - 2 - end]}..{name[-end:]}"


_Item = TypeVar("_Item")


def _around(items: Sequence[_Item], at: int, count: int) -> Sequence[_Item]:
    """So many items with one of them in their middle, as far as there are any."""
    first = min(max(at - count // 2, 0), max(len(items) - count, 0))
    return items[first : first + count]
