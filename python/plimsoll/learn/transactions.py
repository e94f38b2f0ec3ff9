"""Statements to transactions and their types: which statements belong together, which loops they have, how they ended.

Method of transactions: a state machine for each session, as the server has one. BEGIN, START TRANSACTION and, with
autocommit off, the next statement open a transaction; COMMIT, ROLLBACK, another BEGIN, autocommit on again, a statement
that commits implicitly (DDL, LOCK TABLES) and the end of the connection close it. With autocommit on, a statement
outside of one is a transaction by itself. Source: MySQL 8.4 Reference Manual, 15.3.1 and 15.3.3. It is computed over
whole columns, as running totals within sessions.

Method of types: runs of a block of statements are folded to the block once (`A B B B C` and `A B C` are one type),
shortest block first, as loops of an application produce them; the idea of transaction logic is that of Lauca (Li et
al., TKDE 36(7), 2024). Types that together make up most of the statement time are kept, the rest is one type, "other".
In a type's structure the loops are found again: which blocks are repeated, and how often.

One pass over a log adds up types, arrivals, sessions and think times; the report and the demand are made of it, so that
no log is gone through twice. Quantiles of durations are of counts in buckets that are 2 % wide. Deliberately not here:
what a type is called, its parameters, and durations of trials, which the engine counts in finer buckets
(`analyse.trial.histograms`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plimsoll.learn.arrivals import ArrivalCounter, Arrivals
from plimsoll.learn.event_log import EventLog, Families, families_of
from plimsoll.learn.report_model import SessionFigures

DATA_KINDS = ("select", "select_locking", "insert", "replace", "update", "delete", "call", "load", "execute", "other")
"""Statements that do the work of a transaction."""

READ_KINDS = ("select",)
"""Of these, those that lock nothing and change nothing."""

_ENDS = {
    "commit": "commit",
    "rollback": "rollback",
    "autocommit_on": "commit",
    "ddl": "commit",
    "lock_tables": "commit",
    "unlock_tables": "commit",
    "quit": "disconnect",
    "connect": "disconnect",
}
"""Statements that end an open transaction, and how; so does another BEGIN, which commits."""

TRANSACTION_COLUMNS = ("start_us", "query_us", "rows_examined", "rows_sent", "rows_affected", "errno", "weight")
"""Columns of statements that `transactions_of` needs."""


def with_transactions(events: pl.DataFrame) -> pl.DataFrame:
    """The statements that are part of a transaction, with `transaction` (ordinal within the session, from 1).

    Args:
        events: Columns session, event, kind and any others, sorted by session and event.
    """
    kind, over = pl.col("kind"), "session"
    is_data, begins, ends_it = kind.is_in(DATA_KINDS), kind == "begin", kind.is_in(list(_ENDS))
    manual = (
        pl.when(kind == "autocommit_off").then(1).when(kind.is_in(("autocommit_on", "connect"))).then(0).otherwise(None)
    )
    opened = pl.when(begins).then(1).when(ends_it).then(0).when(is_data & pl.col("manual")).then(1).otherwise(None)
    return (
        events.with_columns(manual=(manual.forward_fill().over(over).fill_null(0) == 1))
        .with_columns(is_open=(opened.forward_fill().over(over).fill_null(0) == 1))
        .with_columns(was_open=pl.col("is_open").shift(1).over(over).fill_null(value=False))
        .with_columns(first=begins | (is_data & ~pl.col("was_open")))
        .with_columns(transaction=pl.col("first").cum_sum().over(over))
        .filter(begins | is_data | (pl.col("was_open") & (ends_it | (kind == "savepoint"))))
        .drop("manual", "is_open", "was_open", "first")
    )


def transactions_of(events: pl.DataFrame) -> pl.DataFrame:
    """One row for each transaction that holds a statement, sorted by session and begin.

    Columns: session, transaction, templates (list of its statements' templates), is_explicit, end (`commit`,
    `rollback`, `disconnect`, `autocommit`, or `open` where its end is not in the log), start_us, end_us (when its last
    statement ended), statement_us (sum), commit_us, reads_only, rows_examined, rows_affected, errors, weight.

    Args:
        events: Columns session, event, template, kind and `TRANSACTION_COLUMNS`, sorted by session and event.
    """
    marked = with_transactions(events)
    is_data, kind = pl.col("kind").is_in(DATA_KINDS), pl.col("kind")
    took_us = pl.col("query_us").fill_null(0)
    grouped = marked.group_by("session", "transaction", maintain_order=True).agg(
        templates=pl.col("template").filter(is_data),
        is_explicit=(~is_data).any(),
        end=kind.replace_strict(_ENDS, default=None).drop_nulls().last(),
        start_us=pl.col("start_us").min(),
        end_us=(pl.col("start_us") + took_us.cast(pl.Int64)).max(),
        statement_us=took_us.sum(),
        commit_us=took_us.filter(kind.is_in(("commit", "rollback"))).sum(),
        reads_only=kind.filter(is_data).is_in(READ_KINDS).all(),
        rows_examined=pl.col("rows_examined").sum(),
        rows_affected=pl.col("rows_affected").sum(),
        errors=(pl.col("errno").fill_null(0) > 0).sum(),
        weight=pl.col("weight").fill_null(1.0).max(),
    )
    is_last = pl.col("transaction") == pl.col("transaction").max().over("session")
    unsaid = pl.when(~pl.col("is_explicit")).then(pl.lit("autocommit")).when(is_last).then(pl.lit("open"))
    return grouped.with_columns(end=pl.col("end").fill_null(unsaid.otherwise(pl.lit("commit")))).filter(
        pl.col("templates").list.len() > 0
    )


def think_times_us(transactions: pl.DataFrame) -> pl.Series:
    """From the end of each transaction to the begin of the next one of its session, microseconds.

    Args:
        transactions: From `transactions_of`.
    """
    gap = pl.col("start_us") - pl.col("end_us").shift(1).over("session")
    return transactions.select(think_us=gap).drop_nulls()["think_us"].clip(lower_bound=0)


class DurationCounts:
    """Durations as counts: memory does not grow with how many there are. A quantile is exact to 1 %."""

    def __init__(self) -> None:
        self._counts = np.zeros(0, dtype=np.int64)
        self.count = 0

    def add(self, microseconds: Sequence[int] | NDArray[np.int64]) -> None:
        """Adds durations, microseconds; those below one count as one."""
        values = np.maximum(np.asarray(microseconds, dtype=np.float64), 1.0)
        if values.size == 0:
            return
        counts = np.bincount((np.log(values) / _STEP).astype(np.int64))
        size = max(counts.size, self._counts.size)
        self._counts = np.pad(self._counts, (0, size - self._counts.size)) + np.pad(counts, (0, size - counts.size))
        self.count += values.size

    def quantile_us(self, share: float) -> float | None:
        """The duration that a share (0..1) of all does not exceed, microseconds; None where there are none."""
        if self.count == 0:
            return None
        index = int(np.searchsorted(np.cumsum(self._counts), share * self.count))
        return float(np.exp((min(index, self._counts.size - 1) + 0.5) * _STEP))


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
    for template in templates:
        kept.append(template)
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
        for key, begun_parts in parts.items():
            together = pl.concat(begun_parts)
            self._types[key].arrivals.add(together["start_us"].to_numpy(), together["weight"].to_numpy())

    def _add(self, templates: Templates, row: dict[str, float]) -> None:
        key = self._folded.setdefault(templates, folded(templates))
        totals = self._types.setdefault(key, TypeTotals(templates=key))
        totals.durations.add(row.pop("durations"))  # type: ignore[arg-type]
        totals.reads_only &= bool(row.pop("reads_only"))
        totals.statements_max = max(totals.statements_max, len(templates))
        for name, value in row.items():
            setattr(totals, name, getattr(totals, name) + value)

    def types(self) -> tuple[TypeTotals, ...]:
        """All types, the one with the most statement time first. They are sorted once."""
        if self._sorted is None:
            ordered = sorted(
                self._types.values(), key=lambda totals: (-totals.statement_us, -totals.count, totals.templates)
            )
            self._sorted = tuple(ordered)
        return self._sorted


def kept_types(types: Sequence[TypeTotals]) -> int:
    """How many of the types, which are sorted by statement time, are told one by one."""
    total = sum(type_totals.statement_us for type_totals in types)
    weights: Iterable[float] = (type_totals.statement_us for type_totals in types)
    if total == 0:
        total, weights = sum(type_totals.count for type_totals in types), (type_totals.count for type_totals in types)
    reached = 0.0
    for number, weight in enumerate(weights, start=1):
        reached += weight
        if reached >= KEPT_SHARE * total or number == TYPES_MAX:
            return number
    return len(types)


def learned_types_count(types: Sequence[TypeTotals]) -> int:
    """How many of them are learned: as many as are told, and more until nearly all transactions are among them."""
    kept, total, reached = kept_types(types), sum(type_totals.count for type_totals in types), 0.0
    for number, type_totals in enumerate(types, start=1):
        reached += type_totals.count
        if number >= kept and (reached >= LEARNED_SHARE * total or number >= TYPES_MAX):
            return number
    return len(types)


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
        return tuple(loop for loop in self.loops if loop.begin <= place < loop.end)


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
    nodes = [_Node(template) for template in sequence]
    for length in range(1, BLOCK_MAX + 1):
        kept: list[_Node] = []
        for node in nodes:
            kept.append(node)
            last, before = kept[-length:], kept[-2 * length : -length]
            if [later.template for later in last] == [earlier.template for earlier in before]:
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
        if count >= enough and not any(loop.crosses(other) for other in kept):
            kept.append(loop)
    return Structure(templates, tuple(sorted(kept, key=lambda loop: (loop.begin, -loop.end))))


def placed(structure: Structure, sequence: Sequence[int]) -> list[Placed] | None:
    """The places of a transaction's statements; None where it has another structure."""
    walk = _Walk(structure, sequence)
    end = walk.span(0, len(structure.templates), structure.loops, (), 0)
    return walk.placed if end == len(sequence) else None


@dataclass(slots=True)
class _Walk:
    """Goes through a transaction along a structure."""

    structure: Structure
    sequence: Sequence[int]
    placed: list[Placed] = field(default_factory=list)

    def span(self, place: int, end: int, loops: tuple[Loop, ...], rounds: tuple[int, ...], index: int) -> int | None:
        """Places `place` to `end`; the index in the transaction behind them, None where they do not fit."""
        while place < end:
            loop = next((loop for loop in loops if loop.begin == place), None)
            if loop is not None:
                after = self._rounds(loop, loops, rounds, index)
                if after is None:
                    return None
                place, index = loop.end, after
                continue
            if index >= len(self.sequence) or self.sequence[index] != self.structure.templates[place]:
                return None
            self.placed.append(Placed(place, rounds, index))
            place, index = place + 1, index + 1
        return index

    def _rounds(self, loop: Loop, loops: tuple[Loop, ...], rounds: tuple[int, ...], index: int) -> int | None:
        """As many rounds of a loop as there are, at least one."""
        within, times = tuple(inner for inner in loops if loop.holds(inner)), 0
        while True:
            mark = len(self.placed)
            after = self.span(loop.begin, loop.end, within, (*rounds, times), index)
            if after is None:
                del self.placed[mark:]
                return index if times else None
            times, index = times + 1, after


def round_counts(structure: Structure, transaction: Sequence[Placed]) -> Iterator[tuple[Loop, int]]:
    """How often each loop was run, once for each time that it was entered."""
    for loop in structure.loops:
        depth = structure.inside(loop.begin).index(loop)
        entered: Counter[tuple[int, ...]] = Counter()
        for statement in transaction:
            if statement.place == loop.begin and not any(statement.rounds[depth + 1 :]):
                entered[statement.rounds[:depth]] += 1
        yield from ((loop, count) for count in entered.values())


_SECOND_US = 1_000_000


@dataclass(slots=True)
class LogTotals:
    """Sums over all parts of a log.

    Attributes:
        types: Of statements of a family, the family stands for all.
        think_us: All think times together.
        in_transaction_us: From the begin to the end of the last statement, of all transactions together.
        open_count: Transactions whose end is not in the log.
        per_session: How many transactions each session has.
    """

    types: TypeCounter = field(default_factory=TypeCounter)
    arrivals: ArrivalCounter = field(default_factory=ArrivalCounter)
    thinks: DurationCounts = field(default_factory=DurationCounts)
    think_us: float = 0.0
    in_transaction_us: float = 0.0
    open_count: float = 0.0
    per_session: list[np.ndarray] = field(default_factory=list)

    def add(self, part: pl.DataFrame) -> None:
        """Adds the statements of some sessions, all of them."""
        transactions = transactions_of(part)
        self.types.add(transactions)
        begun = transactions.filter(pl.col("start_us").is_not_null())
        self.arrivals.add(begun["start_us"].to_numpy(), begun["weight"].to_numpy())
        thinks = think_times_us(transactions).to_numpy()
        self.thinks.add(thinks)
        self.think_us += float(thinks.sum())
        self.in_transaction_us += float((begun["end_us"] - begun["start_us"]).sum())
        self.open_count += float(transactions.filter(pl.col("end") == "open")["weight"].sum())
        self.per_session.append(transactions.group_by("session").len()["len"].to_numpy())

    def sessions(self, total_us: float, arrivals: Arrivals | None) -> SessionFigures:
        """What they show of connections.

        Args:
            total_us: Of all statements that do work.
            arrivals: All of them.
        """
        counts = np.concatenate(self.per_session) if self.per_session else np.zeros(0)
        median_us = self.thinks.quantile_us(0.5)
        return SessionFigures(
            count=int(counts.size),
            transactions_median=float(np.median(counts)) if counts.size else 0.0,
            busy_mean=total_us / _SECOND_US / arrivals.duration_s if arrivals and total_us else None,
            think_ms_median=None if median_us is None else median_us / 1000,
            think_ms_mean=self.think_us / self.thinks.count / 1000 if self.thinks.count else None,
        )


def seen_in(log: EventLog, families: Families | None = None) -> LogTotals:
    """Goes through a log once.

    Args:
        log: Its tables.
        families: Of its templates; found where they are not given.
    """
    seen, of_template = LogTotals(), (families or families_of(log.templates)).of_template
    unlike = {template: family for template, family in of_template.items() if template != family}
    for part in log.by_sessions(TRANSACTION_COLUMNS):
        seen.add(part.with_columns(pl.col("template").replace(unlike)) if unlike else part)
    return seen


_STEP = np.log(1.02)
