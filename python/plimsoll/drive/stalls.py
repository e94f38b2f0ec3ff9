"""Notices that a data set's progress stands still, so that whoever waits learns what it may wait for.

Deliberately not here: any end of the waiting. An index on a large table takes hours in which nothing is counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from plimsoll.drive.protocol import EngineWarning, Progress

STALL_S = 60.0
"""So long without progress is told."""


class Stall:
    """Compares each progress with the one before. Each phase is told of once."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last: Progress | None = None
        self._since_s = 0.0
        self._told_phase: str | None = None

    def seen(self, progress: Progress) -> EngineWarning | None:
        """What is to be told now; None as long as there is progress, or when it was told."""
        now_s = self._clock()
        if progress != self._last:
            self._last, self._since_s = progress, now_s
        if now_s - self._since_s < STALL_S or self._told_phase == progress.phase:
            return None
        self._told_phase = progress.phase
        return EngineWarning(
            type="warning",
            code="no-progress",
            evidence=f"No progress for {STALL_S:.0f} s in the phase '{progress.phase}', at {progress.done_count:,} of"
            f" {progress.total_count:,}.",
            advice="The server is busy with one long statement, waits for space on a full disk, hangs, or another"
            " connection holds a lock on a table: SHOW FULL PROCESSLIST on the server and its error log tell which.",
        )
