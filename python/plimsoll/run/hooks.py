"""Hooks while a study runs: what they are told, their process, what becomes of their output, what their failure means.

The process leads a group of its own. When its time is up, or Plimsoll is interrupted, the whole group gets SIGTERM, and
SIGKILL after a grace. Exit code 75 means that it is tried again later. What a hook leaves behind when it ends by itself
stays: `start` may have started a server. Of its output the beginning and the end are recorded, without secrets.
Deliberately not here: when hooks run (`target_system`, `execution`), and the files that the hook `collect` leaves
(`trial`).
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from plimsoll.errors import HookError
from plimsoll.interruption import uninterrupted
from plimsoll.plan.model import PlannedTrial
from plimsoll.record.model import HookRecord, HookResult
from plimsoll.run.events import HookBegan, HookEnded
from plimsoll.spec.hooks import HookSpec, HooksSpec, parameter_text
from plimsoll.spec.system import SystemSpec
from plimsoll.spec.target import known_secret
from plimsoll.units import format_bytes, format_duration, printable

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
    variables: Mapping[str, str],
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
        variables: Added to the environment that Plimsoll itself has.
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
    environment = {**os.environ, **secrets, "PLIMSOLL_STUDY": place.study, "PLIMSOLL_HOOK": name, **variables}
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
    _trial_variables: dict[str, str] = field(default_factory=dict)
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
        self._trial_variables = {"PLIMSOLL_REPETITION": str(repetition)}

    def begin_trial(self, planned: PlannedTrial) -> None:
        """What hooks are told from now on."""
        self._trial_variables = {
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
        variables = {**system_variables(self.system), **self._trial_variables, **more}
        kept, fault = run_hook(
            self.place,
            name,
            hook,
            variables,
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


def system_variables(system: SystemSpec) -> dict[str, str]:
    """What all hooks of a system are told: never its password.

    A factor's variable is its name in upper case, with `_` in the place of all but letters and digits.
    """
    variables = {"PLIMSOLL_SYSTEM": system.name}
    if system.environment is not None:
        variables["PLIMSOLL_ENVIRONMENT"] = system.environment
    if system.server is None:
        target = system.parsed_target()
        variables |= {"PLIMSOLL_TARGET_USER": target.user, "PLIMSOLL_TARGET_DATABASE": target.database}
        if target.socket is not None:
            variables["PLIMSOLL_TARGET_SOCKET"] = str(target.socket)
        else:
            variables |= {"PLIMSOLL_TARGET_HOST": target.host or "", "PLIMSOLL_TARGET_PORT": str(target.port)}
    values = {**system.factor_values, **{name: parameter_text(value) for name, value in system.parameters.items()}}
    return variables | {
        f"PLIMSOLL_FACTOR_{re.sub(r'[^A-Z0-9]', '_', name.upper())}": value for name, value in values.items()
    }


TRY_AGAIN = 75
"""Exit code (EX_TEMPFAIL of sysexits.h) of a hook that is to be run again later."""

GRACE_S = 5.0
"""From SIGTERM to SIGKILL."""

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 15.0
"""Between two attempts; each pause is twice as long as the one before it."""

_POLL_S = 0.05
_READ_BYTES = 65_536
_DRAINED_BYTES = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEnd:
    """How a hook ended.

    Attributes:
        reason: Why it could not be started; None where it was.
        exit_code: As `HookRecord` has it.
        duration_s: Its repetitions included.
    """

    result: HookResult
    reason: str | None = None
    exit_code: int | None = None
    duration_s: float
    attempts_count: int


def run_to_end(hook: HookSpec, folder: Path, environment: Mapping[str, str], output: HookOutput) -> HookEnd:
    """Runs a hook, again after each exit code 75, until its time is up.

    Args:
        hook: Command and limit.
        folder: Where it runs.
        environment: All of its environment.
        output: Takes what it writes, also where this raises.

    Raises:
        KeyboardInterrupt: Somebody ended it; the hook is ended too.
    """
    began_s, attempts, pause_s = time.monotonic(), 0, FIRST_PAUSE_S
    until_s = began_s + hook.limit

    def end(result: HookResult, exit_code: int | None = None, reason: str | None = None) -> HookEnd:
        return HookEnd(
            result=result,
            reason=reason,
            exit_code=exit_code,
            duration_s=time.monotonic() - began_s,
            attempts_count=attempts,
        )

    while True:
        attempts += 1
        try:
            code = _run_once(hook.command, folder, environment, until_s, output)
        except OSError as error:
            return end("not-started", reason=error.strerror or str(error))
        if code is None:
            return end("over-limit")
        if code != TRY_AGAIN:
            return end("failed" if code else "done", code)
        if time.monotonic() + pause_s >= until_s:
            return end("over-limit", code)
        output.add(f"\n[exit code {TRY_AGAIN}: runs again after {pause_s:g} s]\n".encode())
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, LONGEST_PAUSE_S)


def _run_once(
    command: tuple[str, ...], folder: Path, environment: Mapping[str, str], until_s: float, output: HookOutput
) -> int | None:
    """Its exit code; None where its time was up."""
    process: subprocess.Popen[bytes] | None = None
    has_ended = False
    try:
        with uninterrupted():
            process = subprocess.Popen(
                list(command),
                cwd=folder,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                bufsize=0,
                start_new_session=True,
            )
        has_ended = _follow(process.pid, _pipe(process), until_s, output)
    finally:
        if process is not None:
            if not has_ended:
                _end_group(process.pid, _pipe(process), output)
            _leave(_pipe(process), output)
            process.wait()
    return process.returncode if has_ended else None


def _pipe(process: subprocess.Popen[bytes]) -> IO[bytes]:
    assert process.stdout is not None, "it is a pipe"
    return process.stdout


def _follow(pid: int, stream: IO[bytes], until_s: float, output: HookOutput) -> bool:
    """Reads what a process writes until it ends; whether it did in time. The process is not reaped.

    Until then no other process can get its number, so that the group can be ended safely.
    """
    poll, is_open = _polled(stream), True
    while True:
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return True
        left_s = until_s - time.monotonic()
        if left_s <= 0:
            return False
        wait_s = min(left_s, _POLL_S)
        if not is_open:
            time.sleep(wait_s)
        elif poll.poll(wait_s * 1000):
            data = os.read(stream.fileno(), _READ_BYTES)
            is_open = bool(data)
            output.add(data)


def _end_group(pid: int, stream: IO[bytes], output: HookOutput) -> None:
    try:
        _signal_group(pid, signal.SIGTERM)
        _follow(pid, stream, time.monotonic() + GRACE_S, output)
    finally:
        _signal_group(pid, signal.SIGKILL)


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _leave(stream: IO[bytes], output: HookOutput) -> None:
    """Takes what is still in the pipe. A process that a hook left running may write to it for as long as it lives.

    Closing the pipe would end such a process, so what it writes is read and thrown away.
    """
    poll, drained = _polled(stream), 0
    while drained < _DRAINED_BYTES and poll.poll(0):
        data = os.read(stream.fileno(), _READ_BYTES)
        if not data:
            stream.close()
            return
        output.add(data)
        drained += len(data)
    threading.Thread(target=_throw_away, args=(stream,), daemon=True).start()


def _throw_away(stream: IO[bytes]) -> None:
    with contextlib.suppress(OSError, ValueError), stream:
        while os.read(stream.fileno(), _READ_BYTES):
            pass


def _polled(stream: IO[bytes]) -> select.poll:
    poll = select.poll()
    poll.register(stream.fileno(), select.POLLIN | select.POLLHUP)
    return poll


KEPT_BYTES = 64 * 1024
"""Of the beginning, and as much again of the end."""

TAIL_LINES = 15
TAIL_CHARACTERS = 1500


class HookOutput:
    """Output of a hook while it comes; memory does not grow with it."""

    def __init__(self) -> None:
        self._head, self._tail = bytearray(), bytearray()
        self._count = 0

    def add(self, data: bytes) -> None:
        """Takes more of it."""
        self._count += len(data)
        room = KEPT_BYTES - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * KEPT_BYTES:
            del self._tail[:-KEPT_BYTES]

    def text(self, secrets: Collection[str] = ()) -> str:
        """All that is kept, with control characters as escapes, and stars in the place of secrets."""
        if self._count <= len(self._head) + len(self._tail):
            return _shown(_masked(bytes(self._head + self._tail), secrets))
        # Of a secret that was cut a part is left, which is not recognised: what may be one goes too. A character that
        # was cut is an escape of four for each of its bytes.
        edge = 4 * max((len(secret.encode()) for secret in secrets), default=0)
        head, tail = (_masked(bytes(part), secrets) for part in (self._head, self._tail[-KEPT_BYTES:]))
        left_out = format_bytes(self._count - 2 * KEPT_BYTES)
        return f"{_shown(head[: len(head) - edge])}\n[{left_out} left out]\n{_shown(tail[edge:])}"


def tail_of(text: str) -> str:
    """The last lines of output, for messages."""
    lines = [line for line in text.splitlines() if line.strip()]
    tail = "\n".join(lines[-TAIL_LINES:])
    return tail if len(tail) <= TAIL_CHARACTERS else f"…{tail[-TAIL_CHARACTERS:]}"


def _masked(data: bytes, secrets: Collection[str]) -> str:
    text = data.decode(errors="backslashreplace")
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "********") if secret else text
    return text


def _shown(text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\t", "    ").split("\n")
    return "\n".join(map(printable, lines))
