"""Starting engines: what a driver's machine has to give, and how this one gives it.

That is a process whose standard input and output are those of the engine. Deliberately not here: other machines
(`plimsoll.hosts.engines`, `ray_cluster`), what is said to an engine (`engine`), and how several drive one trial
(`shared`).
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import IO, Any, Protocol

from plimsoll.drive.affinity import running_on
from plimsoll.drive.executable import find_engine
from plimsoll.errors import HostError

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
