"""What literals are for."""

from __future__ import annotations

import pytest

from plimsoll.learn.sql_tree import Slot, slots_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select c from t where id = ?", [("equal", "id")]),
        ("select c from t where ? = t.id and not x <=> ?", [("equal", "id"), ("equal", "x")]),
        ("select sum(k) from t where id between ? and ? limit ?", [("range", "id"), ("range", "id"), ("limit", None)]),
        ("select a from t where id in (...) and x like ?", [("list", "id"), ("range", "x")]),
        ("update t set k = k + ?, c = ? where id = ?", [("added", "k"), ("written", "c"), ("equal", "id")]),
        ("update t set k = k - ? limit ? ", [("added", "k"), ("limit", None)]),
        ("insert into t (id, k) values (?, ?)", [("written", "id"), ("written", "k")]),
        ("insert into t (id, k) values (?, now(?))", [("written", "id"), ("other", None)]),
        ("insert into t (a, b) values (...)", [("written", None)]),
        ("insert into t values (?, ?)", [("written", None), ("written", None)]),
        ("delete from t where (w, d) = (?, ?)", [("equal", "w"), ("equal", "d")]),
        ("select * from a join b on a.x = b.y where b.z > ? limit ?, ?", [("range", "z"), *[("limit", None)] * 2]),
        ("select ?", [("other", None)]),
        ("call x(?, ?)", [("other", None)] * 2),
        ("this is ? no sql (...)", [("other", None)] * 2),
    ],
)
def test_slots(text: str, expected: list[tuple[str, str | None]]) -> None:
    assert [(slot.use, slot.column) for slot in slots_of(text)] == expected


def test_the_table_or_alias_before_a_column_is_kept() -> None:
    assert slots_of("select * from orders o where o.id = ? and x = ?") == [Slot("equal", "id", "o"), Slot("equal", "x")]
