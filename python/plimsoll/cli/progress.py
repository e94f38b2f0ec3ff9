"""Progress of a study on standard error: a live display on a terminal, plain lines elsewhere.

It only reads events; nothing depends on it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from plimsoll.cli.load_progress import PHASES
from plimsoll.cli.notices import notice
from plimsoll.prose.phrases import repeat_noun
from plimsoll.record.level import Level
from plimsoll.run.folder import UNPLANNED
from plimsoll.run.status_text import duet_words, interval_words, search_line
from plimsoll.units import format_duration, format_ms, format_percent, format_rate, printable

if TYPE_CHECKING:
    from plimsoll.cli.notices import Notice
    from plimsoll.run.answer_events import DuetProgressed
    from plimsoll.run.events import (
        DataProgressed,
        Event,
        IntervalEnded,
        StateBegan,
        StudyBegan,
        StudyEnded,
        SystemBegan,
        TrialBegan,
        TrialEnded,
    )
    from plimsoll.run.hook_events import HookBegan
    from plimsoll.run.search_events import SearchEvent


class StudyDisplay:
    """What runs now, what it sees and how long it will still take.

    Attributes:
        has_begun: The study's folder is there, and its plan.
    """

    def __init__(self, console: Console, live: Live | None) -> None:
        self._console, self._live = console, live
        self.has_begun = False
        self._trial_count = 0
        self._done_count = 0
        self._ends_at = time.monotonic()
        self._now = "starting"
        self._seen = ""
        self._state = ""
        self._in_trial = False
        self._is_searching = False

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
            self._live.update(self._picture(), refresh=True)

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

    def _ended(self, event: TrialEnded) -> None:
        self._in_trial = False
        self._done_count += 1
        name = f"[{self._done_count}/{self._trial_count}] {_cell(event)}"
        if event.throughput_tps is None or event.verdict != "complete":
            self._print(f"{name}: {event.verdict}: {event.reason}")
        elif self._live is None and not self._is_searching:
            self._print(f"{name}: {_result(event)}")

    def _progressed(self, event: IntervalEnded | DuetProgressed) -> None:
        if event.type == "interval_ended":
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
        self._print(search_line(event))

    def _expect(self, remaining_s: float) -> None:
        self._ends_at = time.monotonic() + remaining_s

    def _print(self, line: str) -> None:
        text = "\n".join(printable(one) for one in line.splitlines())
        self._console.print(text, markup=False, highlight=False)

    @property
    def _left_s(self) -> float:
        return max(self._ends_at - time.monotonic(), 0)

    def _picture(self) -> Group:
        width = 30
        filled = round(width * self._done_count / max(self._trial_count, 1))
        bar = f"{'━' * filled}{'─' * (width - filled)}"
        return Group(
            Text(f"{bar} {self._done_count}/{self._trial_count} trials, about {format_duration(self._left_s)} left"),
            Text(f"  {self._now}"),
            Text(f"  {self._seen}", style="bold"),
        )


def _cell(event: TrialBegan | TrialEnded) -> str:
    return f"{event.system}, {event.workload}, {Level(connections=event.connections, rate_tps=event.rate_tps).label()}"


def _result(event: TrialEnded) -> str:
    sign = ">= " if event.response_is_lower_bound else ""
    p99 = "" if event.response_ms_p99 is None else f", p99 {sign}{format_ms(event.response_ms_p99)}"
    stalled = f"; stalled for {format_percent(event.stalled_ratio)} of the time" if event.stalled_ratio else ""
    return f"{format_rate(event.throughput_tps or 0.0)}{p99}{stalled}"


@contextmanager
def study_display(*, quiet: bool = False) -> Iterator[StudyDisplay]:
    """A display for the time that a study runs: live on a terminal, a line for each trial elsewhere."""
    console = Console(stderr=True, quiet=quiet, soft_wrap=not sys.stderr.isatty())
    if not console.is_terminal or quiet:
        yield StudyDisplay(console, None)
        return
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield StudyDisplay(console, live)
