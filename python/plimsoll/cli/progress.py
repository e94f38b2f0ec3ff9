"""Progress on standard error, of a study, of making a data set, of reading logs, and of bundles.

A study has a live display on a terminal and plain lines elsewhere, with what a user should know beside the trials. A
data set has a bar, logs and bundles have a line that moves, on a terminal only. It only reads events; nothing depends
on it. Deliberately not here: searches for a capacity (`running`).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console, Group
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.text import Text

from plimsoll.cli.panel import Bar, CellTable, LastMinute, Panel, Row, left_words, line_of, panel_on, stderr_console
from plimsoll.cli.storage import measured_line
from plimsoll.errors import RecordError
from plimsoll.record.level import Level
from plimsoll.run.events import (
    AnswerProgressed,
    DeviceShared,
    EnvironmentChanged,
    EnvironmentTurn,
    HookEnded,
    HostLost,
    MachineMeasured,
    ReadinessJudged,
    SearchEnded,
    SearchProgressed,
    StorageMeasured,
    TrialEnded,
    read_events,
)
from plimsoll.run.folder import EVENTS_FILE, UNPLANNED, read_plan
from plimsoll.run.status import answer_lines, duet_words, interval_words, search_line
from plimsoll.units import format_duration, format_ms, format_percent, format_rate, printable
from plimsoll.wording import counted, repeat_noun

if TYPE_CHECKING:
    from pathlib import Path

    from plimsoll.drive import protocol
    from plimsoll.learn.event_log import EventLog
    from plimsoll.plan.model import PlannedTrial
    from plimsoll.run.events import (
        DataProgressed,
        DuetProgressed,
        Event,
        HookBegan,
        IntervalEnded,
        SearchEvent,
        StateBegan,
        StudyBegan,
        StudyEnded,
        SystemBegan,
        TrialBegan,
    )


class StudyDisplay:
    """What runs now, what it sees and how long it will still take.

    Attributes:
        has_begun: The study's folder is there, and its plan.
    """

    def __init__(self, console: Console, live: Panel | None, folder: Path | None = None) -> None:
        self._console, self._live, self._folder = console, live, folder
        self.has_begun = False
        self._trial_count = 0
        self._done_count = 0
        self._ends_at = time.monotonic()
        self._now = "starting"
        self._seen = ""
        self._state = ""
        self._in_trial = False
        self._is_searching = False
        self._minute, self._cells = LastMinute(), CellTable()

    def show(self, event: Event) -> None:
        """Takes one event in."""
        match event.type:
            case "study_began":
                self._study_began(event)
            case "data_progressed":
                self._data_progressed(event)
            case "trial_began":
                self._began(event)
            case "interval_ended" | "duet_progressed":
                self._progressed(event)
            case "search_began" | "search_progressed" | "search_ended" | "search_stopped" | "ramps_compared":
                self._searched(event)
            case "data_put_back" | "data_kept":
                pass
            case (
                "answer_progressed"
                | "environment_changed"
                | "machine_measured"
                | "readiness_judged"
                | "device_shared"
                | "host_lost"
                | "storage_measured"
                | "hook_ended"
                | "environment_turn"
            ):
                self._notice(event)
            case "trial_ended":
                self._ended(event)
            case _:
                self._entered(event)
        if self._live is not None:
            self._live.update(self._picture(), is_rare=event.type not in _FREQUENT)

    def _notice(self, event: Notice) -> None:
        if event.type == "answer_progressed" and event.trials_left is not None:
            self._trial_count = self._done_count + (0 if event.is_decided else event.trials_left)
        if text := notice(event):
            self._print(text)

    def _entered(self, event: SystemBegan | StateBegan | HookBegan | StudyEnded) -> None:
        """What goes on from now on."""
        if event.type == "hook_began":
            self._hook_began(event)
        elif event.type == "state_began":
            self._seen = self._state = str(event.state)
        else:
            self._now, self._seen = "done" if event.type == "study_ended" else f"starting {event.system}", ""

    def _study_began(self, event: StudyBegan) -> None:
        self.has_begun = True
        self._trial_count, self._done_count = event.trial_count, event.finished_count
        self._expect(event.estimated_s)
        if self._live is not None and self._folder is not None:
            self._cells = _planned_cells(self._folder)
        kept = f", {event.finished_count} of them already finished" if event.finished_count else ""
        work = f"{event.trial_count} trials{kept}"
        if event.searches_count:
            work = f"{event.searches_count} search{'' if event.searches_count == 1 else 'es'} for capacities{kept}"
        most = "at most " if event.is_until_decided else ""
        self._print(f"{event.study}: {most}{work}, {most}about {format_duration(event.estimated_s)}")
        if event.unplanned_count:
            self._print(f"{event.unplanned_count} recordings: {UNPLANNED}")

    def _data_progressed(self, event: DataProgressed) -> None:
        done = f"{PHASES.get(event.phase, event.phase)} {event.done_count / max(event.total_count, 1):.0%}"
        if self._in_trial:
            self._seen = f"{self._state}: {done}"
        else:
            self._now = f"{event.system}: {done}"

    def _hook_began(self, event: HookBegan) -> None:
        what = f"hook {event.hook}"
        if self._in_trial:
            self._seen = f"{self._state}: {what}"
        else:
            self._now = what if event.system is None else f"{event.system}: {what}"

    def _began(self, event: TrialBegan) -> None:
        self._expect(event.remaining_s)
        self._in_trial = True
        self._now = f"{_cell(event)}, {repeat_noun(is_duet=event.is_duet)} {event.repetition + 1}"
        self._seen = ""
        self._minute.clear()
        if not self._is_searching:
            self._cells.begin(*_place(event))

    def _ended(self, event: TrialEnded) -> None:
        self._in_trial = False
        self._done_count += 1
        if not self._is_searching:
            self._cells.end(*_place(event), event.throughput_tps if event.verdict == "complete" else None)
        name = f"[{self._done_count}/{self._trial_count}] {_cell(event)}"
        if event.throughput_tps is None or event.verdict != "complete":
            self._print(f"{name}: {event.verdict}: {event.reason}")
        elif self._live is None and not self._is_searching:
            self._print(f"{name}: {_result(event)}")

    def _progressed(self, event: IntervalEnded | DuetProgressed) -> None:
        if event.type == "interval_ended":
            self._minute.add(event.throughput_tps, event.response_ms_p99)
            self._seen = f"{event.state}: {interval_words(event)}"
        elif event.pair_count is None:
            self._print(duet_words(event))
        else:
            self._seen = f"{self._state}: {duet_words(event)}"

    def _searched(self, event: SearchEvent) -> None:
        """A line whether or not there is a live display."""
        self._is_searching = True
        if event.type in ("search_progressed", "ramps_compared"):
            self._expect(event.remaining_s)
        if isinstance(event, SearchProgressed) and event.low_tps:
            self._cells.put(*_place(event), event.low_tps)
        if isinstance(event, SearchEnded) and event.capacity_tps:
            self._cells.put(*_place(event), event.capacity_tps)
        self._print(search_line(event))

    def _expect(self, remaining_s: float) -> None:
        self._ends_at = time.monotonic() + remaining_s

    def _print(self, line: str) -> None:
        text = "\n".join(printable(part) for part in line.splitlines())
        self._console.print(text, markup=False, highlight=False)

    @property
    def _left_s(self) -> float:
        return max(self._ends_at - time.monotonic(), 0)

    def _picture(self) -> Group:
        now = line_of(f"  {self._now}"), line_of(f"  {self._seen}", style="bold")
        if not self.has_begun:
            return Group(*now)
        done = f"{self._done_count}/{self._trial_count} trials, {left_words(self._left_s)}"
        return Group(Bar(self._done_count / max(self._trial_count, 1), done), *now, self._minute, self._cells)


_FREQUENT = frozenset({"interval_ended", "duet_progressed", "data_progressed"})
"""Types of events that come all the time."""

_CAPACITY = "capacity"
"""Names the column of searches."""


def _place(event: TrialBegan | TrialEnded | PlannedTrial | SearchProgressed | SearchEnded) -> tuple[Row, str]:
    """Where a trial or a search stands in the table of cells."""
    row = event.system, event.workload
    if isinstance(event, SearchProgressed | SearchEnded):
        return row, _CAPACITY
    return row, Level(connections=event.connections, rate_tps=event.rate_tps).figure()


def _in_order(trials: Sequence[PlannedTrial]) -> Iterator[tuple[Row, str]]:
    """Cells row by row, with levels that rise: the plan has them in the order in which they run."""
    planned = {_place(trial) for trial in trials}
    levels = [level.figure() for level in sorted({trial.level for trial in trials}, key=lambda level: level.order)]
    for row in dict.fromkeys(row for row, _ in map(_place, trials)):
        yield from ((row, level) for level in levels if (row, level) in planned)


def _planned_cells(folder: Path) -> CellTable:
    """The cells of a study's plan, with the figures of trials that ran before; of searches one for each capacity."""
    try:
        plan = read_plan(folder)
        if plan is None:
            return CellTable()
        if plan.searches:
            return CellTable(((search.system, search.workload), _CAPACITY) for search in plan.searches)
        cells = CellTable(_in_order(plan.trials))
        ids = {trial.trial_id for trial in plan.trials}
        events = (stamped.event for stamped in read_events(folder / EVENTS_FILE))
        last = {event.trial_id: event for event in events if isinstance(event, TrialEnded) and event.trial_id in ids}
    except RecordError:
        return CellTable()
    for event in last.values():
        if event.verdict == "complete":
            cells.end(*_place(event), event.throughput_tps)
    return cells


def _cell(event: TrialBegan | TrialEnded) -> str:
    return f"{event.system}, {event.workload}, {Level(connections=event.connections, rate_tps=event.rate_tps).label()}"


def _result(event: TrialEnded) -> str:
    sign = ">= " if event.response_is_lower_bound else ""
    p99 = "" if event.response_ms_p99 is None else f", p99 {sign}{format_ms(event.response_ms_p99)}"
    stalled = f"; stalled for {format_percent(event.stalled_ratio)} of the time" if event.stalled_ratio else ""
    return f"{format_rate(event.throughput_tps or 0.0)}{p99}{stalled}"


@contextmanager
def study_display(folder: Path, *, quiet: bool = False, plain: bool = False) -> Iterator[StudyDisplay]:
    """A display for the time that a study runs: live on a terminal, a line for each trial elsewhere.

    Args:
        folder: Of the study.
        quiet: Nothing is shown.
        plain: Lines, on a terminal too.
    """
    console = stderr_console(quiet=quiet)
    with panel_on(console, is_wanted=not (quiet or plain)) as panel:
        yield StudyDisplay(console, panel, folder)


Notice = (
    AnswerProgressed
    | DeviceShared
    | EnvironmentChanged
    | HostLost
    | MachineMeasured
    | ReadinessJudged
    | StorageMeasured
    | HookEnded
    | EnvironmentTurn
)


def notice(event: Notice) -> str:
    """What a user should know beside the trials; empty for nothing."""
    if isinstance(event, StorageMeasured | HookEnded | HostLost | EnvironmentTurn):
        return _before_trials(event)
    if event.type == "readiness_judged":
        where = "" if event.host is None else f"{event.host}: "
        return "\n".join(
            f"warning: {finding.code}: {where}{finding.evidence}. {finding.advice}" for finding in event.findings
        )
    if event.type == "answer_progressed":
        return "\n  ".join(answer_lines(event)) if event.text else ""
    if event.type == "machine_measured":
        return measured_again_line(event.folder, event.reason)
    if event.type == "device_shared":
        return f"warning: paths-on-one-device: {' and '.join(event.paths)} are on one device, {event.device}."
    return (
        f"warning: environment-changed: {event.system} has changed since {event.trial_id}: {event.changes}. Guides list"
        " what is measured from now on as a separate system."
    )


def _before_trials(event: StorageMeasured | HookEnded | HostLost | EnvironmentTurn) -> str:
    if event.type == "storage_measured":
        return measured_line(event)
    if event.type == "host_lost":
        return (
            f"{event.system}: its host was lost: {event.reason}; waiting up to {format_duration(event.limit_s)} for it"
        )
    if event.type == "environment_turn":
        work = counted(event.trial_count, "trial") if event.trial_count else "nothing"
        return f"environment {event.environment!r}: {work} to measure"
    return "" if event.message is None else _failed_hook(event, event.message)


def _failed_hook(event: HookEnded, message: str) -> str:
    """What is wrong, and the end of its output, indented."""
    message = message.partition(". Its output ends with: ")[0]
    return "\n  | ".join((message, *event.output.splitlines()))


def measured_again_line(folder: str, reason: str) -> str:
    """That what servers are sized to was measured again, and why."""
    return f"{folder}: storage measured again, because {reason}; servers may get other settings than before"


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
    from plimsoll.run.logs import read_logs

    with _log_progress() as progress, read_logs(**reading, progress=progress.read, say=progress.say) as log:
        progress.concludes(log.events_count)
        yield log, progress


@contextmanager
def _log_progress() -> Iterator[LogProgress]:
    with _byte_bars() as display:
        yield LogProgress(display)


@contextmanager
def bytes_progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar of bytes, on a terminal only; what it gives takes how many are done, and how many there are."""
    with _byte_bars() as display:
        task = display.add_task(what, total=None)
        yield lambda done, total: display.update(task, completed=done, total=total)


def _byte_bars() -> Progress:
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
