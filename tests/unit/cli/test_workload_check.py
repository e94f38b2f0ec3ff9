"""`plimsoll workload check` passes no file that the load engine refuses, and needs no server for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command import assert_one_clear_message, plimsoll

FILE = """
[[table]]
name = "people"
rows = 5
[[table.column]]
name = "id"
generate = "sequence"
{columns}
{index}
[[transaction]]
name = "read"
[[transaction.statement]]
sql = "SELECT id FROM people"
"""
INDEX = '[[table.index]]\nname = "primary"\ncolumns = "id"'
COLUMNS = "\n".join(f'[[table.column]]\nname = "c{number}"\ngenerate = "sequence"' for number in range(1000))


@pytest.mark.parametrize(
    ("columns", "index", "fault"),
    [("", INDEX, '"PRIMARY" is there twice'), (COLUMNS, "", "columns: must be within 1..=1000, are 1001")],
)
def test_what_only_the_engine_refuses_is_told(columns: str, index: str, fault: str, tmp_path: Path) -> None:
    (tmp_path / "w.toml").write_text(FILE.format(columns=columns, index=index))
    assert_one_clear_message(plimsoll("workload", "check", tmp_path / "w.toml"), 2, fault)


def test_a_good_file_is_good(tmp_path: Path) -> None:
    (tmp_path / "w.toml").write_text(FILE.format(columns="", index=""))
    ran = plimsoll("workload", "check", tmp_path / "w.toml")
    assert ran.returncode == 0, ran.stderr
    assert "is good" in ran.stdout
