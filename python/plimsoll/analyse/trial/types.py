"""Types of transactions apart from each other: how often each completed, how long it took, and its errors.

Counts of a whole run that the source of an import states are exact, and come before the sums of its intervals: a log
prints rates, rounded, for whole intervals only. There are no confidence intervals by type: those are of all
transactions of a workload together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from plimsoll.analyse.study.cell_model import ErrorTotal, TypeTotal
from plimsoll.analyse.trial.histograms import DurationRows, SparseHistogram, durations_of_runs, merge_measure
from plimsoll.analyse.trial.window import inside, rows_where
from plimsoll.record.model import ReportedResult, Window

ErrorCounts = dict[tuple[str, int], int]
"""How often errors occurred by class and code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeCounts:
    """One type of transaction in the measured window of one trial.

    Attributes:
        duration_s: Length of that window, seconds.
        retries: Repetitions after an error; None where nobody says.
        rolled_back: Of those that completed; None where nobody says.
        errors: That it met, by class and code.
        response: Response times; None when none completed, or their source does not have each.
        stated_ms: What the source of an import states about response times, milliseconds by statistic.
    """

    completed: int
    failed: int
    duration_s: float
    retries: int | None = None
    rolled_back: int | None = None
    errors: ErrorCounts = field(default_factory=dict)
    response: SparseHistogram | None = None
    stated_ms: dict[str, float] = field(default_factory=dict)


def types_of(
    measured: pl.DataFrame,
    durations: DurationRows | None,
    of_all: SparseHistogram | None,
    duration_s: float,
    errors: dict[str | None, ErrorCounts],
) -> dict[str, TypeCounts]:
    """By name, in the order of the names.

    Args:
        measured: Rows of `intervals.parquet` within the window.
        durations: Histograms within the window.
        of_all: Response times of all types together.
        duration_s: Length of the window, seconds.
        errors: By the type that met them.
    """
    names = measured["transaction"].to_numpy()
    each = {name: rows_where(measured, names == name) for name in sorted(set(names))}
    by_type = durations if len(each) > 1 else None
    return {
        name: TypeCounts(
            completed=int(rows["completed"].sum()),
            failed=int(rows["failed"].sum()),
            duration_s=duration_s,
            retries=int(rows["retries"].sum()),
            rolled_back=None if rows["rolled_back"].null_count() else int(rows["rolled_back"].sum()),
            errors=errors.get(name, {}),
            response=_response(by_type, name) if by_type is not None else of_all,
        )
        for name, rows in each.items()
    }


def stated_types(reported: ReportedResult, counted: dict[str, TypeCounts]) -> dict[str, TypeCounts]:
    """What the source of an import states about types of the whole run, with the response times that were counted."""
    total = sum(reported_type.counts.get("transactions", 0) for reported_type in reported.types.values())
    if not total or not reported.throughput_tps:
        return counted
    stated = {
        name: TypeCounts(
            completed=reported_type.counts.get("transactions", 0),
            failed=reported_type.counts.get("failed", 0),
            duration_s=total / reported.throughput_tps,
            retries=reported_type.counts.get("retries"),
            rolled_back=reported_type.counts.get("rolled_back"),
            stated_ms=reported_type.response_ms,
        )
        for name, reported_type in sorted(reported.types.items())
    }
    return {
        name: replace(counts, response=counted[name].response) if name in counted else counts
        for name, counts in stated.items()
    }


def errors_by_type(rows: pl.DataFrame | None, window: Window | None) -> dict[str | None, ErrorCounts]:
    """By the type of transaction that met them; None for none.

    Args:
        rows: All of a trial (`frames.ERRORS`).
        window: Which intervals count.
    """
    by_type: dict[str | None, ErrorCounts] = {}
    if rows is None or rows.is_empty():
        return by_type
    counted = inside(rows, window).group_by("transaction", "class", "code").agg(pl.col("count").sum())
    for transaction, kind, code, count in counted.iter_rows():
        by_type.setdefault(transaction, {})[str(kind), int(code)] = int(count)
    return by_type


def _response(durations: DurationRows, name: str) -> SparseHistogram | None:
    return merge_measure(durations, "response", durations.transactions == name)


def shares_of(trials: Iterable[dict[str, TypeCounts]], *, beside: Collection[str] = ()) -> dict[str, float]:
    """The share of all completed transactions that each type has, 0 to 1; empty where there is one type only.

    Args:
        trials: Their types.
        beside: Types that are part of another one's work and have no share.
    """
    total: Counter[str] = Counter()
    for types in trials:
        for name, counts in types.items():
            if name not in beside:
                total[name] += counts.completed
    if len(total) < 2 or not total.total():
        return {}
    return {name: count / total.total() for name, count in total.most_common()}


def type_totals(trials: Sequence[dict[str, TypeCounts]], *, beside: Collection[str] = ()) -> tuple[TypeTotal, ...]:
    """Each type over several trials, the most frequent first; percentiles from the merged histograms.

    Args:
        trials: Their types.
        beside: Types that are part of another one's work and have no share.
    """
    names = dict.fromkeys(name for types in trials for name in types)
    completed = sum(counts.completed for types in trials for name, counts in types.items() if name not in beside)
    totals = (
        _total(name, [types[name] for types in trials if name in types], 0 if name in beside else completed)
        for name in names
    )
    return tuple(sorted(totals, key=lambda total: (-total.completed_count, total.name)))


def error_totals(counts: Iterable[ErrorCounts]) -> tuple[ErrorTotal, ...]:
    """All together, in the order of class and code."""
    total = sorted(summed(counts).items())
    return tuple(ErrorTotal(error_class=kind, code=code, count=count) for (kind, code), count in total)


def summed(counts: Iterable[ErrorCounts]) -> ErrorCounts:
    """All together."""
    total: Counter[tuple[str, int]] = Counter()
    for count in counts:
        total.update(count)
    return dict(total)


def _total(name: str, counts: Sequence[TypeCounts], completed_of_all: int) -> TypeTotal:
    completed = sum(count.completed for count in counts)
    duration_s = sum(count.duration_s for count in counts)
    runs = [(count.response, count.stated_ms) for count in counts if count.completed or count.stated_ms]
    return TypeTotal(
        name=name,
        completed_count=completed,
        failed_count=sum(count.failed for count in counts),
        throughput_tps=completed / duration_s if duration_s else None,
        retries_count=_sum_of_known(count.retries for count in counts),
        rolled_back_count=_sum_of_known(count.rolled_back for count in counts),
        errors=error_totals(count.errors for count in counts),
        completed_ratio=completed / completed_of_all if completed_of_all else None,
        response_ms=durations_of_runs(runs),
    )


def _sum_of_known(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


_ERRORS = {"ignored_errors": ("retryable", 0), "reconnects": ("connection", 0)}
"""Counts of a source, and the class and code under which intervals of it have them."""


def stated_count(reported: ReportedResult | None, name: str, counted: int) -> int:
    """A count of the whole run: as stated, or else as counted."""
    return counted if reported is None else reported.counts.get(name, counted)


def stated_errors(reported: ReportedResult | None, counted: Mapping[tuple[str, int], int]) -> ErrorCounts:
    """Errors by class and code: as stated, or else as counted."""
    stated = {} if reported is None else reported.counts
    exact = {key: stated[name] for name, key in _ERRORS.items() if name in stated}
    return {key: count for key, count in {**counted, **exact}.items() if count}
