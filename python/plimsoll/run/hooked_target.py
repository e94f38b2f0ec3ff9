"""A server that runs elsewhere, or not yet, with hooks around it: started, stopped and put back by commands.

Deliberately not here: the hook `configure`, which belongs to a block (`execution`), and `collect` (`collecting`).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

from plimsoll.errors import HookError, TargetError
from plimsoll.record.data import DataReset
from plimsoll.record.model import SystemRecord
from plimsoll.run.hooks import SystemHooks
from plimsoll.run.instance import Instance
from plimsoll.run.keeper import DataKeeper
from plimsoll.run.target_system import TargetSystem
from plimsoll.servers.control import connect

_NOT_YET = frozenset({1040, 1053, 1927, 2002, 2003, 2006, 2013, 2055, 3169})
"""What a server that starts or stops may answer: too many connections, shutdown, no connection or a lost one."""

_POLL_S = 0.2
_ANSWER_S = 5.0


class HookedTarget:
    """A target whose hooks bring it up, down and back. What its hooks leave undone is done as for any target."""

    def __init__(self, inner: TargetSystem, hooks: SystemHooks, keeper: DataKeeper, *, resets: bool) -> None:
        """Nothing runs yet.

        Args:
            inner: The target.
            hooks: Its hooks.
            keeper: Keeps the rows that all workloads of the study use.
            resets: Whether the hook `reset` puts data back.
        """
        self._inner, self._hooks, self._keeper, self._resets = inner, hooks, keeper, resets
        self._data_reset: DataReset | None = None

    @property
    def record(self) -> SystemRecord:
        """The system as recordings name it."""
        return self._inner.record

    @property
    def instances(self) -> tuple[Instance, ...]:
        """The one server."""
        return self._inner.instances

    def start(self, judge: Callable[[], None] = lambda: None) -> None:
        """Starts the server, waits until it answers, and makes its tables where there are none.

        Args:
            judge: Called before any table is made; may refuse the server.

        Raises:
            HookError: A hook failed, or the server did not answer in time.
        """
        try:
            self._hooks.run("start")
            self._wait("start" if self._hooks.has("start") else "configure", "start", "configure")
            self._inner.start(judge)
            self._data_reset = self._inner.data_reset
            if self._data_reset is not None and self._data_reset.way == "fresh" and self._hooks.has("snapshot"):
                self._hooks.run("snapshot")
                self._wait("snapshot", "snapshot")
        except BaseException:
            with contextlib.suppress(HookError):
                self.stop()  # the command that failed or was interrupted may have brought it up already
            raise

    def locate(self) -> None:
        """Looks where the connection to it ends."""
        self._inner.locate()

    def reset(self) -> None:
        """Puts the data back by the hook, and checks that it is there.

        Raises:
            HookError: The hook failed, the server did not answer in time, or lacks rows.
        """
        if not self._resets:
            self._inner.reset()
            self._data_reset = self._inner.data_reset
            return
        began_s = time.monotonic()
        self._hooks.run("reset")
        self._wait("reset", "reset")
        duration_s = time.monotonic() - began_s
        try:
            self._keeper.check(self._inner.instances[0].target)
        except TargetError as error:
            raise HookError(f"after the hook reset the data is not as prepared: {error}") from None
        self._data_reset = DataReset(way="hook", duration_s=duration_s)

    def leave(self) -> None:
        """Nothing."""
        self._inner.leave()
        self._data_reset = self._inner.data_reset

    @property
    def data_reset(self) -> DataReset | None:
        """How the data came to be as it is now."""
        return self._data_reset

    def stop(self) -> None:
        """Ends the server, where a hook does.

        Raises:
            HookError: The hook failed.
        """
        self._hooks.run("stop")

    def close(self) -> None:
        """Nothing: it is not ours, and its tables may be wanted again."""

    def _wait(self, after: str, *hooks: str) -> None:
        """Waits until the server answers: as long as those hooks that there are may take."""
        limit_s = self._hooks.limit_s(*hooks)
        if limit_s:
            wait_until_it_answers(self._inner, limit_s, after)


def wait_until_it_answers(target: TargetSystem, limit_s: float, after: str) -> None:
    """Waits for a server that is coming up.

    Raises:
        HookError: It does not answer in time.
        TargetError: It answers, and lets nobody in.
    """
    until_s = time.monotonic() + limit_s
    while True:
        try:
            with connect(target.instances[0].target, connect_limit_s=_ANSWER_S, read_limit_s=_ANSWER_S) as control:
                control.value("SELECT 1")
        except TargetError as error:
            if error.code not in _NOT_YET:
                raise
            if time.monotonic() >= until_s:
                raise HookError(f"the server does not answer {limit_s:g} s after the hook {after}: {error}") from None
            time.sleep(_POLL_S)
        else:
            return
