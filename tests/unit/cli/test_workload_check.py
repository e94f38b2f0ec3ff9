"""`plimsoll workload check` passes no file that the load engine refuses, and needs no server for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.cli.workload import check
from plimsoll.errors import SpecError
from support.command import plimsoll

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


def test_what_the_files_own_checks_miss_the_engine_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of both plans at once: that of the tables and that of the transactions."""
    monkeypatch.setattr("plimsoll.spec.workload_file.contradictions", lambda _: iter(()))
    (tmp_path / "w.toml").write_text(FILE.format(columns="", index=INDEX).replace("id FROM", ":x, id FROM"))
    with pytest.raises(SpecError) as caught:
        check(str(tmp_path / "w.toml"))
    assert [fault.removeprefix(str(tmp_path)) for fault in caught.value.lines] == [
        '/w.toml: data_set.tables[0].indexes: "PRIMARY" is there twice',
        '/w.toml: workload.transactions[0].statements[0].parameters: there is no value "x" before it',
    ]
    assert capsys.readouterr().out == ""


def test_a_good_file_is_good(tmp_path: Path) -> None:
    (tmp_path / "w.toml").write_text(FILE.format(columns="", index=""))
    ran = plimsoll("workload", "check", tmp_path / "w.toml")
    assert ran.returncode == 0, ran.stderr
    assert "is valid" in ran.stdout
