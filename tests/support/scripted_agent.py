"""An agent of another host that answers by a script of the test: sockets and a thread in this process."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import threading
from collections.abc import Callable
from typing import cast

from plimsoll.hosts.channel import Channel


class ScriptedAgent:
    """Stands for the process that a channel talks to."""

    def __init__(self, answer: Callable[[bytes], bytes] | None, *, ends_when_killed: bool = True) -> None:
        """Begins to serve.

        Args:
            answer: Gives what is sent for the line of a request, as it is; None for an agent that reads nothing.
            ends_when_killed: Its streams end then, as a kernel sees to it where no other process holds them.
        """
        to_agent, self._requests = socket.socketpair()
        from_agent, self._answers = socket.socketpair()
        self.stdin, self.stdout = to_agent.makefile("wb"), from_agent.makefile("rb")
        to_agent.close()
        from_agent.close()
        self._dead, self._ends_when_killed = threading.Event(), ends_when_killed
        if answer is not None:
            threading.Thread(target=self._serve, args=(answer,), daemon=True).start()

    def channel(self) -> Channel:
        """A channel to it."""
        return Channel("db2", cast(subprocess.Popen[bytes], self), lambda: "")

    def _serve(self, answer: Callable[[bytes], bytes]) -> None:
        with contextlib.suppress(OSError), self._requests.makefile("rb") as requests:
            for line in requests:
                self._answers.sendall(answer(line))
        self.kill()

    def wait(self, timeout: float | None = None) -> int:
        """Waits for its end."""
        if not self._dead.wait(timeout):
            raise subprocess.TimeoutExpired("agent", timeout or 0)
        return -9

    def kill(self) -> None:
        """Ends it."""
        self._dead.set()
        if self._ends_when_killed:
            for stream in (self._requests, self._answers):
                with contextlib.suppress(OSError):
                    stream.shutdown(socket.SHUT_RDWR)
