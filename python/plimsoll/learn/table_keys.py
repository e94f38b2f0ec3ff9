"""Values of columns that must be unique or refer to others: primary keys, unique indexes, foreign keys.

Where there is no foreign key, columns are taken to refer to each other by their names. Where integers are unique
together, they are mixed radix; otherwise one column gets another value in each row. The value of column k in row i is
`start + step * ((i / each_k) mod cycle_k)`. With sizes s_1, s_2, … of the columns, each_k is the product of the sizes
behind k. No two rows are the same if each cycle is at least its size, and the first one at least rows / each_1: where
all columns before k are equal, i / each_k takes at most s_k consecutive values. A cycle may be larger than the size:
with 5 orders for each customer and 1,000 items, (customer, item) has sizes 1 and 5 in its last column, and the items
still come from all 1,000.

Rows take the values of other columns in turn where an index shows that more of them occur than random draws would give.
With as many rows as values, random draws leave 37 % of the values without a row: a statement that looks for one finds
nothing. One profile for each user, or one order for each customer at first, is what such an index shows. Source of the
expectation: n draws from m values take m (1 - (1 - 1/m)^n) of them, nearly m (1 - e^(-n/m)).

Deliberately not here: columns of no key (`column_values`), and whether a workload can have the reference.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from math import prod

from plimsoll.learn.column_values import (
    Values,
    base_of,
    integer_range,
    kind_of,
    row_template,
    scaled_distinct,
    time_range,
    whole,
)
from plimsoll.learn.schema_model import ColumnFacts, ColumnKey, IndexFacts, TableFacts, TableKey

_SNAP_RATIO = 0.25
"""An estimated size this near to the number of a column's values is that number."""

_DAY_S = 86_400
_DAYS_MAX = 2_900_000
"""From 1970 to the year 9999, nearly."""


@dataclass(slots=True)
class MadeTable:
    """A table that is being made.

    Attributes:
        facts: As the server has it, without generated columns.
        rows_before: On the server.
        rows_wanted: So many times as many as the scale says.
        rows: That are made; fewer where a key has no room for more.
        values: By column, in lower case.
        key: The columns of its primary key, in lower case.
        unique: The unique indexes that stay unique, by place in `facts.indexes`.
        is_assumed: Sizes of its key were not known.
    """

    facts: TableFacts
    rows_before: int
    rows_wanted: int
    rows: int
    values: dict[str, Values] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    unique: set[int] = field(default_factory=set)
    is_assumed: bool = False

    def column(self, name: str) -> ColumnFacts:
        """The facts of a column, whose name is in lower case."""
        return next(column for column in self.facts.columns if column.name.lower() == name)


@dataclass(slots=True)
class Keys:
    """Makes the keys of one table after those that it refers to.

    Attributes:
        made: The tables that are made already.
        links: Of all tables.
    """

    made: Mapping[TableKey, MadeTable]
    links: Links

    def give(self, table: MadeTable, index: IndexFacts, *, is_primary: bool) -> bool:
        """Makes an index unique, if that is possible.

        Args:
            table: Whose columns get values; for a primary key it may get fewer rows.
            index: All of its columns are among the table's.
            is_primary: Rows may be left out so that it is unique.
        """
        names = [name.lower() for name in index.columns]
        if any(name in table.values and table.values[name].is_unique for name in names):
            return True
        free = [name for name in names if name not in table.values]
        if len(names) == 1:
            return bool(free) and self._single(table, names[0], is_primary=is_primary)
        if len(free) == len(names) and all(kind_of(table.column(name)) in ("integer", "choice") for name in names):
            return self._together(table, index, names, is_primary=is_primary)
        unlinked = [name for name in free if self._parent(table, name) is None]
        others = [name for name in unlinked if kind_of(table.column(name)) not in ("integer", "choice")]
        return any(self._by_row(table, name, is_primary=is_primary) for name in (*others[::-1], *unlinked[::-1]))

    def _parent(self, table: MadeTable, name: str) -> Values | None:
        """What a column refers to; None where it refers to nothing that is made yet."""
        link = self.links.get((table.facts.key, name))
        return None if link is None else self.target(link)

    def target(self, link: Link) -> Values | None:
        """The values that a link leads to; None where they do not follow from row numbers."""
        parent = self.made.get(link.table)
        values = parent.values.get(link.column) if parent is not None and parent.rows else None
        is_row = values is not None and "{row}" in str(values.generator.get("template"))
        return values if values is not None and (is_row or values.generator["generate"] == "sequence") else None

    def _single(self, table: MadeTable, name: str, *, is_primary: bool) -> bool:
        parent = self._parent(table, name)
        if parent is None:
            return self._by_row(table, name, is_primary=is_primary)
        if parent.size < table.rows and not is_primary:
            return False
        table.rows = min(table.rows, parent.size)
        generator = {key: value for key, value in parent.generator.items() if key not in ("each", "cycle")}
        table.values[name] = Values(
            generator, "key", max(table.rows, 1), is_unique=True, length=parent.length, sql_type=parent.sql_type
        )
        return True

    def _by_row(self, table: MadeTable, name: str, *, is_primary: bool) -> bool:
        values = _row_values(table.column(name), table.rows)
        if values.size < table.rows and not is_primary:
            return False
        table.rows = min(table.rows, values.size) if table.rows else 0
        table.values[name] = values
        return True

    def _together(self, table: MadeTable, index: IndexFacts, names: Sequence[str], *, is_primary: bool) -> bool:
        columns = [table.column(name) for name in names]
        parents = [self._parent(table, name) for name in names]
        starts = [
            _start(column) if parent is None else int(parent.generator.get("start", 1))
            for column, parent in zip(columns, parents, strict=True)
        ]
        limits = [
            _room(column, start) if parent is None else min(parent.size, _room(column, start))
            for column, parent, start in zip(columns, parents, starts, strict=True)
        ]
        sizes, spans, is_known = _sizes(table, index, columns)
        rows, key_digits = digits(table.rows, sizes, spans, limits)
        if rows < table.rows and not is_primary:
            return False
        table.rows = rows
        table.is_assumed |= not is_known
        for name, column, start, digit in zip(names, columns, starts, key_digits, strict=True):
            generator = {"generate": "sequence", "start": start, "each": digit.each, "cycle": digit.cycle}
            sql_type = "SMALLINT" if kind_of(column) == "choice" else None
            table.values[name] = Values(generator, "key", max(digit.distinct(rows), 1), sql_type=sql_type)
        return True


def _sizes(table: MadeTable, index: IndexFacts, columns: Sequence[ColumnFacts]) -> tuple[list[int], list[int], bool]:
    """Sizes and spans for `digits`, and whether they are known; the largest one shrinks with the rows."""
    before = max(table.rows_before, 1)
    counts = [len(column.members) or column.distinct_count for column in columns]
    is_known = len(index.prefix_counts) == len(columns) or all(count is not None for count in counts)
    rest = before / math.prod(count for count in counts if count is not None)
    even = max(1, round(rest ** (1 / max(counts.count(None), 1))))
    sizes: list[int] = []
    left = float(before)
    for at, count in enumerate(counts):
        if len(index.prefix_counts) == len(columns):
            ratio = index.prefix_counts[at] / (index.prefix_counts[at - 1] if at else 1)
            near = not index.is_counted and count is not None and abs(ratio - count) <= _SNAP_RATIO * count
            size = count if near and count is not None else math.ceil(ratio) if index.is_counted else round(ratio)
        else:
            size = min(count if count is not None else even, -int(-left // 1))
        sizes.append(max(1, size))
        left = max(1.0, left / sizes[-1])
    spans = [max(size, count or size) for size, count in zip(sizes, counts, strict=True)]
    largest = max(range(len(sizes)), key=lambda at: (sizes[at], at))
    factor = table.rows / before
    sizes[largest] = max(1, round(sizes[largest] * factor))
    spans[largest] = max(sizes[largest], round(spans[largest] * factor))
    return sizes, spans, is_known


def _row_values(column: ColumnFacts, rows: int) -> Values:
    """Another value in each row; `size` is how many there can be."""
    match kind_of(column):
        case "text" | "bytes":
            return row_template(column, rows)
        case "date":
            return _times_by_row(column, rows)
        case "integer":
            start = _start(column)
            if _room(column, start) < rows:
                start = max(integer_range(column)[0], 1 if column.is_auto_increment else integer_range(column)[0])
            size = min(max(rows, 1), _room(column, start))
            return Values({"generate": "sequence", "start": start}, "key", size, is_unique=True)
        case _:  # also of DECIMAL, since new keys of inserts are integers
            sequence = {"generate": "sequence", "start": 1}
            return Values(sequence, "key", max(rows, 1), is_unique=True, sql_type="BIGINT")


def _times_by_row(column: ColumnFacts, rows: int) -> Values:
    low, high, is_known = time_range(column)
    is_date = base_of(column) == "date"
    step_s = max(_DAY_S if is_date else 1, int((high - low).total_seconds()) // max(rows, 1))
    step_s -= step_s % _DAY_S if is_date else 0
    if step_s * rows > _DAYS_MAX * _DAY_S - (low.year - 1970) * 366 * _DAY_S:
        return Values({"generate": "sequence", "start": 1}, "key", rows, is_unique=True, sql_type="BIGINT")
    generator = {"generate": "timestamp", "from": low.isoformat(), "every": f"{step_s}s"}
    return Values(generator, "date", max(rows, 1), [] if is_known else ["range"], is_unique=True)


def _start(column: ColumnFacts) -> int:
    """The first value of a key: the smallest one on the server, or 1."""
    if kind_of(column) != "integer":
        return 1
    low, possible = whole(column.minimum), integer_range(column)
    start = 1 if low is None else low
    if column.is_auto_increment:
        start = max(start, 1)
    return max(possible[0], min(start, possible[-1]))


def _room(column: ColumnFacts, start: int) -> int:
    """How many values there are from a first one on."""
    return integer_range(column)[-1] - start + 1 if kind_of(column) == "integer" else 2**15 - 1


@dataclass(frozen=True, slots=True)
class Link:
    """One column refers to another.

    Attributes:
        table: That is referred to.
        column: Its column, in lower case.
        is_assumed: Names and types alone say so.
    """

    table: TableKey
    column: str
    is_assumed: bool = False


Links = Mapping[ColumnKey, Link]
"""By the column that refers."""


def links_of(tables: Mapping[TableKey, TableFacts]) -> dict[ColumnKey, Link]:
    """All links between these tables; declared ones come before assumed ones."""
    links: dict[ColumnKey, Link] = {}
    for key, table in tables.items():
        for foreign in table.foreign_keys:
            if foreign.parent in tables:
                for column, referred in zip(foreign.columns, foreign.references, strict=False):
                    links.setdefault((key, column.lower()), Link(foreign.parent, referred.lower()))
    for place, link in _assumed(tables):
        links.setdefault(place, link)
    return links


def _assumed(tables: Mapping[TableKey, TableFacts]) -> Iterator[tuple[ColumnKey, Link]]:
    """Columns with the name and type of another table's key: user_id is users.id, item_id is items.item_id."""
    named: dict[tuple[str, str], tuple[TableKey, ColumnFacts]] = {}
    for key, table in tables.items():
        column = _single_key(table)
        if column is None or kind_of(column) != "integer":
            continue
        key_name = column.name.lower()
        names = {f"{word}_{key_name}" for word in _singular(key[1])} | ({key_name} if key_name != "id" else set())
        for name in names:
            named.setdefault((key[0], name), (key, column))
    for key, table in tables.items():
        for column in table.columns:
            parent, target = named.get((key[0], column.name.lower()), (key, column))
            if parent != key and integer_range(column) == integer_range(target) and kind_of(column) == "integer":
                yield (key, column.name.lower()), Link(parent, target.name.lower(), is_assumed=True)


def _single_key(table: TableFacts) -> ColumnFacts | None:
    if table.primary_key is None or len(table.primary_key.columns) != 1:
        return None
    name = table.primary_key.columns[0].lower()
    return next((column for column in table.columns if column.name.lower() == name), None)


def _singular(name: str) -> set[str]:
    """The words that a table's name may be the plural of, and itself."""
    words = {name}
    if name.endswith("ies"):
        words.add(name[:-3] + "y")
    if name.endswith("es"):
        words.add(name[:-2])
    if name.endswith("s"):
        words.add(name[:-1])
    return words


def parents_first(tables: Mapping[TableKey, TableFacts], links: Links) -> list[TableKey]:
    """The tables so that those that are referred to come first, as far as they do not refer to each other."""
    graph: dict[TableKey, set[TableKey]] = {key: set() for key in tables}
    for (key, _), link in links.items():
        if link.table != key:
            graph[key].add(link.table)
    while True:
        try:
            return list(TopologicalSorter(graph).static_order())
        except CycleError as error:
            circle: list[TableKey] = error.args[1]  # each is a predecessor of the next
            graph[circle[1]].discard(circle[0])


_TELLING_RATIO = 0.95
"""Where random draws would take more than this share of what is possible, an index cannot tell the two apart."""


def in_turn(table: MadeTable, column: ColumnFacts, parent: Values | None) -> Values | None:
    """The values in turn; None where no index shows that, or where the column holds no integers.

    Args:
        table: With the values of its keys.
        column: One of its columns, without values as yet.
        parent: What the column refers to; None for no reference to a sequence.
    """
    count = _values_count(column)
    if kind_of(column) != "integer" or count is None or not table.rows:
        return None
    if not any(_shows(table, column, index, count) for index in table.facts.indexes):
        return None
    if parent is not None:
        start, size = int(parent.generator.get("start", 1)), parent.size
    else:
        counted = column.model_copy(update={"distinct_count": count})
        start, size = whole(column.minimum) or 0, scaled_distinct(counted, table.rows_before, table.rows) or 1
    if start + size - 1 not in integer_range(column):
        return None
    return Values({"generate": "sequence", "start": start, "each": 1, "cycle": size}, "key", min(size, table.rows))


def _values_count(column: ColumnFacts) -> int | None:
    """How many values the column could have: from its smallest to its largest."""
    low, high = whole(column.minimum), whole(column.maximum)
    return None if low is None or high is None or low > high else high - low + 1


def _shows(table: MadeTable, column: ColumnFacts, index: IndexFacts, count: int) -> bool:
    """Whether an index shows that; the columns before must be parts of keys, which rows take in their order."""
    names = [name.lower() for name in index.columns]
    name = column.name.lower()
    at = names.index(name) if name in names else len(names)
    if at >= len(index.prefix_counts):
        return False
    known = (table.values.get(before) for before in names[:at])
    if not all(values is not None and "each" in values.generator for values in known):
        return False
    groups = index.prefix_counts[at - 1] if at else 1
    rows = table.rows_before * (1 - (column.null_ratio or 0.0)) / max(groups, 1)
    most, expected = min(rows, count), count * -math.expm1(-rows / count)
    observed = index.prefix_counts[at] / max(groups, 1)
    return expected <= _TELLING_RATIO * most and observed > (expected + most) / 2


@dataclass(frozen=True, slots=True)
class Digit:
    """One column of such a key.

    Attributes:
        each: So many rows after each other have the same value.
        cycle: After so many values it begins again.
    """

    each: int
    cycle: int

    def distinct(self, rows: int) -> int:
        """Different values in so many rows."""
        return min(self.cycle, -(-rows // self.each))


def digits(rows: int, sizes: Sequence[int], spans: Sequence[int], limits: Sequence[int]) -> tuple[int, list[Digit]]:
    """A key for a table.

    Args:
        rows: Of the table.
        sizes: For each column, how many of its values one value of the column before has, at least 1.
        spans: For each column, how many values it has in all.
        limits: For each column, how many values it may have, at least 1.

    Returns:
        How many rows there can be, `rows` or fewer, and the columns.
    """
    rows = min(rows, prod(limits))
    fitted = [max(1, min(size, limit)) for size, limit in zip(sizes, limits, strict=True)]
    for at in (0, *sorted(range(1, len(fitted)), key=lambda at: -limits[at])):
        if (missing := -(-rows // prod(fitted))) > 1:
            fitted[at] = min(limits[at], fitted[at] * missing)
    columns = []
    for at, size in enumerate(fitted):
        each = prod(fitted[at + 1 :])
        needed = -(-rows // each) if at == 0 else size
        columns.append(Digit(each, max(needed, min(spans[at], limits[at]))))
    return rows, columns
