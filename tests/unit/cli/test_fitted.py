"""Output fits a terminal between words, and has no blanks at the ends of lines where it goes into a file."""

from __future__ import annotations

import os
import pty
import re
import struct
import subprocess
import termios
from fcntl import ioctl
from pathlib import Path

import pytest

from plimsoll.cli.streams import fitted
from support.command import COMMAND, plimsoll

STUDY = """
[study]
name = "s"
levels = { connections = [1, 2] }
[[workload]]
name = "orders"
kind = "tpcc"
[[system]]
name = "a"
server = { managed = "mariadb" }
"""


@pytest.mark.parametrize("width", [20, 40, 80])
@pytest.mark.parametrize(
    "line",
    [
        "  4.2: room for the growth of 60 days is not shown; asked for: storage for 60 days of 8 hours",
        "response time     p50 0.02 ms, p90 0.03 ms, p95 0.05 ms, p99 0.14 ms, p999 2.90 ms, max 8.00 ms",
        "warning: short-window: 5 intervals (5.0 s) were measured, fewer than 10.",
    ],
)
def test_lines_are_broken_between_words(line: str, width: int) -> None:
    lines = fitted(line, width).splitlines()
    assert max(map(len, lines)) <= width
    assert " ".join(lines).split() == line.split()


def test_what_follows_a_label_stays_below_itself() -> None:
    assert fitted("encryption        " + "word " * 12, 60).splitlines()[1].startswith(" " * 18 + "word")


def test_a_number_keeps_its_unit() -> None:
    lines = {
        line
        for width in range(20, 80)
        for line in fitted("p99 86.3 ms, 12 % of all 5 s, 3 tps " * 3, width).splitlines()
    }
    assert not [line for line in lines if line.split()[0] in ("ms,", "%", "s,", "tps")]


def imported(folder: Path) -> Path:
    table = Path(__file__).parents[3] / "examples" / "published" / "hp-proliant-2008.csv"
    assert plimsoll("import", "table", table, "--to", folder).returncode == 0
    return folder


def test_what_is_piped_has_no_blanks_at_the_ends_of_lines(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(STUDY)
    study = imported(tmp_path / "hp")
    size = ("size", study, "--tps", 1200, "--connections", 16, "--workload", "oltp complex read/write")
    for words in (("guide", study), size, ("study", "plan", tmp_path / "s.toml"), ("--help",), ("trial", "--help")):
        ran = plimsoll(*words)
        assert ran.returncode == 0, ran.stderr
        assert len(ran.stdout) > 500
        assert [line for line in ran.stdout.splitlines() if line != line.rstrip()] == []


def test_on_a_terminal_no_word_of_the_sheet_is_broken(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(STUDY)
    piped = plimsoll("study", "plan", tmp_path / "s.toml").stdout
    shown = on_terminal("study", "plan", str(tmp_path / "s.toml"))
    assert max(map(len, shown.splitlines())) <= 80
    assert max(map(len, piped.splitlines())) > 80
    assert shown.split() == piped.split()


def on_terminal(*words: str) -> str:
    """What a command shows on a terminal of 80 columns, without colours."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen([COMMAND, *words], stdin=theirs, stdout=theirs, stderr=theirs, env=no_width())
    os.close(theirs)
    received = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # what Linux says when nobody has the other end any more
            break
        if not chunk:
            break
        received += chunk
    assert process.wait(300) == 0
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", received.decode())


def no_width() -> dict[str, str]:
    """The environment without what would speak for the terminal."""
    return {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
