"""The text of a workload file says what it was given, whatever is in it."""

from __future__ import annotations

import tomllib
from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.learn.item_relations import COUNTS_MAX, counts_of
from plimsoll.learn.workload_text import workload_text

words = st.text(max_size=150)
plain = words | st.integers(-(2**60), 2**60) | st.booleans() | st.floats(allow_nan=False, allow_infinity=False)
generators = st.dictionaries(words, plain | st.lists(st.integers(), max_size=3), max_size=4)
statements = st.fixed_dictionaries(
    {"sql": words | st.lists(words, max_size=3)},
    optional={
        "values": st.dictionaries(words.filter(bool), generators, min_size=1, max_size=3),
        "keep": st.dictionaries(words, words, max_size=2),
        "rows": st.integers(1, 9) | generators,
    },
)
entries = st.lists(
    st.fixed_dictionaries(
        {"name": words}, optional={"statement": st.lists(statements, min_size=1, max_size=3), "weight": plain}
    ),
    max_size=3,
)


@given(words, st.booleans(), entries, entries)
def test_it_reads_back_as_it_was(
    description: str, prepared: bool, tables: list[dict[str, Any]], transactions: list[dict[str, Any]]
) -> None:
    text = workload_text(description, prepared=prepared, tables=tables, transactions=transactions)
    expected: dict[str, Any] = {"description": description, "prepared": prepared}
    expected |= {"table": tables} if tables else {}
    expected |= {"transaction": transactions} if transactions else {}
    assert tomllib.loads(text) == expected


def test_it_is_laid_out_for_people() -> None:
    statement = {"sql": "SELECT 1", "values": {"v1": {"generate": "integer", "to": 9}}, "loop": "one"}
    transaction = {"name": "type 1", "loops": {"one": 3}, "statement": [statement]}
    text = workload_text("x", prepared=False, tables=[], transactions=[transaction])
    assert text.splitlines() == [
        'description = "x"',
        "prepared = false",
        "",
        "[[transaction]]",
        'name = "type 1"',
        "loops = {one = 3}",
        "",
        "[[transaction.statement]]",
        'sql = "SELECT 1"',
        'values.v1 = {generate = "integer", to = 9}',
        'loop = "one"',
    ]


def test_counts_as_a_workload_file_has_them() -> None:
    assert counts_of(Counter({3: 10})) == 3
    assert counts_of(Counter({3: 10, 1: 2})) == {"counts": [1, 3], "weights": [2, 10]}


def test_rare_counts_go_to_their_neighbours() -> None:
    often = dict.fromkeys(range(10, 10 + COUNTS_MAX), 5)
    found = counts_of(Counter(often | {1: 2, 1_000: 3}))
    assert isinstance(found, dict)
    assert found["counts"] == list(often)
    assert (found["weights"][0], found["weights"][-1], sum(found["weights"])) == (7, 8, 5 * COUNTS_MAX + 5)
