"""Waiting for whichever of several engines speaks next, and noticing the one that does not any more.

Deliberately not here: what they say (`shared`).
"""

from __future__ import annotations

import selectors
import time
from collections.abc import Mapping
from typing import Generic, TypeVar

from plimsoll.drive.engine_run import EngineRun

WAIT_S = 0.5
"""Silence is looked for so often."""

T = TypeVar("T")


class Hearing(Generic[T]):
    """Who spoke last when.

    Time in which this process itself was stopped or starved counts against nobody.
    """

    def __init__(self, speakers: Mapping[EngineRun, T]) -> None:
        """Listens to all of them."""
        self._selector = selectors.DefaultSelector()
        self._runs = {speaker: run for run, speaker in speakers.items()}
        for run, speaker in speakers.items():
            self._selector.register(run, selectors.EVENT_READ, speaker)
        self._heard_s: dict[T, float] = {}
        self.reset()

    def reset(self, later_s: float = 0.0) -> None:
        """Counts silence from now, or from so many seconds later."""
        self._heard_s = dict.fromkeys(self._runs, time.monotonic() + later_s)

    def heard(self, speaker: T) -> None:
        """Somebody spoke."""
        self._heard_s[speaker] = time.monotonic()

    def leave(self, speaker: T) -> None:
        """Somebody has nothing more to say."""
        self._selector.unregister(self._runs.pop(speaker))
        del self._heard_s[speaker]

    def silent(self, limit_s: float) -> T | None:
        """One that has said nothing for longer than this; None where there is none."""
        now_s = time.monotonic()
        return next((one for one, heard_s in self._heard_s.items() if now_s - heard_s > limit_s), None)

    def wait(self) -> None:
        """Waits until somebody speaks, or a short while."""
        before_s = time.monotonic()
        self._selector.select(timeout=WAIT_S)
        missed_s = time.monotonic() - before_s - 2 * WAIT_S
        if missed_s > 0:
            self._heard_s = {one: heard_s + missed_s for one, heard_s in self._heard_s.items()}

    def close(self) -> None:
        """Ends listening."""
        self._selector.close()
