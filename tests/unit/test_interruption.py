"""Signals that ask to end: the first interrupts, later ones change nothing, and ignored ones stay ignored."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from signal import Signals

import pytest

from plimsoll.interruption import SIGNALS

COMMAND = """
import os, signal, sys
from plimsoll.cli.failures import exit_code_of

def command():
    try:
        os.kill(os.getpid(), int(sys.argv[1]))
    finally:
        for number in map(int, sys.argv[2:]):
            os.kill(os.getpid(), number)
        print("cleaned up", signal.getsignal(15) is signal.SIG_IGN)

sys.exit(exit_code_of(command))
"""


DROPS = """
import os
try:
    os.kill(os.getpid(), {number})
    for _ in range(1_000):
        pass
except BaseException as error:
    print("dropped", type(error))
"""
WAITS = """
import sys, time
from plimsoll.cli.failures import exit_code_of

class Ends:
    def __del__(self):
        exec(sys.argv[1])

def command():
    try:
        {drops}
        time.sleep(600)
    finally:
        print("cleaned up")

sys.exit(exit_code_of(command))
"""


def run_command(number: Signals, later: Sequence[Signals], *before: str) -> subprocess.CompletedProcess[str]:
    words = [*before, sys.executable, "-c", COMMAND, *(str(int(one)) for one in (number, *later))]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("number", SIGNALS, ids=lambda one: one.name)
def test_cleaning_up_is_not_interrupted(number: Signals) -> None:
    """And what cleaning up starts does not inherit ignored signals."""
    done = run_command(number, SIGNALS)
    assert (done.returncode, done.stdout) == (130, "cleaned up False\n"), done.stderr
    first, *later = [line for line in done.stderr.splitlines() if line]
    assert first == "plimsoll: stopping; waits until all that it started has ended and is removed"
    assert later[0] == "plimsoll: is ending already, and cleans up first"


def test_under_nohup_a_run_outlives_its_terminal() -> None:
    done = run_command(Signals.SIGHUP, [Signals.SIGHUP], "sh", "-c", 'trap "" HUP; exec "$@"', "sh")
    assert done.returncode == 0, done.stderr
    assert run_command(Signals.SIGTERM, [], "sh", "-c", 'trap "" HUP; exec "$@"', "sh").returncode == 130


@pytest.mark.parametrize("drops", ["import drops", "Ends()"])
@pytest.mark.parametrize("number", SIGNALS, ids=lambda one: one.name)
def test_an_interruption_waits_where_it_would_be_dropped(number: Signals, drops: str, tmp_path: Path) -> None:
    text = DROPS.format(number=int(number))
    (tmp_path / "drops.py").write_text(text)
    words = [sys.executable, "-c", WAITS.format(drops=drops), text]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=env)
    assert (done.returncode, done.stdout) == (130, "cleaned up\n"), done.stderr
