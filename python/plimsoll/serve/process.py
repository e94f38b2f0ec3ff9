"""The server of the pages: in this process for `plimsoll serve`, in one of its own beside a run (`--web`).

Beside a run it has a low priority, and the run never waits for a browser. It is told what to serve on its standard
input, and ends when that does: with the run, whatever ended it. Its token is made there and comes back the same way, so
nothing secret stands in arguments or in the environment, of which it gets only what Python needs. Deliberately not
here: the pages (`app`).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from plimsoll.errors import HostError
from plimsoll.interruption import handled_by
from plimsoll.serve.app import Pages, application
from plimsoll.spec.addresses import in_url
from plimsoll.telemetry.sampler import yield_to_others

LOOPBACK, PORT = "127.0.0.1", 5665
TOKEN_LEAST = 16
"""Letters of a token that somebody chose."""

_NICENESS = 10
_BEGIN_LIMIT_S = 60.0
_END_LIMIT_S = 15.0
_KEPT_VARIABLES = ("HOME", "LANG", "LC_ALL", "PATH", "PYTHONPATH", "TMPDIR", "XDG_CACHE_HOME")


def bound(host: str, port: int, *, or_any: bool = False) -> socket.socket:
    """A socket that listens.

    Args:
        host: An address or a name of this machine.
        port: Its port; 0 for any that is free.
        or_any: Another port where that one is taken.

    Raises:
        HostError: It cannot be had.
    """
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(64)
        except OSError:
            listening.close()
            raise
    except OSError as error:
        if or_any and port:
            return bound(host, 0)
        raise HostError(
            f"cannot listen at {host}:{port}: {error.strerror or error}; choose another port with --port"
        ) from None
    return listening


def address_of(listening: socket.socket, token: str, path: str = "") -> str:
    """Where a browser finds the pages."""
    host, port = listening.getsockname()[:2]
    return f"http://{in_url(host)}:{port}/{token}/{path}"


class _Server(uvicorn.Server):
    """Tells open pages that it ends before it waits for them."""

    def __init__(self, config: uvicorn.Config, pages: Pages) -> None:
        super().__init__(config)
        self._pages = pages
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begins to answer."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leaves signals to whoever runs it."""
        yield

    def end(self) -> None:
        """Ends it, from any thread or a signal's handler."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._pages.closing.set)
        self.should_exit = True


def server_of(root: Path, token: str, names: frozenset[str] = frozenset()) -> _Server:
    """The server of a folder.

    Args:
        root: The folder.
        token: Every address begins with it.
        names: Of this machine, besides its addresses.
    """
    app, pages = application(root, token=token, names=names)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="off",
        ws="none",
        http="h11",
        loop="asyncio",
        limit_concurrency=128,
        timeout_graceful_shutdown=10,
    )
    return _Server(config, pages)


def serve(root: Path, listening: socket.socket, token: str, names: frozenset[str] = frozenset()) -> None:
    """Serves until a signal ends it."""
    server = server_of(root, token, names)
    with handled_by(lambda _number, _frame: server.end()):
        server.run(sockets=[listening])


@contextmanager
def beside(root: Path, tell: Callable[[str], None]) -> Iterator[None]:
    """Serves a folder from a process of its own for the time of a run. A page that cannot be had stops no run.

    Args:
        root: The folder that the run records into; it need not be there yet.
        tell: Is told the address, or why there is none, as one line.
    """
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "plimsoll.serve.process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ},
        )
    except OSError as error:
        tell(f"no page: {error.strerror}")
        yield
        return
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps({"folder": str(root.absolute())}).encode() + b"\n")
            process.stdin.flush()
        is_there = bool(select.select([process.stdout], [], [], _BEGIN_LIMIT_S)[0])
        line = process.stdout.readline() if is_there else b""
        tell(_told_line(line))
        yield
    finally:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        try:
            process.wait(_END_LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def _told_line(line: bytes) -> str:
    try:
        answer = json.loads(line)
        return f"page: {answer['address']}" if "address" in answer else f"no page: {answer['fault']}"
    except (ValueError, KeyError, TypeError):
        return "no page: the process that serves it did not begin"


def main() -> None:
    """Serves what standard input asks for, until it ends. Ctrl-C is for the run, and this process ends with it."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    os.nice(_NICENESS)
    yield_to_others()  # threads that it starts do so too
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    request = json.loads(sys.stdin.buffer.readline())
    token = secrets.token_urlsafe(24)
    try:
        listening = bound(LOOPBACK, PORT, or_any=True)
    except HostError as error:
        answer = {"fault": str(error)}
    else:
        answer = {"address": address_of(listening, token, "at/")}
    answers.write(json.dumps(answer).encode() + b"\n")
    answers.flush()
    if "fault" in answer:
        return
    server = server_of(Path(request["folder"]), token)

    def end_with_the_run() -> None:
        sys.stdin.buffer.read()
        server.end()

    threading.Thread(target=end_with_the_run, daemon=True).start()
    server.run(sockets=[listening])


if __name__ == "__main__":
    main()
