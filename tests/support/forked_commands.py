"""Where the commands of a test process come from: a process that imports Plimsoll once, and forks for each of them.

A command has a process of its own, with its own arguments, environment, folder and output, as if its program had been
started, without the seconds of a processor that imports take: tests run hundreds of commands. Deliberately not here:
commands whose program itself is looked at, such as its arguments; `support.command.start` starts the program.
"""

from __future__ import annotations

import atexit
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
    """A command that runs, with what tests use of `subprocess.Popen`. It is killed once nothing refers to this.

    Attributes:
        args: Its program, as it is told to it, and its arguments.
        pid: Its process.
        stdout: What it writes to standard output.
        stderr: The same of standard error.
        returncode: None until `poll`, `wait` or `communicate` has seen its end.
    """

    def __init__(self, words: list[str], *, env: dict[str, str], cwd: Path | None) -> None:
        self.args, self.returncode = words, None
        self._waiter, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        (out, out_write), (errors, errors_write) = os.pipe(), os.pipe()
        self.stdout, self.stderr = os.fdopen(out, encoding="utf-8"), os.fdopen(errors, encoding="utf-8")
        request = json.dumps({"words": words, "env": env, "cwd": str(cwd or Path.cwd())}).encode()
        assert len(request) <= REQUEST_BYTES_MAX, "too much for one message"
        socket.send_fds(_server(), [request], [theirs.fileno(), out_write, errors_write])
        theirs.close()
        for descriptor in (out_write, errors_write):
            os.close(descriptor)
        self.pid = self._told()

    def _told(self) -> int:
        try:
            said = self._waiter.recv(64)
        except ConnectionResetError:  # told once, before what was sent, where it ended with a signal unread
            said = self._waiter.recv(64)
        assert said, "the process that forks has ended"
        return int(said)

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""
        if self.returncode is None and select.select([self._waiter], [], [], 0)[0]:
            self.returncode = self._told()
            self._waiter.close()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it has ended.

        Raises:
            subprocess.TimeoutExpired: It runs on.
        """
        if self.returncode is None and not select.select([self._waiter], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
        code = self.poll()
        assert code is not None
        return code

    def send_signal(self, number: int) -> None:
        """Has the process that waits for it send a signal, so that no other process can get it; none once it ended."""
        if self.poll() is None:
            with suppress(BrokenPipeError, ConnectionResetError):
                self._waiter.send(bytes([number]))

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """The rest of both outputs, once it has ended.

        Raises:
            subprocess.TimeoutExpired: It runs on, and what it wrote since is lost.
        """
        texts = ["", ""]

        def read(index: int) -> None:
            with (self.stdout, self.stderr)[index] as pipe:
                texts[index] = pipe.read()

        readers = [threading.Thread(target=read, args=[index], daemon=True) for index in range(2)]
        for reader in readers:
            reader.start()
        self.wait(timeout)
        for reader in readers:
            reader.join(timeout)
            assert not reader.is_alive(), "a process that the command left still holds its output"
        return texts[0], texts[1]


def run_forked(
    words: list[str], *, env: dict[str, str], cwd: Path | None, timeout_s: float
) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end, and gives what `subprocess.run` would.

    Args:
        words: Its program, as it is told to it, and its arguments.
        env: Its whole environment.
        cwd: Its working folder; None for that of this process.
        timeout_s: After which it is killed.

    Raises:
        subprocess.TimeoutExpired: It was killed.
    """
    command = ForkedCommand(words, env=env, cwd=cwd)
    try:
        out, errors = command.communicate(timeout_s)
    finally:
        command.kill()
    return subprocess.CompletedProcess(words, command.wait(), out, errors)


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
            _attend(command, socket.socket(fileno=reply))
            os._exit(0)
        for descriptor in descriptors:
            os.close(descriptor)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass  # one that has ended


def _attend(command: int, asker: socket.socket) -> None:
    """Tells which process a command is and how it ended; sends it signals, and kills it once nobody waits any more."""
    asker.send(str(command).encode())
    with os.fdopen(os.pidfd_open(command), "rb", buffering=0) as ended:
        while ended not in select.select([ended, asker], [], [])[0]:
            number = b""
            with suppress(ConnectionResetError):  # it has gone before it knew which process the command is
                number = asker.recv(1)
            os.kill(command, number[0] if number else signal.SIGKILL)
            if not number:
                break
    _, status = os.waitpid(command, 0)
    with suppress(OSError):
        asker.send(str(os.waitstatus_to_exitcode(status)).encode())


def _obey(request: dict[str, object]) -> None:
    tempfile.tempdir = None
    for number in (signal.SIGTERM, signal.SIGHUP):  # as a shell starts programs, whatever started the tests
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(request["env"])  # type: ignore[arg-type]
    os.chdir(str(request["cwd"]))
    sys.argv = list(request["words"])  # type: ignore[call-overload]
    importlib.import_module("plimsoll.cli.main").main()


def _leave(code: object) -> None:
    """Ends the process as its end by itself would, without taking all modules apart, which copies their memory."""
    threading._shutdown()
    atexit._run_exitfuncs()
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    shared_drawer = importlib.import_module("shared_drawer")
    initialised_data = importlib.import_module("initialised_data")
    sys.path.pop(0)  # the folder of this file, which programs do not have there
    listener = shared_drawer.start_shared_drawer()
    _prepare()
    initialised_data.copy_initialised_data()
    asked = _serve(socket.socket(fileno=int(sys.argv[1])))
    if asked is not None:
        shared_drawer.use_shared_drawer(listener)
        try:
            _obey(asked)
        except SystemExit as ended:
            _leave(ended.code)
