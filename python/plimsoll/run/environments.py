"""Which environment is there, and which comes next: switched by a hook, or by hand between runs; the study's hosts.

Each host is connected to once, when it is first needed. Deliberately not here: the order in the plan (`plan.order`),
and running trials (`study`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from plimsoll.analyse.study.environments import began_unix_s
from plimsoll.errors import HookError, HostError, SpecError
from plimsoll.hosts.host import Host
from plimsoll.hosts.local import HERE
from plimsoll.hosts.ssh import SshHost
from plimsoll.plan.model import PlannedTrial
from plimsoll.plan.order import round_of
from plimsoll.record.model import HookRecord
from plimsoll.record.store import each_recording
from plimsoll.run.hooks import HookPlace, KeptOutput, run_hook
from plimsoll.run.planning import PlannedStudy
from plimsoll.servers.directory import default_base_dir, sweep
from plimsoll.servers.locality import boot_id
from plimsoll.spec.study import StudySpec
from plimsoll.spec.system import HostSpec, SystemSpec

_NOT_THERE = 1
"""Exit code of a check of an environment that is not there."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one run of a study does where environments are switched by hand.

    Attributes:
        environment: The one that is there.
        todo: Its trials that are to run now.
        following: The environment to switch to afterwards; None where nothing is missing then.
    """

    environment: str
    todo: tuple[PlannedTrial, ...]
    following: str | None


def is_switched_by_hook(spec: StudySpec) -> bool:
    """Whether a hook makes environments be there; before that, their hosts and targets cannot be looked at."""
    return spec.study.switch == "hook" and len(spec.environments) > 1


def there_from_the_start(spec: StudySpec) -> tuple[SystemSpec, ...]:
    """Systems whose machines can be looked at before anything is switched: this machine is always there."""
    return tuple(system for system in spec.system if system.host is None or not is_switched_by_hook(spec))


class Switcher:
    """Switches environments by the hook of the study; does nothing in studies without it.

    Attributes:
        place: Where hooks of the study run.
        hosts: Of the study.
    """

    def __init__(self, spec: StudySpec, place: HookPlace, hosts: Hosts) -> None:
        """Which environment is there is not known yet.

        Args:
            spec: What the user wrote.
            place: Where the hook runs.
            hosts: Of the study: connections to those of other environments end before the switch, so that a machine
                can be shut down while nothing of Plimsoll's runs on it.
        """
        self._spec, self.place, self.hosts = spec, place, hosts
        self._current: str | None = None

    def to(self, environment: str | None, keep: Callable[[KeptOutput], None] = lambda _: None) -> None:
        """Makes an environment be there.

        Args:
            environment: That of the system that is about to run.
            keep: Takes the output of the hook, for the next recording of that system.

        Raises:
            HookError: The hook failed, the environment's check does not find it, or its hosts cannot be reached.
        """
        hook = self._spec.study.hooks.switch
        if hook is None or environment is None or environment == self._current:
            return
        systems_there = [system for system in self._spec.system if system.environment == environment]
        hosts_there = {system.host for system in systems_there}
        self.hosts.leave(system for system in self._spec.system if system.host not in hosts_there)
        self._current = None  # unknown while it is switched
        kept, fault = run_hook(self.place, "switch", hook, _variables(environment))
        keep(kept)
        if fault is not None:
            raise HookError(fault)
        if not is_there(self._spec, environment, self.place):
            raise HookError(
                f"hook switch: succeeded, but the check of the environment {environment!r} does not find it"
            )
        try:
            self.hosts.return_to(systems_there, hook.limit)
        except HostError as error:
            raise HookError(f"hook switch: succeeded, but a host of the environment is not there: {error}") from None
        self._current = environment


def is_there(spec: StudySpec, environment: str, place: HookPlace) -> bool:
    """Whether an environment's check finds it; one without a check is taken to be there.

    Raises:
        HookError: The check ended otherwise than with exit code 0 or 1.
    """
    environment_spec = spec.environment.get(environment)
    if environment_spec is None or environment_spec.check is None:
        return True
    kept, fault = run_hook(place, "check", environment_spec.check, _variables(environment))
    if fault is not None and not _says_no(kept.record):
        raise HookError(f"environment {environment!r}: {fault}")
    return fault is None


def current_environment(spec: StudySpec, stated: str | None, place: HookPlace) -> str | None:
    """The environment that is there, by what the user said, or by the checks; None where none is switched by hand.

    Raises:
        SpecError: The user must say which, or said one that there is not.
        HookError: A check failed, or does not find what the user said.
    """
    names = spec.environments
    if stated is not None and stated not in names:
        known = f"it has {', '.join(names)}" if names else "its systems name none"
        raise SpecError(f"--environment: {stated!r} is no environment of the study; {known}")
    if spec.study.switch != "hand":
        if stated is not None:
            raise SpecError('--environment: is for studies with switch = "hand"; leave it out')
        return None
    if stated is not None:
        if not is_there(spec, stated, place):
            raise HookError(f"environment {stated!r}: its check does not find it; switch to it first")
        return stated
    checked = [name for name in names if name in spec.environment and spec.environment[name].check is not None]
    present = [name for name in checked if is_there(spec, name, place)]
    if len(present) == 1:
        return present[0]
    seen = f"the checks find {' and '.join(present) or 'none of them'}" if checked else "none has a check"
    options = " or ".join(f"--environment {name!r}" if " " in name else f"--environment {name}" for name in names)
    raise SpecError(f"which environment is there is not known: {seen}. Say {options}")


def turn_now(spec: StudySpec, planned: PlannedStudy, folder: Path, place: HookPlace, stated: str | None) -> Turn | None:
    """What runs now where environments are switched by hand; None in other studies. Raises as `current_environment`."""
    environment = current_environment(spec, stated, place)
    return None if environment is None else turn_by_hand(spec, planned, folder, environment)


def turn_by_hand(spec: StudySpec, planned: PlannedStudy, folder: Path, environment: str) -> Turn:
    """What is to run now in the environment that is there.

    A round has a block of each environment. A new round never begins in the environment that was measured last: two of
    its blocks would then be one.
    """
    of = {system.name: system.environment or "" for system in spec.system}
    missing = planned.missing
    if not missing:
        return Turn(environment, (), None)
    number = min(round_of(spec, trial.repetition) for trial in missing)
    block = [
        trial for trial in missing if of[trial.system] == environment and round_of(spec, trial.repetition) == number
    ]
    begun = any(
        trial.trial_id in planned.recorded
        for trial in planned.plan.trials
        if round_of(spec, trial.repetition) == number
    )
    if number > 0 and not begun and _measured_last(folder) == environment and len(spec.environments) > 1:
        block = []
    left = [trial for trial in missing if trial not in block]
    return Turn(environment, tuple(block), next(_following(spec, left, environment), None))


def _following(spec: StudySpec, left: list[PlannedTrial], environment: str) -> Iterator[str]:
    """Environments of what is left, in the order of rounds and of the file; the present one only if there is no other.

    Its name comes last.
    """
    of = {system.name: system.environment or "" for system in spec.system}
    order = list(spec.environments)
    places = {(round_of(spec, trial.repetition), order.index(of[trial.system])) for trial in left}
    named = [order[place] for _, place in sorted(places)]
    yield from (name for name in named if name != environment)
    yield from (name for name in named if name == environment)


def _measured_last(folder: Path) -> str | None:
    """The environment of the trial that began last, of all recordings of a folder."""
    last = max(each_recording(folder), key=lambda recording: began_unix_s(recording.trial), default=None)
    return None if last is None else last.trial.system.environment


def _variables(environment: str) -> dict[str, str]:
    return {"PLIMSOLL_ENVIRONMENT": environment}


def _says_no(record: HookRecord) -> bool:
    return record.result == "failed" and record.exit_code == _NOT_THERE


HOST_WAIT_S = 600.0
"""How long a study waits for a host that was lost, seconds."""


class Hosts:
    """Use it as a context: at its end all connections do."""

    def __init__(self) -> None:
        self._hosts: dict[HostSpec, Host] = {}

    def of(self, system: SystemSpec) -> Host:
        """Where a system's servers run, or will run.

        Raises:
            HostError: It cannot be reached.
        """
        if system.host is None:
            return HERE
        if system.host not in self._hosts:
            self._hosts[system.host] = SshHost(system.host.ssh, python=system.host.python, address=system.host.address)
        return self._hosts[system.host]

    def leave(self, systems: Iterable[SystemSpec]) -> None:
        """Ends connections to hosts of systems whose environment goes away; what runs there ends in order."""
        for spec in {system.host for system in systems if system.host is not None}:
            if spec in self._hosts:
                self._hosts[spec].disconnect()

    def return_to(self, systems: Iterable[SystemSpec], limit_s: float) -> None:
        """Connects again to hosts that were left or lost; those that were never needed are connected to later.

        Raises:
            HostError: One cannot be reached within the limit.
        """
        for spec in {system.host for system in systems if system.host is not None}:
            if spec in self._hosts:
                self._hosts[spec].reconnect(limit_s)

    def is_lost(self, system: SystemSpec) -> bool:
        """Whether the host of a system's servers was lost: it is asked, for silence shows only after a while.

        False for one that was never connected to.
        """
        try:
            if system.host in self._hosts:
                self._hosts[system.host].call(boot_id)
        except HostError:
            return True
        return False

    def sweep(self, systems: Iterable[SystemSpec]) -> None:
        """Removes what killed runs left where servers of systems will be: on this machine and on each host.

        Raises:
            HostError: A host cannot be reached.
        """
        sweep(default_base_dir())
        for system in systems:
            if system.server is not None:
                host = self.of(system)
                for base_dir in (host.call(default_base_dir), *map(Path, system.server.folders)):
                    host.call(sweep, base_dir)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for host in self._hosts.values():
            host.close()
