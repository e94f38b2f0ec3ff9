"""Hooks while a study runs: what they are told, what becomes of their output, and what their failure means.

Deliberately not here: the process of a hook (`hook_process`), and when hooks run (`hooked_target`, `execution`).
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.errors import HookError
from plimsoll.plan.model import PlannedTrial
from plimsoll.record.hooks import HookRecord
from plimsoll.run.hook_events import HookBegan, HookEnded
from plimsoll.run.hook_output import HookOutput, tail_of
from plimsoll.run.hook_process import HookEnd, run_to_end
from plimsoll.spec.hooks import HookSpec, HooksSpec, parameter_text
from plimsoll.spec.secrets import known_secret
from plimsoll.spec.system import SystemSpec
from plimsoll.units import format_duration

Say = Callable[[HookBegan | HookEnded], None]

_REASON_LINES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class HookPlace:
    """Where hooks of a study run, and who is told.

    Attributes:
        study: The study's name.
        folder: That of the user's study file.
    """

    study: str
    folder: Path
    say: Say = lambda _: None


@dataclass(frozen=True, slots=True)
class KeptOutput:
    """A run of a hook with its output, until a recording takes it."""

    record: HookRecord
    text: str


def run_hook(
    place: HookPlace,
    name: str,
    hook: HookSpec,
    told: Mapping[str, str],
    *,
    system: str | None = None,
    secrets: Mapping[str, str] | None = None,
    masked: Sequence[str] = (),
) -> tuple[KeptOutput, str | None]:
    """Runs a hook to its end.

    Args:
        place: Of the study.
        name: Of the hook.
        hook: What to run.
        told: Variables that are added to the environment that Plimsoll itself has.
        system: Whose it is; None for one of the whole study.
        secrets: Variables with passwords; their values are masked in its output.
        masked: What else is masked there.

    Returns:
        What is to be kept of it, and what is wrong; None for nothing.

    Raises:
        KeyboardInterrupt: Somebody ended it.
    """
    place.say(HookBegan(hook=name, system=system, limit_s=hook.limit))
    secrets, output, began_unix_s = secrets or {}, HookOutput(), time.time()
    environment = {**os.environ, **secrets, "PLIMSOLL_STUDY": place.study, "PLIMSOLL_HOOK": name, **told}
    end = run_to_end(hook, place.folder, environment, output)
    text = output.text((*secrets.values(), *masked))
    fault = _fault(name, system, hook, end)
    if fault is not None and (lines := tail_of(text).splitlines()):
        fault = f"{fault}. Its output ends with: {' | '.join(lines[-_REASON_LINES:])}"
    common = {
        "hook": name,
        "system": system,
        "result": end.result,
        "exit_code": end.exit_code,
        "duration_s": end.duration_s,
        "attempts_count": end.attempts_count,
    }
    place.say(HookEnded.model_validate({**common, "output": tail_of(text), "message": fault}))
    return KeptOutput(HookRecord.model_validate({**common, "began_unix_s": began_unix_s}), text), fault


def _fault(name: str, system: str | None, hook: HookSpec, end: HookEnd) -> str | None:
    whose = f"hook {name}{'' if system is None else f' of {system}'}"
    took, limit = format_duration(end.duration_s), format_duration(hook.limit)
    match end.result:
        case "done":
            return None
        case "not-started":
            return f"{whose}: {hook.command[0]} cannot be executed: {end.reason}"
        case "over-limit" if end.exit_code is not None:
            return f"{whose}: still asked to be run again (exit code {end.exit_code}) at its limit of {limit}"
        case "over-limit":
            return f"{whose}: was ended at its limit of {limit}"
    assert end.exit_code is not None, "it ended by itself"
    how = f"exit code {end.exit_code}" if end.exit_code > 0 else f"signal {-end.exit_code}"
    return f"{whose}: failed with {how} after {took}"


@dataclass(slots=True)
class SystemHooks:
    """The hooks of a system.

    Attributes:
        place: Where they run.
        system: Whose they are.
        masked: Further secrets that must not be in their output.
        spec: Those that there are; none where the user wrote none.
    """

    place: HookPlace
    system: SystemSpec
    masked: tuple[str, ...] = ()
    spec: HooksSpec = field(init=False)
    _told: dict[str, str] = field(default_factory=dict)
    _kept: list[KeptOutput] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.spec = self.system.hooks or HooksSpec()

    def has(self, name: str) -> bool:
        """Whether there is such a hook."""
        return name in self.spec.written

    def limit_s(self, *names: str) -> float:
        """The longest limit of the hooks of these names that there are, seconds; 0 for none."""
        return max((hook.limit for name, hook in self.spec.written.items() if name in names), default=0.0)

    def begin_block(self, repetition: int) -> None:
        """What hooks are told from now on, until a trial begins."""
        self._told = {"PLIMSOLL_REPETITION": str(repetition)}

    def begin_trial(self, planned: PlannedTrial) -> None:
        """What hooks are told from now on."""
        self._told = {
            "PLIMSOLL_REPETITION": str(planned.repetition),
            "PLIMSOLL_TRIAL_ID": planned.trial_id,
            "PLIMSOLL_WORKLOAD": planned.workload,
        }

    def run(self, name: str, **more: str) -> None:
        """Runs the hook of that name, if there is one.

        Args:
            name: Which.
            more: Further variables.

        Raises:
            HookError: It failed.
        """
        hook = self.spec.written.get(name)
        if hook is None:
            return
        told = {**told_of_system(self.system), **self._told, **more}
        kept, fault = run_hook(
            self.place,
            name,
            hook,
            told,
            system=self.system.name,
            secrets=known_secret(self.system.password_env),
            masked=self.masked,
        )
        self._kept.append(kept)
        if fault is not None:
            raise HookError(fault)

    def keep(self, kept: KeptOutput) -> None:
        """Adds a hook of the study, so that the next recording takes it."""
        self._kept.append(kept)

    def take(self) -> tuple[KeptOutput, ...]:
        """What ran since this was asked the last time."""
        taken = tuple(self._kept)
        self._kept.clear()
        return taken


def told_of_system(system: SystemSpec) -> dict[str, str]:
    """What all hooks of a system are told: never its password.

    A factor's variable is its name in upper case, with `_` in the place of all but letters and digits.
    """
    told = {"PLIMSOLL_SYSTEM": system.name}
    if system.environment is not None:
        told["PLIMSOLL_ENVIRONMENT"] = system.environment
    if system.server is None:
        target = system.parsed_target()
        told |= {"PLIMSOLL_TARGET_USER": target.user, "PLIMSOLL_TARGET_DATABASE": target.database}
        if target.socket is not None:
            told["PLIMSOLL_TARGET_SOCKET"] = str(target.socket)
        else:
            told |= {"PLIMSOLL_TARGET_HOST": target.host or "", "PLIMSOLL_TARGET_PORT": str(target.port)}
    values = {**system.factor_values, **{name: parameter_text(value) for name, value in system.parameters.items()}}
    return told | {f"PLIMSOLL_FACTOR_{re.sub(r'[^A-Z0-9]', '_', name.upper())}": one for name, one in values.items()}
