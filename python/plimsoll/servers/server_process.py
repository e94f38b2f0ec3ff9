"""The process of a managed server: launched by its guardian, waited for, and what its error log says when it ends.

Deliberately not here: the guardian (`guarded`), and the server's directory, options and data (`managed`).
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from plimsoll.errors import TargetError
from plimsoll.servers.answering import answers
from plimsoll.servers.error_log import explain_exit, explain_log, read_tail
from plimsoll.servers.full_disk import full_disk
from plimsoll.servers.guarded import Guard
from plimsoll.spec.target import Target

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
