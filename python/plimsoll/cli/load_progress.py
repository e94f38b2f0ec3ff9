"""Progress of making a data set, on standard error: a bar on a terminal, nothing elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from plimsoll.cli.notices import measured_again_line
from plimsoll.units import printable

if TYPE_CHECKING:
    from pathlib import Path

    from plimsoll.drive import protocol

PHASES = {
    "resume": "checking existing rows",
    "create": "creating tables",
    "load": "loading rows",
    "index": "building indexes",
    "analyze": "collecting statistics",
    "verify": "counting rows",
    "content": "comparing rows",
    "clear": "removing unfinished warehouses",
    "foreign keys": "adding foreign keys",
    "payments": "reading payments",
    "consistency": "checking consistency",
    "complete": "marking tables",
    "drop": "dropping tables",
}

IN_ROWS = frozenset({"resume", "load", "content"})
"""Phases that count rows."""


class RowRate(ProgressColumn):
    """How many rows are done in a second, in phases that count rows."""

    def render(self, task: Task) -> Text:
        """Nothing until there is something to divide."""
        is_told = task.fields.get("is_in_rows") and task.speed
        return Text(f"{task.speed:,.0f} rows/s" if is_told else "")


class LoadProgress:
    """Progress of a data set, phase by phase."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._task: TaskID | None = None
        self._phase = ""

    def show(self, progress: protocol.Progress) -> None:
        """Shows how far it is."""
        if progress.phase != self._phase or self._task is None:
            if self._task is not None:
                self._bars.remove_task(self._task)
            self._phase = progress.phase
            self._task = self._bars.add_task(
                PHASES.get(progress.phase, progress.phase),
                total=progress.total_count,
                is_in_rows=progress.phase in IN_ROWS,
            )
        self._bars.update(self._task, completed=progress.done_count, total=progress.total_count)

    def warn(self, warning: protocol.EngineWarning) -> None:
        """Shows a warning above the bar."""
        self._tell(f"warning: {warning.evidence} {warning.advice}")

    def measured_again(self, folder: Path, reason: str) -> None:
        """Says that servers may be sized otherwise than before."""
        self._tell(measured_again_line(str(folder), reason))

    def _tell(self, line: str) -> None:
        self._bars.console.print(printable(line), markup=False, highlight=False)


@contextmanager
def load_progress() -> Iterator[LoadProgress]:
    """A bar for the time that a data set is made."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), RowRate(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        yield LoadProgress(bars)
