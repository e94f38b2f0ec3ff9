"""Types of transactions: the same statements in the same order, however often a part of them is repeated.

Method: runs of a block of statements are folded to the block once (`A B B B C` and `A B C` are one type), shortest
block first, as loops of an application produce them; the idea of transaction logic is that of Lauca (Li et al., TKDE
36(7), 2024). Types that together make up most of the statement time are kept, the rest is one type, "other".

Deliberately not here: what a type is called, and its parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import polars as pl

from plimsoll.learn.arrivals import ArrivalCounter
from plimsoll.learn.quantiles import DurationCounts

BLOCK_MAX = 12
"""Longest block of statements that is recognised as a loop."""

KEPT_SHARE = 0.95
"""Of statement time, in the types that are told one by one."""

LEARNED_SHARE = 0.99
"""Of transactions, in the types that are learned: statements that are fast count as much as slow ones."""

TYPES_MAX = 50
_LENGTH_MAX = 2_000
"""Statements of one transaction that are looked at; longer ones are batch jobs, all of them one type."""

LONG = (0xFFFF_FFFF,)
"""Stands for a transaction of more statements than are looked at."""

Templates = tuple[int, ...]


def folded(templates: Sequence[int]) -> Templates:
    """The statements with each repeated block once.

    >>> folded([1, 2, 3, 2, 3, 2, 3, 4])
    (1, 2, 3, 4)
    """
    if len(templates) > _LENGTH_MAX:
        return LONG
    left = list(templates)
    for length in range(1, BLOCK_MAX + 1):
        left = _without_runs(left, length)
    return tuple(left)


def _without_runs(templates: list[int], length: int) -> list[int]:
    """Each run of equal blocks of a length once."""
    kept: list[int] = []
    for one in templates:
        kept.append(one)
        if kept[-length:] == kept[-2 * length : -length]:
            del kept[-length:]
    return kept


@dataclass(slots=True, kw_only=True)
class TypeTotals:
    """What is known of the transactions of one type. Sums over all of them, weighted where the log is a sample.

    Attributes:
        templates: Its statements, repeated blocks once.
        count: Transactions.
        statements: Statements that do its work.
        rolled_back: Of the transactions.
        durations: Of transactions, from the begin to the end of the last statement, microseconds.
        arrivals: When they began.
    """

    templates: Templates
    count: float = 0.0
    statements: float = 0.0
    statement_us: float = 0.0
    commit_us: float = 0.0
    rows_examined: float = 0.0
    rows_affected: float = 0.0
    rolled_back: float = 0.0
    errors: float = 0.0
    explicit: float = 0.0
    reads_only: bool = True
    statements_max: int = 0
    durations: DurationCounts = field(default_factory=DurationCounts)
    arrivals: ArrivalCounter = field(default_factory=ArrivalCounter)


class TypeCounter:
    """Counts transactions by type, part of the log after part."""

    def __init__(self) -> None:
        self._types: dict[Templates, TypeTotals] = {}
        self._folded: dict[Templates, Templates] = {}
        self._sorted: tuple[TypeTotals, ...] | None = None

    def add(self, transactions: pl.DataFrame) -> None:
        """Adds what `transactions_of` found."""
        self._sorted = None
        weight = pl.col("weight")
        grouped = transactions.group_by("templates").agg(
            count=weight.sum(),
            statements=(pl.col("templates").list.len() * weight).sum(),
            statement_us=(pl.col("statement_us") * weight).sum(),
            commit_us=(pl.col("commit_us") * weight).sum(),
            rows_examined=(pl.col("rows_examined") * weight).sum(),
            rows_affected=(pl.col("rows_affected") * weight).sum(),
            rolled_back=(pl.col("end").is_in(("rollback", "disconnect")) * weight).sum(),
            errors=(pl.col("errors") * weight).sum(),
            explicit=(pl.col("is_explicit") * weight).sum(),
            reads_only=pl.col("reads_only").all(),
            durations=(pl.col("end_us") - pl.col("start_us")).drop_nulls(),
        )
        for row in grouped.iter_rows(named=True):
            self._add(tuple(row.pop("templates")), row)
        self._add_arrivals(transactions)

    def _add_arrivals(self, transactions: pl.DataFrame) -> None:
        """When transactions of each type began; merged once for a type, however many lists of statements it has."""
        begun = transactions.filter(pl.col("start_us").is_not_null())
        parts: dict[Templates, list[pl.DataFrame]] = {}
        for (templates,), part in begun.select("templates", "start_us", "weight").group_by("templates"):
            parts.setdefault(self._folded[tuple(templates)], []).append(part)
        for key, found in parts.items():
            together = pl.concat(found)
            self._types[key].arrivals.add(together["start_us"].to_numpy(), together["weight"].to_numpy())

    def _add(self, templates: Templates, row: dict[str, float]) -> None:
        key = self._folded.setdefault(templates, folded(templates))
        found = self._types.setdefault(key, TypeTotals(templates=key))
        found.durations.add(row.pop("durations"))  # type: ignore[arg-type]
        found.reads_only &= bool(row.pop("reads_only"))
        found.statements_max = max(found.statements_max, len(templates))
        for name, value in row.items():
            setattr(found, name, getattr(found, name) + value)

    def types(self) -> tuple[TypeTotals, ...]:
        """All types, the one with the most statement time first. They are sorted once."""
        if self._sorted is None:
            ordered = sorted(self._types.values(), key=lambda one: (-one.statement_us, -one.count, one.templates))
            self._sorted = tuple(ordered)
        return self._sorted


def kept_types(types: Sequence[TypeTotals]) -> int:
    """How many of the types, which are sorted by statement time, are told one by one."""
    total = sum(one.statement_us for one in types)
    weights: Iterable[float] = (one.statement_us for one in types)
    if total == 0:
        total, weights = sum(one.count for one in types), (one.count for one in types)
    reached = 0.0
    for number, weight in enumerate(weights, start=1):
        reached += weight
        if reached >= KEPT_SHARE * total or number == TYPES_MAX:
            return number
    return len(types)


def learned_types_count(types: Sequence[TypeTotals]) -> int:
    """How many of them are learned: as many as are told, and more until nearly all transactions are among them."""
    told, total, reached = kept_types(types), sum(one.count for one in types), 0.0
    for number, one in enumerate(types, start=1):
        reached += one.count
        if number >= told and (reached >= LEARNED_SHARE * total or number >= TYPES_MAX):
            return number
    return len(types)
