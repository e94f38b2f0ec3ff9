"""Repeats are folded, and types are kept by their time."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.learn.transactions import LONG, TypeCounter, folded, kept_types


def transactions(*rows: tuple[list[int], int]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {
                "templates": templates,
                "weight": 1.0,
                "statement_us": took_us,
                "commit_us": 0,
                "rows_examined": 1,
                "rows_affected": 0,
                "end": "commit",
                "errors": 0,
                "is_explicit": True,
                "reads_only": True,
                "start_us": 0,
                "end_us": took_us,
            }
            for templates, took_us in rows
        ]
    )


def test_loops_are_one_type_however_often_they_ran() -> None:
    order = [1, 2, 3, 4]
    assert folded([1, 2, 3, 2, 3, 2, 3, 4]) == folded(order) == tuple(order)
    assert folded([7, 7, 7]) == (7,)
    assert folded([1, 1, 2, 1, 2]) == (1, 2)
    assert folded([1, 2, 1]) == (1, 2, 1)


def test_a_batch_job_is_not_followed() -> None:
    assert folded(list(range(5000))) == LONG


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6), st.integers(1, 5), st.lists(st.integers(4, 6), max_size=3))
def test_a_block_counts_once(block: list[int], times: int, rest: list[int]) -> None:
    assert folded([9, *block * times, *rest]) == folded([9, *block, *rest])


def test_types_are_in_order_whenever_they_are_asked_for() -> None:
    counter = TypeCounter()
    counter.add(transactions(([1], 100), ([2], 50)))
    assert [one.templates for one in counter.types()] == [(1,), (2,)]
    assert counter.types() is counter.types()
    counter.add(transactions(([2], 500)))
    assert [one.templates for one in counter.types()] == [(2,), (1,)]


def test_types_add_up_over_parts_and_come_by_time() -> None:
    counter = TypeCounter()
    counter.add(transactions(([1, 2, 2], 100), ([1, 2], 300), ([5], 1000)))
    counter.add(transactions(([1, 2, 2, 2], 200)))
    first, second = counter.types()
    assert (first.templates, first.count, first.statement_us) == ((5,), 1, 1000)
    assert (second.templates, second.count, second.statement_us, second.statements_max) == ((1, 2), 3, 600, 4)
    assert second.statements == 9
    median_us = second.durations.quantile_us(0.5)
    assert median_us is not None
    assert abs(median_us / 200 - 1) < 0.02


def test_kept_types_take_95_percent_of_the_time() -> None:
    counter = TypeCounter()
    counter.add(transactions(([1], 900), ([2], 60), ([3], 30), ([4], 10)))
    assert kept_types(counter.types()) == 2
