"""Progress of `plimsoll ab` on standard error: the ratio so far, live on a terminal, a line for each round elsewhere.

Deliberately not here: the answer at the end. What casts doubt on it is shown there too, so not while it runs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from plimsoll.cli.progress import StudyDisplay
from plimsoll.prose.phrases import counted, repeat_noun
from plimsoll.run.status_text import ramps_words
from plimsoll.units import format_duration, printable

if TYPE_CHECKING:
    from plimsoll.cli.notices import Notice
    from plimsoll.record.model import TrialWarning
    from plimsoll.run.events import StudyBegan, TrialBegan, TrialEnded
    from plimsoll.run.search_events import SearchEvent


class AbDisplay(StudyDisplay):
    """What is known so far, in place of figures of single trials.

    Attributes:
        findings: Of pre-flight checks, which are shown at the end.
    """

    def __init__(self, console: Console, live: Live | None) -> None:
        super().__init__(console, live)
        self.findings: tuple[TrialWarning, ...] = ()
        self._known: tuple[str, ...] = ()

    def _study_began(self, event: StudyBegan) -> None:
        self.has_begun = True
        self._trial_count = event.trial_count
        self._expect(event.estimated_s)

    def _notice(self, event: Notice) -> None:
        if event.type == "readiness_judged":
            self.findings += event.findings
            return
        if event.type != "answer_progressed":
            super()._notice(event)
            return
        known = event.text[:-1] if event.is_over_budget else event.text
        self._known = tuple(printable(one.partition(": ")[2]) for one in known)  # the workload has been told
        if self._live is None:
            noun = counted(event.repetitions, repeat_noun(is_duet=event.is_duet))
            self._print("\n".join(f"after {noun}: {one}" for one in self._known))

    def _searched(self, event: SearchEvent) -> None:
        if event.type != "ramps_compared":
            return
        self._expect(event.remaining_s)
        self._known = tuple(map(printable, ramps_words(event)))
        if self._live is None:
            self._print("\n".join(f"after {counted(event.pair_count, 'pair')}: {one}" for one in self._known))

    def _began(self, event: TrialBegan) -> None:
        super()._began(event)
        place = f"{repeat_noun(is_duet=event.is_duet)} {event.repetition + 1}"
        self._now = place if event.is_duet else f"{place}, {event.system}"

    def _ended(self, event: TrialEnded) -> None:
        self._in_trial = False
        self._done_count += 1
        if event.verdict not in ("complete", "interrupted"):
            self._print(f"{event.system}: {event.verdict}: {event.reason}")

    def _picture(self) -> Group:
        left = f"; at most {format_duration(self._left_s)} left, Ctrl-C shows what is known" if self.has_begun else ""
        known = (Text(one, style="bold") for one in self._known)
        return Group(*known, Text(f"  {self._now}{left}"), Text(f"  {self._seen}"))


@contextmanager
def ab_display() -> Iterator[AbDisplay]:
    """A display for the time that it runs."""
    console = Console(stderr=True, soft_wrap=not sys.stderr.isatty())
    if not console.is_terminal:
        yield AbDisplay(console, None)
        return
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield AbDisplay(console, live)
