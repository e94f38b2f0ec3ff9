"""Ctrl-C and SIGTERM while load runs, and while something begins that must not be lost.

The first ends the load with what was measured, a second ends everything. What begins comes to be whole before either.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from plimsoll.drive.engine import TrialRun

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(slots=True)
class Ending:
    """Whether somebody ended the load."""

    is_asked: bool = False


@contextmanager
def ending(engine: TrialRun) -> Iterator[Ending]:
    """Passes the first signal on to an engine whose load runs: it stops, and says `done` with its account.

    Only for the main thread, and only around the load itself.
    """
    asked = Ending()

    def end(_number: int, _frame: FrameType | None) -> None:
        if asked.is_asked:
            raise KeyboardInterrupt
        asked.is_asked = True
        engine.stop()

    before = {number: signal.signal(number, end) for number in _SIGNALS}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def begun_whole() -> Iterator[None]:
    """Lets a short step come to its end, such as starting a process, before an interruption is raised.

    It is raised as the block is left, so the caller's `finally` stands around the block.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # interruptions are raised in the main thread only
        return
    waiting: list[int] = []
    before = {number: signal.signal(number, lambda came, _frame: waiting.append(came)) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for came in waiting[:1]:
        signal.raise_signal(came)
