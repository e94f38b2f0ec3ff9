"""Where a schema has no figures, the log says how many rows and different values there are."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from plimsoll.learn.create_table import read_create_tables
from plimsoll.learn.learned_load import LearnedLoad, learned, summary_of, values_count
from plimsoll.learn.profile_model import Distribution
from plimsoll.learn.relations import Value
from support.logged import Logged, write_statements

SCHEMA = """
CREATE TABLE counted (id int NOT NULL AUTO_INCREMENT PRIMARY KEY, owner int NOT NULL, KEY (owner)) AUTO_INCREMENT=5001;
CREATE TABLE uncounted (id int NOT NULL PRIMARY KEY, owner int NOT NULL, kind int NOT NULL);
CREATE TABLE child (id int AUTO_INCREMENT PRIMARY KEY, parent int, FOREIGN KEY (parent) REFERENCES uncounted (id));
CREATE TABLE grid (x int NOT NULL, y int NOT NULL, PRIMARY KEY (x, y));
CREATE TABLE notes_1 (id int NOT NULL PRIMARY KEY, n int);
CREATE TABLE notes_2 (id int NOT NULL PRIMARY KEY, n int);
"""
COUNT = 2_000


def drawn(draws: list[int]) -> Counter[Value]:
    return Counter(("int", draw) for draw in draws)


@pytest.mark.parametrize("size", [1, 7, 100, 1_000, 5_000, 20_000])
def test_values_that_are_drawn_evenly_are_counted(size: int) -> None:
    chance = random.Random(size)
    found = values_count(drawn([chance.randint(1, size) for _ in range(COUNT)]))
    assert found == pytest.approx(size, rel=0.2)


def test_skewed_values_are_not_overestimated() -> None:
    weights = [1 / rank for rank in range(1, 10_001)]
    draws = random.Random(2).choices(range(10_000), weights, k=COUNT)
    found = values_count(drawn(draws))
    assert found is not None
    assert len(set(draws)) < found < 10_000


def test_too_few_or_all_different_values_tell_nothing() -> None:
    assert values_count(drawn([1, 2, 3] * 33)) is None
    assert values_count(drawn([1, 2, 3] * 34)) == 3
    assert values_count(drawn(list(range(COUNT)))) is None
    assert values_count(Counter()) is None


def learn(folder: Path, text: str, *values: tuple[int, ...]) -> LearnedLoad:
    made = [[Logged(text, text.split(maxsplit=1)[0], value)] for value in values]
    return learned(summary_of(write_statements(folder, made)), read_create_tables(SCHEMA, "s"), keep_names=True)


def distributions(found: LearnedLoad) -> list[Distribution | None]:
    return [value.distribution for value in found.profile.types[0].statement[0].values]


def rows(found: LearnedLoad, table: str) -> tuple[float | str, str]:
    """Rows of a table and where they are from."""
    (note,) = (note for note in found.profile.notes if note.table == table and note.code.startswith("rows-"))
    return note.figures["rows"], note.code


def even(*sizes: int, count: int = COUNT) -> list[tuple[int, ...]]:
    """Values from 1 to each size."""
    chance = random.Random(sum(sizes))
    return [tuple(chance.randint(1, size) for size in sizes) for _ in range(count)]


@pytest.mark.parametrize("size", [10, 500, 3_000])
def test_a_key_that_is_drawn_evenly_is_uniform(tmp_path: Path, size: int) -> None:
    found = learn(tmp_path, "select owner from uncounted where id = ?", *even(size))
    count, code = rows(found, "uncounted")
    assert (count, code) == (pytest.approx(size, rel=0.15), "rows-from-log")
    (distribution,) = distributions(found)
    assert distribution is not None
    assert (distribution.kind, distribution.domain) == ("uniform", count)


def test_a_key_of_a_counted_table_has_as_many_values_as_rows(tmp_path: Path) -> None:
    found = learn(tmp_path, "select owner from counted where id = ?", *even(500))
    assert rows(found, "counted") == (5_000, "rows-from-auto-increment")
    (distribution,) = distributions(found)
    assert distribution is not None
    assert (distribution.kind, distribution.domain) == ("hot", 5_000), "nine of ten rows are never read"


def test_a_column_has_as_many_values_as_the_log_shows(tmp_path: Path) -> None:
    found = learn(tmp_path, "select id from counted where owner in (...)", *(([one[0]],) for one in even(500)))
    (distribution,) = distributions(found)
    assert distribution is not None
    assert distribution.kind == "uniform"
    assert distribution.domain == pytest.approx(500, rel=0.1)


def test_what_refers_to_a_key_tells_of_its_table(tmp_path: Path) -> None:
    found = learn(tmp_path, "select id from child where parent = ?", *even(400))
    assert rows(found, "uncounted") == (pytest.approx(400, rel=0.1), "rows-from-log")


def test_a_key_of_several_columns_has_each_combination(tmp_path: Path) -> None:
    text = "select x from grid where x = ? and y = ?"
    found = learn(tmp_path, text, *even(20, 9))
    assert rows(found, "grid") == (180, "rows-from-log")
    assert [distribution.kind for distribution in distributions(found) if distribution is not None] == [
        "uniform",
        "uniform",
    ]


def test_of_too_many_combinations_only_the_small_side_is_counted(tmp_path: Path) -> None:
    text = "select x from grid where x = ? and y = ?"
    found = learn(tmp_path, text, *even(20_000, 90))
    assert rows(found, "grid") == (10_000, "rows-assumed")
    assert [distribution.kind for distribution in distributions(found) if distribution is not None] == [
        "uniform",
        "uniform",
    ]


def test_members_of_a_family_are_counted_one_by_one(tmp_path: Path) -> None:
    pairs = zip(even(40, count=COUNT // 2), even(120, count=COUNT // 2), strict=True)
    texts = [f"select n from notes_{table} where id = ?" for table in (1, 2)]
    made = [[Logged(text, "select", one)] for pair in pairs for text, one in zip(texts, pair, strict=True)]
    found = learned(summary_of(write_statements(tmp_path, made)), read_create_tables(SCHEMA, "s"), keep_names=True)
    assert [rows(found, f"notes_{table}") for table in (1, 2)] == [(40, "rows-from-log"), (120, "rows-from-log")]


def test_constants_and_new_keys_tell_nothing(tmp_path: Path) -> None:
    constant, written = tmp_path / "constant", tmp_path / "written"
    for folder in (constant, written):
        folder.mkdir()
    found = learn(constant, "select id from uncounted where kind = ? and id = ?", *((7, 8) for _ in range(COUNT)))
    assert rows(found, "uncounted") == (10_000, "rows-assumed")
    text = "insert into uncounted (id, owner, kind) values (?, ?, ?)"
    found = learn(written, text, *((key % 500, 1, 2) for key in range(COUNT)))
    assert rows(found, "uncounted") == (10_000, "rows-assumed")


def test_copies_of_a_value_are_no_draws(tmp_path: Path) -> None:
    """Each key twice in its transaction: it would seem that none was seen once."""
    read, write = "select owner from uncounted where id = ?", "update uncounted set owner = owner + ? where id = ?"
    made = [[Logged(read, "select", one), Logged(write, "update", (1, *one))] for one in even(3_000)]
    found = learned(summary_of(write_statements(tmp_path, made)), read_create_tables(SCHEMA, "s"), keep_names=True)
    assert rows(found, "uncounted") == (pytest.approx(3_000, rel=0.15), "rows-from-log")
