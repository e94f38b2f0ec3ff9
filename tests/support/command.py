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
from support.forked_commands import ForkedCommand, run_forked
from support.initialised_data import created
from support.vanishing import children, words_of

COMMAND = Path(sys.executable).parent / "plimsoll"
Running = subprocess.Popen[str] | ForkedCommand
LIMIT_S = 1000.0
"""Ends a command that hangs, before its test is ended; nothing is said about how long one may take."""


def plimsoll(
    *arguments: str | Path, env: dict[str, str] | None = None, timeout_s: float = LIMIT_S, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs the command to its end."""
    return run_forked([str(COMMAND), *map(str, arguments)], env=_whole(env), cwd=cwd, timeout_s=timeout_s)


def start_forked(*arguments: str | Path, env: dict[str, str] | None = None) -> ForkedCommand:
    """Starts the command; the caller ends it. Its processor time is a second less than that of `start`."""
    return ForkedCommand([str(COMMAND), *map(str, arguments)], env=_whole(env), cwd=None)


def _whole(env: dict[str, str] | None) -> dict[str, str]:
    return {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", **(env or {})}


def start(*arguments: str | Path, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
    """Starts the command as a program, for tests that look at its arguments and the like; the caller ends it."""
    return subprocess.Popen(
        [str(COMMAND), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(env or {})},
    )


def engines_of(process: Running, verb: str = "trial") -> list[int]:
    """The engines below a command that carry out one of their own, such as `trial` or `sim`; oldest first."""
    lines = ((pid, words_of(pid)[:2]) for pid in children(process.pid))
    return [
        pid for pid, words in lines if words and words[0].endswith(b"plimsoll-engine") and words[1:] == [verb.encode()]
    ]


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
    with created(name="test", spec=spec, base_dir=base_dir) as server:
        server.start()
        yield server


def connecting(server: ManagedServer) -> str:
    """The first line of a command that reaches a server."""
    return f"connecting to {server.target.user}@{server.target.endpoint} ...\n"


def login(server: ManagedServer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The options of a command that reach a server, with its password in a variable."""
    monkeypatch.setenv("PW", server.target.password.get_secret_value())
    return ["--target", str(server.target), "--password-env", "PW"]
