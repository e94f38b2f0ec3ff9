"""Whatever a transaction's loops are: folding it and placing its statements gives it back. Counts keep their sum."""

from __future__ import annotations

from collections import Counter

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from plimsoll.learn.item_relations import COUNTS_MAX, counts_of
from plimsoll.learn.transactions import BLOCK_MAX, folded, placed, round_counts, structure_of
from support.endure import draws

Tree = list["int | Tree"]
"""Statements and loops."""


def trees() -> st.SearchStrategy[Tree]:
    statement = st.integers(0, 50)
    return st.recursive(
        st.lists(statement, min_size=1, max_size=4), lambda inner: st.lists(statement | inner, min_size=1, max_size=4)
    )


def numbered(tree: Tree, next_number: list[int]) -> Tree:
    """The same with another number for each statement."""
    found: Tree = []
    for one in tree:
        if isinstance(one, list):
            found.append(numbered(one, next_number))
        else:
            found.append(next_number[0])
            next_number[0] += 1
    return found


def ran(tree: Tree, draw: st.DrawFn) -> list[int]:
    """Statements as they run, each loop one to three times."""
    found: list[int] = []
    for one in tree:
        if isinstance(one, list):
            for _ in range(draw(st.integers(1, 3))):
                found += ran(one, draw)
        else:
            found.append(one)
    return found


def once(tree: Tree) -> list[int]:
    """Its statements, each loop once."""
    return [each for one in tree for each in (once(one) if isinstance(one, list) else [one])]


@st.composite
def transactions(draw: st.DrawFn) -> tuple[Tree, list[tuple[int, ...]]]:
    tree = numbered(draw(trees()), [0])
    return tree, [tuple(ran(tree, draw)) for _ in range(draw(st.integers(1, 4)))]


@settings(max_examples=draws(100, 300), deadline=None)
@given(transactions())
def test_loops_of_an_application_are_found_again(drawn: tuple[Tree, list[tuple[int, ...]]]) -> None:
    tree, sequences = drawn
    assume(len(once(tree)) <= BLOCK_MAX)
    assert {folded(sequence) for sequence in sequences} == {tuple(once(tree))}
    structure = structure_of(tuple(once(tree)), Counter(sequences))
    assert not any(loop.crosses(other) for loop in structure.loops for other in structure.loops)
    for sequence in sequences:
        places = placed(structure, sequence)
        assert places is not None
        assert tuple(structure.templates[place.place] for place in places) == sequence
        assert [place.index for place in places] == list(range(len(sequence)))
        assert len({(place.place, place.rounds) for place in places}) == len(places), "no two are the same round"
        rounds = Counter[object]()
        for loop, count in round_counts(structure, places):
            rounds[loop] += count
        for loop in structure.loops:
            firsts = [place for place in places if place.place == loop.begin]
            depth = structure.inside(loop.begin).index(loop)
            assert rounds[loop] == len({one.rounds[: depth + 1] for one in firsts})


@settings(max_examples=draws(100, 300), deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=30))
def test_any_statements_are_given_back_or_have_no_place(sequence: list[int]) -> None:
    structure = structure_of(folded(sequence), Counter({tuple(sequence): 1}))
    places = placed(structure, sequence)
    if places is not None:
        assert [structure.templates[place.place] for place in places] == sequence
        assert [place.index for place in places] == list(range(len(sequence)))
        assert all(len(place.rounds) == len(structure.inside(place.place)) for place in places)


@given(st.dictionaries(st.integers(0, 10_000), st.integers(1, 10_000), min_size=1, max_size=200))
def test_counts_keep_their_sum_and_their_range(seen: dict[int, int]) -> None:
    found = counts_of(Counter(seen))
    if isinstance(found, int):
        assert list(seen) == [found]
        return
    assert sum(found["weights"]) == sum(seen.values())
    assert len(found["counts"]) == len(found["weights"]) == min(len(seen), COUNTS_MAX)
    assert found["counts"] == sorted(set(found["counts"]))
    assert set(found["counts"]) <= set(seen)
    if len(seen) <= COUNTS_MAX:
        assert dict(zip(found["counts"], found["weights"], strict=True)) == seen
