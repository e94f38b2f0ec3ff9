"""Statements that have rows or lists: one text for each combination of how many rows and items there are.

`IN (:ids)` becomes `IN (?, ?, ?)`, and the one group behind VALUES is repeated. Texts are scanned, not parsed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

from plimsoll.spec.counts import Counts, ItemsOf, Times
from plimsoll.spec.sql_text import SqlText, masked
from plimsoll.spec.transactions import StatementSpec, Values, ValueSpec

VARIANTS_MAX = 64
EXPANDED_MAX = 65_535
"""As many values as the protocol can number."""

_VALUES = re.compile(r"\bVALUES?\s*(?=\()", re.IGNORECASE)
_ON_DUPLICATE = re.compile(r"\bON\s+DUPLICATE\b", re.IGNORECASE)
_IN_BEFORE = re.compile(r"\bIN\s*\(\s*$", re.IGNORECASE)
_IN_BEHIND = re.compile(r"\s*\)")


@dataclass(frozen=True, slots=True)
class Group:
    """The group in parentheses behind VALUES.

    Attributes:
        begin: Where it begins in the text, its parenthesis included.
        end: Where it ends.
        first: The position of its first value among all of the statement.
        count: How many values it has.
    """

    begin: int
    end: int
    first: int
    count: int


def group_of(sql: SqlText) -> Group | None:
    """The one group behind VALUES of an INSERT or REPLACE; None where there is none, or more than one."""
    text = _ON_DUPLICATE.split(masked(sql.sql))[0]
    found = _VALUES.search(text)
    if sql.first_word not in ("INSERT", "REPLACE") or found is None:
        return None
    depth = 0
    for at in range(found.end(), len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            if text[at + 1 :].lstrip().startswith(","):
                return None
            first, count = text[: found.end()].count("?"), text[found.end() : at].count("?")
            return Group(found.end(), at + 1, first, count)
    return None


@dataclass(frozen=True, slots=True)
class Lists:
    """Values that are lists, and how many items they have.

    Attributes:
        known: Those that a statement can name.
        of_transaction: Those that are drawn before the first statement.
    """

    known: Mapping[str, Counts] = field(default_factory=dict)
    of_transaction: Mapping[str, Counts] = field(default_factory=dict)

    def after(self, name: str, value: ValueSpec, *, is_first: bool = False) -> Lists:
        """The same once this value was drawn, too.

        Args:
            name: What it is called.
            value: The value.
            is_first: It is drawn before the first statement.
        """
        counts = None if value.items is None else self.counts(value.items)
        found = {} if counts is None else {name: counts}
        others = {other: one for other, one in self.known.items() if other != name}
        return Lists(others | found, {**self.of_transaction, **found} if is_first else self.of_transaction)

    def counts(self, times: Times) -> Counts | None:
        """The numbers that there may be; None where a list that is not there says them."""
        return self.of_transaction.get(times.items_of) if isinstance(times, ItemsOf) else times


def lists_of(values: Values) -> Lists:
    """The lists that are drawn before the first statement."""
    found = Lists()
    for name, value in values.items():
        found = found.after(name, value, is_first=True)
    return found


def variants(spec: StatementSpec, sql: SqlText, lists: Lists) -> list[str]:
    """The texts of a statement without faults; none where it has neither rows nor lists.

    Args:
        spec: The statement.
        sql: Its text.
        lists: Those that are known to it.
    """
    drawn = _drawn(spec, sql, lists)
    if not drawn:
        return []
    group = group_of(sql) if spec.rows is not None else None
    combinations = product(*(counts.numbers for counts in drawn.values()))
    return [_text(sql, group, dict(zip(drawn, numbers, strict=True))) for numbers in combinations]


def variant_faults(spec: StatementSpec, sql: SqlText, lists: Lists) -> Iterator[str]:
    """What is wrong with the rows and lists of a statement, each line behind the name of its key."""
    drawn, rows = _drawn(spec, sql, lists), _rows(spec, lists)
    if not drawn:
        return
    group = group_of(sql)
    if rows is not None:
        if group is None:
            yield "rows: belongs to an INSERT or REPLACE with one group behind VALUES, such as VALUES (:a, :b)"
            return
        yield from _row_faults(spec, sql, group)
    yield from _place_faults(sql, lists.known)
    count = math.prod(counts.choices for counts in drawn.values())
    if count > VARIANTS_MAX:
        cure = "write { counts = […], weights = […] } with fewer"
        yield f"sql: has {count} lengths of its rows and lists, at most {VARIANTS_MAX} are possible; {cure}"
    longest = {name: counts.high for name, counts in drawn.items()}
    size = sum(longest.get(name, 1) for name in sql.names)
    if group is not None and rows is not None:
        size += (rows.high - 1) * group.count
    if size > EXPANDED_MAX:
        yield f"sql: has up to {size} values with all its rows and items, at most {EXPANDED_MAX} are possible"


def _rows(spec: StatementSpec, lists: Lists) -> Counts | None:
    return None if spec.rows is None else lists.counts(spec.rows)


def _drawn(spec: StatementSpec, sql: SqlText, lists: Lists) -> dict[str, Counts]:
    """What lengths follow from: its rows under the name "", then lists as they come."""
    count = _rows(spec, lists)
    rows = {} if count is None else {"": count}
    return rows | {name: lists.known[name] for name in sql.names if name in lists.known}


def _row_faults(spec: StatementSpec, sql: SqlText, group: Group) -> Iterator[str]:
    inside = set(sql.names[group.first : group.first + group.count])
    outside = {*sql.names[: group.first], *sql.names[group.first + group.count :]}
    for name, value in spec.values.items():
        if value.items is not None:
            cure = "give the list to the transaction"
            yield f"values.{name}.list: the values of a statement with rows are drawn for each row; {cure}"
        if name in outside:
            yield f"values.{name}: is drawn for each row, so it cannot stand outside of the group behind VALUES"
    if not inside & spec.values.keys():
        yield "rows: none of the statement's values stands in its group behind VALUES, so all rows would be the same"


def _place_faults(sql: SqlText, lists: Mapping[str, Counts]) -> Iterator[str]:
    text = masked(sql.sql)
    marks = [found.start() for found in re.finditer(r"\?", text)]
    for name, at in zip(sql.names, marks, strict=True):
        if name in lists and not (_IN_BEFORE.search(text[:at]) and _IN_BEHIND.match(text[at + 1 :])):
            yield f"sql: :{name} is a list, which must stand as IN (:{name})"


def _text(sql: SqlText, group: Group | None, numbers: Mapping[str, int]) -> str:
    names = iter(sql.names)

    def expanded(part: str) -> str:
        return re.sub(r"\?", lambda _: ", ".join("?" * numbers.get(next(names), 1)), part)

    if group is None:
        return expanded(sql.sql)
    before, row = expanded(sql.sql[: group.begin]), expanded(sql.sql[group.begin : group.end])
    return before + ", ".join([row] * numbers[""]) + expanded(sql.sql[group.end :])
