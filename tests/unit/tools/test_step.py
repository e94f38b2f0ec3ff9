"""tools/step: what people see while something is built or installed, and what when it fails."""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support.repository import ROOT


@pytest.fixture
def step(tmp_path: Path) -> str:
    """The tool in a folder of its own, where its logs go."""
    (tmp_path / "tools").mkdir()
    return shutil.copy(ROOT / "tools/step", tmp_path / "tools/step")


def run(step: str, script: str) -> subprocess.CompletedProcess[str]:
    command = [step, "Load engine", "bash", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=Path(step).parents[1])


def test_a_step_that_works_says_when_it_begins_and_ends_and_not_what_it_printed(step: str) -> None:
    ran = run(step, "echo Compiling; echo a warning >&2")
    assert ran.returncode == 0
    began, done = ran.stdout.splitlines()
    assert began == "Load engine ..."
    assert re.fullmatch(r"Load engine: done in 0:\d\d min", done)
    assert ran.stderr == ""


def test_a_step_that_fails_shows_all_that_it_printed_and_where_that_is(step: str) -> None:
    ran = run(step, "seq 1000; printf '    Building [=> ] 1/9: libc\\r' >&2; echo 'error: no linker' >&2; exit 7")
    assert ran.returncode == 7
    assert ran.stderr.splitlines()[:1000] == [str(number) for number in range(1, 1001)]
    cause, end = ran.stderr.splitlines()[1000:]
    assert cause == "error: no linker"
    said = r"plimsoll: Load engine: exit code 7 after 0:\d\d min; the lines above are in build/log/Load-engine.log"
    assert re.fullmatch(said, end)
    assert "error: no linker" in (Path(step).parents[1] / "build/log/Load-engine.log").read_text()


def test_on_a_terminal_one_line_shows_the_time_and_what_was_printed_last(step: str, tmp_path: Path) -> None:
    shown, terminal = pty.openpty()
    subprocess.run(["stty", "columns", "40"], stdin=terminal, check=True)
    script = r"printf 'Compiling\n  \033[32mBuilding\033[0m [=> ] 143/212: a-long-name\r'; "
    script += "until [ -e seen ]; do sleep 0.1; done"
    command = [step, "Load engine", "bash", "-c", script]
    environment = {**os.environ, "TERM": "xterm"}
    with subprocess.Popen(command, stdin=terminal, stdout=terminal, env=environment, cwd=tmp_path):
        text = ""
        while "143" not in text:
            text += os.read(shown, 10_000).decode()
        (tmp_path / "seen").touch()
        while "done in" not in text or not text.endswith("min\r\n"):
            text += os.read(shown, 10_000).decode()
    os.close(terminal)
    lines = [line for line in text.replace("\x1b[K", "").split("\r") if line.strip()]
    assert re.fullmatch(r"Load engine: done in 0:\d\d min", lines[-1]), lines
    assert re.fullmatch(r"Load engine  0:\d\d  Building \[=> \] 143/2", lines[-2]), lines
