"""What a round of a duet needs of its runner.

Deliberately not here: the round (`duet`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from plimsoll.drive.engine import Driver
from plimsoll.record.model import State
from plimsoll.run.events import EventLog
from plimsoll.run.progressing import Progressing, TrialTask
from plimsoll.run.spool import Spool


class _Enter(Protocol):
    def __call__(
        self, task: TrialTask, progressing: Progressing, spool: Spool, state: State, began_unix_s: float | None = None
    ) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What a round needs of its runner.

    Attributes:
        here: Name of this machine.
        clock: Wall clock, seconds since 1970.
        enter: Notes that a state began.
        note: Notes what is to be said of the last state.
    """

    driver: Driver
    here: str
    clock: Callable[[], float]
    log: EventLog
    enter: _Enter
    note: Callable[[Progressing, str], None]
