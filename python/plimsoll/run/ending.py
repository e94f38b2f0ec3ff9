"""Ctrl-C and SIGTERM while load runs: the first ends the load with what was measured, a second ends everything."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from plimsoll.drive.engine import EngineRun

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(slots=True)
class Ending:
    """Whether somebody ended the load."""

    is_asked: bool = False


@contextmanager
def ending(engine: EngineRun) -> Iterator[Ending]:
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
