"""What is added up in one pass over a log: types of transactions, arrivals, sessions, think times.

The report and the demand are made of it, so that no log is gone through twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from plimsoll.learn.arrivals import ArrivalCounter, Arrivals
from plimsoll.learn.event_log import EventLog
from plimsoll.learn.families import Families, families_of
from plimsoll.learn.quantiles import DurationCounts
from plimsoll.learn.report_model import SessionFigures
from plimsoll.learn.transaction_types import TypeCounter
from plimsoll.learn.transactions import TRANSACTION_COLUMNS, think_times_us, transactions_of

_SECOND_US = 1_000_000


@dataclass(slots=True)
class Seen:
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


def seen_in(log: EventLog, families: Families | None = None) -> Seen:
    """Goes through a log once.

    Args:
        log: Its tables.
        families: Of its templates; found where they are not given.
    """
    seen, of_template = Seen(), (families or families_of(log.templates)).of_template
    unlike = {template: family for template, family in of_template.items() if template != family}
    for part in log.by_sessions(TRANSACTION_COLUMNS):
        seen.add(part.with_columns(pl.col("template").replace(unlike)) if unlike else part)
    return seen
