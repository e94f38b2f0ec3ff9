"""Engines made up by a script, for tests of whoever talks to one."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plimsoll.drive.engine import LocalDriver
from plimsoll.drive.protocol import PROTOCOL
from plimsoll.errors import PlimsollError
from support.waiting import until

HELLO = {"type": "hello", "protocol": PROTOCOL, "engine": "0.1.0", "pid": 1, "monotonic_ns": 1, "unix_ns": 1}
READY = {
    "type": "ready",
    "connections": 2,
    "wanted_count": 2,
    "connect_ms": 1,
    "failures": [],
    "encryptions": [],
    "statements": [],
}
WARNING = {"type": "warning", "code": "a-code", "evidence": "Seen.", "advice": "Do."}
CPU = {"user_ns": 1, "system_ns": 2}
INTERVAL = {"type": "interval", "index": 0, "from_ns": 0, "to_ns": 10**9, "client": CPU, "groups": []}
PROGRESS = {"type": "progress", "phase": "load", "done_count": 1, "total_count": 2}
DONE = {
    "type": "done",
    "reason": "completed",
    "started_unix_ns": 1,
    "duration_ns": 1,
    "offered_count": 0,
    "unfinished_count": 0,
    "client": CPU,
    "memory_bytes_max": 1,
    "rows_count": 7,
    "outages": [],
    "outages_count": 0,
}
PLAN: dict[str, Any] = {"type": "plan"}
BEGINNING = """\
#!{python} -IS
import json, os, sys, time
def say(*messages):
    for message in messages:
        os.write(1, json.dumps(message).encode() + b"\\n")
def hear():
    line = sys.stdin.readline()
    with open({heard!r}, "a") as file:
        file.write(line)
    return line
with open({pid_file!r}, "w") as file:
    file.write(str(os.getpid()))
"""

Fake = Callable[..., None]


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Makes an engine from the body of a script, in which `say` and `hear` talk."""

    def make(body: str, **values: object) -> None:
        path = tmp_path / "engine"
        names = {"python": sys.executable, "heard": str(tmp_path / "heard"), "pid_file": str(tmp_path / "pid")}
        values = {"HELLO": HELLO, "READY": READY, "DONE": DONE, **values}
        stated = "".join(f"{name} = {value!r}\n" for name, value in values.items())
        path.write_text(BEGINNING.format(**names) + stated + textwrap.dedent(body))
        path.chmod(0o755)
        monkeypatch.setenv("PLIMSOLL_ENGINE", str(path))

    return make


def heard(tmp_path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (tmp_path / "heard").read_text().splitlines()]


def is_gone(tmp_path: Path) -> bool:
    """Whether the fake has ended, waiting a little for it."""
    pid = int((tmp_path / "pid").read_text())

    def ended() -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return False

    return until(ended)


def fault_of_trial() -> PlimsollError:
    """What a trial on the fake ends with."""
    with pytest.raises(PlimsollError) as caught:
        drive()
    return caught.value


def drive() -> None:
    with LocalDriver().launch("trial", PLAN) as run:
        run.ready(lambda _: None)
        run.start()
        list(run.messages())
