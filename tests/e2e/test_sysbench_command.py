"""`plimsoll sysbench` becomes the engine: arguments, streams and exit codes are the engine's own."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from plimsoll.drive.executable import find_engine
from support.command import assert_one_clear_message, plimsoll, start

LOADED = """
import os, sys
from plimsoll.cli.main import main

def execv(*_):
    print(sorted(sys.modules))
    sys.exit()

os.execv, sys.argv = execv, ["plimsoll", "sysbench", "--version"]
main()
"""
"""Prints what is loaded when the engine takes over."""


def engine(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The engine itself, asked the same."""
    return subprocess.run([find_engine(), "sysbench", *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--version",),
        ("--debug", "--version"),
        ("cpu", "help"),
        ("cpu",),
        ("cpu", "--no-such-option", "run"),
        ("cpu", "run", "a-third-word"),
        ("no-such-test", "--threads=2", "run"),
        ("--", "cpu", "--help"),
    ],
)
def test_says_and_ends_as_the_engine_does(arguments: tuple[str, ...]) -> None:
    ran, itself = plimsoll("sysbench", *arguments), engine(*arguments)
    assert (ran.returncode, ran.stdout, ran.stderr) == (itself.returncode, itself.stdout, itself.stderr)


def test_help_lists_what_the_engine_does_not_know_and_whose_the_rest_is() -> None:
    ran, itself = plimsoll("sysbench", "--help"), engine("--help")
    own = ran.stdout.removesuffix(itself.stdout)
    assert own != ran.stdout
    for said in ("--plimsoll-record=STUDY", "--plimsoll-record-system=NAME", "All other arguments are sysbench's."):
        assert said in own


def test_arguments_arrive_as_they_were_typed(tmp_path: Path) -> None:
    told = tmp_path / "engine"
    told.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\nexit 7\n')
    told.chmod(told.stat().st_mode | stat.S_IXUSR)
    typed = ["-h", "--", "--a=b c", "--help", "", "-x", "--", "run"]
    ran = plimsoll("sysbench", *typed, env={"PLIMSOLL_ENGINE": str(told)})
    assert ran.stdout.splitlines() == ["sysbench", *typed]
    assert ran.returncode == 7


def test_nothing_heavy_is_loaded_on_the_way() -> None:
    ran = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    loaded = ran.stdout
    assert "plimsoll.drive.executable" in loaded
    assert not [name for name in ("pydantic", "polars", "numpy") if f"'{name}'" in loaded]


@pytest.mark.parametrize("named", ["/nowhere/plimsoll-engine", "/dev/null"])
def test_a_missing_engine_is_told(named: str) -> None:
    ran = plimsoll("sysbench", "cpu", "run", env={"PLIMSOLL_ENGINE": named})
    assert_one_clear_message(ran, 3, named, "reinstall plimsoll")


def test_it_is_the_same_process_and_ctrl_c_is_the_engines() -> None:
    running = start("sysbench", "cpu", "--mysql-password=hunter2", "--time=60", "run")
    assert running.stdout is not None
    while "Threads started!" not in running.stdout.readline():
        assert running.poll() is None
    assert Path(f"/proc/{running.pid}/exe").readlink() == find_engine().resolve()
    assert "hunter2" not in Path(f"/proc/{running.pid}/cmdline").read_text()
    began = time.monotonic()
    os.kill(running.pid, signal.SIGINT)
    told, _ = running.communicate(timeout=300)
    assert running.returncode == -signal.SIGINT
    assert "events per second" in told
    assert time.monotonic() - began < 55, "it was to last a minute"
