"""What a program that stands for the engine sees of a password when it is started: nothing, at no moment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plimsoll.drive.executable import arguments_file, arguments_option
from plimsoll.drive.sysbench import SysbenchProcess
from support.command import plimsoll

PASSWORD = "pw=1 'x'"
LOOKS = """#!/bin/sh
cat /proc/$$/cmdline /proc/$$/environ > "$0.shown"
number=${1#--arguments-fd=}
cat /dev/fd/$number > "$0.read"
"""


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that keeps what it is shown, and what it may read."""
    engine = tmp_path / "engine"
    engine.write_text(LOOKS)
    engine.chmod(0o755)
    monkeypatch.setenv("PLIMSOLL_ENGINE", str(engine))
    return engine


def shown(engine: Path) -> str:
    return engine.with_suffix(".shown").read_bytes().decode()


def read(engine: Path) -> list[str]:
    return engine.with_suffix(".read").read_bytes().decode().split("\0")


def test_a_recorded_run_shows_no_argument(engine: Path) -> None:
    words = ["oltp_read_only", f"--mysql-password={PASSWORD}", "--own-secret=hidden", "", "run"]
    with SysbenchProcess(words) as process:
        assert process.wait() == 0
    assert PASSWORD not in shown(engine)
    assert "hidden" not in shown(engine)
    assert read(engine) == ["sysbench", *words, ""]


def test_a_run_that_is_handed_over_shows_all_but_the_password(engine: Path) -> None:
    words = ["sysbench", "cpu", f"--mysql-password={PASSWORD}", "--time=1", "run"]
    assert plimsoll(*words).returncode == 0
    assert PASSWORD not in shown(engine)
    assert "--mysql-password=…\0--time=1\0run" in shown(engine)
    assert read(engine) == [*words, ""]


def test_the_words_are_read_as_they_are() -> None:
    file = arguments_file(["a b", "", "\udcff\n"])
    assert arguments_option(file) == f"--arguments-fd={file}"
    with os.fdopen(file, "rb") as reading:
        assert reading.read() == b"a b\0\0\xff\n\0"
