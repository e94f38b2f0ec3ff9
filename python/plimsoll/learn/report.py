"""A log reduced to what it shows by itself: top statements, transactions, arrivals, sessions, hot values, doubts.

How unevenly statements take the values of their parameters is told in ranks and shares, never in values. Doubts are
what a log cannot tell: they are inferred from its entries, since no log says with which settings it was written.
Deliberately not here: reading logs, which distribution a value has (`fits`), and the words and pictures
(`plimsoll.guide`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from plimsoll.learn.arrivals import WINDOWS_S, Arrivals, minutes_step_s
from plimsoll.learn.event_log import EventLog
from plimsoll.learn.report_model import (
    ArrivalFigures,
    HotValues,
    LogDoubt,
    LogReport,
    SourceFacts,
    TemplateFigures,
    TypeFigures,
)
from plimsoll.learn.sql_tree import Slot, slots_of
from plimsoll.learn.transactions import DATA_KINDS, READ_KINDS, LogTotals, TypeTotals, kept_types, seen_in

TOP_TEMPLATES = 1_000
"""Statements that the report holds, those with the most time first."""

_HOT_TEMPLATES = 100
"""Those of them whose values are looked at."""

COUNTED = ("rows_examined", "rows_sent", "rows_affected", "pages", "handler_reads")
"""Columns of events that templates have a mean of."""

_MINUTE_S = 60
_SECOND_US = 1_000_000


def report_of(log: EventLog, seen: LogTotals | None = None, *, types_count: int | None = None) -> LogReport:
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
    transactions = sum(totals.count for totals in types)
    read_transactions = sum(totals.count for totals in types if totals.reads_only)
    has_times, arrivals = total_us > 0, seen.arrivals.arrivals()
    return LogReport(
        sources=log.sources,
        doubts=(
            *source_doubts(log.sources),
            *content_doubts(
                statements=statements,
                transactions=transactions,
                unfinished=seen.open_count,
                has_begin=any(totals.explicit for totals in types),
                reads=reads,
            ),
        ),
        statements_count=statements,
        other_count=_sum(templates, "count") - statements,
        read_statements=reads / statements if statements else 0.0,
        read_time=_sum(work.filter(pl.col("kind").is_in(READ_KINDS)), "time_us") / total_us if has_times else None,
        read_transactions=read_transactions / transactions if transactions else 0.0,
        transactions_count=transactions,
        rolled_back_count=sum(totals.rolled_back for totals in types),
        errors_count=_sum(work, "errors"),
        errors_by_number=errors_by_number(log),
        templates=tuple(_template(row, total_us) for row in work.head(TOP_TEMPLATES).iter_rows(named=True)),
        templates_count=work.height,
        types=_types(types, transactions, types_count or kept_types(types), has_times=has_times),
        hot=hot_values(log.literals(), log.events(), _texts(work.head(_HOT_TEMPLATES))),
        arrivals=_arrivals(arrivals, log),
        sessions=seen.sessions(total_us, arrivals),
        damaged_lines=(
            *(
                (source.name, source.fault.line, source.fault.reason)
                for source in log.sources
                if source.fault is not None
            ),
            *((log.sources[source].name, line, reason) for source, line, reason in log.damage().iter_rows()),
        ),
    )


def _template_table(log: EventLog) -> pl.DataFrame:
    """Figures of all templates, that with the most time first."""
    weight = pl.col("weight").fill_null(1.0)
    weighed = [(pl.col(name) * weight).sum() for name in COUNTED]
    known = [pl.col(name).count().alias(f"{name}_known") for name in COUNTED]
    figures = (
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
    return log.templates.join(figures, on="template").sort(
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
    total_us = sum(totals.statement_us for totals in types) if has_times else None
    named = [
        _type(totals, f"type {number}", transactions, total_us) for number, totals in enumerate(types[:kept], start=1)
    ]
    return (*named, *([_others(types[kept:], transactions, total_us)] if types[kept:] else []))


def _type(type_totals: TypeTotals, name: str, transactions: float, total_us: float | None) -> TypeFigures:
    p50_us, p99_us = (type_totals.durations.quantile_us(share) for share in (0.5, 0.99))
    return TypeFigures(
        name=name,
        templates=type_totals.templates,
        count=type_totals.count,
        share=type_totals.count / transactions,
        time_share=type_totals.statement_us / total_us if total_us else None,
        statements=type_totals.statements / type_totals.count,
        statements_max=type_totals.statements_max,
        reads_only=type_totals.reads_only,
        rollback_ratio=type_totals.rolled_back / type_totals.count,
        mean_ms=type_totals.statement_us / type_totals.count / 1000 if total_us else None,
        p50_ms=None if p50_us is None or not total_us else p50_us / 1000,
        p99_ms=None if p99_us is None or not total_us else p99_us / 1000,
        rows_examined=type_totals.rows_examined / type_totals.count if total_us else None,
        rows_affected=type_totals.rows_affected / type_totals.count if total_us else None,
    )


def _others(types: Sequence[TypeTotals], transactions: float, total_us: float | None) -> TypeFigures:
    """All that are not told one by one, as one."""
    together = TypeTotals(templates=())
    for totals in types:
        for name in ("count", "statements", "statement_us", "rows_examined", "rows_affected", "rolled_back"):
            setattr(together, name, getattr(together, name) + getattr(totals, name))
        together.reads_only &= totals.reads_only
        together.statements_max = max(together.statements_max, totals.statements_max)
    return _type(together, "other", transactions, total_us).model_copy(update={"types_count": len(types)})


def _arrivals(arrivals: Arrivals | None, log: EventLog) -> ArrivalFigures | None:
    if arrivals is None:
        return None
    step_s = 1 if arrivals.duration_s < 5 * _MINUTE_S else minutes_step_s(arrivals.duration_s)
    coarse_s = max(source.resolution_us for source in log.sources) / _SECOND_US
    dispersion = {window: arrivals.dispersion(window) for window in WINDOWS_S if window >= coarse_s}
    return ArrivalFigures(
        first_unix_s=arrivals.first_unix_s,
        duration_s=arrivals.duration_s,
        mean_tps=arrivals.mean_tps,
        p99_tps=arrivals.p99_tps(),
        peak_tps=arrivals.peak_tps(),
        step_s=step_s,
        steps_tps=tuple(arrivals.steps_tps(step_s).round(3).tolist()),
        dispersion={window: value for window, value in dispersion.items() if value is not None},
    )


def errors_by_number(log: EventLog) -> dict[int, float] | None:
    """How often each error came; None where the log does not tell errors."""
    errno, weight = pl.col("errno"), pl.col("weight").fill_null(1.0)
    errors = log.events().filter(errno.is_not_null()).group_by("errno").agg(count=weight.sum()).sort("errno").collect()
    return {number: count for number, count in errors.iter_rows() if number} if errors.height else None


def _texts(templates: pl.DataFrame) -> dict[int, str]:
    return dict(templates.select("template", "text").iter_rows())


def _sum(frame: pl.DataFrame, name: str) -> float:
    return float(frame[name].sum())


SLOTS_MAX = 30
"""Parameters that are told, those of the statements with most time first."""

OBSERVATIONS_MIN = 100
"""Fewer values of a parameter say nothing of how even they are."""

_TOP = 10
_SCALARS = ("int", "text", "date", "decimal")


def hot_values(literals: pl.LazyFrame, events: pl.LazyFrame, templates: Mapping[int, str]) -> tuple[HotValues, ...]:
    """The parameters whose values repeat most.

    Args:
        literals: Of the log.
        events: Of the log; its columns event and template.
        templates: Texts of those that are looked at, the most important first.
    """
    of = events.select("event", "template").filter(pl.col("template").is_in(list(templates)))
    counts = (
        literals.filter(pl.col("kind").is_in(_SCALARS))
        .join(of, on="event")
        .group_by("template", "slot", "value")
        .agg(count=pl.len())
        .group_by("template", "slot")
        .agg(
            observed=pl.col("count").sum(),
            distinct=pl.len(),
            top=pl.col("count").max(),
            top_ten=pl.col("count").top_k(_TOP).sum(),
            top_hundredth=pl.col("count").sort(descending=True).head((pl.len() // 100).clip(lower_bound=1)).sum(),
        )
        .filter((pl.col("observed") >= OBSERVATIONS_MIN) & (pl.col("distinct") > 1))
        .collect(engine="streaming")
    )
    order = {template: place for place, template in enumerate(templates)}
    rows = sorted(counts.iter_rows(named=True), key=lambda row: (order[row["template"]], row["slot"]))[:SLOTS_MAX]
    slots = {template: slots_of(templates[template]) for template in {row["template"] for row in rows}}
    return tuple(
        _hot(row, of_template[row["slot"]] if row["slot"] < len(of_template) else Slot("other"))
        for row in rows
        for of_template in (slots[row["template"]],)
    )


def _hot(row: dict[str, int], slot: Slot) -> HotValues:
    return HotValues(
        template=row["template"],
        slot=row["slot"],
        use=slot.use,
        column=slot.column,
        observed_count=row["observed"],
        distinct_count=row["distinct"],
        top_share=row["top"] / row["observed"],
        top_ten_share=row["top_ten"] / row["observed"],
        top_hundredth_share=row["top_hundredth"] / row["observed"],
    )


_FAST_US = 1_000
"""A server that logs everything logs statements that are faster."""

_ENTRIES_MIN = 50
"""Of fewer entries none need be fast."""


def source_doubts(sources: Sequence[SourceFacts]) -> Iterator[LogDoubt]:
    """Doubts about the files themselves.

    A log whose fastest statement took a millisecond or more was written with a threshold (`long_query_time`,
    `min_examined_row_limit`): point queries, COMMIT and BEGIN take less on any server. It is the tail of the load.
    """
    timed = [source for source in sources if source.query_us_min is not None]
    entries = sum(source.entries_count for source in timed)
    if timed and entries >= _ENTRIES_MIN:
        fastest_us = min(source.query_us_min or 0 for source in timed)
        if fastest_us >= _FAST_US:
            yield _doubt("slow-statements-only", is_refusal=True, figures={"fastest_ms": fastest_us / 1000})
    yield from _of_binary_logs([source for source in sources if source.format == "binlog"])
    limits = sorted({limit for source in sources for limit in source.rate_limits if limit > 1})
    if limits:
        yield _doubt("sampled", figures={"one_in": limits[-1]})
    if any(source.entries_count for source in sources) and not timed:
        yield _doubt("no-durations")
    if any(source.resolution_us >= _SECOND_US for source in sources):
        yield _doubt("times-in-seconds")
    if any(source.first_us is None and source.entries_count for source in sources):
        yield _doubt("no-times")
    yield from _of_damaged_files(sources)
    damaged, read = sum(source.damaged_count for source in sources), sum(source.entries_count for source in sources)
    if damaged:
        yield _doubt("entries-damaged", figures={"damaged_count": damaged, "entries_count": damaged + read})
    if cut := sum(source.cut_count for source in sources):
        yield _doubt("statements-cut", figures={"cut_count": cut})
    yield from _overlaps(sources)


def _of_damaged_files(sources: Sequence[SourceFacts]) -> Iterator[LogDoubt]:
    faults = [(source.name, source.fault) for source in sources if source.fault is not None]
    if faults:
        first, fault = faults[0]
        figures: dict[str, float | str] = {"damaged_count": len(faults), "files_count": len(sources)}
        figures |= {"first": first, "line": fault.line, "reason": fault.reason}
        yield _doubt("files-damaged", figures=figures)


def _of_binary_logs(sources: Sequence[SourceFacts]) -> Iterator[LogDoubt]:
    if sources:
        yield _doubt("writes-only", is_refusal=True)
    if any(source.flavour == "mariadb" for source in sources):
        yield _doubt("no-sessions")


def _overlaps(sources: Sequence[SourceFacts]) -> Iterator[LogDoubt]:
    """Rotated files of one server follow each other. Files that overlap are of several servers, or copies."""
    spans = sorted(
        (source.first_us, source.last_us, source.name) for source in sources if source.first_us and source.last_us
    )
    for (_, before_us, first), (from_us, _, second) in itertools.pairwise(spans):
        if from_us < before_us - _SECOND_US:
            yield _doubt("files-overlap", figures={"first": first, "second": second})
            return


def content_doubts(
    *, statements: float, transactions: float, unfinished: float, has_begin: bool, reads: float
) -> Iterator[LogDoubt]:
    """Doubts about what the files hold.

    Args:
        statements: That do work.
        transactions: That these are part of.
        unfinished: Transactions whose end is not in the log.
        has_begin: Any transaction was begun by a statement.
        reads: Statements that only read.
    """
    if not statements:
        yield _doubt("no-statements", is_refusal=True)
        return
    if not reads:
        yield _doubt("no-reads", is_refusal=True)
    if unfinished > 0.05 * max(transactions, 1):
        yield _doubt("transactions-open", figures={"share": unfinished / transactions})
    if not has_begin:
        yield _doubt("no-begin")


def _doubt(code: str, *, is_refusal: bool = False, figures: dict[str, float | str] | None = None) -> LogDoubt:
    return LogDoubt(code=code, is_refusal=is_refusal, figures=figures or {})
