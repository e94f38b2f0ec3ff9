"""What the rounds of a loop, the rows of an INSERT and the items of a list have to do with each other.

The n-th round or row takes the n-th item of a list, as often as the list has items; items rise, or no two are the same,
more often than chance would have it; or one value is chosen for all rounds. Each must hold as other relations do
(`relations`), and what counts is what lies behind the first round: one round alone shows no order. Where no statement
has the list, the values of the loop that uses them first are the list. How often each number was seen is told in few
enough numbers to be read.

Deliberately not here: values that are the same in a round, or follow from an earlier statement (`relations`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from plimsoll.learn.relations import (
    CHANCE_MAX,
    HOLDS_MIN,
    MEMBER,
    TRANSACTIONS_MAX,
    TRANSACTIONS_MIN,
    ListPairs,
    Observed,
    OftenSame,
    Place,
    Relation,
    Value,
    chance_of,
    often_same_list,
)
from plimsoll.learn.transactions import Loop, Structure

Items = tuple[Value, ...]

ITEMS_MAX = 1_000
"""As many as a list of a workload file may have."""

Sequences = list[Items | None]
"""The values of one place in the order of rounds, rows or items, for each transaction; None where it has none."""


@dataclass(frozen=True, slots=True)
class ItemList:
    """Items that a transaction chooses before it uses them.

    Attributes:
        counts: How often there were so many.
        like: Another list that has as many; None for none.
        is_sorted: They rise.
        is_distinct: No two are the same.
    """

    counts: Counter[int]
    is_sorted: bool
    is_distinct: bool
    like: Place | None = None


@dataclass(frozen=True, slots=True)
class ItemRelations:
    """What was found.

    Attributes:
        relations: Values that are items of a list, are chosen once for all rounds, or are lists that are there again.
        lists: By the place that has the items, or takes them first.
        loops: Loops that run as often as a list has items.
        rows: Statements that have as many rows.
        often: Lists that often are an earlier one.
    """

    relations: Mapping[Place, Relation] = field(default_factory=dict)
    lists: Mapping[Place, ItemList] = field(default_factory=dict)
    loops: Mapping[Loop, Place] = field(default_factory=dict)
    rows: Mapping[int, Place] = field(default_factory=dict)
    often: Mapping[Place, OftenSame] = field(default_factory=dict)


def item_relations(
    structure: Structure,
    seen: Sequence[Mapping[Place, Observed]],
    lists: Collection[Place],
    *,
    known: Collection[Place],
    assumed: Collection[Place] = (),
) -> ItemRelations:
    """The places whose values are items.

    Args:
        structure: Of the type.
        seen: Values of transactions by place, only of statements that can be run.
        lists: Places whose values are items of an IN list.
        known: Places whose values follow from others.
        assumed: Places whose values are assumed to be read from a row, unless they are items.
    """
    finder = _Finder(structure, seen, seen[:TRANSACTIONS_MAX], lists, assumed)
    places = {place for transaction in finder.seen for place in transaction if place.slot != MEMBER}
    for place in sorted(places - set(known)):
        finder.look_at(place)
    return finder.item_relations()


@dataclass(slots=True)
class _Finder:
    """Goes through the places of a type in their order.

    Attributes:
        structure: Of the type.
        everything: All transactions: numbers of items are counted in them.
        seen: Those that are compared.
        lists: Places of IN lists.
        assumed: Places whose values are assumed to be read from a row.
        heads: Places that later ones may follow.
        relations: What is found.
        taken: Places whose values are items.
        often: Lists that often are an earlier one.
    """

    structure: Structure
    everything: Sequence[Mapping[Place, Observed]]
    seen: Sequence[Mapping[Place, Observed]]
    lists: Collection[Place]
    assumed: Collection[Place]
    heads: dict[Place, Sequences] = field(default_factory=dict)
    relations: dict[Place, Relation] = field(default_factory=dict)
    taken: dict[Place, Sequences] = field(default_factory=dict)
    often: dict[Place, OftenSame] = field(default_factory=dict)

    def look_at(self, place: Place) -> None:
        """Finds what one place has to do with those before it."""
        depth = len(self.structure.inside(place.statement))
        if place in self.lists:
            pairs = [(head, self._list_pairs(head, place)) for head in self.heads if head in self.lists]
            if (again := self._again(place, pairs)) is not None:
                self.relations[place] = again
                return
            if (often := often_same_list(pairs)) is not None:
                self.often[place] = often
            if depth == 0:
                self.heads[place] = self._sequences(place, self.seen)
            return
        has_rows = any(len(values) > 1 for transaction in self.seen for values in transaction.get(place, {}).values())
        if depth + has_rows != 1:
            return
        sequences = self._sequences(place, self.seen)
        if place not in self.assumed and (holds := _once(sequences)):
            self.relations[place] = Relation("once", holds=holds)
        elif (relation := self._item(sequences)) is not None:
            self.relations[place], self.taken[place] = relation, sequences
        elif place not in self.assumed:
            self.heads[place] = sequences

    def item_relations(self) -> ItemRelations:
        """The lists whose items are taken, or that are lists for themselves; and what runs as often."""
        followed = {relation.of for relation in self.relations.values() if relation.kind == "item"}
        followed |= {often_same.of for often_same in self.often.values()}
        lists: dict[Place, ItemList] = {}
        for head, sequences in self.heads.items():
            item_list = _list_of(
                sequences, Counter(len(each) for each in self._sequences(head, self.everything) if each)
            )
            is_own = head not in self.lists
            if max(item_list.counts, default=0) > ITEMS_MAX:
                continue
            if head in followed or (is_own and (item_list.is_sorted or item_list.is_distinct)):
                lists[head] = replace(item_list, like=self._like(sequences, lists))
                if is_own:
                    self.relations[head], self.taken[head] = Relation("item", head), sequences
        relations = {
            place: relation
            for place, relation in self.relations.items()
            if relation.kind != "item" or relation.of in lists
        }
        loops, rows = dict[Loop, Place](), dict[int, Place]()
        for place, sequences in sorted(self.taken.items()):
            relation = relations.get(place)
            if relation is None or relation.of is None or not _counts_agree(self.heads[relation.of], sequences):
                continue
            around = self.structure.inside(place.statement)
            if around:
                loops.setdefault(around[0], relation.of)
            else:
                rows.setdefault(place.statement, relation.of)
        often = {place: often_same for place, often_same in self.often.items() if _has_few_lengths(often_same, lists)}
        return ItemRelations(relations, lists, loops, rows, often)

    def _like(self, sequences: Sequences, lists: Mapping[Place, ItemList]) -> Place | None:
        """An earlier list that has as many items, where their number varies."""
        alike = (head for head, item_list in lists.items() if item_list.like is None and len(item_list.counts) > 1)
        return next((head for head in alike if _counts_agree(self.heads[head], sequences)), None)

    def _sequences(self, place: Place, seen: Sequence[Mapping[Place, Observed]]) -> Sequences:
        is_list, is_in_loop = place in self.lists, bool(self.structure.inside(place.statement))
        sequences: Sequences = []
        for transaction in seen:
            observed = transaction.get(place, {})
            if is_in_loop:
                values = tuple(observed[rounds][0] for rounds in sorted(observed) if observed[rounds])
            else:
                values = tuple(next(iter(observed.values()), ()))
            sequences.append((_unpadded(values) if is_list else values) or None)
        return sequences

    def _list_pairs(self, head: Place, place: Place) -> ListPairs:
        return [
            (frozenset(before), frozenset(values))
            for before, transaction in zip(self.heads[head], self.seen, strict=True)
            if before is not None
            for values in transaction.get(place, {}).values()
        ]

    def _again(self, place: Place, pairs: Sequence[tuple[Place, ListPairs]]) -> Relation | None:
        """Whether a list is an earlier one again, in any order."""
        count = sum(len(transaction.get(place, {})) for transaction in self.seen)
        for head, each in pairs:
            if len(each) < max(TRANSACTIONS_MIN, HOLDS_MIN * count):
                continue
            holds = sum(earlier == later for earlier, later in each) / len(each)
            if holds >= HOLDS_MIN and chance_of([later for _, later in each]) <= CHANCE_MAX:
                return Relation("same", head, holds=holds)
        return None

    def _item(self, sequences: Sequences) -> Relation | None:
        """Whether values are the items of an earlier list."""
        best: Relation | None = None
        if chance_of([value for sequence in sequences if sequence for value in sequence]) > CHANCE_MAX:
            return None
        for head, items in self.heads.items():
            holds = _items_hold(items, sequences)
            if holds is not None and (best is None or holds > best.holds):
                best = Relation("item", head, holds=holds)
        return best


def _has_few_lengths(often_same: OftenSame, lists: Mapping[Place, ItemList]) -> bool:
    """Whether the list that it often is, is one of the transaction, and all lengths of both can be told."""
    head = lists.get(often_same.of)
    return head is not None and len({*lists[head.like or often_same.of].counts, *often_same.lengths}) <= COUNTS_MAX


def _unpadded(items: Items) -> Items:
    """Without what fills a list up to a length that clients prefer: its last item again."""
    count = len(items)
    while count > 1 and items[count - 2] == items[-1]:
        count -= 1
    return items[:count]


def _once(sequences: Sequences) -> float | None:
    """How often a later value of a transaction is its first one, where that is so nearly always."""
    several = [sequence for sequence in sequences if sequence and len(sequence) > 1]
    if len(several) < TRANSACTIONS_MIN or chance_of([sequence[0] for sequence in several]) > CHANCE_MAX:
        return None
    holds = share_of([value == sequence[0] for sequence in several for value in sequence[1:]])
    return holds if holds >= HOLDS_MIN else None


def _items_hold(items: Sequences, sequences: Sequences) -> float | None:
    """In which share of the observations values are items in their order; None where that is too few."""
    first, behind = list[bool](), list[bool]()
    transactions = all_count = 0
    for known, values in zip(items, sequences, strict=True):
        all_count += len(values or ())
        if not known or not values:
            continue
        hits = [value == known[number % len(known)] for number, value in enumerate(values)]
        transactions += len(values) > 1 and len(known) > 1
        first.append(hits[0])
        behind += hits[1:]
    if transactions < TRANSACTIONS_MIN or len(first) + len(behind) < HOLDS_MIN * all_count:
        return None
    holds = share_of(first + behind)
    return holds if min(holds, share_of(behind)) >= HOLDS_MIN else None


def _counts_agree(items: Sequences, sequences: Sequences) -> bool:
    """Whether there are as many values as items."""
    pairs = [(len(item), len(other)) for item, other in zip(items, sequences, strict=True) if item and other]
    return share_of([count == other_count for count, other_count in pairs]) >= HOLDS_MIN


def _list_of(sequences: Sequences, counts: Counter[int]) -> ItemList:
    lists = [sequence for sequence in sequences if sequence]
    values = [value for items in lists for value in items]
    varies = chance_of(values) <= CHANCE_MAX
    return ItemList(counts, is_sorted=varies and items_rise(lists), is_distinct=varies and are_distinct(lists, values))


PAIRS_MIN = 10
"""Pairs of equal items that there would be by chance, from which on their absence tells something."""


def share_of(hits: Sequence[bool]) -> float:
    """In which share of the observations something held; 0 of none."""
    return sum(hits) / len(hits) if hits else 0.0


def items_rise(lists: Sequence[Items]) -> bool:
    """Whether items rise: in a random order, two different ones do in half of the lists. Of texts nobody knows."""
    comparable = [items for items in lists if len(set(items)) > 1 and all(isinstance(value, int) for _, value in items)]
    return (
        len(comparable) >= TRANSACTIONS_MIN
        and share_of([list(items) == sorted(items) for items in comparable]) >= HOLDS_MIN
    )


def are_distinct(lists: Sequence[Items], values: Sequence[Value]) -> bool:
    """Whether hardly any two items are the same, although they would be if each were chosen by itself."""
    pairs = sum(len(items) * (len(items) - 1) / 2 for items in lists)
    equal = sum(count * (count - 1) / 2 for items in lists for count in Counter(items).values())
    expected = chance_of(values) * pairs
    return expected >= PAIRS_MIN and equal <= (1 - HOLDS_MIN) * expected


COUNTS_MAX = 64
"""Different numbers of rounds, items or rows that are told; rarer ones go to their neighbours."""


def counts_of(seen: Counter[int]) -> int | dict[str, list[int]]:
    """Numbers and how often each was seen, as a workload file has them."""
    kept = dict(sorted(seen.most_common(COUNTS_MAX)))
    for number, count in seen.items():
        if number not in kept:
            kept[min(kept, key=lambda candidate: abs(candidate - number))] += count
    if len(kept) == 1:
        return next(iter(kept))
    return {"counts": list(kept), "weights": list(kept.values())}
