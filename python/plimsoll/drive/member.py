"""One of several engines that drive a trial, and what is kept of it.

Deliberately not here: what all of them do together (`shared`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.clocks import ClockOffset
from plimsoll.drive.engine_run import EngineRun
from plimsoll.drive.protocol import Done, Interval
from plimsoll.record.drivers import DriverRecord


@dataclass(slots=True, eq=False)
class Member:
    """One of the engines.

    Attributes:
        machine: The one that was found for it; None where nothing had to be found.
        offset: Of its machine's clock; None until the start.
        last: The last interval that it said.
        done: Its account; None while it runs.
    """

    name: str
    run: EngineRun
    machine: str | None = None
    offset: ClockOffset | None = None
    last: Interval | None = None
    done: Done | None = None

    @property
    def started_unix_ns(self) -> int | None:
        """When it began, by this machine's clock; None where it did not say."""
        if self.done is None or self.offset is None:
            return None
        return self.done.started_unix_ns - self.offset.ahead_ns

    @property
    def is_connected(self) -> bool:
        """Whether it had a connection when it was last heard."""
        return self.last is not None and any(group.connected_count for group in self.last.groups)


def records_of(members: Sequence[Member]) -> tuple[DriverRecord, ...]:
    """Each driver, as far as it is known by now."""
    starts = [at_ns for member in members if (at_ns := member.started_unix_ns) is not None]
    return tuple(_record(member, min(starts, default=0)) for member in members)


def _record(member: Member, first_ns: int) -> DriverRecord:
    offset, done, started_ns = member.offset, member.done, member.started_unix_ns
    of_clock = (
        {}
        if offset is None
        else {
            "clock_ahead_s": offset.ahead_s,
            "clock_error_s": offset.error_s,
            "round_trip_s": offset.round_trip_ns / 1e9,
        }
    )
    of_load = (
        {}
        if done is None
        else {
            "offered_count": done.offered_count,
            "unfinished_count": done.unfinished_count,
            "client_user_s": done.client.user_ns / 1e9,
            "client_system_s": done.client.system_ns / 1e9,
            "client_memory_bytes_max": done.memory_bytes_max,
        }
    )
    return DriverRecord.model_validate(
        {
            "name": member.name,
            "is_here": member.run.local_pid is not None,
            "machine": member.machine,
            "engine_version": None if member.run.hello is None else member.run.hello.engine,
            "start_late_s": None if started_ns is None else (started_ns - first_ns) / 1e9,
            **of_clock,
            **of_load,
        }
    )
