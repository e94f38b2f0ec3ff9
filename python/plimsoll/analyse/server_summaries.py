"""What the server's performance schema counted during the measured window: waits by event, statements by kind.

Its tables hold totals since the server's start, so each figure is the rise from the first sample of the window to the
last, over the time between them, all instances together. An event that is not in both (only the longest are recorded),
or whose total fell because the tables were emptied, is left out.

Deliberately not here: what it comes to per transaction (`where_level`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

from plimsoll.analyse.where_model import ServerStatement, ServerWait

SOURCE = "performance_schema"
WAITS_MAX, STATEMENTS_MAX = 8, 6
_WAIT, _STATEMENT = "wait_", "statement_"


def server_summaries(rows: pl.DataFrame) -> dict[str, float]:
    """Rises in each second, by metric; empty where the performance schema is off.

    Args:
        rows: Telemetry of a window (`frames.TELEMETRY`), of any sources.
    """
    risen = (
        rows.filter(pl.col("source") == SOURCE)
        .sort("unix_s")
        .group_by("instance", "metric")
        .agg(
            (pl.col("value").last() - pl.col("value").first()).alias("rise"),
            (pl.col("unix_s").last() - pl.col("unix_s").first()).alias("elapsed_s"),
            pl.col("value").diff().min().alias("lowest_step"),
        )
        .filter((pl.col("elapsed_s") > 0) & (pl.col("lowest_step") >= 0))
        .with_columns(per_s=pl.col("rise") / pl.col("elapsed_s"))
        .group_by("metric")
        .agg(pl.col("per_s").sum())
    )
    return dict(sorted(risen.iter_rows()))


def waits_of(each: Mapping[str, float]) -> tuple[ServerWait, ...]:
    """Waits, the longest first.

    Args:
        each: The metrics per transaction.
    """
    found = [
        ServerWait(event=event, count=each[f"{_WAIT}{event}_count"], ms=ms)
        for event, ms in _timed(each, _WAIT)
        if f"{_WAIT}{event}_count" in each and ms > 0
    ]
    return tuple(sorted(found, key=lambda one: -one.ms)[:WAITS_MAX])


def statements_of(each: Mapping[str, float]) -> tuple[ServerStatement, ...]:
    """Statements, those that took longest first. Arguments as for `waits_of`."""
    found = []
    for kind, ms in _timed(each, _STATEMENT):
        count = each.get(f"{_STATEMENT}{kind}_count", 0.0)
        if count > 0:
            examined = each.get(f"{_STATEMENT}{kind}_rows_examined_count", 0.0)
            found.append(ServerStatement(kind=kind, count=count, ms=ms, rows_examined=examined))
    return tuple(sorted(found, key=lambda one: -one.ms)[:STATEMENTS_MAX])


def _timed(each: Mapping[str, float], begin: str) -> Iterable[tuple[str, float]]:
    """Events with their time. A statement's time is `statement_X_ms`, the part of it in locks `statement_X_lock_ms`."""
    for metric, value in each.items():
        if metric.startswith(begin) and metric.endswith("_ms") and not metric.endswith("_lock_ms"):
            yield metric.removeprefix(begin).removesuffix("_ms"), value
