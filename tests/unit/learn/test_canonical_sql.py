"""Statements of logs and of workload files get one text, whatever their literals, lists and layout."""

from __future__ import annotations

import pytest

from plimsoll.learn.fidelity import run_statements
from plimsoll.learn.sql_tree import canonical
from plimsoll.spec.workload_file import parse_workload


@pytest.mark.parametrize(
    ("of_log", "of_workload"),
    [
        ("select `c1` from `s1`.`t1` where `c2` = ?", "SELECT c1 FROM t1 WHERE c2 = :v1"),
        ("select c1 from t1 where c2 in (...)", "SELECT c1 FROM t1 WHERE c2 IN (:v1)"),
        ("select c1 from t1 where c2 in (?, ?, ?)", "SELECT c1 FROM t1 WHERE c2 IN (:v1)"),
        ("insert into t1 (a, b) values (...)", "INSERT INTO t1 (a, b) VALUES (:v1, :v2)"),
        ("insert into t1 (a, b) values (?, ?)", "INSERT INTO t1 (a, b) VALUES (:v1, 'x'), (:v3, -5)"),
        ("update t1 set k = k + ?, d = now(?) where c1 = -?", "UPDATE t1 SET k = k + 1, d = NOW(6) WHERE c1 = :v1"),
        ("select c1 from t1 limit ?, ?", "SELECT c1 FROM t1 LIMIT 10 OFFSET 5"),
        ("delete from t1 where (a, b) = (?, ?)", "DELETE FROM t1 WHERE (a, b) = (:a, :b)"),
    ],
)
def test_the_same_statement_has_one_text(of_log: str, of_workload: str) -> None:
    assert canonical(of_log) is not None
    assert canonical(of_log) == canonical(of_workload)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT c1 FROM t1 WHERE c2 = ?", "SELECT c1 FROM t1 WHERE c3 = ?"),
        ("SELECT c1 FROM t1 WHERE c2 = ?", "SELECT c1 FROM t1 WHERE c2 = ? FOR UPDATE"),
        ("INSERT INTO t1 (a, b) VALUES (?, NOW())", "INSERT INTO t1 (a, b) VALUES (?, ?)"),
        ("SELECT c1 FROM t1 WHERE c2 IN (?)", "SELECT c1 FROM t1 WHERE c2 = ?"),
    ],
)
def test_other_statements_have_another(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


def test_what_is_no_statement_has_none() -> None:
    assert canonical("(select: not parsed, so not shown)") is None


def test_statements_of_a_family_are_one() -> None:
    text = """
        [[table]]
        name = "t1"
        rows = 10
        primary_key = ["id"]
        [[table.column]]
        name = "id"
        type = "INT"
        generate = "sequence"
        [[table.column]]
        name = "k"
        type = "INT"
        generate = "integer"
        from = 1
        to = 9
        [[table]]
        name = "t2"
        rows = 10
        primary_key = ["id"]
        [[table.column]]
        name = "id"
        type = "INT"
        generate = "sequence"
        [[table.column]]
        name = "k"
        type = "INT"
        generate = "integer"
        from = 1
        to = 9
        [[transaction]]
        name = "type 1"
        [[transaction.statement]]
        sql = ["SELECT k FROM t1 WHERE id = :a", "SELECT k FROM t2 WHERE id = :a"]
        by = "m"
        values = {a = {generate = "integer", from = 1, to = 10}, m = {generate = "integer", from = 1, to = 2}}
        [[transaction.statement]]
        sql = "UPDATE t1 SET k = 1 WHERE id = :a"
        [[transaction]]
        name = "type 2"
        [[transaction.statement]]
        sql = "SELECT k FROM t2 WHERE id = :a"
        values = {a = {generate = "integer", from = 1, to = 10}}
    """
    found = run_statements(parse_workload(text))
    assert len(found.texts) == 2
    assert found.of("select k from t1 where id = ?") == found.of("select k from t2 where id = ?") == 0
    assert found.of("select k from t3 where id = ?") is None
    assert found.types == {(0, 1): ("type 1",), (0,): ("type 2",)}
