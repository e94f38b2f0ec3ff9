"""Hooks as users write them: commands that configure, start, stop, reset, snapshot and collect; and environments.

A command is a list of words, or a text that is split into words as a shell does it. No shell runs it. Environments
cannot be there at the same time, are switched by hooks and measured in turn: a machine and a virtual machine on it, or
two settings of its firmware. Deliberately not here: running hooks (`plimsoll.run.hooks`), the order in which
environments are measured (`plan.order`), and switching (`plimsoll.run.environments`).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator

from plimsoll.errors import Fault, Loc, within
from plimsoll.spec.fields import DurationS, Place, Written

if TYPE_CHECKING:
    from plimsoll.spec.study import StudySpec
    from plimsoll.spec.system import SystemSpec

LIMIT_S = 300.0
"""How long a hook may take where nothing is said."""

OF_TARGETS = ("start", "stop", "reset", "snapshot")
"""Hooks that make no sense where Plimsoll itself starts the server."""


class HookSpec(Written):
    """A command, as a list of words or as text; or a table `{ command = […], limit = "5min" }`.

    Attributes:
        command: The program and its arguments. No shell is involved: write `["sh", "-c", "…"]` for one.
        limit: How long it may take, its repetitions after exit code 75 included. Plimsoll also waits so long for the
            server to answer afterwards.
    """

    command: Annotated[tuple[Place, ...], Field(min_length=1)]
    limit: DurationS = LIMIT_S

    @field_validator("command", mode="before")
    @classmethod
    def _as_words(cls, value: object) -> object:
        return _words(value)


def _words(value: object) -> object:
    """The words of a command; what is neither a list nor a text stays, and is a fault."""
    if isinstance(value, list):
        return tuple(value)
    if not isinstance(value, str):
        return value
    try:
        return tuple(shlex.split(value))
    except ValueError as error:
        raise ValueError(f"cannot be split into words: {str(error).lower()}; write a list of words") from None


def _hook(value: object) -> object:
    """A command that is not within a table is one with the usual limit."""
    return {"command": _words(value)} if isinstance(value, str | list) else value


Hook = Annotated[HookSpec | None, BeforeValidator(_hook)]


class HooksSpec(Written):
    """Hooks of a system: commands that run where Plimsoll runs, in the folder of the study file.

    Attributes:
        configure: Before the system starts for a block of trials.
        start: Makes the target run; with `stop`, exactly one system runs at a time.
        stop: Ends it after a block of trials, and once before the study begins.
        reset: With `reset = "hook"`: puts the data back before each trial.
        snapshot: After Plimsoll loaded the data, so that `reset` can go back to it.
        collect: After each trial; files that it leaves in the folder `PLIMSOLL_RECORDING` become part of the recording.
    """

    configure: Hook = None
    start: Hook = None
    stop: Hook = None
    reset: Hook = None
    snapshot: Hook = None
    collect: Hook = None

    @property
    def written(self) -> dict[str, HookSpec]:
        """Those that there are, by name."""
        return {name: hook for name in HooksSpec.model_fields if (hook := getattr(self, name)) is not None}


class StudyHooksSpec(Written):
    """Hooks of the whole study.

    Attributes:
        switch: With `switch = "hook"`: makes the environment `PLIMSOLL_ENVIRONMENT` be there.
    """

    switch: Hook = None


def parameter_text(value: object) -> str:
    """A parameter as hooks and guides see it: `true` is `on`, as in option files."""
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def hooks_identity(hooks: HooksSpec) -> dict[str, Any]:
    """What of hooks changes what is measured: the commands, but not how a server is ended, or what is collected."""
    return {name: list(hook.command) for name, hook in hooks.written.items() if name not in ("stop", "collect")}


def all_hooks(spec: StudySpec) -> Iterator[tuple[Loc, HookSpec]]:
    """Every hook of a study with its place in the file."""
    if spec.study.hooks.switch is not None:
        yield ("study", "hooks", "switch"), spec.study.hooks.switch
    for name, environment in spec.environment.items():
        if environment.check is not None:
            yield ("environment", name, "check"), environment.check
    for index, system in enumerate(spec.system):
        for name, hook in ({} if system.hooks is None else system.hooks.written).items():
            yield ("system", index, "hooks", name), hook


def hook_faults(spec: StudySpec) -> Iterable[Fault]:
    """What is wrong with the hooks of systems, one line each."""
    for index, system in enumerate(spec.system):
        yield from within(("system", index), _faults(system, by_hook=spec.reset_of(system) == "hook"))
        if system.hooks is not None and spec.study.is_duet:
            yield Fault(
                ("system", index, "hooks"), "are for systems that run one after the other; remove them or design"
            )


def _faults(system: SystemSpec, *, by_hook: bool) -> Iterator[Fault]:
    written = {} if system.hooks is None else system.hooks.written
    if system.server is not None:
        yield from _faults_of_managed(written, by_hook=by_hook)
        return
    if by_hook and "reset" not in written:
        yield Fault(("reset",), '"hook" needs a command that puts the data back: add hooks.reset, or say another reset')
    if not by_hook and "reset" in written:
        yield Fault(("hooks", "reset"), 'is never called; add reset = "hook", or remove the hook')
    for hook, other in (("start", "stop"), ("stop", "start")):
        if hook in written and other not in written:
            yield Fault(("hooks", hook), f"needs {other} as well, so that exactly one system runs at a time")


def _faults_of_managed(written: Iterable[str], *, by_hook: bool) -> Iterator[Fault]:
    if by_hook:
        yield Fault(("reset",), '"hook" is for targets; Plimsoll puts the data of its own servers back itself')
    for name in written:
        if name in OF_TARGETS:
            yield Fault(
                ("hooks", name),
                "is for targets; Plimsoll starts, stops and resets this server itself. Managed"
                " servers have the hooks configure and collect",
            )


Switch = Literal["hand", "hook"]


class EnvironmentSpec(Written):
    """`[environment.NAME]`: one environment.

    Attributes:
        check: A command that says by exit code 0 that this environment is there, by 1 that it is not.
    """

    check: Hook = None


def environment_faults(spec: StudySpec) -> Iterable[Fault]:
    """What is wrong with environments and how they are switched, one line each."""
    names, study = spec.environments, spec.study
    for name in spec.environment:
        if name not in names:
            yield Fault(
                ("environment", name), f'no system is measured in it; add environment = "{name}" to one, or remove it'
            )
    if names:
        for index, system in enumerate(spec.system):
            if system.environment is None:
                yield Fault(
                    ("system", index, "environment"), f"is missing; other systems name theirs ({', '.join(names)})"
                )
    if len(names) > 1:
        yield from _faults_of_several(spec, names)
    elif study.switch is not None:
        yield Fault(("study", "switch"), "there is nothing to switch; systems must name at least two environments")
    if (study.switch == "hook") != (study.hooks.switch is not None):
        yield Fault(("study", "hooks", "switch"), 'belongs to switch = "hook"; say both, or none of them')
    if "blocks" in study.model_fields_set and study.switch != "hand":
        yield Fault(("study", "blocks"), 'belongs to switch = "hand"; a hook switches environments in each repetition')


def _faults_of_several(spec: StudySpec, names: tuple[str, ...]) -> Iterator[Fault]:
    study = spec.study
    if study.switch is None:
        yield Fault(
            ("study", "switch"),
            f"is missing; the environments {', '.join(names)} are measured in turn: say"
            ' switch = "hand", or switch = "hook" with hooks.switch',
        )
    if study.is_duet:
        yield Fault(
            ("study", "design"), "systems of a duet are up at the same time, and environments are not; leave design out"
        )
    elif study.repetitions is None:
        yield Fault(
            ("study", "repetitions"), '"auto" compares within repetitions, and environments are not; say a number'
        )
    elif "blocks" in study.model_fields_set and study.blocks > study.repetitions:
        yield Fault(("study", "blocks"), f"must be at most repetitions ({study.repetitions}), is {study.blocks}")
    if study.levels.capacity is not None:
        yield Fault(
            ("study", "levels", "capacity"),
            "is not compared between environments; make each environment a study of its own",
        )
    if any(system.factor_values for system in spec.system):
        yield Fault(
            ("factors",),
            "are not compared between environments; write the systems out, or make each a study of its own",
        )
