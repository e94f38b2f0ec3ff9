"""Schemas in files: JSON and SQL are told apart by content, and what is neither is refused with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import SpecError
from plimsoll.learn.schema_model import ColumnFacts, SchemaFacts, TableFacts
from plimsoll.run.schema import distinct_estimate, read_schema_file, write_schema


def test_a_schema_is_written_privately_and_read_back(tmp_path: Path) -> None:
    table = TableFacts(schema_name="s", name="t", rows=5, columns=(ColumnFacts(name="é", sql_type="int"),))
    file = tmp_path / "schema.json"
    file.write_text("old")
    file.chmod(0o644)
    write_schema(file, SchemaFacts(server="10.11", tables=(table,)))
    assert file.stat().st_mode & 0o777 == 0o600
    assert read_schema_file(file).tables == (table,)


def test_a_dump_is_read_as_sql(tmp_path: Path) -> None:
    file = tmp_path / "schema.txt"
    file.write_text("-- a dump\nCREATE TABLE `t` (`id` int NOT NULL, PRIMARY KEY (`id`));\n")
    table = read_schema_file(file, "shop").tables[0]
    assert (table.schema_name, table.name, table.rows, table.rows_are) == ("shop", "t", None, "unknown")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELECT 1;", "has no tables"),
        ("CREATE TABLE a LIKE b; CREATE TABLE `c\x1b` (", r"none of its tables can be understood \(a, c\\x1b|\(a"),
        ('{"schema_format": 99}', "newer Plimsoll"),
        ('{"tables": 5}', "is no schema"),
        ("{", "is no schema"),
    ],
)
def test_what_is_no_schema_is_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "schema"
    file.write_text(text)
    with pytest.raises(SpecError, match=said):
        read_schema_file(file)


def test_distinct_counts_are_estimated_between_what_was_seen_and_all_rows() -> None:
    assert distinct_estimate(looked_at=4000, distinct=4000, once=4000, rows=1_000_000) == 1_000_000
    assert distinct_estimate(looked_at=4000, distinct=7, once=0, rows=1_000_000) == 7
    assert distinct_estimate(looked_at=1000, distinct=600, once=300, rows=10_000) == 822  # 1000*600/(700+30)
