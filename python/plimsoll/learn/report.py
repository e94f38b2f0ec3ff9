"""A log reduced to what it shows by itself: top statements, transactions, arrivals, sessions, hot values.

Deliberately not here: reading logs, and the words and pictures (`plimsoll.guide`).
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from plimsoll.learn.arrivals import WINDOWS_S, Arrivals, minutes_step_s
from plimsoll.learn.doubts import content_doubts, source_doubts
from plimsoll.learn.event_log import EventLog
from plimsoll.learn.hot_values import hot_values
from plimsoll.learn.report_model import ArrivalFigures, LogReport, TemplateFigures, TypeFigures
from plimsoll.learn.seen import Seen, seen_in
from plimsoll.learn.transaction_types import TypeTotals, kept_types
from plimsoll.learn.transactions import DATA_KINDS, READ_KINDS

TOP_TEMPLATES = 1_000
"""Statements that the report holds, those with the most time first."""

_HOT_TEMPLATES = 100
"""Those of them whose values are looked at."""

COUNTED = ("rows_examined", "rows_sent", "rows_affected", "pages", "handler_reads")
"""Columns of events that templates have a mean of."""

_MINUTE_S = 60
_SECOND_US = 1_000_000


def report_of(log: EventLog, seen: Seen | None = None, *, types_count: int | None = None) -> LogReport:
    """What a log shows.

    Args:
        log: Its tables.
        seen: From `seen_in`, where the caller needs it for more than the report.
        types_count: How many types are told one by one; None for those with nearly all of statement time.
    """
    templates, seen = _template_table(log), seen or seen_in(log)
    work = templates.filter(pl.col("kind").is_in(DATA_KINDS))
    statements, reads = _sum(work, "count"), _sum(work.filter(pl.col("kind").is_in(READ_KINDS)), "count")
    total_us = _sum(work, "time_us")
    types = seen.types.types()
    transactions = sum(one.count for one in types)
    has_times, arrivals = total_us > 0, seen.arrivals.arrivals()
    return LogReport(
        sources=log.sources,
        doubts=(
            *source_doubts(log.sources),
            *content_doubts(
                statements=statements,
                transactions=transactions,
                unfinished=seen.open_count,
                has_begin=any(one.explicit for one in types),
                reads=reads,
            ),
        ),
        statements_count=statements,
        other_count=_sum(templates, "count") - statements,
        read_statements=reads / statements if statements else 0.0,
        read_time=_sum(work.filter(pl.col("kind").is_in(READ_KINDS)), "time_us") / total_us if has_times else None,
        read_transactions=sum(one.count for one in types if one.reads_only) / transactions if transactions else 0.0,
        transactions_count=transactions,
        rolled_back_count=sum(one.rolled_back for one in types),
        errors_count=_sum(work, "errors"),
        errors_by_number=errors_by_number(log),
        templates=tuple(_template(row, total_us) for row in work.head(TOP_TEMPLATES).iter_rows(named=True)),
        templates_count=work.height,
        types=_types(types, transactions, types_count or kept_types(types), has_times=has_times),
        hot=hot_values(log.literals(), log.events(), _texts(work.head(_HOT_TEMPLATES))),
        arrivals=_arrivals(arrivals, log),
        sessions=seen.sessions(total_us, arrivals),
        damaged_lines=(
            *((one.name, one.fault.line, one.fault.reason) for one in log.sources if one.fault is not None),
            *((log.sources[source].name, line, reason) for source, line, reason in log.damage().iter_rows()),
        ),
    )


def _template_table(log: EventLog) -> pl.DataFrame:
    """Figures of all templates, that with the most time first."""
    weight = pl.col("weight").fill_null(1.0)
    weighed = [(pl.col(name) * weight).sum() for name in COUNTED]
    known = [pl.col(name).count().alias(f"{name}_known") for name in COUNTED]
    found = (
        log.events()
        .group_by("template")
        .agg(
            weight.sum().alias("count"),
            (pl.col("query_us") * weight).sum().alias("time_us"),
            (pl.col("lock_us") * weight).sum().alias("lock_us"),
            pl.col("query_us").quantile(0.99, "higher").alias("p99_us"),
            ((pl.col("errno").fill_null(0) > 0) * weight).sum().alias("errors"),
            *weighed,
            *known,
        )
        .collect()
    )
    return log.templates.join(found, on="template").sort(
        ["time_us", "count", "template"], descending=[True, True, False]
    )


def _template(row: dict[str, float], total_us: float) -> TemplateFigures:
    count, time_us = row["count"], row["time_us"]

    def mean(name: str) -> float | None:
        return row[name] / count if row[f"{name}_known"] else None

    return TemplateFigures(
        template=int(row["template"]),
        kind=str(row["kind"]),
        text=str(row["text"]),
        count=count,
        time_share=time_us / total_us if total_us else None,
        mean_ms=time_us / count / 1000 if total_us else None,
        p99_ms=None if row["p99_us"] is None else row["p99_us"] / 1000,
        lock_ratio=row["lock_us"] / time_us if time_us else None,
        rows_sent=mean("rows_sent"),
        rows_examined=mean("rows_examined"),
        rows_affected=mean("rows_affected"),
        pages=mean("pages"),
        handler_reads=mean("handler_reads"),
        errors_count=row["errors"],
    )


def _types(types: Sequence[TypeTotals], transactions: float, kept: int, *, has_times: bool) -> tuple[TypeFigures, ...]:
    total_us = sum(one.statement_us for one in types) if has_times else None
    named = [_type(one, f"type {number}", transactions, total_us) for number, one in enumerate(types[:kept], start=1)]
    return (*named, *([_others(types[kept:], transactions, total_us)] if types[kept:] else []))


def _type(one: TypeTotals, name: str, transactions: float, total_us: float | None) -> TypeFigures:
    p50_us, p99_us = (one.durations.quantile_us(share) for share in (0.5, 0.99))
    return TypeFigures(
        name=name,
        templates=one.templates,
        count=one.count,
        share=one.count / transactions,
        time_share=one.statement_us / total_us if total_us else None,
        statements=one.statements / one.count,
        statements_max=one.statements_max,
        reads_only=one.reads_only,
        rollback_ratio=one.rolled_back / one.count,
        mean_ms=one.statement_us / one.count / 1000 if total_us else None,
        p50_ms=None if p50_us is None or not total_us else p50_us / 1000,
        p99_ms=None if p99_us is None or not total_us else p99_us / 1000,
        rows_examined=one.rows_examined / one.count if total_us else None,
        rows_affected=one.rows_affected / one.count if total_us else None,
    )


def _others(types: Sequence[TypeTotals], transactions: float, total_us: float | None) -> TypeFigures:
    """All that are not told one by one, as one."""
    together = TypeTotals(templates=())
    for one in types:
        for name in ("count", "statements", "statement_us", "rows_examined", "rows_affected", "rolled_back"):
            setattr(together, name, getattr(together, name) + getattr(one, name))
        together.reads_only &= one.reads_only
        together.statements_max = max(together.statements_max, one.statements_max)
    return _type(together, "other", transactions, total_us).model_copy(update={"types_count": len(types)})


def _arrivals(found: Arrivals | None, log: EventLog) -> ArrivalFigures | None:
    if found is None:
        return None
    step_s = 1 if found.duration_s < 5 * _MINUTE_S else minutes_step_s(found.duration_s)
    coarse_s = max(one.resolution_us for one in log.sources) / _SECOND_US
    dispersion = {window: found.dispersion(window) for window in WINDOWS_S if window >= coarse_s}
    return ArrivalFigures(
        first_unix_s=found.first_unix_s,
        duration_s=found.duration_s,
        mean_tps=found.mean_tps,
        p99_tps=found.p99_tps(),
        peak_tps=found.peak_tps(),
        step_s=step_s,
        steps_tps=tuple(found.steps_tps(step_s).round(3).tolist()),
        dispersion={window: value for window, value in dispersion.items() if value is not None},
    )


def errors_by_number(log: EventLog) -> dict[int, float] | None:
    """How often each error came; None where the log does not tell errors."""
    errno, weight = pl.col("errno"), pl.col("weight").fill_null(1.0)
    found = log.events().filter(errno.is_not_null()).group_by("errno").agg(count=weight.sum()).sort("errno").collect()
    return {number: count for number, count in found.iter_rows() if number} if found.height else None


def _texts(templates: pl.DataFrame) -> dict[int, str]:
    return dict(templates.select("template", "text").iter_rows())


def _sum(frame: pl.DataFrame, name: str) -> float:
    return float(frame[name].sum())
