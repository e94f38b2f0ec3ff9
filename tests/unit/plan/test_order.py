"""The order of trials: systems balanced, cells in one order for all systems of a repetition."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.plan.order import cell_order, system_order


@given(count=st.integers(1, 7), seed=st.integers(0, 2**32), pairs_count=st.integers(1, 6))
def test_each_system_runs_before_each_other_as_often_as_after_it(count: int, seed: int, pairs_count: int) -> None:
    orders = [system_order(range(count), seed=seed, repetition=repetition) for repetition in range(2 * pairs_count)]
    assert all(sorted(order) == list(range(count)) for order in orders)
    for one, other in combinations(range(count), 2):
        first = sum(order.index(one) < order.index(other) for order in orders)
        assert first == pairs_count


def test_two_systems_run_abba_and_the_seed_says_which_is_first() -> None:
    orders = ["".join(system_order("AB", seed=1, repetition=repetition)) for repetition in range(4)]
    assert orders in (["AB", "BA", "AB", "BA"], ["BA", "AB", "BA", "AB"])
    assert {system_order("AB", seed=seed, repetition=0)[0] for seed in range(20)} == {"A", "B"}


@pytest.mark.parametrize("count", [3, 4, 5])
def test_no_system_always_stands_in_the_same_place(count: int) -> None:
    orders = [system_order(range(count), seed=5, repetition=repetition) for repetition in range(2 * count)]
    for position in range(count):
        assert {order[position] for order in orders} == set(range(count))


def test_levels_change_their_neighbours_from_repetition_to_repetition() -> None:
    orders = [cell_order(range(6), seed=1, repetition=repetition) for repetition in range(6)]
    followers = {pair for order in orders for pair in pairwise(order)}
    assert len(followers) > 12
    assert len({tuple(order) for order in orders}) > 1
