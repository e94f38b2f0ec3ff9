"""Where the values of a learned transaction come from, in the words of a workload file.

A value is the same as an earlier one or follows from it, is kept from a row that was read, is a number that is part of
the statement, or is drawn: from the keys of a table, or as the values of its column are made.

Of columns with few different values it is known which of the log's values are which of the table's: both by their
hashes, or as whole numbers. In the workload each gets a made-up value, the same wherever it occurs, so that a statement
which looks for new orders finds as many as it did.

Deliberately not here: how columns are made (`data_model`, `column_values`), and how statements are put together
(`workload`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from plimsoll.learn.data_model import Domain, LearnedTables
from plimsoll.learn.fits import OBSERVATIONS_MIN, fit
from plimsoll.learn.model import LearnedType
from plimsoll.learn.names import Pseudonyms
from plimsoll.learn.profile_model import Distribution, ValueKind
from plimsoll.learn.relations import Place, Value
from plimsoll.learn.schema_model import FEW_VALUES_MAX, ColumnKey, SchemaFacts, TableFacts

MAXIMA_MIN = 20
"""New largest values in the later half of the log, from which on the newest key moves."""

CONSTANT_MIN = 20
"""A number that was seen so often, and no other, is part of the program and stays; of fewer it may be data."""

_LIMITS_MAX = 64
"""A LIMIT of no more different numbers keeps them; of any other only the range is told."""

_PLACES_MAX = 9
_ADDED = {"generate": "decimal", "from": 1, "to": 100, "places": 2}
"""What is added to a column where the log does not say how much: little, so that sums of it stay within the column."""

_NUMBERED = ("key", "reference", "integer")
_DISTRIBUTED = ("integer", "decimal", "timestamp", "reference")
"""Generators that take a distribution."""

_KINDS: dict[str, ValueKind] = {"key": "key", "reference": "foreign key", "date": "date", "text": "text"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where one value comes from.

    Attributes:
        kind: As people call it.
        is_part: `number` is part of the statement.
        number: That number; None for NULL.
        generator: As a workload file has it; None for what is not drawn.
        distribution: What it was made of; None for what is not drawn.
        assumed: The log does not show it: `row-read`, `made-up` (no values of that column are known), or None.
    """

    kind: ValueKind
    is_part: bool = False
    number: int | float | None = None
    generator: Mapping[str, Any] | None = None
    distribution: Distribution | None = None
    assumed: str | None = None


@dataclass(frozen=True, slots=True)
class Sources:
    """Makes sources from what was seen.

    Attributes:
        real: The tables of the server.
        made: The tables that are made, perhaps smaller.
        names: New names of tables and columns.
        choices: Of columns with few different values, which these are.
    """

    real: LearnedTables
    made: LearnedTables
    names: Pseudonyms
    choices: Mapping[ColumnKey, Choices] = field(default_factory=dict)

    def drawn(self, values: Sequence[Value], column: ColumnKey | None, use: str, *, is_new_key: bool = False) -> Source:
        """Of a value that has nothing to do with others.

        Args:
            values: As they came, in the order of the log.
            column: Whose value it is.
            use: As `Slot` has it.
            is_new_key: It is written to a column in which no two rows are alike.
        """
        plain = [value for kind, value in values if kind != "null"]
        null_ratio = round(1 - len(plain) / len(values), 4) if values else 0.0
        if values and not plain:
            return Source(kind="constant", is_part=True, number=None)
        kinds = Counter(value_kind for value_kind, _ in values if value_kind != "null")
        kind = kinds.most_common(1)[0][0] if plain else "int"
        domain = None if column is None else self.made.domain(column)
        if column is None or domain is None or (use in ("limit", "added") and kind != "text"):
            return _without_column(plain, kind, use, null_ratio)
        if use == "added":  # numbers within quotes: the log has only their hashes
            return Source(kind="number", generator=_ADDED, assumed="made-up")
        size = max(domain.size, self._real_size(column))
        if is_new_key:
            return self._new_key(plain, kind, column, domain)
        behind = _behind(plain) if kind == "int" and domain.kind in _NUMBERED else None
        distribution = fit(plain, size, behind)
        chosen = self.choices.get(column)
        if chosen is not None and domain.generator["generate"] == "choice":
            generator = (
                _one_of(domain.generator, chosen.counts(values))
                if any(chosen.counts(values))
                else dict(domain.generator)
            )
        else:
            generator = self._chosen(distribution, domain, column)
        if null_ratio > 0:
            generator["null_ratio"] = null_ratio
        return Source(kind=_KINDS.get(domain.kind, "number"), generator=generator, distribution=distribution)

    def _real_size(self, column: ColumnKey) -> int:
        domain = self.real.domain(column)
        return 1 if domain is None else domain.size

    def size(self, column: ColumnKey) -> int:
        """How many values a column of the made tables has."""
        domain = self.made.domain(column)
        return 0 if domain is None else domain.size

    def of_column(self, column: ColumnKey) -> Source:
        """Of a value that no log shows: as the column's rows are made."""
        domain = self.made.domain(column)
        if domain is None:
            return Source(kind="constant", is_part=True, number=0, assumed="made-up")
        generator = self._new(column) if domain.is_unique and domain.kind in _NUMBERED else dict(domain.generator)
        return Source(kind=_KINDS.get(domain.kind, "number"), generator=generator, assumed="made-up")

    def _new(self, column: ColumnKey) -> dict[str, Any]:
        table, name = column
        return {"generate": "next", "table": self.made.table_name(table), "column": self.names.of("c", name)}

    def _new_key(self, plain: Sequence[int | str], kind: str, column: ColumnKey, domain: Domain) -> Source:
        """A key that no row may have yet."""
        distribution = Distribution(
            kind="next", observed_count=len(plain), distinct_count=len(set(plain)), domain=max(domain.size, 1)
        )
        if kind == "int" and domain.kind in _NUMBERED:
            return Source(kind="key", generator=self._new(column), distribution=distribution)
        return Source(
            kind="key", generator={"generate": "hex", "length": 32}, distribution=distribution, assumed="made-up"
        )

    def _chosen(self, distribution: Distribution, domain: Domain, column: ColumnKey) -> dict[str, Any]:
        """The generator of a column's values, with the distribution that was found."""
        generator = dict(domain.generator)
        if generator["generate"] == "choice":
            return _weighed(generator, distribution)
        if generator["generate"] not in _DISTRIBUTED or distribution.kind == "uniform":
            return generator
        if distribution.kind == "recent":
            zipfian = {"kind": "zipfian", "exponent": min(distribution.exponent, 10.0)}
            return {**self._new(column), "generate": "recent", "distribution": zipfian}
        shares = distribution.shares if distribution.kind == "hot" else (1.0,)
        hot = {"kind": "hot", "shares": list(shares), "exponent": round(distribution.exponent, 3)}
        return generator | {"distribution": hot}


def _one_of(generator: Mapping[str, Any], counts: Sequence[int]) -> dict[str, Any]:
    """Made-up values as often as those that they stand for were seen."""
    pairs = [(value, count) for value, count in zip(generator["values"], counts, strict=False) if count]
    if not pairs:
        return dict(generator)
    return {"generate": "choice", "values": [value for value, _ in pairs], "weights": [count for _, count in pairs]}


def _weighed(generator: dict[str, Any], distribution: Distribution) -> dict[str, Any]:
    """One of a few made-up values: the first ones as often as the most frequent that were seen."""
    values = generator["values"]
    shares = {"hot": distribution.shares, "constant": (1.0,)}.get(distribution.kind)
    if shares is None:
        return {key: value for key, value in generator.items() if key != "weights"}
    count = min(len(values), len(shares))
    return generator | {"values": values[:count], "weights": [max(share, 1e-6) for share in shares[:count]]}


def member_source(values: Sequence[Value], count: int) -> Source:
    """Which statement of a family runs."""
    seen = Counter(value for _, value in values)
    weights = [seen[number] for number in range(1, count + 1)]
    generator = {"generate": "choice", "values": list(range(1, count + 1)), "weights": weights}
    return Source(kind="member", generator=generator, distribution=fit([value for _, value in values], count))


def _without_column(plain: Sequence[int | str], kind: str, use: str, null_ratio: float) -> Source:
    """Of limits, of what is added, and of what stands elsewhere."""
    named: ValueKind = "limit" if use == "limit" else "number"
    seen = Counter(plain)
    if not plain:
        return Source(kind="number", is_part=True, number=0, assumed="made-up")
    if len(seen) == 1 and kind in ("int", "decimal") and len(plain) >= CONSTANT_MIN:
        return Source(kind="constant", is_part=True, number=_number(plain[0]))
    if kind == "int" and len(seen) <= _LIMITS_MAX and use == "limit":
        ordered = sorted(seen)
        generator: dict[str, Any] = {
            "generate": "choice",
            "values": ordered,
            "weights": [seen[value] for value in ordered],
        }
    elif kind in ("int", "decimal"):
        low, high = _rounded([float(value) for value in plain])
        generator = {"generate": "integer", "from": low, "to": high}
        if kind == "decimal":
            places = max(len(str(value).partition(".")[2]) for value in seen)
            generator |= {"generate": "decimal", "places": min(places, _PLACES_MAX)}
    elif kind == "date":
        generator = {"generate": "timestamp", "from": "2025-01-01 00:00:00", "to": "2025-12-31 23:59:59"}
        return _drawn("date", generator, plain, null_ratio, assumed="made-up")
    else:
        return _drawn("text", {"generate": "letters", "length": 8}, plain, null_ratio, assumed="made-up")
    return _drawn(named, generator, plain, null_ratio)


def _drawn(
    kind: ValueKind, generator: dict[str, Any], plain: Sequence[object], null_ratio: float, assumed: str | None = None
) -> Source:
    nulls = {"null_ratio": null_ratio} if null_ratio > 0 else {}
    distribution = fit(plain, len(set(plain)))
    return Source(kind=kind, generator=generator | nulls, distribution=distribution, assumed=assumed)


def _behind(plain: Sequence[int | str]) -> list[int] | None:
    """How far each key lies behind the largest one so far; None where that does not move."""
    numbers = np.asarray([value for value in plain if isinstance(value, int)], dtype=np.int64)
    if numbers.size < OBSERVATIONS_MIN:
        return None
    newest = np.maximum.accumulate(numbers)
    later = newest[numbers.size // 2 :]
    return (newest - numbers).tolist() if np.count_nonzero(np.diff(later)) >= MAXIMA_MIN else None


def _number(value: int | str) -> int | float:
    return value if isinstance(value, int) else float(value)


def _rounded(numbers: Sequence[float]) -> tuple[int, int]:
    """A range around numbers, its ends with one digit that is not 0: how large they are, not which."""
    low, high = (float(quantile) for quantile in np.quantile(np.asarray(numbers, dtype=float), (0.01, 0.99)))
    return -_outward(-low) if low < 0 else _inward(low), _outward(high) if high > 0 else -_inward(-high)


def _outward(number: float) -> int:
    unit = 10.0 ** max(len(str(math.ceil(number))) - 1, 0)
    return int(math.ceil(number / unit) * unit)


def _inward(number: float) -> int:
    unit = 10.0 ** max(len(str(math.floor(number))) - 1, 0)
    return int(math.floor(number / unit) * unit)


_USES = ("equal", "written", "list")


@dataclass(frozen=True, slots=True)
class Choices:
    """The values of one column.

    Attributes:
        values: Of the table, the most frequent first; then those that only the log has.
        weights: How often each is in the table; 0 for those that are not.
    """

    values: tuple[str, ...]
    weights: tuple[float, ...]

    def counts(self, values: Sequence[Value]) -> list[int]:
        """How often each was seen; what is none of them is not counted."""
        seen = Counter(str(value) for kind, value in values if kind in ("int", "text"))
        return [seen[value] for value in self.values]


def column_choices(schema: SchemaFacts, types: Sequence[LearnedType]) -> dict[ColumnKey, Choices]:
    """The columns whose values are told one by one.

    Args:
        schema: The tables.
        types: What is done with them.
    """
    logged = _logged(types)
    choices: dict[ColumnKey, Choices] = {}
    for table in schema.tables:
        for column in table.columns:
            key = (table.key, column.name.lower())
            if not column.frequencies or key[1] in _leading(table):
                continue
            values = dict(column.frequencies)
            more = [value for value, _ in logged.get(key, Counter()).most_common() if value not in values]
            if len(values) + len(more) <= FEW_VALUES_MAX:
                total = sum(values.values())
                weights = (*(count / total for count in values.values()), *(0.0 for _ in more))
                choices[key] = Choices((*values, *more), weights)
    return choices


def _leading(table: TableFacts) -> set[str]:
    """The columns that keys begin with: these are told as keys."""
    unique = [index for index in (table.primary_key, *table.indexes) if index is not None]
    return {
        index.columns[0].lower()
        for index in unique
        if index.columns and (index.is_unique or index is table.primary_key)
    }


def _logged(types: Sequence[LearnedType]) -> dict[ColumnKey, Counter[str]]:
    """By column, how often statements compared or wrote each value."""
    counts: dict[ColumnKey, Counter[str]] = {}
    for learned_type in types:
        for place, statement in enumerate(learned_type.statements):
            for slot, column in enumerate(statement.facts.columns if statement is not None else ()):
                if column is None or statement is None or statement.facts.slots[slot].use not in _USES:
                    continue
                values = learned_type.values(Place(place, slot))
                counts.setdefault(column, Counter()).update(
                    str(value) for kind, value in values if kind in ("int", "text")
                )
    return counts
