"""Plimsoll's end of the pipe to a guardian: start, stop and exit codes of a server that cannot outlive us.

Deliberately not here: the guardian itself (`guardian`), which runs in a process of its own.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from plimsoll.errors import HostError
from plimsoll.servers import guardian
from plimsoll.servers.directory import InstanceDirectory
from plimsoll.servers.private_file import open_private

_LOG = logging.getLogger(__name__)

_PASSED_ON = frozenset(
    {
        "PATH",
        "HOME",
        "LANG",
        "LC_ALL",
        "TZ",
        "LD_LIBRARY_PATH",
        "LD_PRELOAD",
        "MALLOC_CONF",
        "MALLOC_ARENA_MAX",
        "GLIBC_TUNABLES",
        "ASAN_OPTIONS",
    }
)
"""Environment that a server may see. Passwords that the user keeps in others stay here."""

_SWITCHED = ("frozen", "thawed")


class Guard:
    """A guardian process and the one server that it may run."""

    def __init__(self, directory: InstanceDirectory) -> None:
        """Starts a guardian for a directory; it removes the directory when this process is gone.

        Raises:
            HostError: No guardian could be started.
        """
        self._directory = directory.path
        self._running = False
        self._exit_code: int | None = None
        self._unread = b""
        with open_private(directory.path / "guardian.log") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", guardian.__file__, str(directory.path), str(directory.lock_fd)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                bufsize=0,
                pass_fds=(directory.lock_fd,),
                start_new_session=True,
                env={name: value for name, value in os.environ.items() if name in _PASSED_ON},
            )
        self._expect("ready", limit_s=30)

    @property
    def pid(self) -> int:
        """The guardian's process number."""
        return self._process.pid

    def start(self, argv: list[str], log: Path, placement: dict[str, Any] | None = None) -> int:
        """Starts a program as the guardian's child, its output appended to a log.

        Args:
            argv: Its command line.
            log: Where its output goes.
            placement: What it may use of the machine, as `placing.place_here` takes it.

        Returns:
            Its process number.

        Raises:
            HostError: It cannot be started, or the guardian is gone.
        """
        assert not self._running, "a guardian runs one server at a time"
        self._exit_code = None
        self._send({"do": "start", "argv": argv, "log": str(log), "placement": placement})
        event = self._expect("started", "refused", limit_s=30)
        if event["event"] == "refused":
            raise HostError(f"{argv[0]}: cannot be started: {event['reason']}")
        self._running = True
        _LOG.info("server %d begins: %s; its output is in %s", event["pid"], " ".join(argv), log)
        return int(event["pid"])

    def wait(self, limit_s: float) -> int | None:
        """Waits until the program has ended.

        Returns:
            Its exit code, negative when a signal ended it; None when it still runs after the limit.

        Raises:
            HostError: The guardian is gone, and with it the server.
        """
        if self._running:
            event = self._next_event(limit_s)
            while event is not None and event["event"] in _SWITCHED:  # nobody waits for it any more
                event = self._next_event(limit_s)
            if event is not None:
                assert event["event"] == "exited"
                self._running, self._exit_code = False, int(event["code"])
                _LOG.info("the server in %s ended with %d", self._directory, self._exit_code)
        return self._exit_code

    def stop(self, grace_s: float) -> int | None:
        """Ends the program: SIGTERM, and SIGKILL after the grace. Returns as `wait` does; None when none was started.

        Raises:
            HostError: It did not even end by SIGKILL, or the guardian is gone.
        """
        if self._running:
            self._send({"do": "stop", "grace_s": grace_s})
            if self.wait(grace_s + 60) is None:
                raise HostError(
                    f"{self._directory}: the server did not end within 60 s of SIGKILL; its storage may hang"
                )
        return self._exit_code

    def kill(self) -> None:
        """Kills the program and all of its process group at once, as a crash does, and waits for its end.

        Raises:
            HostError: It did not even end by SIGKILL, or the guardian is gone.
        """
        if self._running:
            self._send({"do": "kill"})
            if self.wait(60) is None:
                raise HostError(
                    f"{self._directory}: the server did not end within 60 s of SIGKILL; its storage may hang"
                )

    def freeze(self) -> None:
        """Stops the program where it is, until `thaw`. When Plimsoll dies the guardian thaws it to end it.

        Raises:
            HostError: It ended, did not stop, or the guardian is gone.
        """
        self._switch("freeze", "frozen")

    def thaw(self) -> None:
        """Lets the program go on; nothing for one that was not frozen. Raises as `freeze`."""
        self._switch("thaw", "thawed")

    def _switch(self, request: str, done: str) -> None:
        if not self._running:
            raise HostError(f"{self._directory}: the server has ended; it cannot be told to {request}")
        self._send({"do": request})
        event = self._expect(*_SWITCHED, "refused", "exited", limit_s=guardian.FREEZE_LIMIT_S + 30)
        while (
            event["event"] in _SWITCHED and event["event"] != done
        ):  # somebody was interrupted before it read that one
            event = self._expect(*_SWITCHED, "refused", "exited", limit_s=guardian.FREEZE_LIMIT_S + 30)
        if event["event"] == "exited":
            self._running, self._exit_code = False, int(event["code"])
            raise HostError(f"{self._directory}: the server ended with {event['code']} when it was to {request}")
        if event["event"] == "refused":
            raise HostError(f"{self._directory}: the server could not {request}: {event['reason']}")

    def close(self, limit_s: float = 60) -> None:
        """Ends the guardian, which ends what still runs and removes a throwaway directory."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(limit_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._running = False

    def _send(self, request: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
        except OSError:
            raise self._gone() from None

    def _expect(self, *names: str, limit_s: float) -> dict[str, Any]:
        event = self._next_event(limit_s)
        if event is None:
            raise HostError(f"{self._directory}: the guardian process did not answer within {limit_s:.0f} s")
        assert event["event"] in names, event
        return event

    def _next_event(self, limit_s: float) -> dict[str, Any] | None:
        """The next line of the guardian; None when none came within the limit."""
        assert self._process.stdout is not None
        until_s = time.monotonic() + limit_s
        while b"\n" not in self._unread:
            if not select.select([self._process.stdout], [], [], max(until_s - time.monotonic(), 0))[0]:
                return None
            received = os.read(self._process.stdout.fileno(), 65536)
            if not received:
                raise self._gone()
            self._unread += received
        line, _, self._unread = self._unread.partition(b"\n")
        event: dict[str, Any] = json.loads(line)
        return event

    def _gone(self) -> HostError:
        self._running = False
        code = self._process.wait()
        with contextlib.suppress(OSError):
            log_tail = (self._directory / "guardian.log").read_text(encoding="utf-8", errors="replace").strip()[-300:]
            return HostError(
                f"{self._directory}: the guardian process ended with {code}, and its server with it. {log_tail}"
            )
        return HostError(f"{self._directory}: the guardian process ended with {code}, and its server with it")
