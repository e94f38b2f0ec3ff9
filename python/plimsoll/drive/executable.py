"""The load engine's executable on this machine, its process, and who must act when it says nothing more.

Where it is, which version; what a driver's machine has to give, which is a process whose standard input and output are
those of the engine, and how this machine gives it; on which CPUs it runs. Arguments that may hold a password are passed
on a descriptor, since every user can read argument lists. The standard library is enough here, so that whoever only
hands over to the engine starts at once.

Deliberately not here: what is said to an engine (`engine`), other machines (`plimsoll.hosts.openssh`, `ray_cluster`),
how several drive one trial (`shared`), and erasing the arguments of this process (`cli.logs`).
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

from plimsoll.errors import EngineBugError, HostError, PlimsollError, TargetError


def find_engine() -> Path:
    """The engine's executable: named by PLIMSOLL_ENGINE, beside this Python, or on PATH.

    Raises:
        HostError: There is none.
    """
    named = os.environ.get("PLIMSOLL_ENGINE")
    beside = Path(sys.executable).parent / "plimsoll-engine"
    engine = named or (str(beside) if beside.exists() else shutil.which("plimsoll-engine"))
    if engine is None or not os.access(engine, os.X_OK):
        place = f" at {named}" if named else ""
        raise HostError(f"plimsoll-engine: not found{place}; reinstall plimsoll, or name it in PLIMSOLL_ENGINE")
    return Path(engine)


def engine_version() -> str:
    """What `plimsoll-engine --version` says.

    Raises:
        HostError: It cannot be run.
    """
    try:
        ran = subprocess.run([str(find_engine()), "--version"], capture_output=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise HostError(f"plimsoll-engine: cannot be run: {error}; reinstall plimsoll") from None
    return ran.stdout.decode(errors="replace").strip()


ENGINE = "plimsoll-engine"


class EngineProcess(Protocol):
    """An engine, or what leads to it: as much of `subprocess.Popen` as is used of it, with the same meaning."""

    @property
    def stdin(self) -> IO[bytes] | None: ...  # noqa: D102
    @property
    def stdout(self) -> IO[bytes] | None: ...  # noqa: D102
    @property
    def pid(self) -> int: ...  # noqa: D102
    @property
    def returncode(self) -> int | Any | None: ...  # noqa: D102
    def wait(self, timeout: float | None = None) -> int: ...  # noqa: D102
    def send_signal(self, number: int, /) -> None: ...  # noqa: D102


class Launcher(Protocol):
    """Starts engines on one machine."""

    @property
    def is_here(self) -> bool:
        """It is this machine: the process that is started is the engine itself."""

    @property
    def machine(self) -> str | None:
        """The machine that was found for an engine that was started; None where nothing had to be found."""

    def start(self, words: Sequence[str], errors: IO[bytes]) -> EngineProcess:
        """Starts an engine.

        Args:
            words: Its command line, such as `("plimsoll-engine", "trial")`.
            errors: Receives its standard error.

        Returns:
            A process with pipes for standard input and output. The engine ends when that input does.

        Raises:
            HostError: It cannot be started.
        """


class LocalLauncher:
    """Starts engines on this machine, on some of its CPUs."""

    is_here = True
    machine = None

    def __init__(self, cpus: Sequence[int] | None = None) -> None:
        self._cpus = cpus

    def start(self, words: Sequence[str], errors: IO[bytes]) -> subprocess.Popen[bytes]:
        """Starts one, see `Launcher`."""
        with running_on(self._cpus):
            return _started([str(find_engine()), *words[1:]], errors)


def _started(words: Sequence[str], errors: IO[bytes]) -> subprocess.Popen[bytes]:
    """In a process group of its own: Ctrl-C reaches this process only, which then ends the load in good order."""
    try:
        return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, process_group=0)
    except OSError as error:
        raise HostError(f"{ENGINE}: cannot be started: {error.strerror}; reinstall plimsoll") from None


@contextmanager
def running_on(cpus: Sequence[int] | None) -> Iterator[None]:
    """For processes that this thread starts: they inherit its affinity, so that none of their threads escapes.

    Args:
        cpus: Their CPUs; None for all that this process may use.

    Raises:
        HostError: The CPUs may not be used.
    """
    if cpus is None:
        yield
        return
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, cpus)
    except OSError as error:
        among = ", ".join(map(str, sorted(before)))
        raise HostError(f"study.client.cpus: {error.strerror}; choose among {among}") from None
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


_FROM_OUTSIDE = frozenset(
    {signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGXCPU, signal.SIGXFSZ}
)
"""Signals by which somebody else ends a process: a person, a limit, or the kernel when memory runs out."""

_INTERRUPTED = 130
_SSH_FAILED = 255
NODE_LOST = 254
"""Exit code for an engine on a node of a Ray cluster: the node was lost, or could not start it; its last words say."""

_SERVER_LOST = 2013


def ended(what: str, code: int | None, last_words: str) -> PlimsollError:
    """What the end of an engine's messages means.

    Args:
        what: What it did instead of going on, such as "ended without a last message".
        code: Its exit code, negative when a signal ended it; None while it still runs.
        last_words: The end of what it wrote to standard error.
    """
    details = f": {last_words}" if last_words else ""
    if code is not None and -code in _FROM_OUTSIDE:
        name = signal.Signals(-code).name
        cause = " (the kernel does so when memory runs out; see dmesg)" if name == "SIGKILL" else ""
        return HostError(f"plimsoll-engine was ended by {name}{cause}; run the same command again{details}")
    if code == _INTERRUPTED:
        return HostError(f"plimsoll-engine was interrupted by a signal; run the same command again{details}")
    exit_code = "" if code is None else f", exit code {code}"
    return EngineBugError(f"plimsoll-engine {what}{exit_code}{details}")


def unreached(code: int | None, last_words: str) -> HostError | None:
    """What the end of `ssh` or of a node means that was to lead to an engine; None where the engine itself ended so.

    Args:
        code: Its exit code; None while it still runs.
        last_words: The end of what it wrote to standard error.
    """
    if code == _SSH_FAILED:
        message = last_words or "ssh: the connection ended"
        return HostError(f"{message}; check that ssh to that host asks nothing and stays connected")
    if code == NODE_LOST:
        return HostError(last_words or "Ray: the connection to the cluster was lost; run the same command again")
    return None


def silent(pid: int, limit_s: float, *, waits_for_server: bool) -> PlimsollError:
    """What it means that a running engine has said nothing for so long.

    Args:
        pid: Its process id.
        limit_s: For how long.
        waits_for_server: It looks at a server just now, which is the one thing that it does without a word.
    """
    if _is_stopped(pid):
        return HostError(f"plimsoll-engine {pid} is stopped by a signal or a debugger; let it go on: kill -CONT {pid}")
    if not waits_for_server:
        return EngineBugError(f"plimsoll-engine said nothing for {limit_s:.0f} s")
    return TargetError(
        f"the server has not answered for {limit_s:.0f} s while it was asked for its tables and limits: it hangs, or"
        " another connection holds a lock on a table; SHOW FULL PROCESSLIST on the server tells which",
        code=_SERVER_LOST,
    )


def _is_stopped(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] in {"T", "t"}
    except OSError:
        return False


def arguments_file(words: Sequence[str]) -> int:
    """A descriptor of a file in memory that holds the words, for the engine to read from its beginning.

    It is closed by whoever asked, and passed to the engine as `arguments_option` says.
    """
    file = os.memfd_create("plimsoll-arguments")
    with os.fdopen(os.dup(file), "wb") as writing:
        writing.write(b"".join(os.fsencode(word) + b"\0" for word in words))
    os.lseek(file, 0, os.SEEK_SET)
    return file


def arguments_option(file: int) -> str:
    """The first argument of an engine that inherits the descriptor; it replaces all that follow."""
    return f"--arguments-fd={file}"
