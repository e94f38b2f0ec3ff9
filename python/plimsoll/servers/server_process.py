"""The process of a managed server: launched by its guardian, waited for, and what its error log says when it ends.

Whether the server that was started answers and is ours, and whether a disk of it is full: by the free space where it
writes, and by its error log. A server that cannot write binary logs or temporary files waits for space and says so in
its log only. Its clients see that nothing is answered. Deliberately not here: the guardian (`guarded`), and the
server's directory, options and data (`managed`).
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from plimsoll.errors import TargetError
from plimsoll.servers.control import UNKNOWN_METHOD, connect
from plimsoll.servers.directory import DATA, TEMPORARY
from plimsoll.servers.guardian_pipe import Guard
from plimsoll.servers.marked_directory import ELSEWHERE, read_marker
from plimsoll.spec.paths import Role
from plimsoll.spec.target import Target
from plimsoll.units import format_bytes

_LOOK_AT_DISKS_S = 3.0
"""A server that does not answer so long after its start may wait for space."""


class ServerProcess:
    """At most one process at a time.

    Attributes:
        pid: Its number; None while none runs, as far as was seen.
    """

    def __init__(self, name: str, guard: Guard, error_log: Path, *, memory_limit_bytes: int | None) -> None:
        """Nothing is launched yet.

        Args:
            name: Of the server, for messages.
            guard: Its guardian.
            error_log: Receives what the process prints.
            memory_limit_bytes: That it runs under; explains why it was killed.
        """
        self._name, self._guard, self._error_log = name, guard, error_log
        self._memory_limit_bytes, self._log_offset = memory_limit_bytes, 0
        self.pid: int | None = None

    def launch(self, words: list[str], placement: dict[str, Any] | None = None) -> None:
        """Starts it. Raises HostError as `Guard.start`."""
        self._log_offset = self._error_log.stat().st_size if self._error_log.exists() else 0
        self.pid = self._guard.start(words, self._error_log, placement)

    def stop(self, grace_s: float) -> None:
        """Stops it, by force after the grace; nothing where none runs. Raises HostError as `Guard.stop`."""
        if self.pid is not None:
            self.pid = None
            self._guard.stop(grace_s)

    def kill(self) -> None:
        """Kills it as a crash does; nothing where none runs. Raises HostError as `Guard.kill`."""
        if self.pid is not None:
            self.pid = None
            self._guard.kill()

    def wait_until_done(self, limit_s: float, what: str) -> None:
        """Waits for a process that does one thing and ends.

        Args:
            limit_s: Then it is ended.
            what: It does, as the subject of a sentence.

        Raises:
            TargetError: It failed, or took too long.
        """
        code, self.pid = self._guard.wait(limit_s), None
        if code is None:
            self._guard.stop(0)
            raise TargetError(f"server {self._name}: {what} did not end within {limit_s:.0f} s{self._log_note()}")
        if code != 0:
            raise TargetError(f"server {self._name}: {what} {explain_exit(code)}{self._log_note()}")

    def wait_until_answers(self, target: Target, data_dir: Path, limit_s: float) -> None:
        """Waits until the server answers.

        Raises:
            TargetError: It ended, did not answer within the limit, waits for space on a full disk, or is another server
                than the one that was made.
        """
        began_s = time.monotonic()
        while (waited_s := time.monotonic() - began_s) < limit_s:
            self.raise_if_ended(0.05)
            if answers(target, data_dir):
                return
            if waited_s > _LOOK_AT_DISKS_S and (fault := full_disk(data_dir)) is not None:
                raise TargetError(f"server {self._name}: does not start: {fault}")
        raise TargetError(f"server {self._name}: did not answer within {limit_s:.0f} s{self._log_note()}")

    def raise_if_ended(self, limit_s: float) -> None:
        """Waits so long for its end.

        Raises:
            TargetError: It ended; the message has the tail of its log and what that means.
        """
        if (code := self._guard.wait(limit_s)) is not None:
            self.pid = None
            ended = explain_exit(code, self._memory_limit_bytes)
            raise TargetError(f"server {self._name}: {ended}{self._log_note()}")

    def log_tail(self, lines: int = 15) -> str:
        """The last lines of what it printed since it was last started."""
        return read_tail(self._error_log, offset=self._log_offset, lines=lines)

    def _log_note(self) -> str:
        tail, meaning = self.log_tail(), explain_log(self.log_tail(lines=1000))
        return (f": {meaning}" if meaning else "") + (f"\nThe end of its error log:\n{tail}" if tail else "")


_NOT_YET = frozenset({2002, 2003, 2006, 2013})
"""Client errors that a starting server may give."""

_NO_ACCOUNT = frozenset({1045, UNKNOWN_METHOD})
"""For an account that it does not have MySQL makes up a method, so that nobody learns which accounts there are."""


def answers(target: Target, data_dir: Path) -> bool:
    """Whether a starting server answers by now.

    Args:
        target: The account that Plimsoll made on it.
        data_dir: The data directory on which it must run.

    Raises:
        TargetError: It runs on another data directory, or refuses to answer.
    """
    try:
        with connect(target, connect_limit_s=2, read_limit_s=2) as control:
            server_dir = str(control.value("SELECT @@datadir"))
    except TargetError as error:
        if error.code in _NO_ACCOUNT:
            raise _astray(data_dir, "does not know the account that Plimsoll made") from None
        if error.code not in _NOT_YET:
            raise
        return False
    if Path(server_dir) != data_dir:
        raise _astray(data_dir, f"uses the data directory {server_dir}")
    return True


def _astray(data_dir: Path, evidence: str) -> TargetError:
    return TargetError(
        f"server command: the server that it started {evidence}, so it does not run on {data_dir}. It was stopped, and"
        " its accounts were not changed. The command must pass on its arguments, unchanged and last"
    )


_TAIL_BYTES = 64 * 1024
_INSTALLER_ADVICE = "\nInstallation of system tables failed!"
"""From here on mariadb-install-db guesses, and suggests to start a server without passwords."""

_MEANINGS = (
    (
        r"unknown (?:variable|option) '(?:--)?([A-Za-z0-9_-]+)",
        "the server does not know the option {0}: remove it from the system's options, or correct its spelling",
    ),
    (
        r"(?:Unknown suffix .* used for variable|Error while setting value .* to|Wrong value .* for|Invalid value for) "
        r"'?(?:option )?'?([A-Za-z0-9_-]+)",
        "the value of the option {0} is wrong: correct it in the system's options",
    ),
    (r"Address already in use|port is already in use", "its port is used by another program"),
    (
        r"No space left on device|errno: 28|OS error(?: number)? 28|Error: 28|disk is full|Disk is full",
        "the disk is full: free some space, reduce the buffer pool and redo log, or choose another data_dir",
    ),
    (
        r"(?:Cannot|Can't) allocate memory|OS error(?: number)? 12|errno: 12|mmap\([^)]*\) failed",
        "the machine has too little memory: choose a smaller buffer_pool",
    ),
    (r"Unable to lock \S+|Cannot lock file", "another server uses the same data directory"),
    (
        r"Permission denied|errno: 13|OS error(?: number)? 13|Operation not permitted",
        "no permission for a file or folder: check the permissions of data_dir, and AppArmor or SELinux",
    ),
    (r"Too many open files|errno: 24", "too few open files allowed: raise the limit (ulimit -n)"),
    (r"my_print_defaults", "mariadb-install-db needs my_print_defaults: install mariadb-client-core"),
)


def read_tail(log: Path, *, offset: int = 0, lines: int = 15) -> str:
    """The last lines of a log, without what MariaDB's initialiser guesses.

    Args:
        log: The log; one that does not exist has no lines.
        lines: How many at most.
        offset: Bytes at the start that belong to an earlier run.
    """
    try:
        with log.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(offset, size - _TAIL_BYTES))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ""
    return "\n".join(text.partition(_INSTALLER_ADVICE)[0].rstrip().splitlines()[-lines:])


def explain_log(text: str) -> str | None:
    """What a log's end means for the one who can act on it.

    Returns:
        A sentence without its full stop; None when the log says nothing that is known.

    >>> explain_log("[ERROR] mariadbd: unknown variable 'foo=1'").split(":")[0]
    'the server does not know the option foo'
    """
    for pattern, meaning in _MEANINGS:
        match = re.search(pattern, text)
        if match:
            return meaning.format(*match.groups())
    return None


def explain_exit(code: int, memory_limit_bytes: int | None = None) -> str:
    """How a process ended, from its exit code (negative: by a signal) and the limit of its memory, if it had one."""
    if code == -9 and memory_limit_bytes is not None:
        limit = format_bytes(memory_limit_bytes)
        return (
            f"was killed by SIGKILL (the kernel does so when a server needs more than its memory_limit, here {limit})"
        )
    if code == -9:
        return "was killed by SIGKILL (the kernel does so when memory runs out; see dmesg)"
    if code < 0:
        return f"was ended by signal {-code}"
    return f"ended with exit code {code}"


NOTHING_BYTES = 2**20
"""With less than this free, nothing can be written: servers extend their files by that much or more."""

LITTLE_BYTES = 64 * 2**20
"""With less than this free, a disk is full where the log says so: a file that grows in larger steps did not fit."""

_SAYS_FULL = re.compile(r"disk is full|No space left on device|errno:? 28\b|error(?: number)? 28\b", re.IGNORECASE)
_LOG_LINES = 200


def full_disk(data_dir: Path) -> str | None:
    """What is full of a server that Plimsoll started here, how much is free, and what to do; None where nothing is.

    Args:
        data_dir: Its data directory.
    """
    volumes = [(*space, key, folder) for key, folder in _folders(data_dir) if (space := _space(folder)) is not None]
    if not volumes:
        return None
    free, total, key, folder = min(volumes)
    says_full = _SAYS_FULL.search(read_tail(data_dir.parent / "error.log", lines=_LOG_LINES)) is not None
    if free >= (LITTLE_BYTES if says_full else NOTHING_BYTES):
        return None
    remark = ", and the server's error log says so" if says_full else ""
    return (
        f"the disk of {folder} is full: {format_bytes(free)} of {format_bytes(total)} are free{remark}; free some space"
        f" there, choose another {key}, or load fewer rows"
    )


def _folders(data_dir: Path) -> Iterator[tuple[str, Path]]:
    """Where the server writes, each with the key of the study file that says where."""
    directory = data_dir.parent
    yield "data_dir", directory / DATA
    yield "data_dir", directory / TEMPORARY
    for elsewhere in map(Path, (read_marker(directory) or {}).get(ELSEWHERE, ())):
        yield from ((f"{role}_dir", elsewhere / role) for role in get_args(Role))


def _space(folder: Path) -> tuple[int, int] | None:
    """Bytes that this user, and so the server, can still write, and bytes in all; None where there is no folder."""
    try:
        usage = os.statvfs(folder)
    except OSError:
        return None
    free = usage.f_bfree if os.geteuid() == 0 else usage.f_bavail
    return free * usage.f_frsize, usage.f_blocks * usage.f_frsize
