"""Running the real command as users do, and a real server for it to talk to."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from plimsoll.errors import HostError
from plimsoll.servers.command import find_server
from plimsoll.servers.managed_server import ManagedServer, ManagedSpec
from support.forked_commands import ForkedCommand

COMMAND = Path(sys.executable).parent / "plimsoll"
Started = subprocess.Popen[str] | ForkedCommand

LIMIT_S = 1000.0
"""Ends a command that hangs, before its test is ended; nothing is said about how long one may take."""


def plimsoll(
    *arguments: str | Path, env: dict[str, str] | None = None, timeout_s: float = LIMIT_S, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs the command to its end."""
    command = begin(*arguments, env={"COLUMNS": "200", "NO_COLOR": "1", **(env or {})}, cwd=cwd)
    try:
        output, errors = command.communicate(timeout_s)
    finally:
        command.kill()
    return subprocess.CompletedProcess(command.words, command.wait(), output, errors)


def begin(*arguments: str | Path, env: dict[str, str] | None = None, cwd: Path | None = None) -> ForkedCommand:
    """Begins the command; the caller ends it, by signals if need be."""
    return ForkedCommand([str(COMMAND), *map(str, arguments)], env={**os.environ, **(env or {})}, cwd=cwd)


def start(*arguments: str | Path, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
    """Starts the program, where the program itself is what a test is about; the caller ends it."""
    return subprocess.Popen(
        [str(COMMAND), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(env or {})},
    )


def engines_of(process: Started) -> list[int]:
    """The load engines below a command, oldest first."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        if name.startswith("plimsoll-engin") and int(rest.split()[1]) == process.pid:
            found.append(int(path.parent.name))
    return sorted(found)


def assert_one_clear_message(ran: subprocess.CompletedProcess[str], code: int, *parts: str) -> None:
    """The exit code of the class of fault, the parts in the message, and no trace of Python or of a bug."""
    assert ran.returncode == code, ran.stderr
    for part in parts:
        assert part in ran.stderr, ran.stderr
    assert "Traceback" not in ran.stderr
    assert "bug" not in ran.stderr
    assert len(ran.stderr.splitlines()) < 30


@contextmanager
def real_server(base_dir: Path, **options: object) -> Iterator[ManagedServer]:
    """A running MariaDB with small sizes, removed afterwards; skipped loudly where there is none, a failure in CI."""
    try:
        find_server("mariadb")
    except HostError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"SKIPPED, no MariaDB here: {error}")
    spec = ManagedSpec(profile="bare", buffer_pool_bytes=64 * 2**20, options=dict(options))
    with ManagedServer.create(name="test", spec=spec, base_dir=base_dir) as server:
        server.start()
        yield server


def connecting(server: ManagedServer) -> str:
    """The first line of a command that reaches a server."""
    return f"connecting to {server.target.user}@{server.target.endpoint} ...\n"


def login(server: ManagedServer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The options of a command that reach a server, with its password in a variable."""
    monkeypatch.setenv("PW", server.target.password.get_secret_value())
    return ["--target", str(server.target), "--password-env", "PW"]
