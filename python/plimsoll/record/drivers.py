"""What is kept of each driver of a trial that several drove, or one on another machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plimsoll.record.document import Document


class DriverRecord(Document):
    """One driver. What became unknown because it was lost is None.

    Attributes:
        name: As in the column `driver` of all tables.
        is_here: It ran on the machine that ran Plimsoll.
        machine: Address of the node on which a Ray cluster ran it; None where the name says where it ran.
        clock_ahead_s: Its clock minus that of the machine that ran Plimsoll, seconds, before the start.
        clock_error_s: That is wrong by no more than this: half the shortest round trip, seconds.
        round_trip_s: The shortest round trip of a message to it and back, seconds.
        start_late_s: How much later than the first driver it began, seconds.
        client_user_s: Its processor time in user space, all of the trial, seconds.
        client_system_s: Its processor time in the kernel, seconds.
    """

    name: str
    is_here: bool = False
    machine: str | None = None
    engine_version: str | None = None
    clock_ahead_s: float | None = None
    clock_error_s: float | None = None
    round_trip_s: float | None = None
    start_late_s: float | None = None
    offered_count: int | None = None
    unfinished_count: int | None = None
    client_user_s: float | None = None
    client_system_s: float | None = None
    client_memory_bytes_max: int | None = None

    @property
    def place(self) -> str:
        """Its name, and where that is where the name does not say.

        >>> DriverRecord(name="ray#1", machine="10.0.0.5").place
        'ray#1 at 10.0.0.5'
        """
        return self.name if self.machine is None else f"{self.name} at {self.machine}"


def start_spread_s(drivers: Sequence[DriverRecord]) -> float:
    """From the first driver's start to the last one's, seconds, as far as that is known."""
    return max((one.start_late_s or 0.0 for one in drivers), default=0.0)


def start_error_s(drivers: Iterable[DriverRecord]) -> float:
    """How wrong the time between two starts can be: the two largest errors of clocks together, seconds."""
    return sum(sorted((one.clock_error_s or 0.0 for one in drivers), reverse=True)[:2])
