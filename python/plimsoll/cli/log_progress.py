"""Reads logs with progress on standard error: one line that moves on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from plimsoll.prose.phrases import counted
from plimsoll.units import printable

if TYPE_CHECKING:
    from plimsoll.drive import protocol
    from plimsoll.learn.event_log import EventLog


class LogProgress:
    """What is told while logs are read."""

    def __init__(self, display: Progress) -> None:
        self._display = display
        self._task = display.add_task("reading", total=None)

    def read(self, message: protocol.Progress) -> None:
        """How many bytes are read; the total is 0 where it is not known, as of compressed files."""
        self._display.update(self._task, completed=message.done_count, total=message.total_count or None)

    def concludes(self, events_count: int) -> None:
        """All is read."""
        self._display.update(self._task, description=f"{counted(events_count, 'statement')}; looking for transactions")

    def asks(self, table: str) -> None:
        """The server is asked for a table."""
        self._display.update(self._task, description=f"reading the definition of {printable(table)}")

    def say(self, line: str) -> None:
        """A line that stays."""
        if sys.stderr.isatty():
            self._display.print(line, markup=False, highlight=False)
        else:
            typer.echo(line, err=True)


@contextmanager
def read_with_progress(reading: dict[str, Any]) -> Iterator[tuple[EventLog, LogProgress]]:
    """The tables of logs, and the progress that is shown while the context lasts.

    Args:
        reading: What `read_logs` takes; errors are raised as there.
    """
    from plimsoll.run.reading_logs import read_logs

    with _log_progress() as progress, read_logs(**reading, progress=progress.read, say=progress.say) as log:
        progress.concludes(log.events_count)
        yield log, progress


@contextmanager
def _log_progress() -> Iterator[LogProgress]:
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as display:
        yield LogProgress(display)
