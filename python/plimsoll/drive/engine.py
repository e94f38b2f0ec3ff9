"""Launching load engines, one for each command, and what is asked of the one that this machine has.

Deliberately not here: the conversation with an engine (`engine_run`), several that drive one trial (`shared`).
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, Protocol

from plimsoll.drive.engine_message import EngineMessage
from plimsoll.drive.engine_run import EngineRun
from plimsoll.drive.launchers import ENGINE, Launcher, LocalLauncher
from plimsoll.drive.protocol import Done, EngineWarning, Progress, Ready
from plimsoll.drive.stalls import Stall
from plimsoll.errors import EngineBugError
from plimsoll.record.drivers import DriverRecord

_LOG = logging.getLogger(__name__)

Command = Literal[
    "trial",
    "prepare",
    "check",
    "verify",
    "foresee",
    "foresee-reset",
    "cleanup",
    "faults",
    "sim",
    "relay",
    "ledger",
    "read-logs",
]


class Driver(Protocol):
    """Where engines run: on this machine, on another one, or on several that drive a trial together."""

    def launch(self, command: Command, plan: dict[str, Any]) -> EngineRun:
        """Starts an engine and hands the plan over. A trial may run on another machine, all else runs on this one.

        Raises:
            HostError: The engine cannot be started.
            EngineBugError: It speaks another version of the protocol.
        """

    def launch_trial(self, plan: dict[str, Any]) -> TrialRun:
        """Starts all engines of a trial, each with its part of the plan. Raises as `launch`."""


class TrialRun(Protocol):
    """What drives one trial: an engine, or several that are told and heard as one.

    Use it as a context manager: leaving it ends all processes, whatever happened. Each method is as in `EngineRun`.
    """

    @property
    def local_pid(self) -> int | None: ...  # noqa: D102
    @property
    def drivers(self) -> tuple[DriverRecord, ...]: ...  # noqa: D102
    def ready(self, warn: Callable[[EngineWarning], None]) -> Ready: ...  # noqa: D102
    def start(self) -> float: ...  # noqa: D102
    def stop(self) -> None: ...  # noqa: D102
    def messages(self) -> Iterator[EngineMessage]: ...  # noqa: D102
    def __enter__(self) -> TrialRun: ...
    def __exit__(self, *_: object) -> None: ...


class LocalDriver:
    """Runs engines on this machine, those that drive load on some of its CPUs."""

    def __init__(self, cpus: Sequence[int] | None = None) -> None:
        self._cpus = cpus

    def launch(self, command: Command, plan: dict[str, Any]) -> EngineRun:
        """Starts an engine here and hands the plan over. Raises as `Driver.launch`."""
        run = launched(LocalLauncher(self._cpus if command == "trial" else None), command)
        return begun(run, plan)

    def launch_trial(self, plan: dict[str, Any]) -> EngineRun:
        """Starts the one engine of a trial. Raises as `Driver.launch`."""
        return self.launch("trial", plan)


def launched(launcher: Launcher, command: Command) -> EngineRun:
    """Starts an engine; nothing was said to it yet.

    Raises:
        HostError: It cannot be started.
    """
    errors = tempfile.TemporaryFile()  # noqa: SIM115 - the run closes it
    try:
        process = launcher.start((ENGINE, command), errors)
    except BaseException:
        errors.close()
        raise
    _LOG.info("engine %d begins: %s", process.pid, command)
    return EngineRun(process, errors, is_here=launcher.is_here)


def begun(run: EngineRun, plan: dict[str, Any]) -> EngineRun:
    """Hands the plan over to an engine that was just started, and ends it where that fails; raises as `begin`."""
    try:
        run.begin(plan)
    except BaseException:
        run.close()
        raise
    return run


def refuse_faults(driver: Driver, plan: dict[str, Any]) -> None:
    """Lets the engine look at a plan of a trial or of a data set; no server is needed.

    Raises:
        SpecError: What is wrong with it.
        HostError, EngineBugError: The engine cannot be run.
    """
    with driver.launch("faults", plan) as run:
        run.expect(Done)


def run_data_command(
    driver: Driver,
    command: Literal["prepare", "check", "verify", "foresee", "foresee-reset", "cleanup"],
    plan: dict[str, Any],
    *,
    progress: Callable[[Progress], None] = lambda _: None,
    warn: Callable[[EngineWarning], None] = lambda _: None,
) -> Done:
    """Makes, looks at or removes a data set, and waits for it.

    Raises:
        SpecError, TargetError, DataError, HostError, EngineBugError: It could not be done.
    """
    stall = Stall()
    with driver.launch(command, plan) as run:
        for message in run.messages():
            match message:
                case Progress():
                    progress(message)
                    if (doubt := stall.seen(message)) is not None:
                        warn(doubt)
                case EngineWarning():
                    warn(message)
                case Done():
                    return message
    raise EngineBugError(f"plimsoll-engine {command} ended without a last message")
