"""Waits until a server has paid its debts: purge done, dirty pages written, device quiet.

Without it a trial would pay for the one before. A server that is not ours may keep its dirty pages for as long as it is
idle, as MariaDB does below innodb_max_dirty_pages_pct: what does not fall is not waited for. Deliberately not here:
warming up again, which is the trial's own load.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from plimsoll.errors import TargetError
from plimsoll.units import format_duration, format_percent, parse_whole

if TYPE_CHECKING:
    from plimsoll.servers.control import Row

_DIRTY_LIMITS = ("innodb_max_dirty_pages_pct_lwm", "innodb_max_dirty_pages_pct")


STUCK_S = 5.0
"""What has not fallen for so long will not: a server that works on it does so each second."""


class StatusSource(Protocol):
    """What is needed of a control connection."""

    def rows(self, statement: str, *arguments: object) -> list[Row]:
        """Runs a statement and returns all of its rows."""

    def status(self) -> dict[str, str]:
        """Every global status variable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calm:
    """How quiet is quiet enough.

    Attributes:
        history_length_max: Undo log records that purge has not removed yet.
        dirty_pages_max: Changed pages of the buffer pool that are not written yet.
        device_busy_ratio_max: Share of time in which the device was busy, 0..1.
    """

    history_length_max: int = 1000
    dirty_pages_max: int = 100
    device_busy_ratio_max: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What was waited for, and whether it was reached.

    Attributes:
        waited_s: How long it took.
        history_length: At the end; None when the server does not say.
        dirty_pages: At the end; None when the server does not say.
        device_busy_ratio: Over the last poll, 0..1; None when the device cannot be seen.
        stuck: What was not waited for, because it did not fall: names of debts.
    """

    reached: bool
    waited_s: float
    history_length: int | None
    dirty_pages: int | None
    device_busy_ratio: float | None
    stuck: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """One sentence for the recording."""
        parts = [
            f"history list length {self.history_length:,}" if self.history_length is not None else "",
            f"{self.dirty_pages:,} dirty pages" if self.dirty_pages is not None else "",
            f"device busy {format_percent(self.device_busy_ratio)}" if self.device_busy_ratio is not None else "",
        ]
        if not any(parts):
            return "nothing to settle by: the server says neither history list length nor dirty pages"
        state = "settled" if self.reached else "did not settle"
        sentence = f"{state} within {format_duration(self.waited_s)}: {', '.join(part for part in parts if part)}"
        return sentence + (f"; not waited for, since it does not fall: {', '.join(self.stuck)}" if self.stuck else "")


def settle(
    control: StatusSource,
    *,
    limit_s: float,
    calm: Calm | None = None,
    device_busy_ratio: Callable[[], float | None] | None = None,
    may_set_variables: bool = False,
    poll_s: float = 0.25,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Settled:
    """Waits until purge, page flushing and device are quiet, the limit is reached, or nothing of it falls any more.

    Args:
        control: A connection to the server.
        limit_s: How long to wait at most.
        calm: How quiet is quiet enough.
        device_busy_ratio: Share of time in which the data's device was busy since the call before, 0..1; None while it
            cannot be known. Leave it out when the server is on another machine.
        may_set_variables: Lets InnoDB write all dirty pages, which it does not do by itself when idle: two limits are
            set to 0 and set back at the end. Only for a server that Plimsoll manages; such a one is waited for until
            the limit.
        poll_s: Time between two looks.
        clock: Monotonic seconds.
        sleep: Waits for seconds.

    Raises:
        TargetError: The server stopped answering.
    """
    calm = calm or Calm()
    began_s = clock()
    if device_busy_ratio:
        device_busy_ratio()
        sleep(poll_s)
    falls = _Trend(calm)
    with _eager_flushing(control) if may_set_variables else contextlib.nullcontext():
        while True:
            looked = _look(control, device_busy_ratio)
            falls.look(looked, clock())
            if _is_calm(looked, calm) or clock() - began_s >= limit_s:
                break
            if not may_set_variables and falls.is_over(looked, clock()):
                break
            sleep(poll_s)
    history_length, dirty_pages, busy = looked
    return Settled(
        reached=_is_calm(looked, calm),
        waited_s=clock() - began_s,
        history_length=history_length,
        dirty_pages=dirty_pages,
        device_busy_ratio=busy,
        stuck=() if may_set_variables else falls.stuck(looked, clock()),
    )


_Looked = tuple[int | None, int | None, float | None]


def _look(control: StatusSource, device_busy_ratio: Callable[[], float | None] | None) -> _Looked:
    status = control.status()
    dirty = status.get("innodb_buffer_pool_pages_dirty")
    return (
        _history_length(control, status),
        _count(dirty),
        device_busy_ratio() if device_busy_ratio else None,
    )


class _Trend:
    """When each debt was last lower than ever before."""

    def __init__(self, calm: Calm) -> None:
        self._limits = {"history list length": calm.history_length_max, "dirty pages": calm.dirty_pages_max}
        self._device_max = calm.device_busy_ratio_max
        self._lowest: dict[str, tuple[int, float]] = {}

    def look(self, looked: _Looked, now_s: float) -> None:
        """Notes what was seen."""
        for name, value in self._open(looked).items():
            if name not in self._lowest or value < self._lowest[name][0]:
                self._lowest[name] = value, now_s

    def stuck(self, looked: _Looked, now_s: float) -> tuple[str, ...]:
        """The debts that are too high and have not fallen for some time."""
        return tuple(name for name in self._open(looked) if now_s - self._lowest[name][1] >= STUCK_S)

    def is_over(self, looked: _Looked, now_s: float) -> bool:
        """Whether nothing is left that may still become quiet."""
        busy = looked[2]
        is_device_quiet = busy is None or busy <= self._device_max
        return is_device_quiet and len(self.stuck(looked, now_s)) == len(self._open(looked)) > 0

    def _open(self, looked: _Looked) -> dict[str, int]:
        """The debts that are too high."""
        values = zip(self._limits.items(), looked[:2], strict=True)
        return {name: value for (name, limit), value in values if value is not None and value > limit}


def _count(text: str | None) -> int | None:
    """A status variable's number; None when there is none."""
    return parse_whole(text or "")


def _is_calm(looked: _Looked, calm: Calm) -> bool:
    limits = (calm.history_length_max, calm.dirty_pages_max, calm.device_busy_ratio_max)
    return all(value is None or value <= limit for value, limit in zip(looked, limits, strict=True))


def _history_length(control: StatusSource, status: dict[str, str]) -> int | None:
    """MariaDB has a status variable for it, MySQL a metric that is on by default."""
    known = status.get("innodb_history_list_length")
    if known is not None:
        return _count(known)
    try:
        rows = control.rows("SELECT `count` FROM information_schema.innodb_metrics WHERE name = 'trx_rseg_history_len'")
    except TargetError:
        return None
    return _count(str(rows[0][0])) if rows else None


@contextlib.contextmanager
def _eager_flushing(control: StatusSource) -> Iterator[None]:
    """Lets InnoDB write every dirty page, and sets its limits back."""
    before = {name: control.rows(f"SELECT @@GLOBAL.{name}")[0][0] for name in _DIRTY_LIMITS}
    for name in _DIRTY_LIMITS:
        control.rows(f"SET GLOBAL {name} = 0")
    try:
        yield
    finally:
        for name in reversed(_DIRTY_LIMITS):
            control.rows(f"SET GLOBAL {name} = {float(before[name])}")
