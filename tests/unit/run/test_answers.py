"""What a server is taken to answer to a user's statements."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.drive.plans import SimColumn
from plimsoll.run.answers import ROWS_ASSUMED, Answer, answers
from plimsoll.spec.statements import StatementsSpec, reader, shipped

FILE = """
[[table]]
name = "people"
rows = 10_000
column = [
    { name = "id", generate = "sequence" },
    { name = "town", generate = "integer", from = 1, to = 500 },
    { name = "sex", generate = "choice", values = ["f", "m"] },
    { name = "born", generate = "timestamp", from = 1950-01-01T00:00:00, to = 2010-01-01T00:00:00 },
    { name = "name", generate = "letters", length = [10, 20] },
    { name = "code", generate = "text", template = "p-{row}-{hex:8}" },
]

[[transaction]]
name = "one"
values.a = { generate = "integer", from = 1, to = 9 }
values.b = { sum_of = "a", add = 99 }

[[transaction.statement]]
sql = \"\"\"SQL\"\"\"
KEEP
[[transaction.statement]]
sql = "DO :a + :b"
"""


def answer(sql: str, keep: str = "") -> Answer:
    text = FILE.replace("SQL", sql).replace("KEEP", keep)
    (found,) = answers(StatementsSpec(name="x", file="x.toml", text=text))
    assert found.place == "transaction[0].statement[0]"
    return found


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT name FROM people WHERE id = :a", 1),
        ("SELECT name FROM people WHERE id IN (:a, :a, :b)", 3),
        ("SELECT name FROM people WHERE id BETWEEN :a AND :b", 100),
        ("SELECT name FROM people WHERE id BETWEEN :a AND :b AND sex = 'f'", 50),
        ("SELECT name FROM people WHERE town = :a", 20),
        ("SELECT name FROM people p WHERE p.town = :a AND p.sex = 'f' ORDER BY name", 10),
        ("SELECT name FROM people WHERE town = :a LIMIT 7", 7),
        ("SELECT name FROM people WHERE town = :a LIMIT 50", 20),
        ("SELECT name FROM people WHERE born > NOW() LIMIT 5, 10", 10),
        ("SELECT name FROM people", 10_000),
        ("SELECT COUNT(*) FROM people WHERE born > NOW()", 1),
    ],
)
def test_rows_are_told_from_conditions_and_limits(sql: str, rows: int) -> None:
    found = answer(sql)
    assert (found.shape.rows, found.is_assumed) == (rows, False)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM people WHERE born > NOW()",
        "SELECT name FROM people WHERE id = :a OR id = :b",
        "SELECT name FROM people WHERE name LIKE 'a%'",
        "SELECT name FROM people p JOIN people q ON q.id = p.town WHERE p.id = :a",
        "SELECT town, COUNT(*) FROM people GROUP BY town",
        "SELECT name FROM others WHERE id = :a",
        "SELECT name FROM people WHERE id BETWEEN :b AND :a",
    ],
)
def test_where_rows_cannot_be_told_they_are_assumed(sql: str) -> None:
    found = answer(sql)
    assert (found.shape.rows, found.is_assumed) == (ROWS_ASSUMED, True)


def test_columns_have_the_types_and_sizes_of_the_tables() -> None:
    found = answer("SELECT name, code AS c, born, id, AVG(town) FROM people WHERE id = :a")
    sizes = [("name", 15), ("c", 19), ("born", 19), ("id", None), ("AVG(town)", 12)]
    assert [(one.name, one.text_bytes) for one in found.shape.columns] == sizes
    everything = answer("SELECT * FROM people WHERE id = :a").shape.columns
    assert [one.name for one in everything] == ["id", "town", "sex", "born", "name", "code"]


def test_what_is_kept_is_there_and_can_be_added_to() -> None:
    kept = 'keep = { x = "last", y = "elsewhere" }\n[[transaction.statement]]\nsql = "DO :x + :y"'
    found = answer("SELECT MAX(id) AS last FROM people", kept)
    assert found.shape.columns == (SimColumn("last", None), SimColumn("elsewhere", None))
    assert answer("CALL find()", kept).shape.columns == (SimColumn("last", None), SimColumn("elsewhere", None))


def test_no_result_set_is_larger_than_the_fake_server_keeps() -> None:
    shape = answer("SELECT name FROM people").shape
    large = StatementsSpec(
        name="x",
        file="x.toml",
        text=FILE.replace("SQL", "SELECT name FROM people").replace("KEEP", ""),
        rows={"people": 4_000_000_000},
    )
    (found,) = answers(large)
    assert shape.rows < found.shape.rows < 32_000_000 / 15


def test_shipped_workloads_need_no_assumption_and_longer_texts_go_first() -> None:
    for name in shipped():
        found = answers(StatementsSpec(name=name, file=name, text=reader(Path())(name)))
        assert found, name
        assert not any(one.is_assumed for one in found), name
        lengths = [len(one.shape.contains) for one in found]
        assert lengths == sorted(lengths, reverse=True)
