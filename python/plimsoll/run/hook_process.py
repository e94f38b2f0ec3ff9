"""One hook as a process: its time limit, its output, its end, and its repetition after exit code 75.

The process leads a group of its own. When its time is up, or Plimsoll is interrupted, the whole group gets SIGTERM, and
SIGKILL after a grace. What it leaves behind when it ends by itself stays: `start` may have started a server.
Deliberately not here: what a hook is told (`hooks`).
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from plimsoll.interruption import uninterrupted
from plimsoll.record.hooks import HookResult
from plimsoll.run.hook_output import HookOutput
from plimsoll.spec.hooks import HookSpec

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
