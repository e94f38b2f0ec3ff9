"""Statements become transactions as the server's own state machine makes them."""

from __future__ import annotations

import polars as pl
import pytest

from plimsoll.learn.transactions import think_times_us, transactions_of

KINDS = {
    "b": "begin",
    "c": "commit",
    "r": "rollback",
    "s": "select",
    "u": "update",
    "i": "insert",
    "l": "select_locking",
}
KINDS |= {"-": "autocommit_off", "+": "autocommit_on", "d": "ddl", "q": "quit", "n": "connect", "v": "savepoint"}
KINDS |= {"x": "set", "k": "lock_tables"}


def statements(*sessions: str) -> pl.DataFrame:
    """Statements of sessions, a letter each (`KINDS`); each takes 50 us and begins 100 us after the one before it."""
    rows = [
        {
            "session": session,
            "event": session * 1000 + place,
            "kind": KINDS[letter],
            "template": ord(letter),
            "start_us": place * 100,
            "query_us": 50,
            "rows_examined": 1,
            "rows_sent": 1,
            "rows_affected": 0,
            "errno": 0,
            "weight": 1.0,
        }
        for session, letters in enumerate(sessions)
        for place, letter in enumerate(letters)
    ]
    return pl.DataFrame(rows)


def told(*sessions: str) -> list[tuple[str, str]]:
    found = transactions_of(statements(*sessions))
    rows = found.select("templates", "end").iter_rows()
    return [("".join(map(chr, templates)), end) for templates, end in rows]


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("s", [("s", "autocommit")]),
        ("ssu", [("s", "autocommit"), ("s", "autocommit"), ("u", "autocommit")]),
        ("bsuc", [("su", "commit")]),
        ("bsur", [("su", "rollback")]),
        ("bsus", [("sus", "open")]),
        ("bsuq", [("su", "disconnect")]),
        ("bc", []),
        ("cc", []),
        ("bsbuc", [("s", "commit"), ("u", "commit")]),
        ("bsdu", [("s", "commit"), ("u", "autocommit")]),
        ("bsku", [("s", "commit"), ("u", "autocommit")]),
        ("bvsvc", [("s", "commit")]),
        ("bxsxc", [("s", "commit")]),
        ("-sucsir", [("su", "commit"), ("si", "rollback")]),
        ("-s+s", [("s", "commit"), ("s", "autocommit")]),
        ("-suc+ss", [("su", "commit"), ("s", "autocommit"), ("s", "autocommit")]),
        ("-sn" + "s", [("s", "disconnect"), ("s", "autocommit")]),
        ("suc", [("s", "autocommit"), ("u", "autocommit")]),
    ],
)
def test_a_session(letters: str, expected: list[tuple[str, str]]) -> None:
    assert told(letters) == expected


def test_sessions_do_not_touch_each_other() -> None:
    assert told("bs", "suc", "bsc") == [("s", "open"), ("s", "autocommit"), ("u", "autocommit"), ("s", "commit")]


def test_what_a_transaction_took() -> None:
    found = transactions_of(statements("bsucs")).row(0, named=True)
    assert (found["start_us"], found["end_us"], found["statement_us"], found["commit_us"]) == (0, 350, 200, 50)
    assert not found["reads_only"]
    assert transactions_of(statements("bssc")).row(0, named=True)["reads_only"]
    assert not transactions_of(statements("blc")).row(0, named=True)["reads_only"]


def test_pauses_are_those_of_a_session() -> None:
    assert think_times_us(transactions_of(statements("ss", "bsc"))).to_list() == [50]
