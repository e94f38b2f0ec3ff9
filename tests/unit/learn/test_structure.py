"""Loops are found again in folded transactions, and every statement has its place and round."""

from __future__ import annotations

from collections import Counter

import pytest

from plimsoll.learn.transactions import (
    LOOP_SHARE_MIN,
    Loop,
    Placed,
    Structure,
    folded,
    loops_of,
    placed,
    round_counts,
    structure_of,
)


def structure(*sequences: tuple[int, ...]) -> Structure:
    (templates,) = {folded(sequence) for sequence in sequences}
    return structure_of(templates, Counter(sequences))


@pytest.mark.parametrize(
    ("sequence", "loops"),
    [
        ((1, 2, 3), set()),
        ((1, 1, 1), {Loop(0, 1)}),
        ((1, 2, 3, 2, 3, 4), {Loop(1, 3)}),
        ((1, 2, 3, 3, 2, 3, 4), {Loop(1, 3), Loop(2, 3)}),
        ((1, 2, 2, 3, 4, 4), {Loop(1, 2), Loop(3, 4)}),
        ((1, 2, 1), set()),
        (tuple(range(12)) * 2, {Loop(0, 12)}),
        (tuple(range(13)) * 2, set()),  # longer than what is recognised
    ],
)
def test_loops_of_one_transaction(sequence: tuple[int, ...], loops: set[Loop]) -> None:
    assert loops_of(sequence) == loops


def test_a_loop_that_only_later_rounds_show_is_found() -> None:
    """A B, A B B: the loop over B is in the second round of the outer one only."""
    assert loops_of((1, 2, 1, 2, 2, 9)) == {Loop(0, 2), Loop(1, 2)}


def test_loops_lie_within_or_cross() -> None:
    outer, inner, apart, crossing = Loop(0, 4), Loop(1, 2), Loop(4, 6), Loop(3, 5)
    assert outer.holds(inner)
    assert not inner.holds(outer)
    assert not outer.holds(outer)
    assert crossing.crosses(outer)
    assert outer.crosses(crossing)
    assert not any(outer.crosses(one) for one in (outer, inner, apart))


def test_nested_loops_and_their_rounds() -> None:
    found = structure((1, 2, 3, 3, 2, 3, 4), (1, 2, 3, 2, 3, 3, 3, 4))
    assert found == Structure((1, 2, 3, 4), (Loop(1, 3), Loop(2, 3)))
    assert found.inside(2) == (Loop(1, 3), Loop(2, 3))
    assert found.inside(1) == (Loop(1, 3),)
    assert found.inside(3) == ()
    places = placed(found, (1, 2, 3, 3, 2, 3, 4))
    assert places == [
        Placed(0, (), 0),
        Placed(1, (0,), 1),
        Placed(2, (0, 0), 2),
        Placed(2, (0, 1), 3),
        Placed(1, (1,), 4),
        Placed(2, (1, 0), 5),
        Placed(3, (), 6),
    ]
    assert sorted(round_counts(found, places)) == [(Loop(1, 3), 2), (Loop(2, 3), 1), (Loop(2, 3), 2)]


def test_a_loop_that_begins_with_a_loop_is_counted_once_for_each_time_it_is_entered() -> None:
    found = structure((1, 1, 2, 1, 2, 9))
    assert found.loops == (Loop(0, 2), Loop(0, 1))
    places = placed(found, (1, 1, 1, 2, 1, 2, 9))
    assert places is not None
    assert sorted(round_counts(found, places)) == [(Loop(0, 1), 1), (Loop(0, 1), 3), (Loop(0, 2), 2)]


@pytest.mark.parametrize(
    "sequence",
    [
        (1, 2, 3),  # ends early
        (1, 2, 3, 4, 4),  # goes on
        (1, 4),  # a loop without a round
        (1, 2, 2, 3, 4),  # a loop within the loop that is not there
        (),
    ],
)
def test_what_does_not_fit_has_no_place(sequence: tuple[int, ...]) -> None:
    assert placed(Structure((1, 2, 3, 4), (Loop(1, 3),)), sequence) is None


def test_a_loop_may_be_followed_by_its_own_begin() -> None:
    found = structure((1, 2, 1, 2, 1))
    places = placed(found, (1, 2, 1, 2, 1, 2, 1))
    assert places is not None
    assert [place.place for place in places] == [0, 1, 0, 1, 0, 1, 2]
    assert list(round_counts(found, places)) == [(Loop(0, 2), 3)]


def test_a_rare_loop_is_left_out() -> None:
    often = int(1 / LOOP_SHARE_MIN)
    assert structure_of((1, 2), Counter({(1, 2): often, (1, 2, 2): 1})).loops == ()
    assert structure_of((1, 2), Counter({(1, 2): often - 1, (1, 2, 2): 1})).loops == (Loop(1, 2),)


def test_of_loops_that_cross_the_frequent_one_is_kept() -> None:
    """Statement 3 ends one loop and begins the other."""
    sequences = Counter({(1, 2, 3, 1, 2, 3, 4): 10, (1, 2, 3, 4, 3, 4): 3})
    assert structure_of((1, 2, 3, 4), sequences).loops == (Loop(0, 3),)
