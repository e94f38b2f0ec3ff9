"""Types of transactions apart from each other: how often each completed, and how long it took.

Deliberately not here: bounds. They are given for all transactions of a workload together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from plimsoll.analyse.duration_model import TypeTotal
from plimsoll.analyse.durations import SparseHistogram, durations, merge, merge_measure


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeCounts:
    """One type of transaction in the measured window of one trial.

    Attributes:
        response: Response times; None when none completed.
    """

    completed: int
    failed: int
    response: SparseHistogram | None = None


def types_of(
    measured: pl.DataFrame, histograms: pl.DataFrame | None, of_all: SparseHistogram | None
) -> dict[str, TypeCounts]:
    """By name, in the order of the names.

    Args:
        measured: Rows of `intervals.parquet` within the window.
        histograms: Rows of `histograms.parquet` within the window.
        of_all: Response times of all types together.
    """
    counted = measured.group_by("transaction").agg(pl.col("completed", "failed").sum()).sort("transaction")
    by_type = histograms if counted.height > 1 else None
    return {
        str(name): TypeCounts(
            completed=int(completed),
            failed=int(failed),
            response=_response(by_type, name) if by_type is not None else of_all,
        )
        for name, completed, failed in counted.iter_rows()
    }


def _response(histograms: pl.DataFrame, name: str) -> SparseHistogram | None:
    return merge_measure(histograms.filter(transaction=name), "response")


def shares_of(trials: Iterable[dict[str, TypeCounts]]) -> dict[str, float]:
    """The share of all completed transactions that each type has, 0 to 1; empty where there is one type only."""
    total: Counter[str] = Counter()
    for types in trials:
        for name, counts in types.items():
            total[name] += counts.completed
    if len(total) < 2 or not total.total():
        return {}
    return {name: count / total.total() for name, count in total.most_common()}


def type_totals(trials: Sequence[dict[str, TypeCounts]]) -> tuple[TypeTotal, ...]:
    """Each type over several trials, the most frequent first; percentiles from the merged histograms."""
    names = dict.fromkeys(name for types in trials for name in types)
    completed = sum(one.completed for types in trials for one in types.values())
    totals = (_total(name, [types[name] for types in trials if name in types], completed) for name in names)
    return tuple(sorted(totals, key=lambda one: (-one.completed_count, one.name)))


def _total(name: str, counts: Sequence[TypeCounts], completed_of_all: int) -> TypeTotal:
    completed = sum(one.completed for one in counts)
    return TypeTotal(
        name=name,
        completed_count=completed,
        failed_count=sum(one.failed for one in counts),
        completed_ratio=completed / completed_of_all if completed_of_all else None,
        response_ms=durations(merge([one.response for one in counts if one.response is not None])),
    )
