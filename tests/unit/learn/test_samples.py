"""Samples hold whole transactions of the types that are asked for, with the values of their statements."""

from __future__ import annotations

from pathlib import Path

from plimsoll.learn.event_log import families_of
from plimsoll.learn.relations import SAMPLE_MAX, sampled
from support.logged import ROLLBACK, Logged, write_statements

READ, WRITE = "select c from t where id = ?", "update t set c = ? where id = ?"


def order(key: int) -> list[Logged]:
    """A read, and one to three writes of what was read."""
    writes = [Logged(WRITE, "update", (f"text {key}", key)) for _ in range(1 + key % 3)]
    return [Logged(READ, "select", (key,), rows_sent=key % 2), *writes, ROLLBACK]


def test_values_of_whole_transactions_in_the_order_of_the_log(tmp_path: Path) -> None:
    log = write_statements(tmp_path, [order(key) for key in range(30)] + [[Logged(READ, "select", (99,))]])
    families = families_of(log.templates)
    numbers = dict(log.templates.select("text", "template").iter_rows())
    wanted = (numbers[READ], numbers[WRITE])
    found = sampled(log, families, {wanted: 30})
    assert set(found) == {wanted}, "the other type is not asked for"
    assert [one[0].values[0] for one in found[wanted]] == [[("int", key)] for key in range(30)]
    for key, one in enumerate(found[wanted]):
        assert [each.template for each in one] == [numbers[READ]] + [numbers[WRITE]] * (1 + key % 3)
        assert one[0].rows_sent == key % 2
        assert [each.event for each in one] == sorted(each.event for each in one)
        assert all(each.values[1] == [("int", key)] for each in one[1:])
        assert all(each.lengths == {0: len(f"text {key}")} for each in one[1:])


def test_lists_rows_and_null(tmp_path: Path) -> None:
    insert, listed = "insert into t (id, c) values (...)", "select c from t where id in (...)"
    log = write_statements(
        tmp_path,
        [[Logged(insert, "insert", ([1, None, 2, "x"],), rows_count=2), Logged(listed, "select", ([7, 8, 9],))]],
    )
    ((rows, items),) = (one[0] for one in sampled(log, families_of(log.templates), {(1, 2): 1}).values())
    assert rows.lengths[0] == 2
    assert [kind for kind, _ in rows.values[0]] == ["int", "null", "int", "text"]
    assert "x" not in {value for _, value in rows.values[0]}, "of a text its hash"
    assert (items.lengths, list(items.values[0])) == ({0: 3}, [("int", 7), ("int", 8), ("int", 9)])


def test_of_many_transactions_about_so_many_are_looked_at(tmp_path: Path) -> None:
    log = write_statements(tmp_path, [[Logged(READ, "select", (key,))] for key in range(3 * SAMPLE_MAX)], sessions=7)
    (found,) = sampled(log, families_of(log.templates), {(1,): 3 * SAMPLE_MAX}).values()
    assert abs(len(found) - SAMPLE_MAX) < 5 * SAMPLE_MAX**0.5
    keys = [one[0].values[0][0][1] for one in found]
    assert len(set(keys)) == len(keys)


def test_of_no_type_there_is_no_sample(tmp_path: Path) -> None:
    log = write_statements(tmp_path, [order(1)])
    assert sampled(log, families_of(log.templates), {}) == {}
    assert sampled(log, families_of(log.templates), {(77,): 5}) == {}
