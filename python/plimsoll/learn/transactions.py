"""Statements to transactions: which ones belong together, how each transaction ended, and how long sessions waited.

Method: a state machine for each session, as the server has one. BEGIN, START TRANSACTION and, with autocommit off, the
next statement open a transaction; COMMIT, ROLLBACK, another BEGIN, autocommit on again, a statement that commits
implicitly (DDL, LOCK TABLES) and the end of the connection close it. With autocommit on, a statement outside of one
is a transaction by itself. Source: MySQL 8.4 Reference Manual, 15.3.1 and 15.3.3.

It is computed over whole columns, as running totals within sessions. Deliberately not here: which transactions are of
one type (`transaction_types`).
"""

from __future__ import annotations

import polars as pl

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
