"""docs/import.md: its commands are run and print what it shows; the schema that it shows is the schema."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from plimsoll.importers.columns import SCHEMA

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


def test_the_schema_that_is_shown_is_the_schema() -> None:
    """All of it but the other units, which stand behind "also"."""
    shown = set()
    for row in re.findall(r"^\| (`.*?) \|", TEXT.split("## The schema")[1], re.MULTILINE):
        names = re.findall(r"`(\w+)`", row)
        shown |= {names[0].removesuffix("_mean") + name if name.startswith("_") else name for name in names}
    other_units = {name for name in SCHEMA if re.match(r"response_(us|s)_|cpu_\w+_ratio", name)}
    assert shown == SCHEMA.keys() - other_units - {"factor", "ignore"}
