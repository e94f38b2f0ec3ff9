"""Where the commands of a test process come from: a process that imports Plimsoll once, and forks for each of them.

A command has a process of its own, with its own arguments, environment, folder and output, as if its program had been
started, without the seconds of a processor that imports take: tests run hundreds of commands. Deliberately not here:
commands whose program itself is looked at; `support.command.start` starts the program.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from functools import cache
from pathlib import Path

REQUEST_BYTES_MAX = 1 << 17


@cache
def _server() -> socket.socket:
    """A connection to the process that forks; it ends with this one, whose end of the connection is then closed."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"},
            cwd="/",
        )
    return ours


class ForkedCommand:
    """A command that runs, with what `subprocess.Popen` has of it; killed once nobody holds this any more.

    Attributes:
        words: Its program and its arguments.
        pid: Of its process.
        returncode: As `subprocess.Popen` gives it; None while it is not known to have ended.
    """

    def __init__(self, words: list[str], *, env: dict[str, str], cwd: Path | None = None) -> None:
        """Begins it.

        Args:
            words: Its program, as it is told to it, and its arguments.
            env: Its whole environment.
            cwd: Its working folder; None for that of this process.
        """
        self.words = words
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pipes = [os.pipe() for _ in ("standard output", "standard error")]
        request = json.dumps({"words": words, "env": env, "cwd": str(cwd or Path.cwd())}).encode()
        assert len(request) <= REQUEST_BYTES_MAX, "too much for one message"
        given = [theirs.fileno(), *(write for _, write in pipes)]
        socket.send_fds(_server(), [request], given)
        theirs.close()
        self._texts = ["", ""]
        readers = [(read, self._texts, index) for index, (read, _) in enumerate(pipes)]
        self._readers = [threading.Thread(target=_read, args=reader, daemon=True) for reader in readers]
        for (_, write), reader in zip(pipes, self._readers, strict=True):
            os.close(write)
            reader.start()
        self.returncode: int | None = None
        self.pid = self._heard()

    def poll(self) -> int | None:
        """Its exit code, if it has ended."""
        if self.returncode is None and select.select([self._ours], [], [], 0)[0]:
            self._end()
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Waits until it has ended, and gives its output and its messages.

        Raises:
            subprocess.TimeoutExpired: It still runs after so many seconds.
        """
        self.wait(timeout)
        for reader in self._readers:
            reader.join(timeout)
            assert not reader.is_alive(), "a process that the command left still holds its output"
        return self._texts[0], self._texts[1]

    def wait(self, timeout: float | None = None) -> int:
        """Waits until it has ended, and gives its exit code; raises as `communicate` does."""
        if self.returncode is None and not select.select([self._ours], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(self.words, timeout or 0, output=self._texts[0], stderr=self._texts[1])
        return self._end() if self.returncode is None else self.returncode

    def send_signal(self, number: int) -> None:
        """Sends it a signal, unless it has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """Ends it at once."""
        self.send_signal(signal.SIGKILL)

    def _end(self) -> int:
        self.returncode = self._heard()
        self._ours.close()
        return self.returncode

    def _heard(self) -> int:
        """The next number that the process says that waits for the command: its id, then its exit code."""
        said = self._ours.recv(64)
        assert said, "the process that forks has ended"
        return int(said)


def _read(pipe: int, texts: list[str], index: int) -> None:
    with os.fdopen(pipe, encoding="utf-8") as text:
        texts[index] = text.read()


def _prepare() -> None:
    """Imports whatever a command may import, without what it must not load unasked, and compiles templates."""
    plimsoll = importlib.import_module("plimsoll")
    for module in pkgutil.walk_packages(plimsoll.__path__, "plimsoll."):
        if "ray" not in module.name and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in ("altair", "jinja2", "polars", "scipy.optimize", "scipy.stats", "sqlglot", "vl_convert"):
        importlib.import_module(name)
    templates = importlib.import_module("plimsoll.guide.html").page_template("guide.html.jinja").environment
    for name in templates.list_templates():
        templates.get_template(name)  # compiled once, and not for each guide
    gc.collect()
    gc.freeze()


def _serve(requests: socket.socket) -> dict[str, object] | None:
    """Forks for each request; gives the request in the process that shall obey it, and None at the end."""
    while True:
        message, descriptors, _, _ = socket.recv_fds(requests, REQUEST_BYTES_MAX, 3)
        if not message:
            return None
        if os.fork() == 0:
            requests.close()
            reply, *outputs = descriptors
            command = os.fork()
            if command == 0:
                os.close(reply)
                for descriptor, output in enumerate(outputs, start=1):
                    os.dup2(output, descriptor)
                    os.close(output)
                request: dict[str, object] = json.loads(message)
                return request
            for output in outputs:
                os.close(output)
            _wait_for(command, socket.socket(fileno=reply))
            os._exit(0)
        for descriptor in descriptors:
            os.close(descriptor)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass  # one that has ended


def _wait_for(command: int, reply: socket.socket) -> None:
    """Says which process a command is, and how it ended; kills it once nobody waits for that any more."""
    _say(reply, command)
    with os.fdopen(os.pidfd_open(command), "rb", buffering=0) as ended:
        came, _, _ = select.select([ended, reply], [], [])
        if ended not in came:
            os.kill(command, signal.SIGKILL)
    _, status = os.waitpid(command, 0)
    if ended in came:
        _say(reply, os.waitstatus_to_exitcode(status))


def _say(reply: socket.socket, number: int) -> None:
    """Unless nobody waits for it any more."""
    with suppress(BrokenPipeError):
        reply.send(str(number).encode())


def _obey(request: dict[str, object]) -> None:
    tempfile.tempdir = None
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(request["env"])  # type: ignore[arg-type]
    os.chdir(str(request["cwd"]))
    sys.argv = list(request["words"])  # type: ignore[call-overload]
    importlib.import_module("plimsoll.cli.main").main()


if __name__ == "__main__":
    shared_drawer = importlib.import_module("shared_drawer")
    sys.path.pop(0)  # the folder of this file, which programs do not have there
    listener = shared_drawer.start_shared_drawer()
    _prepare()
    asked = _serve(socket.socket(fileno=int(sys.argv[1])))
    if asked is not None:
        shared_drawer.use_shared_drawer(listener)
        _obey(asked)
