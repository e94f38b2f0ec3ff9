"""What is told of a query from its text."""

from __future__ import annotations

import pytest

from plimsoll.run.select_text import read_query


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("SELECT a, t.b, `c d` FROM t", ["a", "b", "c d"]),
        ("select distinct a AS x, b y, 'it''s, FROM' z FROM t", ["x", "y", "z"]),
        ("SELECT COUNT(*), MAX(a, b), a + b FROM t", ["COUNT(*)", "MAX(a, b)", "a + b"]),
        ("SELECT /* x, */ a, -- y, z\n b FROM t", ["a", "b"]),
        ("SELECT (SELECT b FROM u LIMIT 1) AS b, * FROM t", ["b", "*"]),
        ("WITH w AS (SELECT a, b FROM t) SELECT a FROM w", ["a"]),
        ("INSERT INTO t (a) VALUES (?) RETURNING id", ["id"]),
        ("SELECT 1", ["1"]),
        ("SHOW STATUS", []),
        ("(SELECT a FROM t) UNION (SELECT b FROM u)", []),
    ],
)
def test_the_columns_of_a_query_have_the_names_that_servers_give_them(sql: str, names: list[str]) -> None:
    query = read_query(sql)
    assert query is not None
    assert [item.name for item in query.items] == names


@pytest.mark.parametrize(
    "sql",
    ["", "UPDATE t SET a = (SELECT 1)", "INSERT INTO t SELECT a FROM u", "DELETE FROM t", "DO SLEEP(1)", "-- SELECT"],
)
def test_what_returns_no_rows_is_no_query(sql: str) -> None:
    assert read_query(sql) is None


def test_clauses_hold_what_stands_behind_their_word() -> None:
    query = read_query("SELECT a FROM t WHERE b IN (SELECT c FROM u) AND d = ? ORDER BY a LIMIT 5, 10 FOR UPDATE")
    assert query is not None
    words = {word: " ".join(token.text for token in behind) for word, behind in query.clauses.items()}
    assert words == {
        "FROM": "t",
        "WHERE": "b IN ( SELECT c FROM u ) AND d = ?",
        "ORDER": "BY a",
        "LIMIT": "5 , 10",
        "FOR": "UPDATE",
    }
