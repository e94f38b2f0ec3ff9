"""A signal while load runs: the first ends the load with what was measured, a second ends everything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from plimsoll.drive.engine import TrialRun
from plimsoll.interruption import handled_by, ignore_further, interrupt, say_at_once


@dataclass(slots=True)
class Ending:
    """Whether somebody ended the load."""

    is_asked: bool = False


@contextmanager
def ending(engine: TrialRun) -> Iterator[Ending]:
    """Passes the first signal on to an engine whose load runs: it stops, and says `done` with its account.

    Only for the main thread, and only around the load itself. What follows an ended load stores and cleans up; on the
    command line no further signal interrupts that.
    """
    asked = Ending()

    def end(_number: int, _frame: FrameType | None) -> None:
        if asked.is_asked:
            raise KeyboardInterrupt
        asked.is_asked = True
        say_at_once("stopping the load; waits until it has ended, and a second signal does not")
        engine.stop()

    with handled_by(end) as before:
        try:
            yield asked
        finally:
            if asked.is_asked and interrupt in before.values():
                ignore_further()
