"""docs/import.md: its commands are run and print what it shows; the names it lists are recognised."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.importers.columns import Role, TableOptions, recognise

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "import.md").read_text()
RUN = "import sys; from plimsoll.cli.main import main; sys.argv[0] = 'plimsoll'; sys.exit(main())"


def test_every_session_prints_what_is_shown(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "own.csv").write_text(TEXT.split("```csv\n")[1].split("```")[0])
    (tmp_path / "db1.log").write_text(TEXT.split("```text\n")[1].split("```")[0].removesuffix("\n"))
    sessions = re.findall(r"```console\n\$ plimsoll (.*?)\n(.*?)```", TEXT, re.DOTALL)
    assert len(sessions) == 7
    for command, shown in sessions:
        done = subprocess.run(
            [sys.executable, "-c", RUN, *shlex.split(command)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "COLUMNS": "120"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == shown


@pytest.mark.parametrize(
    ("what", "role"),
    [
        ("level", Role.LEVEL),
        ("throughput", Role.THROUGHPUT),
        ("repetition", Role.REPETITION),
        ("cost", Role.COST),
    ],
)
def test_the_names_that_are_listed_are_recognised(what: str, role: Role) -> None:
    row = next(line for line in TEXT.splitlines() if line.startswith(f"| {what} |"))
    for name in re.findall(r"`([a-z0-9_]+)`", row):
        if not name.startswith("_"):
            assert recognise([name], TableOptions())[0][0].role is role


def test_every_machine_name_is_a_fact_about_the_host() -> None:
    row = next(line for line in TEXT.splitlines() if line.startswith("| machine |"))
    columns, _ = recognise(re.findall(r"`(\w+)`", row), TableOptions())
    assert {column.role for column in columns} == {Role.CPU_MODEL, Role.CORES, Role.MEMORY}
