"""The statements of a type of transactions as a sequence with loops.

Transactions of one type have the same statements once repeated blocks are folded (`transaction_types`). Here the loops
are found again: which blocks are repeated, and how often. Deliberately not here: the values of statements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from plimsoll.learn.transaction_types import BLOCK_MAX, Templates

LOOP_SHARE_MIN = 0.01
"""A block that is repeated in fewer of the transactions is told as it usually is: once."""


@dataclass(frozen=True, slots=True, order=True)
class Loop:
    """Statements `begin` to `end` (without it) of a folded sequence, run several times."""

    begin: int
    end: int

    def holds(self, other: Loop) -> bool:
        """Whether another loop lies within this one."""
        return self.begin <= other.begin and other.end <= self.end and self != other

    def crosses(self, other: Loop) -> bool:
        """Whether neither holds the other although they share statements."""
        apart = self.end <= other.begin or other.end <= self.begin
        return not (apart or self.holds(other) or other.holds(self) or self == other)


@dataclass(slots=True)
class _Node:
    """One statement of a folded sequence: lengths of the repeated blocks that begin with it."""

    template: int
    lengths: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Structure:
    """A folded sequence and its loops.

    Attributes:
        templates: The statements, repeated blocks once.
        loops: None crosses another; outer ones before those within.
    """

    templates: Templates
    loops: tuple[Loop, ...]

    def inside(self, place: int) -> tuple[Loop, ...]:
        """The loops around a statement, the outermost first."""
        return tuple(one for one in self.loops if one.begin <= place < one.end)


@dataclass(frozen=True, slots=True)
class Placed:
    """One statement of a transaction, at its place in the structure.

    Attributes:
        place: In the folded sequence.
        rounds: Of each loop around it, the outermost first, which round this is, from 0.
        index: Of the statement in the transaction.
    """

    place: int
    rounds: tuple[int, ...]
    index: int


def loops_of(sequence: Sequence[int]) -> set[Loop]:
    """The repeated blocks of one transaction, in places of its folded sequence."""
    nodes = [_Node(one) for one in sequence]
    for length in range(1, BLOCK_MAX + 1):
        kept: list[_Node] = []
        for node in nodes:
            kept.append(node)
            last, before = kept[-length:], kept[-2 * length : -length]
            if [one.template for one in last] == [one.template for one in before]:
                for first, again in zip(before, last, strict=True):
                    first.lengths |= again.lengths
                before[0].lengths.add(length)
                del kept[-length:]
        nodes = kept
    return {
        Loop(place, place + length)
        for place, node in enumerate(nodes)
        for length in node.lengths
        if place + length <= len(nodes)
    }


def structure_of(templates: Templates, sequences: Counter[Templates]) -> Structure:
    """The structure of a type.

    Args:
        templates: Its folded sequence.
        sequences: Its transactions as they were, and how many of each there were.
    """
    seen: Counter[Loop] = Counter()
    for sequence, count in sequences.items():
        for loop in loops_of(sequence):
            seen[loop] += count
    enough = LOOP_SHARE_MIN * sequences.total()
    kept: list[Loop] = []
    for loop, count in seen.most_common():
        if count >= enough and not any(loop.crosses(one) for one in kept):
            kept.append(loop)
    return Structure(templates, tuple(sorted(kept, key=lambda one: (one.begin, -one.end))))


def placed(structure: Structure, sequence: Sequence[int]) -> list[Placed] | None:
    """The places of a transaction's statements; None where it has another structure."""
    walk = _Walk(structure, sequence)
    end = walk.span(0, len(structure.templates), structure.loops, (), 0)
    return walk.found if end == len(sequence) else None


@dataclass(slots=True)
class _Walk:
    """Goes through a transaction along a structure."""

    structure: Structure
    sequence: Sequence[int]
    found: list[Placed] = field(default_factory=list)

    def span(self, place: int, end: int, loops: tuple[Loop, ...], rounds: tuple[int, ...], index: int) -> int | None:
        """Places `place` to `end`; the index in the transaction behind them, None where they do not fit."""
        while place < end:
            loop = next((one for one in loops if one.begin == place), None)
            if loop is not None:
                after = self._rounds(loop, loops, rounds, index)
                if after is None:
                    return None
                place, index = loop.end, after
                continue
            if index >= len(self.sequence) or self.sequence[index] != self.structure.templates[place]:
                return None
            self.found.append(Placed(place, rounds, index))
            place, index = place + 1, index + 1
        return index

    def _rounds(self, loop: Loop, loops: tuple[Loop, ...], rounds: tuple[int, ...], index: int) -> int | None:
        """As many rounds of a loop as there are, at least one."""
        within, times = tuple(one for one in loops if loop.holds(one)), 0
        while True:
            mark = len(self.found)
            after = self.span(loop.begin, loop.end, within, (*rounds, times), index)
            if after is None:
                del self.found[mark:]
                return index if times else None
            times, index = times + 1, after


def round_counts(structure: Structure, transaction: Sequence[Placed]) -> Iterator[tuple[Loop, int]]:
    """How often each loop was run, once for each time that it was entered."""
    for loop in structure.loops:
        depth = structure.inside(loop.begin).index(loop)
        entered: Counter[tuple[int, ...]] = Counter()
        for one in transaction:
            if one.place == loop.begin and not any(one.rounds[depth + 1 :]):
                entered[one.rounds[:depth]] += 1
        yield from ((loop, count) for count in entered.values())
