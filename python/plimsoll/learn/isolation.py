"""The isolation level that transactions of each type were given by SET TRANSACTION.

For the next transaction alone, or for all that follow in the session. Source: MySQL 8.4 Reference Manual, 15.3.7.
Deliberately not here: the server's default level, which no log shows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection

import polars as pl

from plimsoll.learn.event_log import EventLog
from plimsoll.learn.families import Families
from plimsoll.learn.transaction_types import Templates, folded
from plimsoll.learn.transactions import DATA_KINDS, TRANSACTION_COLUMNS, with_transactions

SHARE_MIN = 0.9
"""Of the transactions of a type that must have a level for it to be the type's."""

_SET = re.compile(
    r"SET\s+(?:(?P<session>SESSION|LOCAL)\s+)?TRANSACTION\s+ISOLATION\s+LEVEL\s+"
    r"(?P<level>READ\s+UNCOMMITTED|READ\s+COMMITTED|REPEATABLE\s+READ|SERIALIZABLE)\b",
    re.IGNORECASE,
)


def isolation_levels(log: EventLog, families: Families, types: Collection[Templates]) -> dict[Templates, str]:
    """By type, its isolation level as a workload file names it; types that were given none are left out."""
    levels = _levels(log.templates)
    if levels.is_empty():
        return {}
    wanted = set(types)
    seen: dict[Templates, Counter[str | None]] = {}
    known: dict[Templates, Templates] = {}
    for part in log.by_sessions(TRANSACTION_COLUMNS):
        for templates, level, count in _counted(part, levels).iter_rows():
            key = tuple(families.of_template[one] for one in templates)
            one = known.setdefault(key, folded(key))
            if one in wanted:
                seen.setdefault(one, Counter())[level] += count
    found = {one: counts.most_common(1)[0] for one, counts in seen.items()}
    return {
        one: level
        for one, (level, count) in found.items()
        if level is not None and count >= SHARE_MIN * seen[one].total()
    }


def _levels(templates: pl.DataFrame) -> pl.DataFrame:
    """Templates that set a level: template, level, is_session."""
    rows = [
        (template, re.sub(r"\s+", "_", found["level"].lower()), found["session"] is not None)
        for template, text in templates.filter(pl.col("kind") == "set").select("template", "text").iter_rows()
        if (found := _SET.match(text)) is not None
    ]
    schema = {"template": pl.UInt32, "level": pl.String, "is_session": pl.Boolean}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _counted(part: pl.DataFrame, levels: pl.DataFrame) -> pl.DataFrame:
    """Sequences of templates with their level, and how many there were of each."""
    given = part.select("session", "event", "template").join(levels, on="template").sort("session", "event")
    transactions = (
        with_transactions(part)
        .group_by("session", "transaction", maintain_order=True)
        .agg(
            templates=pl.col("template").filter(pl.col("kind").is_in(DATA_KINDS)),
            event=pl.col("event").min(),
            last=pl.col("event").max(),
        )
        .filter(pl.col("templates").list.len() > 0)
        .with_columns(before=pl.col("last").shift(1).over("session"))
        .sort("event")
    )
    for name, is_session in (("of_session", True), ("of_next", False)):
        chosen = given.filter(pl.col("is_session") == is_session).sort("event")
        columns = chosen.select("session", "event", pl.col("level").alias(name), pl.col("event").alias(f"{name}_event"))
        transactions = transactions.join_asof(columns, on="event", by="session", check_sortedness=False)
    is_next = pl.col("of_next_event") > pl.col("before").fill_null(0)
    level = pl.when(is_next).then("of_next").otherwise("of_session")
    return transactions.with_columns(level=level).group_by("templates", "level").len()
