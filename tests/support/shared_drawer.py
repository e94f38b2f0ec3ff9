"""A process that draws the charts of all forked commands of a test process, which otherwise start one each.

Commands that are started, as users do, have their own: `plimsoll.guide.drawer`.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
from concurrent.futures import Future
from typing import Any

from plimsoll.guide import drawer

_PR_SET_PDEATHSIG = 1


class SharedDrawer:
    """A command's way to that process, with the interface of the one that it would have started."""

    def __init__(self, listener: socket.socket) -> None:
        self._address = listener.getsockname()

    def draw(self, request: dict[str, Any]) -> Future[str]:
        """Draws it at once."""
        future: Future[str] = Future()
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self._address)
            with connection.makefile("rwb") as lines:
                lines.write(json.dumps(request, allow_nan=False).encode() + b"\n")
                lines.flush()
                answer = json.loads(lines.readline())
        if "fault" in answer:
            future.set_exception(RuntimeError(answer["fault"]))
        else:
            future.set_result(answer["svg"])
        return future


def start_shared_drawer() -> socket.socket:
    """Forks the process, which ends with this one; gives the socket at which it listens."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("")  # an abstract address that the kernel chooses
    listener.listen()
    if os.fork() == 0:
        _serve(listener)
    return listener


def use_shared_drawer(listener: socket.socket) -> None:
    """Lets this process draw there."""
    shared = SharedDrawer(listener)
    setattr(drawer, "_drawer", lambda _process_id: shared)  # noqa: B010  (of another type)


def _serve(listener: socket.socket) -> None:
    """Draws for one command after the other; a command that was killed spoils nothing for the next one."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    drawer.draw_nothing()
    while True:
        connection, _ = listener.accept()
        with connection:
            try:
                with connection.makefile("rwb") as lines:
                    line = lines.readline()
                    if line.endswith(b"\n"):  # whoever asks was not killed meanwhile
                        lines.write(json.dumps(drawer.answer_to(json.loads(line))).encode() + b"\n")
            except OSError:
                continue  # it was killed after that
