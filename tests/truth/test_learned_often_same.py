"""Values that often are an earlier one: the planted share is found, and nothing where values are equal by chance."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable

import pytest

from plimsoll.learn.relations import Observed, OftenSame, Place, Relation, Value, often_same, often_same_list
from plimsoll.learn.transactions import Structure
from support.endure import draws

FLAT = Structure((1, 2, 3, 4), ())
A, B, C = Place(0, 0), Place(1, 0), Place(2, 0)
Made = Callable[[random.Random], dict[Place, Observed]]


def once(*values: int) -> dict[Place, Observed]:
    return {Place(number, 0): {(): [("int", value)]} for number, value in enumerate(values)}


def found_in(
    made: Made, *, count: int = 600, seed: int = 1, relations: dict[Place, Relation] | None = None
) -> dict[Place, OftenSame]:
    chance = random.Random(seed)
    seen = [made(chance) for _ in range(count)]
    return often_same(FLAT, seen, relations=relations or {}, lists=(), known=())


def zipf(chance: random.Random, count: int) -> int:
    return chance.choices(range(count), [1 / (rank + 1) for rank in range(count)])[0]


@pytest.mark.parametrize("ratio", [0.25, 0.5, 0.85, 0.95])
@pytest.mark.parametrize("values", [2, 5, 1_000])
def test_the_share_is_that_without_what_is_equal_by_chance(ratio: float, values: int) -> None:
    """Within four standard errors in each of some worlds. Of two values, a quarter is hardly found."""
    for seed in range(draws(6, 20)):

        def made(chance: random.Random) -> dict[Place, Observed]:
            home = chance.randrange(values)
            return once(home, home if chance.random() < ratio else chance.randrange(values))

        found = found_in(made, seed=seed)
        if ratio == 0.25 and B not in found:
            continue
        error = (ratio * (1 - ratio) / 600) ** 0.5 / (1 - 1 / values)
        assert found[B].of == A
        assert found[B].ratio == pytest.approx(ratio, abs=4 * error + 0.01)


def test_a_quarter_is_found_nearly_always() -> None:
    def made(chance: random.Random) -> dict[Place, Observed]:
        home = chance.randrange(50)
        return once(home, home if chance.random() < 0.25 else chance.randrange(50))

    worlds = draws(20, 50)
    assert sum(B in found_in(made, seed=seed) for seed in range(worlds)) >= 0.9 * worlds


UNRELATED: dict[str, Made] = {
    "few": lambda chance: once(*(chance.randrange(2) for _ in range(4))),
    "hot": lambda chance: once(*(zipf(chance, 100) for _ in range(4))),
    "mostly one": lambda chance: once(*(int(chance.random() < 0.1) for _ in range(4))),
    "many": lambda chance: once(*(chance.randrange(10**9) for _ in range(4))),
}


@pytest.mark.parametrize("world", UNRELATED)
def test_values_that_are_equal_by_chance_are_not_related(world: str) -> None:
    """Six pairs in each of 16 worlds of each kind: where 3 of 100 are related, that is seen in 94 of 100 runs."""
    assert not any(found_in(UNRELATED[world], seed=seed) for seed in range(draws(16, 50)))


def test_each_value_stays_as_frequent_as_it_was() -> None:
    """A mixture of the earlier value and a draw from all values has the shares of all values."""
    chance, drawn = random.Random(3), Counter[int]()

    def made(chance: random.Random) -> dict[Place, Observed]:
        home = zipf(chance, 10)
        return once(home, home if chance.random() < 0.6 else zipf(chance, 10))

    seen = [made(chance) for _ in range(600)]
    found = often_same(FLAT, seen, relations={}, lists=(), known=())[B]
    values = [one[B][()][0][1] for one in seen]
    for one in seen * 20:
        value = one[A][()][0][1] if chance.random() < found.ratio else chance.choice(values)
        assert isinstance(value, int)
        drawn[value] += 1
    shares = Counter(values)
    for value in range(10):
        assert drawn[value] / drawn.total() == pytest.approx(shares[value] / 600, abs=0.03)


def test_it_is_the_nearest_of_several_and_no_value_that_follows_itself() -> None:
    def made(chance: random.Random) -> dict[Place, Observed]:
        first = chance.randrange(500)
        second = first if chance.random() < 0.5 else chance.randrange(500)
        return once(first, second, second if chance.random() < 0.9 else chance.randrange(500))

    found = found_in(made)
    assert (found[B].of, found[C].of) == (A, B)
    assert C not in found_in(made, relations={C: Relation("same", A)})
    assert found_in(made, relations={B: Relation("same", A)})[C].of == A


def test_what_comes_from_elsewhere_is_an_earlier_value_and_no_later_one() -> None:
    def made(chance: random.Random) -> dict[Place, Observed]:
        home = chance.randrange(500)
        return once(home, home if chance.random() < 0.5 else chance.randrange(500))

    chance = random.Random(5)
    seen = [made(chance) for _ in range(300)]
    assert often_same(FLAT, seen, relations={}, lists=(), known={B}) == {}
    assert set(often_same(FLAT, seen, relations={}, lists=(), known={A})) == {B}
    assert often_same(FLAT, seen, relations={}, lists={A}, known=()) == {}


def test_few_transactions_tell_nothing() -> None:
    def made(chance: random.Random) -> dict[Place, Observed]:
        home = chance.randrange(500)
        return once(home, home if chance.random() < 0.8 else chance.randrange(500))

    assert found_in(made, count=99) == {}
    assert B in found_in(made, count=120)


def test_a_list_that_mostly_is_the_earlier_one_has_lengths_of_its_own_otherwise() -> None:
    chance = random.Random(11)

    def items(count: int) -> frozenset[Value]:
        return frozenset(("int", one) for one in chance.sample(range(10_000), count))

    pairs = []
    for number in range(400):
        first = items(chance.randint(5, 15))
        pairs.append((first, first if number % 10 else items(2)))
    other = [(items(4), later) for _, later in pairs]
    found = often_same_list([(B, other), (A, pairs)])
    assert found is not None
    assert (found.of, found.ratio, found.lengths) == (A, pytest.approx(0.9, abs=0.001), Counter({2: 40}))
    assert often_same_list([(B, other)]) is None
    assert often_same_list([]) is None


def test_all_pairs_of_places_are_looked_at() -> None:
    """Places of one statement, too: two literals of a WHERE clause."""
    places = [Place(0, 0), Place(0, 1), Place(1, 0)]
    chance = random.Random(2)
    seen: list[dict[Place, Observed]] = []
    for _ in range(300):
        home = chance.randrange(50)
        values = [home, *(home if chance.random() < 0.7 else chance.randrange(50) for _ in range(2))]
        seen.append({place: {(): [("int", value)]} for place, value in zip(places, values, strict=True)})
    found = often_same(FLAT, seen, relations={}, lists=(), known=())
    assert all(found[later].of == places[0] for _, later in itertools.pairwise(places))
