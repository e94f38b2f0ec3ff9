"""Nothing that is said can end a command: readers that are gone, closed descriptors, full disks, poor encodings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support.command import COMMAND

LOUD = """
import sys
from plimsoll.cli.failures import exit_code_of
from plimsoll.cli.streams import go_on_unread
go_on_unread()
def command():
    for _ in range(20_000):
        print("progress", file=sys.stderr)
        print("data")
    open(sys.argv[1], "w").write("done")
    return 4
sys.exit(exit_code_of(command))
"""


def shell(line: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", line, "bash", *map(str, words)], capture_output=True, text=True, check=False, timeout=300
    )


def test_a_command_goes_on_when_nobody_reads_it_any_more(tmp_path: Path) -> None:
    ended = tmp_path / "ended"
    for pipe in ("2>&1 | head -n 1", "2> >(head -n 1 >&2) | head -n 1"):
        ran = shell(f'"$1" -c "$2" "$3" {pipe}; echo "${{PIPESTATUS[0]}}"', sys.executable, LOUD, ended)
        assert ran.stdout.splitlines()[-1] == "4", ran.stderr
        assert "Traceback" not in ran.stderr
        assert ended.read_text() == "done"
        ended.unlink()


def test_closed_descriptors_are_no_reason_to_fail() -> None:
    assert shell('"$1" --version >&- 2>&-; echo $?', COMMAND).stdout == "0\n"
    assert shell('"$1" nonsense 2>&-; echo $?', COMMAND).stdout == "2\n"


def test_data_that_is_lost_is_told_once() -> None:
    ran = shell('"$1" workload show > /dev/full', COMMAND)
    assert ran.returncode == 3
    assert ran.stderr.startswith("plimsoll: No space left on device; check")
    assert len(ran.stderr.splitlines()) == 1
    assert shell('"$1" nonsense 2> /dev/full', COMMAND).returncode == 2


def test_what_an_encoding_lacks_becomes_an_escape() -> None:
    code = "from plimsoll.cli.streams import go_on_unread; go_on_unread(); print('5 \u2192 6 \u00b5s')"
    ran = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONIOENCODING": "latin-1"}, capture_output=True, check=True
    )
    assert ran.stdout == b"5 \\u2192 6 \xb5s\n"
