"""Names get pseudonyms, words of the servers stay, and the statement means the same as before."""

from __future__ import annotations

import pytest

from plimsoll.learn.names import OwnNames, Pseudonyms
from plimsoll.learn.sql_tree import parsed


def numbered(text: str) -> list[str]:
    """Words, with pseudonyms by the order in which they first come: that in which they are given does not matter."""
    given: dict[str, str] = {}
    words = text.replace("(", " ( ").replace(")", " ) ").replace(",", " , ").replace(".", " . ").split()
    return [
        given.setdefault(word, f"{word[0]}{sum(one[0] == word[0] for one in given) + 1}")
        if word[0] in "tcsxvf@" and word[-1].isdigit()
        else word
        for word in words
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select a.x from a join b using (x)", "SELECT t1.c1 FROM t1 JOIN t2 USING (c1)"),
        ("select o.x as y from s.orders as o where o.x = ?", "SELECT t1.c1 AS c2 FROM s1.t2 AS t1 WHERE t1.c1 = ?"),
        ("with q as (select x from a) select x from q", "WITH t1 AS (SELECT c1 FROM t2) SELECT c1 FROM t1"),
        ("select x from a force index (i) where x = ?", "SELECT c1 FROM t1 FORCE INDEX (x1) WHERE c1 = ?"),
        (
            "insert into a (x) values (?) on duplicate key update x = values(x)",
            "INSERT INTO t1 (c1) VALUES (?) ON DUPLICATE KEY UPDATE c1 = VALUES(c1)",
        ),
        (
            "select x from a where d > now() - interval ? hour and x = timestampdiff(day, d, now())",
            "SELECT c1 FROM t1 WHERE c2 > NOW() - INTERVAL (?) HOUR AND c1 = TIMESTAMPDIFF(DAY, c2, NOW())",
        ),
        ("select extract(year_month from d) from a", "SELECT EXTRACT(YEAR_MONTH FROM c1) FROM t1"),
        ("select x collate utf8mb4_bin from a", "SELECT c1 COLLATE utf8mb4_bin FROM t1"),
        ("select x collate my_own_ci from a", "SELECT c1 COLLATE v FROM t1"),
        ("select sql_no_cache x from a", "SELECT SQL_NO_CACHE c1 FROM t1"),
        ("select @a, @b, @a from a", "SELECT @v1, @v2, @v1 FROM t1"),
        ("select crc32(x), mine(x) from a", "SELECT CRC32(c1), F1(c1) FROM t1"),
        ("select /*+ INDEX(a i) NO_MERGE(q) */ x from a", "SELECT c1 FROM t1"),
        ("select x from a where x in (...)", "SELECT c1 FROM t1 WHERE c1 IN (?)"),
    ],
)
def test_pseudonyms(text: str, expected: str) -> None:
    found = Pseudonyms().statement(text, "select")
    assert numbered(found) == numbered(expected)


def test_the_same_name_is_the_same_pseudonym_in_every_statement() -> None:
    names = Pseudonyms()
    assert names.statement("select x, y from a", "select") == "SELECT c1, c2 FROM t1"
    assert names.statement("SELECT `Y` FROM `A`", "select") == "SELECT c2 FROM t1"
    assert names.of("c", "y") == "c2"


@pytest.mark.parametrize(
    "text", ["select from where", "call secret(?)", "x" * 30_000, "load data infile ? into table secret"]
)
def test_what_cannot_be_parsed_is_not_shown(text: str) -> None:
    assert Pseudonyms().statement(text, "other") == "(other: not parsed, so not shown)"


def test_own_names_change_nothing() -> None:
    tree = parsed("select /*+ NO_MERGE(q) */ x from a")
    assert tree is not None
    before = tree.sql("mysql")
    OwnNames().rename(tree)
    assert tree.sql("mysql") == before
    assert OwnNames().of("t", "Orders") == "Orders"
