"""Several engines that drive one trial together, told and heard as one.

Each has the plan of the whole and a share of its own (docs/decisions/0035). They begin at one instant: all are ready,
clocks are compared, and each is told that instant by its own clock. Where one is lost, all others stop at once. One
elsewhere that says what Plimsoll's engine does not say is lost too: that is a matter of its machine, and no bug here.
Deliberately not here: what is added up (`merging`), where engines are started (`executable`).
"""

from __future__ import annotations

import selectors
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from plimsoll.clocks import ClockOffset, compare_clocks
from plimsoll.drive.engine import SILENCE_S, Command, EngineRun, LocalDriver, error_of, launched
from plimsoll.drive.executable import Launcher
from plimsoll.drive.merging import ended_part, merge_done, merge_intervals, merge_ready
from plimsoll.drive.protocol import Done, EngineMessage, EngineWarning, Failed, Interval, Ready
from plimsoll.drive.ray_cluster.cluster import RayCluster
from plimsoll.errors import EngineBugError, HostError, InvalidTrialError, PlimsollError, TargetError
from plimsoll.record.model import DriverRecord, start_error_s, start_spread_s
from plimsoll.units import format_duration, format_ms


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


LOST_AFTER_S = 4.0
"""Under load an engine speaks every second: one that says nothing for so long is lost."""

START_LEAD_S = 0.2
"""From the last message about the start until the start itself, besides what messages take."""

START_SPREAD_MAX_S = 1.0
"""Drivers that began further apart did not drive one load."""


@dataclass(frozen=True, slots=True)
class DriverPlace:
    """Where one of several engines runs.

    Attributes:
        name: As recordings and messages call it; unique within a trial.
    """

    name: str
    launcher: Launcher


class SharedDriver:
    """Runs the engines of a trial side by side, all else on this machine."""

    def __init__(self, places: Sequence[DriverPlace], local: LocalDriver, cluster: RayCluster | None = None) -> None:
        """Takes where the engines run; `cluster` where that is on nodes of it."""
        self._places, self._local, self._cluster = tuple(places), local, cluster

    def launch(self, command: Command, plan: dict[str, Any]) -> EngineRun:
        """Starts one engine on this machine. Raises as `Driver.launch`."""
        return self._local.launch(command, plan)

    def launch_trial(self, plan: dict[str, Any]) -> SharedRun:
        """Starts all engines. Raises as `Driver.launch`, with the name of the driver."""
        with ExitStack() as stack:
            members = [self._launched(place, stack) for place in self._places]
            for index, member in enumerate(members):
                with _naming_the_driver(member):
                    member.run.begin({**plan, "share": {"index": index, "count": len(members)}})
            _refuse_versions(members)
            stack.pop_all()
        return SharedRun(members)

    def faults(self) -> Iterator[str]:
        """A line for each machine where no engine of the right version can be started. Each is started and ended."""
        if self._cluster is not None:
            try:
                self._cluster.open()
            except HostError as error:
                yield str(error)
                return
        members: list[Member] = []
        with ExitStack() as stack:
            for place in self._places:
                try:
                    members.append(self._launched(place, stack))
                    with _naming_the_driver(members[-1]):
                        members[-1].run.greet()
                except PlimsollError as error:
                    yield str(error)
            try:
                _refuse_versions(members)
            except HostError as error:
                yield str(error)

    def _launched(self, place: DriverPlace, stack: ExitStack) -> Member:
        """An engine that runs at least until the end of a stack."""
        try:
            member = Member(place.name, launched(place.launcher, "trial"), place.launcher.machine)
        except PlimsollError as error:
            raise _named(place.name, error) from error
        stack.callback(member.run.close)
        return member


class SharedRun:
    """Engines that drive one trial. Used as an `EngineRun` is; messages are of all of them together."""

    def __init__(self, members: Sequence[Member]) -> None:
        """Takes engines that have their plans."""
        self._members = tuple(members)
        self._hearing = Hearing({member.run: member for member in members})
        self._pending: dict[int, dict[str, Interval]] = {}
        self._start_ns: int | None = None
        self._silence_s = SILENCE_S

    @property
    def local_pid(self) -> int | None:
        """The process id of the first engine on this machine; None where there is none."""
        return next((pid for member in self._members if (pid := member.run.local_pid) is not None), None)

    @property
    def drivers(self) -> tuple[DriverRecord, ...]:
        """Each driver, as far as it is known by now."""
        return records_of(self._members)

    def ready(self, warn: Callable[[EngineWarning], None]) -> Ready:
        """Waits until the connections of all are open; raises as `EngineRun.ready`, with the name of the driver."""
        ready_by_name: dict[str, Ready] = {}
        doubts: dict[str, list[tuple[Member, EngineWarning]]] = {}
        while len(ready_by_name) < len(self._members):
            member, message = self._next()
            if isinstance(message, EngineWarning):
                doubts.setdefault(message.model_dump_json(), []).append((member, message))
            elif isinstance(message, Ready):
                ready_by_name[member.name] = message
        for reports in doubts.values():
            is_of_all = len(reports) == len(self._members)  # then it is about the server
            for doubt in [reports[0][1]] if is_of_all else [_of(*report) for report in reports]:
                warn(doubt)
        with _added_up():
            return merge_ready([ready_by_name[member.name] for member in self._members])

    def start(self) -> float:
        """Compares clocks and lets all begin at one instant.

        Returns:
            That instant, seconds since 1970 by this machine's clock.
        """
        for member in self._members:
            with _naming_the_driver(member):
                member.offset = compare_clocks(member.run.unix_ns)
        offsets = [member.offset for member in self._members if member.offset is not None]
        lead_ns = round(START_LEAD_S * 1e9) + 4 * max(offset.round_trip_ns for offset in offsets)
        self._start_ns = time.time_ns() + lead_ns
        for member, offset in zip(self._members, offsets, strict=True):
            member.run.start(self._start_ns + offset.ahead_ns)
        self._silence_s = LOST_AFTER_S
        self._hearing.reset(lead_ns / 1e9)
        return self._start_ns / 1e9

    def stop(self) -> None:
        """Asks all for the end of the load."""
        self._silence_s = SILENCE_S
        for member in self._members:
            member.run.stop()

    def messages(self) -> Iterator[EngineMessage]:
        """Intervals of all together as soon as all have said theirs, warnings, and `Done` last.

        Raises:
            InvalidTrialError: A driver was lost, gave up by itself or began too late.
            PlimsollError: An engine said `failed`.
        """
        while any(member.done is None for member in self._members):
            member, message = self._next()
            if isinstance(message, Interval):
                self._refuse_early(member, message)
                member.last = message
                self._pending.setdefault(message.index, {})[member.name] = message
            elif isinstance(message, Done):
                self._end(member, message)
            elif isinstance(message, EngineWarning):
                yield _of(member, message)
            yield from self._complete()
        accounts = [member.done for member in self._members if member.done is not None]
        starts = [member.started_unix_ns or 0 for member in self._members]
        with _added_up():
            account = merge_done(accounts, started_unix_ns=min(starts))
        yield account
        self._refuse_given_up()
        self._refuse_apart()

    def __enter__(self) -> SharedRun:
        """Nothing to do: the processes run already."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends all processes: each is told before the first one is waited for."""
        self._hearing.close()
        for member in self._members:
            member.run.end_input()
        with ExitStack() as stack:
            for member in self._members:
                stack.callback(member.run.close)

    def _next(self) -> tuple[Member, EngineMessage]:
        while True:
            for member in self._members:
                if member.done is None and (message := self._polled(member)) is not None:
                    return member, message
            if (silent := self._hearing.silent(self._silence_s)) is not None:
                raise self._lost(silent, silent.run.silence(self._silence_s))
            self._hearing.wait()

    def _polled(self, member: Member) -> EngineMessage | None:
        try:
            message = member.run.poll()
        except PlimsollError as error:
            raise self._lost(member, error) from error
        if isinstance(message, Failed):
            self.stop()
            raise _of_driver(member, error_of(message))
        if message is not None:
            self._hearing.heard(member)
        return message

    def _lost(self, member: Member, error: PlimsollError) -> PlimsollError:
        """What it means that an engine broke off. The others are stopped."""
        self.stop()
        if self._start_ns is None:
            return _of_driver(member, error)
        load_s = max((time.time_ns() - self._start_ns) / 1e9, 0.0)
        return InvalidTrialError(
            f"driver {member.name} was lost after {format_duration(load_s)} of load: {error}; the other drivers were"
            " stopped"
        )

    def _end(self, member: Member, done: Done) -> None:
        member.done = done
        self._hearing.leave(member)
        if done.reason == "outage":
            self.stop()

    def _complete(self) -> Iterator[Interval]:
        """Intervals, in order, that every driver has said or will not say any more."""
        while self._pending:
            index = min(self._pending)
            parts = self._pending[index]
            missing = [member for member in self._members if member.name not in parts]
            if any(member.done is None for member in missing):
                return
            del self._pending[index]
            like = next(iter(parts.values()))
            parts |= {member.name: ended_part(member.last, like) for member in missing if member.last is not None}
            with _added_up():
                merged = merge_intervals(
                    {member.name: parts[member.name] for member in self._members if member.name in parts}
                )
            yield merged

    def _refuse_early(self, member: Member, interval: Interval) -> None:
        """Intervals follow each other."""
        if member.last is not None and interval.index <= member.last.index:
            after = f"said interval {interval.index} after interval {member.last.index}"
            raise self._lost(member, HostError(f"plimsoll-engine {after}"))

    def _refuse_given_up(self) -> None:
        """A server that is gone is gone for all drivers; otherwise only some of the load was there."""
        given_up = [
            member.name for member in self._members if member.done is not None and member.done.reason == "outage"
        ]
        with_connections = [member for member in self._members if member.name not in given_up and member.is_connected]
        if given_up and with_connections:
            raise InvalidTrialError(
                f"driver {', '.join(given_up)} had no connection for too long and gave up, while"
                f" {', '.join(member.name for member in with_connections)} had connections"
            )

    def _refuse_apart(self) -> None:
        drivers = self.drivers
        spread_s, error_s = start_spread_s(drivers), start_error_s(drivers)
        if spread_s + error_s > START_SPREAD_MAX_S:
            last = max(drivers, key=lambda driver: driver.start_late_s or 0.0)
            raise InvalidTrialError(
                f"driver {last.name} began {format_ms(spread_s * 1e3)} after the first one (known to"
                f" {format_ms(error_s * 1e3)}); within {START_SPREAD_MAX_S:g} s they drive one load"
            )


def _of(member: Member, warning: EngineWarning) -> EngineWarning:
    return warning.model_copy(update={"evidence": f"Driver {member.name}: {warning.evidence}"})


def _refuse_versions(members: Sequence[Member]) -> None:
    versions = {member.name: member.run.hello.engine for member in members if member.run.hello is not None}
    if len(set(versions.values())) > 1:
        listing = ", ".join(f"{name} {version}" for name, version in versions.items())
        raise HostError(f"drivers have different versions of plimsoll-engine ({listing}); install the same one on all")


@contextmanager
def _added_up() -> Iterator[None]:
    """Figures that are possible for each driver may not be for all of them together."""
    try:
        yield
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InvalidTrialError(f"what the drivers said cannot be added up: {place}: {first['msg']}") from None


@contextmanager
def _naming_the_driver(member: Member) -> Iterator[None]:
    try:
        yield
    except PlimsollError as error:
        raise _of_driver(member, error) from error


def _of_driver(member: Member, error: PlimsollError) -> PlimsollError:
    """The same with the name of the driver; what an engine elsewhere did wrong is no bug of this Plimsoll."""
    if isinstance(error, EngineBugError) and not member.run.is_here:
        return _named(member.name, HostError(f"{error}; check that machine, and the plimsoll-engine on it"))
    return _named(member.name, error)


def _named(driver: str, error: PlimsollError) -> PlimsollError:
    text = f"driver {driver}: {error}"
    if isinstance(error, TargetError):
        return type(error)(text, code=error.code, sqlstate=error.sqlstate)
    return type(error)(text)


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
        return next((speaker for speaker, heard_s in self._heard_s.items() if now_s - heard_s > limit_s), None)

    def wait(self) -> None:
        """Waits until somebody speaks, or a short while."""
        before_s = time.monotonic()
        self._selector.select(timeout=WAIT_S)
        missed_s = time.monotonic() - before_s - 2 * WAIT_S
        if missed_s > 0:
            self._heard_s = {speaker: heard_s + missed_s for speaker, heard_s in self._heard_s.items()}

    def close(self) -> None:
        """Ends listening."""
        self._selector.close()
