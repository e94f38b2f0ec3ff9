"""Which values of a log stay in a workload, as docs/learn-workload.md lists them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from plimsoll.learn.create_table import read_create_tables
from plimsoll.learn.learned_load import learned, summary_of
from plimsoll.run.learned_folder import files_of
from support.logged import Logged, write_statements

SCHEMA = """
CREATE TABLE t (id int NOT NULL, a int NOT NULL, b varchar(9), PRIMARY KEY (id)) AUTO_INCREMENT=1001;
"""
SECRET = 46_731


def files(folder: Path, statements: Sequence[Logged]) -> str:
    """All files of what is learned of transactions of one statement, with the names of the server."""
    summary = summary_of(write_statements(folder, [[statement] for statement in statements]))
    return "\n".join(files_of(learned(summary, read_create_tables(SCHEMA, "s"), keep_names=True)).values())


def added(number: int, times: int) -> list[Logged]:
    return [Logged("update t set a = a + ? where id = ?", "update", (number, key)) for key in range(times)]


def test_a_number_of_no_column_stays_where_it_is_always_the_same(tmp_path: Path) -> None:
    assert f"a + {SECRET} WHERE" in files(tmp_path, added(SECRET, 20))


def test_it_does_not_stay_where_it_was_seen_less_often(tmp_path: Path) -> None:
    text = files(tmp_path, added(SECRET, 19))
    assert str(SECRET) not in text
    assert "from = 40000" in text, "how large it is stays"


def test_numbers_of_limit_stay_with_their_shares(tmp_path: Path) -> None:
    limits = [SECRET if key % 4 else 10 for key in range(100)]
    made = [Logged("select a from t where id = ? limit ?", "select", (key, limit)) for key, limit in enumerate(limits)]
    text = files(tmp_path, made)
    assert f"values = [10, {SECRET}]" in text
    assert "weights = [25, 75]" in text


def test_the_distance_of_two_values_stays(tmp_path: Path) -> None:
    chance = random.Random(1)
    keys = [chance.randrange(10**8) for _ in range(100)]
    made = [Logged("select a from t where id between ? and ?", "select", (key, key + SECRET)) for key in keys]
    text = files(tmp_path, made)
    assert f"add = {SECRET}" in text
    assert not [key for key in keys if str(key) in text]


def test_values_of_columns_and_texts_do_not_stay(tmp_path: Path) -> None:
    texts = "select id from t where a = ? and b = ?", "insert into t (id, a, b) values (?, ?, ?)"
    made = [
        one
        for key in range(100)
        for one in (
            Logged(texts[0], "select", (SECRET, "secret")),
            Logged(texts[1], "insert", (5000 + key, SECRET, "secret")),
        )
    ]
    text = files(tmp_path, made)
    assert str(SECRET) not in text
    assert "secret" not in text
