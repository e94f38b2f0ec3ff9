"""The log of a learned workload's own run, reduced to what is compared with the log that it was learned from.

Deliberately not here: running it (`plimsoll.run`), and the comparison (`fidelity`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from plimsoll.learn.event_log import EventLog
from plimsoll.learn.families import Families
from plimsoll.learn.report import COUNTED, errors_by_number
from plimsoll.learn.run_statements import RunStatements
from plimsoll.learn.seen import seen_in
from plimsoll.learn.transaction_types import Templates, TypeTotals
from plimsoll.learn.transactions import DATA_KINDS

_SECOND_US = 1_000_000


@dataclass(frozen=True, slots=True)
class Moments:
    """Of one figure over all executions; the deviation is that of the sample."""

    count: int
    mean: float
    deviation: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRun:
    """What the log of a run shows.

    Attributes:
        duration_s: From the begin of the first to the begin of the last transaction.
        counts: Executions by number of the statement.
        moments: By number of the statement and column of the events; without those that the log does not have. The
            number None stands for all of them together.
        types: By the numbers of their statements.
        unlike: Transactions that are of no type: cut short by an error, by a statement that found no row, or by the
            end of the run.
        statements: Of all transactions.
        errors: By error number; None where the log does not tell.
    """

    duration_s: float
    counts: dict[int, int]
    moments: dict[tuple[int | None, str], Moments]
    types: dict[Templates, TypeTotals]
    unlike: float
    statements: float
    errors: dict[int, float] | None

    @property
    def transactions(self) -> float:
        """All of them."""
        return self.unlike + sum(one.count for one in self.types.values())


def model_run(log: EventLog, statements: RunStatements, *, warm_up_s: float) -> ModelRun:
    """What the log of a run shows, without what else ran on the server.

    Args:
        log: Of the server that the workload ran on.
        statements: Of the workload. Sessions that ran none of them are not of the load.
        warm_up_s: What began earlier after the first of them does not count.
    """
    numbers = {
        template: number
        for template, kind, text in log.templates.select("template", "kind", "text").iter_rows()
        if kind in DATA_KINDS and (number := statements.of(text)) is not None
    }
    own = log.events().filter(pl.col("template").is_in(list(numbers)))
    first_us = own.select(pl.col("start_us").min()).collect().item()
    if first_us is None:
        return ModelRun(duration_s=0, counts={}, moments={}, types={}, unlike=0, statements=0, errors=None)
    sessions = own.select(pl.col("session").unique()).collect()["session"]
    begins = first_us + round(warm_up_s * _SECOND_US)
    counted = replace(
        log, chosen=pl.col("session").is_in(sessions.to_list()) & (pl.col("start_us") >= pl.lit(begins, pl.Int64))
    )
    seen = seen_in(counted, _families(log, numbers))
    arrivals = seen.arrivals.arrivals()
    found = {tuple(numbers.get(one, -1) for one in each.templates): each for each in seen.types.types()}
    return ModelRun(
        duration_s=0.0 if arrivals is None else arrivals.duration_s,
        counts=_counts(counted, numbers),
        moments=_moments(counted, numbers),
        types={key: one for key, one in found.items() if key in statements.types},
        unlike=sum(one.count for key, one in found.items() if key not in statements.types),
        statements=sum(one.statements for one in found.values()),
        errors=errors_by_number(counted),
    )


def _families(log: EventLog, numbers: dict[int, int]) -> Families:
    """Statements of one number together; by their names alone, tables t1 and t2 would pass for a family."""
    members: dict[int, tuple[int, ...]] = {}
    for template, number in sorted(numbers.items()):
        members[number] = (*members.get(number, ()), template)
    alone = {template: template for template in log.templates["template"].to_list()}
    return Families(
        alone | {template: members[number][0] for template, number in numbers.items()},
        {each[0]: each for each in members.values() if len(each) > 1},
    )


def _numbered(log: EventLog, numbers: dict[int, int]) -> pl.LazyFrame:
    given = pl.DataFrame({"template": list(numbers), "number": list(numbers.values())})
    return log.events().join(given.cast({"template": pl.UInt32}).lazy(), on="template")


def _counts(log: EventLog, numbers: dict[int, int]) -> dict[int, int]:
    return dict(_numbered(log, numbers).group_by("number").len().sort("number").collect().iter_rows())


def _moments(log: EventLog, numbers: dict[int, int]) -> dict[tuple[int | None, str], Moments]:
    figures = [
        figure
        for name in COUNTED
        for column in (pl.col(name).cast(pl.Float64),)
        for figure in (
            column.count().alias(f"{name} count"),
            column.mean().alias(f"{name} mean"),
            column.std().fill_null(0.0).alias(f"{name} deviation"),
        )
    ]
    events = _numbered(log, numbers)
    each = events.group_by("number").agg(*figures).collect()
    everything = events.select(pl.lit(None, pl.Int64).alias("number"), *figures).collect()
    return {
        (row["number"], name): Moments(row[f"{name} count"], row[f"{name} mean"], row[f"{name} deviation"])
        for row in (*each.iter_rows(named=True), *everything.iter_rows(named=True))
        for name in COUNTED
        if row[f"{name} count"]
    }
