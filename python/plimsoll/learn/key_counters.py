"""Values that a transaction takes from a row that it has read, and keys from a counter which it keeps in one.

No log shows the rows of a result. A value is taken for that of a row if an earlier SELECT of the transaction gives one
row with the very column that the value is compared with or written to, or with a column that refers to it. It is taken
for that of a counter (read it, add one, insert with what was read) if the transaction has read one row with a column
that it also adds to, and if, among transactions that read the same row, the value only rises.

Deliberately not here: keys that the server or the application numbers by itself, and what logs do show (`relations`).
"""

from __future__ import annotations

import bisect
import itertools
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll.learn.relations import Observed, Place, Relation, Value
from plimsoll.learn.schema_model import ColumnKey
from plimsoll.learn.statement_facts import StatementFacts
from plimsoll.learn.transactions import Structure

RISES_MIN = 0.95
PAIRS_MIN = 50
"""Pairs of neighbouring values of one row that are looked at, at least."""

READS_MIN = 20
SAME_MIN = 0.3
"""Of reads of a counter that must be at the same distance from it; others came before its last key was seen."""

Row = tuple[Value, ...]
"""The values that say which row it is."""

Event = tuple[int, Mapping[Place, Observed]]
"""A transaction: the number of its first event, and its values."""


@dataclass(frozen=True, slots=True)
class CounterRead:
    """A value that is read from a counter.

    Attributes:
        row: The statement and the column of its result.
        counter: The column that counts.
    """

    row: RowRead
    counter: ColumnKey


def counters_read(
    structure: Structure,
    facts: Sequence[StatementFacts | None],
    relations: Mapping[Place, Relation],
    one_row: frozenset[int],
    seen: Sequence[Mapping[Place, Observed]],
) -> dict[Place, CounterRead]:
    """The keys of INSERTs that come from counters, by place.

    Args:
        structure: Of the type.
        facts: By place; None where a statement is not known.
        relations: What follows from other values comes from no counter.
        one_row: Places of statements that gave one row, nearly always.
        seen: Values of transactions in the order of the log.
    """
    added = {column for fact in facts if fact is not None for column in fact.added}
    reads: dict[Place, CounterRead] = {}
    for place, fact in enumerate(facts):
        if fact is None or fact.inserts_into is None:
            continue
        for slot, each in enumerate(fact.slots):
            key = Place(place, slot)
            if each.use != "written" or key in relations:
                continue
            for earlier in sorted(one_row):
                before = facts[earlier]
                if earlier >= place or before is None or structure.inside(earlier):
                    continue
                counted = [selected for selected in before.selected if selected.column in added]
                if len(counted) == 1 and _rises(seen, key, _row_key(earlier, before)):
                    reads[key] = CounterRead(RowRead(earlier, counted[0].output), counted[0].column)
    return reads


def _row_key(place: int, facts: StatementFacts) -> list[Place]:
    """The values that say which row is read, in the order of the names of their columns."""
    slots = [
        slot for slot, literal in enumerate(facts.slots) if literal.use == "equal" and facts.columns[slot] is not None
    ]
    return [Place(place, slot) for slot in sorted(slots, key=lambda slot: str(facts.columns[slot]))]


def _observed(transaction: Mapping[Place, Observed], key: Place, row: Sequence[Place]) -> tuple[Row, int] | None:
    """Which row was read, and the value; None where that was not seen."""
    value = transaction.get(key, {}).get((), [])
    named = [transaction.get(each, {}).get((), []) for each in row]
    if len(value) != 1 or value[0][0] != "int" or not all(named):
        return None
    return tuple(each[0] for each in named), int(value[0][1])


def _rises(seen: Sequence[Mapping[Place, Observed]], key: Place, row: Sequence[Place]) -> bool:
    """Whether the values of one row only rise, and rows have the same values: it is no counter of the whole table."""
    by_row: dict[Row, list[int]] = defaultdict(list)
    for transaction in seen:
        if (reading := _observed(transaction, key, row)) is not None:
            by_row[reading[0]].append(reading[1])
    pairs = [later > earlier for row_values in by_row.values() for earlier, later in itertools.pairwise(row_values)]
    values = [value for row_values in by_row.values() for value in row_values]
    is_shared = len(by_row) == 1 or len(set(values)) < len(values)
    return len(pairs) >= PAIRS_MIN and sum(pairs) >= RISES_MIN * len(pairs) and is_shared


@dataclass(slots=True)
class CounterHistory:
    """The values that a counter gave, row by row, and the columns that they were written to.

    Attributes:
        counter: The column that counts.
        columns: That hold its values.
        by_row: By row, the number of the event and the value, in order.
    """

    counter: ColumnKey
    columns: set[ColumnKey]
    by_row: dict[Row, list[tuple[int, int]]]

    def next_key(self, row: Row, event: int) -> int | None:
        """What the counter of a row stood at before an event; None where that is not known."""
        given = self.by_row.get(row, [])
        place = bisect.bisect_left(given, (event, 0))
        return given[place - 1][1] + 1 if place else None


def counter_history(
    key: Place, read: CounterRead, facts: StatementFacts, columns: set[ColumnKey], history: Sequence[Event]
) -> CounterHistory:
    """The history of a counter.

    Args:
        key: The value that comes from it.
        read: The statement that reads it.
        facts: Of that statement.
        columns: That hold the value.
        history: Values of transactions with the number of their first event.
    """
    by_row: dict[Row, list[tuple[int, int]]] = defaultdict(list)
    row = _row_key(read.row.statement, facts)
    for event, transaction in history:
        if (reading := _observed(transaction, key, row)) is not None:
            by_row[reading[0]].append((event, reading[1]))
    return CounterHistory(read.counter, columns, {read_row: sorted(values) for read_row, values in by_row.items()})


def distance_from(
    counter: CounterHistory, key: Place, place: int, facts: StatementFacts, history: Sequence[Event]
) -> int | None:
    """What is added to a counter that a transaction reads; None where its value has nothing to do with that.

    Args:
        counter: Its history.
        key: The value.
        place: Of the statement that reads the counter.
        facts: Of that statement.
        history: Values of transactions with the number of their first event.
    """
    row = _row_key(place, facts)
    distances: Counter[int] = Counter()
    for event, transaction in history:
        reading = _observed(transaction, key, row)
        if reading is not None and (stood := counter.next_key(reading[0], event)) is not None:
            distances[reading[1] - stood] += 1
    if distances.total() < READS_MIN:
        return None
    distance, count = distances.most_common(1)[0]
    return distance if count >= SAME_MIN * distances.total() else None


_USES = ("equal", "written", "range")


@dataclass(frozen=True, slots=True)
class RowRead:
    """A column of the first row of an earlier statement.

    Attributes:
        statement: Place of that statement.
        output: What its result calls the column.
        add: What is added to it.
    """

    statement: int
    output: str
    add: int = 0


def rows_read(
    structure: Structure,
    facts: Sequence[StatementFacts | None],
    relations: Mapping[Place, Relation],
    references: Mapping[ColumnKey, ColumnKey],
    one_row: frozenset[int],
) -> dict[Place, RowRead]:
    """The values that are assumed to be read, by place.

    Args:
        structure: Of the type.
        facts: By place; None where a statement is not known.
        relations: What follows from other values needs no row.
        references: By column, the one that it refers to.
        one_row: Places of statements that gave one row, nearly always.
    """
    reads: dict[Place, RowRead] = {}
    given: list[tuple[int, ColumnKey, str]] = []
    for place, fact in enumerate(facts):
        if fact is None:
            continue
        around = set(structure.inside(place))
        for slot, column in enumerate(fact.columns):
            key = Place(place, slot)
            if column is None or key in relations or fact.slots[slot].use not in _USES:
                continue
            for earlier, selected, output in reversed(given):
                is_known = set(structure.inside(earlier)) <= around
                if is_known and column in (selected, references.get(selected)):
                    reads[key] = RowRead(earlier, output)
                    break
        if place in one_row:
            given += [(place, each.column, each.output) for each in fact.selected]
    return reads
