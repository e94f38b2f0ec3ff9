"""The systems of a study while it runs: which are open, which one is up, and why one could not be brought up.

A system that its hooks cannot bring up fails the trial that was to run on it, and is tried again for the next one. One
whose host is lost is brought up again when the host is back. No system is brought up while another one may still run.
Deliberately not here: trials (`execution`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from plimsoll.errors import HookError, HostError, PlimsollError
from plimsoll.run.data_events import HostLost
from plimsoll.run.environments import Switcher
from plimsoll.run.hooks import SystemHooks
from plimsoll.run.hosts import HOST_WAIT_S
from plimsoll.run.systems import System
from plimsoll.spec.study import StudySpec
from plimsoll.spec.system import SystemSpec
from plimsoll.units import format_duration

HOST_LOSSES_MAX = 3
"""A host that is lost so often while one system is set up has a cause that waiting does not mend."""

Open = Callable[[SystemSpec, SystemHooks], System]


class _StaysAwayError(HostError):
    """A host that was lost did not come back while it was waited for."""


class Look(Protocol):
    """Looks at a system that is up for the first time."""

    def __call__(self, spec: SystemSpec, system: System, *, is_loaded: bool) -> None:
        """Looks, before its data is made or when it is there; may refuse it."""


class RunningSystems:
    """Opens, brings up and stops the systems of a study."""

    def __init__(
        self, spec: StudySpec, switcher: Switcher, open_one: Open, looked: Look, say: Callable[[HostLost], None]
    ):
        """Nothing is open yet.

        Args:
            spec: What the user wrote.
            switcher: Makes the environment of a system be there before it is opened or brought up; knows where hooks
                run.
            open_one: Makes a system from what the user wrote.
            looked: Is called with each system that is up for the first time: before its data is made, and again when
                it is there.
            say: Is told of a host that is waited for.
        """
        self._specs = {one.name: one for one in spec.system}
        self._open_one, self._looked = open_one, looked
        self._hooks = {one.name: SystemHooks(switcher.place, one) for one in spec.system}
        self._switcher, self._say = switcher, say
        self._opened: dict[str, System] = {}
        self._maybe_up = [name for name, hooks in self._hooks.items() if hooks.has("stop")]
        self._down: dict[str, HookError] = {}
        self._configured: set[str] = set()
        self._seen: set[str] = set()

    def __getitem__(self, name: str) -> System:
        """A system, opened if need be."""
        if name not in self._opened:
            self._opened[name] = self._open_one(self._specs[name], self._hooks[name])
        return self._opened[name]

    @property
    def opened(self) -> tuple[System, ...]:
        """All that are open."""
        return tuple(self._opened.values())

    def hooks(self, name: str) -> SystemHooks:
        """The hooks of a system."""
        return self._hooks[name]

    def begin_block(self, name: str, repetition: int) -> System:
        """Brings a system up for a block of trials; `why_down` tells if its hooks could not.

        Raises:
            TargetError, HostError: It could not be brought up, and not because of a hook.
        """
        self._configured.discard(name)
        self._hooks[name].begin_block(repetition)
        self._bring_up(name)
        return self[name]

    def why_down(self, name: str) -> str | None:
        """Why a system could not be brought up; None where it is up."""
        return None if name not in self._down else str(self._down[name])

    def look(self, name: str) -> None:
        """Has a system looked at that is up for the first time."""
        self._despite_losses(name, self._look_once, self._bring_up_and_look)

    def restart(self, name: str) -> None:
        """Stops a system after a failed trial and brings it up again; `why_down` tells if its hooks could not.

        Raises:
            HostError: It could not be started again, and not because of a hook.
        """
        try:
            self.stop(name)
            self._bring_up(name)
            self.look(name)
        except PlimsollError as error:
            raise HostError(f"{name}: could not be started again after a failed trial: {error}") from error

    def stop(self, name: str) -> None:
        """Stops a system. If its hook fails, it is tried again before any system is brought up."""
        try:
            self[name].stop()
        except HookError:
            self._maybe_up += [name] if name not in self._maybe_up else []

    def close(self) -> None:
        """Removes what the systems left."""
        for system in self._opened.values():
            system.close()

    def _bring_up(self, name: str) -> None:
        self._despite_losses(name, self._bring_up_once, self._bring_up_once)

    def _despite_losses(self, name: str, act: Callable[[str], None], again: Callable[[str], None]) -> None:
        """Does something with a system; where its host is lost over it, waits for the host and does something again.

        Raises:
            PlimsollError: What it raises where the host is there, was lost too often, or does not come back.
        """
        for losses_count in range(HOST_LOSSES_MAX):
            try:
                (again if losses_count else act)(name)
            except _StaysAwayError:
                raise
            except PlimsollError as error:
                if losses_count == HOST_LOSSES_MAX - 1 or not self._switcher.hosts.is_lost(self._specs[name]):
                    raise
                self._say(HostLost(system=name, reason=str(error), limit_s=HOST_WAIT_S))
            else:
                return

    def _look_once(self, name: str) -> None:
        if name not in self._down and name not in self._seen:
            self._looked(self._specs[name], self[name], is_loaded=True)
            self._seen.add(name)

    def _bring_up_and_look(self, name: str) -> None:
        self._bring_up_once(name)
        self._look_once(name)

    def _bring_up_once(self, name: str) -> None:
        self._down.pop(name, None)
        hooks, spec = self._hooks[name], self._specs[name]
        try:
            self._switcher.to(spec.environment, hooks.keep)
            self._wait_for_host(spec)
            system = self[name]
            self._stop_others(spec)
            if name not in self._configured:
                hooks.run("configure")
                self._configured.add(name)
            system.start(lambda: self._looked(spec, system, is_loaded=False))
        except HookError as error:
            self._down[name] = error

    def _wait_for_host(self, spec: SystemSpec) -> None:
        """Connects to a system's host again where it was lost."""
        try:
            self._switcher.hosts.return_to([spec], HOST_WAIT_S)
        except HostError as error:
            waited = format_duration(HOST_WAIT_S)
            raise _StaysAwayError(f"{error} (waited {waited} for it; run the same command again)") from None

    def _stop_others(self, spec: SystemSpec) -> None:
        """Stops every system that may be up: before the first one all that have a hook for it.

        Systems of another environment went with it.
        """
        for name in list(self._maybe_up):
            if self._specs[name].environment == spec.environment:
                self[name].stop()
                self._maybe_up.remove(name)
