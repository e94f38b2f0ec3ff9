"""Running a child process and measuring what it used, the same way for Plimsoll's engine and for its peers.

Deliberately not here: what is run (`engine`, `sysbench`).
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

UNWRITTEN = "PYTHONDONTWRITEBYTECODE"


def environment() -> dict[str, str]:
    """What children inherit: without what would have Python compile Plimsoll each time, which no user's does."""
    return {name: value for name, value in os.environ.items() if name != UNWRITTEN}


class ChildError(Exception):
    """A measured command ended with another code than it should; the text has the end of what it said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """What a child process used from its start to its end, by the kernel's account of it.

    Attributes:
        wall_s: From just before it was started until it was gone.
        user_s: Processor time in user space.
        system_s: Processor time in the kernel.
        memory_bytes_max: Largest resident memory (VmHWM); 0 unless it was watched.
        output: What it wrote to standard output.
    """

    wall_s: float
    user_s: float
    system_s: float
    memory_bytes_max: int
    output: str


Beside = Callable[[int], None]
"""Told the child's process number once it has been started."""


def run_child(
    words: Sequence[str | Path], *, given: bytes = b"", watch_memory: bool = False, beside: Beside = lambda _: None
) -> Used:
    """Runs a command to its end.

    Its output goes to a file: nobody has to read along while it is measured.

    Args:
        words: The command.
        given: Its whole standard input.
        watch_memory: Looks at its memory ten times a second. What the kernel reports at the end will not do: it
            counts what the parent had when it forked.
        beside: Called right after the start.

    Raises:
        ChildError: It ended with another exit code than 0.
    """
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        stdin.write(given)
        stdin.seek(0)
        began_s = time.monotonic()
        process = subprocess.Popen(
            [str(word) for word in words], stdin=stdin, stdout=stdout, stderr=stderr, env=environment()
        )
        with _watched(process.pid, watch_memory) as peak:
            beside(process.pid)
            _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.monotonic() - began_s
        process.returncode = os.waitstatus_to_exitcode(status)  # it has been waited for already
        stdout.seek(0)
        stderr.seek(0)
        output, errors = stdout.read().decode(errors="replace"), stderr.read().decode(errors="replace")
    if process.returncode != 0:
        raise ChildError(f"{words[0]} ended with {process.returncode}: {errors[-1000:]}{output[-1000:]}")
    return Used(
        wall_s=wall_s,
        user_s=usage.ru_utime,
        system_s=usage.ru_stime,
        memory_bytes_max=max(peak, default=0),
        output=output,
    )


def until_line(words: Sequence[str | Path], ordinal: int, given: Mapping[str, str] | None = None) -> tuple[float, str]:
    """Runs a command until it has written so many lines to standard error, and ends it.

    Args:
        words: The command.
        ordinal: Which line is waited for: 1, 2, …
        given: Variables that it has besides; None for none.

    Returns:
        How long that took, seconds, and the line.

    Raises:
        ChildError: It ended before.
    """
    began_s = time.monotonic()
    with subprocess.Popen(
        [str(word) for word in words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**environment(), **(given or {})},
        text=True,
    ) as process:
        assert process.stderr is not None
        lines = [process.stderr.readline() for _ in range(ordinal)]
        took_s = time.monotonic() - began_s
        process.terminate()
        process.stderr.read()
    if not lines[-1]:
        raise ChildError(f"{words[0]} ended before line {ordinal}: {''.join(lines)}")
    return took_s, lines[-1]


@contextmanager
def _watched(pid: int, wanted: bool) -> Iterator[list[int]]:
    """The largest memory of a process so far, looked at by a thread as long as the block runs."""
    seen: list[int] = []
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.1):
            seen.append(_peak_bytes(pid))

    thread = threading.Thread(target=look, daemon=True)
    if wanted:
        thread.start()
    try:
        yield seen
    finally:
        ended.set()
        if wanted:
            thread.join()


def _peak_bytes(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    lines = [line.split() for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(lines[0][1]) * 1024 if lines else 0
