"""Answers are recorded from real runs of each transaction, which are rolled back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import pytest

from plimsoll.drive.plans import SimColumn, SimShape
from plimsoll.errors import SpecError, TargetError
from plimsoll.run.calibrate import refuse_wrong_server
from plimsoll.run.server_answers import RUNS, recorded_answers
from plimsoll.servers.control import Reply
from plimsoll.spec.oltp import WorkloadSpec
from plimsoll.spec.workloads import StatementsSpec

FILE = """
[[table]]
name = "people"
rows = 5
column = [{ name = "id", generate = "sequence" }]

[[transaction]]
name = "one"
values.a = { generate = "integer", from = 1, to = 9 }
values.b = { sum_of = "a", add = 99 }
values.c = { generate = "timestamp", from = 2026-01-01, to = 2026-01-02 }
values.d = { generate = "decimal", from = -1.5, to = 20 }
values.e = { generate = "text", template = "p-{letters:3}{integer:1-5}" }
values.f = { generate = "choice", values = ["x"], null_ratio = 1.0 }

[[transaction.statement]]
sql = "SELECT name, id FROM people WHERE id BETWEEN :a AND :b"
keep = { first = "ID" }
repeat = 2

[[transaction.statement]]
sql = "UPDATE people SET name = '100 %' WHERE id = :first"

[[transaction.statement]]
sql = "INSERT INTO log VALUES (:c, :d, :e, :f)"
"""
SELECT = "SELECT name, id FROM people WHERE id BETWEEN ? AND ?"
CHANGED = Reply((), (), 1, 7)


class Server:
    """Says what a test wants, and keeps what it was asked."""

    def __init__(self, said: Callable[[str], Reply]) -> None:
        self.said, self.asked = said, list[tuple[str, Sequence[Any]]]()

    def rows(self, statement: str) -> None:
        self.asked.append((statement, ()))

    def reply(self, statement: str, values: Sequence[Any]) -> Reply:
        self.asked.append((statement, values))
        return self.said(statement)


def recorded(said: Callable[[str], Reply], text: str = FILE) -> tuple[tuple[SimShape, ...], Server]:
    server = Server(said)
    return recorded_answers(StatementsSpec(name="x", file="x.toml", text=text), server), server  # type: ignore[arg-type]


def found(*names: str | None) -> Callable[[str], Reply]:
    rows = tuple((name, number) for number, name in enumerate(names))
    return lambda sql: Reply((("name", False), ("id", True)), rows, 0, 0) if sql.startswith("SELECT") else CHANGED


def test_rows_and_sizes_are_the_mean_of_what_came() -> None:
    (shape,), _ = recorded(found("ab", "abcdef", None, "äöüß"))
    assert shape == SimShape(SELECT, 4, (SimColumn("name", 4), SimColumn("id", None)))


def test_values_are_drawn_kept_and_carried_on_and_each_run_is_rolled_back() -> None:
    _, server = recorded(found("ab"))
    assert len(server.asked) == RUNS * 6
    begin, select, again, update, insert, rollback = server.asked[:6]
    assert (begin[0], rollback[0]) == ("BEGIN", "ROLLBACK")
    assert select == again
    assert select[1][1] == select[1][0] + 99
    assert update == ("UPDATE people SET name = '100 %' WHERE id = ?", [0])
    at, price, text, nothing = insert[1]
    assert "2026-01-01 00:00:00" <= str(at) <= "2026-01-02 00:00:00"
    assert Decimal("-1.50") <= price <= 20
    assert text.startswith("p-")
    assert nothing is None


def test_where_nothing_is_found_the_rest_is_left_out_here_and_there() -> None:
    (shape,), server = recorded(found())
    assert (shape.rows, [column.text_bytes for column in shape.columns]) == (0, [0, None])
    assert [sql for sql, _ in server.asked[:3]] == ["BEGIN", SELECT, "ROLLBACK"]


def test_a_statement_that_is_always_refused_is_told_with_its_place() -> None:
    def refuse(sql: str) -> Reply:
        if sql.startswith("INSERT"):
            raise TargetError("mysql://u@h/d: the server says 1146", code=1146)
        return found("a")(sql)

    with pytest.raises(TargetError, match=r"^transaction\[0\].statement\[2\]: mysql://u@h/d: the server says 1146"):
        recorded(refuse)
    with pytest.raises(TargetError, match=r"statement\[0\]: the result has no column 'no' to keep; it has name, id"):
        recorded(found("a"), FILE.replace('"ID"', '"no"'))


def test_what_is_refused_now_and_then_is_left_out() -> None:
    replies = iter([*[TargetError("1062")] * 3, *[CHANGED] * RUNS])

    def sometimes(sql: str) -> Reply:
        if sql.startswith("INSERT") and isinstance(said := next(replies), TargetError):
            raise said
        return found("a")(sql)

    assert len(recorded(sometimes)[0]) == 1


def test_no_result_set_is_larger_than_the_fake_server_keeps() -> None:
    (shape,), _ = recorded(found("x" * 40_000_000))
    assert shape.rows == 0


def test_a_server_is_asked_for_where_answers_are_not_known_and_refused_where_they_are() -> None:
    own = StatementsSpec(name="x", file="x.toml", text=FILE)
    oltp = WorkloadSpec(name="w", kind="oltp_read_only")
    refuse_wrong_server(own, is_given=True)
    refuse_wrong_server(oltp, is_given=False)
    with pytest.raises(SpecError, match=r"--target: is missing; .* or --target managed"):
        refuse_wrong_server(own, is_given=False)
    with pytest.raises(SpecError, match="--target: is of no use to w, whose answers are known; leave it out"):
        refuse_wrong_server(oltp, is_given=True)


LENGTHS = """
[[transaction]]
name = "t"
loops.twice = 2
values.ids = { list = [1, 30], generate = "integer", from = 1, to = 9 }
[[transaction.statement]]
sql = "INSERT INTO log (a, b) VALUES (:a, :b)"
rows = [2, 3]
loop = "twice"
values.a = { generate = "integer", from = 1, to = 9 }
values.b = { sum_of = "a", add = 1 }
[[transaction.statement]]
sql = "SELECT name, id FROM people WHERE id IN (:ids)"
"""


def test_each_length_of_a_list_has_an_answer() -> None:
    shapes, server = recorded(found("ab"), LENGTHS)
    select = "SELECT name, id FROM people WHERE id IN ({})"
    texts = [select.format(", ".join("?" * count)) for count in range(30, 0, -1)]
    assert [shape.contains for shape in shapes] == texts
    assert all(sql.count("?") == len(values) for sql, values in server.asked)


def test_rows_are_drawn_anew_and_loops_run_several_times() -> None:
    _, server = recorded(found("ab"), LENGTHS)
    inserts = [(sql, values) for sql, values in server.asked if sql.startswith("INSERT")]
    assert len(inserts) == 2 * 90, "three runs for each of 30 lengths"
    assert {sql for sql, _ in inserts} == {
        f"INSERT INTO log (a, b) VALUES {', '.join(['(?, ?)'] * rows)}" for rows in (2, 3)
    }
    for _, values in inserts:
        assert all(b == a + 1 for a, b in zip(values[::2], values[1::2], strict=True))
    assert any(values[0] != values[2] for _, values in inserts)


ITEMS = """
[[transaction]]
name = "t"
loops.each = { items_of = "ids" }
values.ids = { list = [2, 3], sorted = true, distinct = true, generate = "integer", from = 1, to = 4 }
values.more = { list = { items_of = "ids" }, generate = "integer", from = 5, to = 900 }
[[transaction.statement]]
sql = "SELECT name, id FROM people WHERE id IN (:more) OR id IN (:ids)"
[[transaction.statement]]
sql = "UPDATE people SET name = 'x' WHERE id = :id"
loop = "each"
values.id = { item_of = "ids" }
[[transaction.statement]]
sql = "UPDATE people SET name = 'y' WHERE id = :id"
repeat = 4
values.id = { item_of = "ids" }
[[transaction.statement]]
sql = "INSERT INTO log (a, b) VALUES (:a, :b)"
rows = { items_of = "ids" }
values.a = { item_of = "ids" }
values.b = { item_of = "more" }
"""


def test_items_are_taken_as_the_load_engine_takes_them() -> None:
    _, server = recorded(found("ab"), ITEMS)
    runs: list[list[tuple[str, Sequence[Any]]]] = [[]]
    for sql, values in server.asked:
        runs += [[]] if sql == "BEGIN" else []
        runs[-1] += [(sql, values)] if values else []
    for run in runs[1:]:
        (_, listed), (_, inserted) = run[0], run[-1]
        count = len(listed) // 2
        more, ids = listed[:count], listed[count:]
        assert (len(ids), ids) == (len(set(ids)), sorted(ids))
        assert [values[0] for sql, values in run if "'x'" in sql] == ids
        assert [values[0] for sql, values in run if "'y'" in sql] == [*ids, *ids][:4]
        assert (inserted[::2], inserted[1::2]) == (ids, more)
    assert {len(run[0][1]) for run in runs[1:]} == {4, 6}


KEYS = """
[[transaction]]
name = "t"
[[transaction.statement]]
sql = "INSERT INTO `a``b` (id) VALUES (:id)"
rows = 2
values.id = { generate = "next", table = "a`b", column = "id" }
[[transaction.statement]]
sql = "SELECT name FROM people WHERE id = :id"
values.id = { generate = "recent", table = "a`b", column = "id", within = 5 }
"""
ENDS = "SELECT MIN(`id`) AS oldest, MAX(`id`) AS newest FROM `a``b`"


def test_keys_go_on_behind_the_largest_and_the_fake_server_knows_the_question() -> None:
    said = found("ab")
    ends = Reply((("oldest", True), ("newest", True)), ((1, 70),), 1, 0)
    shapes, server = recorded(lambda sql: ends if sql == ENDS else said(sql), KEYS)
    assert SimShape(ENDS, 1, (SimColumn("oldest", None), SimColumn("newest", None))) in shapes
    inserted = [tuple(values) for sql, values in server.asked if sql.startswith("INSERT")]
    assert inserted == [(71, 72)] * RUNS, "each run was rolled back"
    recent = {values[0] for sql, values in server.asked if sql.startswith("SELECT name")}
    assert recent <= {68, 69, 70, 71, 72}
    assert len(recent) > 2
