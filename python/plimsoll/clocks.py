"""How far another machine's clock is ahead of this one's, measured over a connection to it.

Method (Cristian 1989): of several exchanges the one with the shortest round trip counts. Its answer was made at some
time between question and answer; half way is wrong by no more than half the round trip, whatever the network did.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

EXCHANGES = 10
"""The shortest of so many is close to the shortest possible on a quiet network."""


@dataclass(frozen=True, slots=True)
class ClockOffset:
    """A clock compared with this machine's.

    Attributes:
        ahead_ns: Its time minus ours, nanoseconds.
        round_trip_ns: The shortest round trip that was seen, nanoseconds.
    """

    ahead_ns: int
    round_trip_ns: int

    @property
    def ahead_s(self) -> float:
        """Its time minus ours, seconds."""
        return self.ahead_ns / 1e9

    @property
    def error_s(self) -> float:
        """The offset is wrong by no more than this, seconds: half of the round trip."""
        return self.round_trip_ns / 2e9


SAME_CLOCK = ClockOffset(0, 0)


def compare_clocks(asked_unix_ns: Callable[[], int]) -> ClockOffset:
    """Compares another clock with this machine's.

    Args:
        asked_unix_ns: Asks the other machine for its wall clock, nanoseconds since 1970. What it raises is raised.
    """
    return min((_exchange(asked_unix_ns) for _ in range(EXCHANGES)), key=lambda offset: offset.round_trip_ns)


def _exchange(asked_unix_ns: Callable[[], int]) -> ClockOffset:
    sent_unix_ns, sent_ns = time.time_ns(), time.monotonic_ns()
    there_unix_ns = asked_unix_ns()
    round_trip_ns = time.monotonic_ns() - sent_ns
    return ClockOffset(there_unix_ns - sent_unix_ns - round_trip_ns // 2, round_trip_ns)
