"""What is said about load at a rate; part of the analysis."""

from __future__ import annotations

from plimsoll.analyse.cell_model import CellFigures
from plimsoll.analyse.duration_model import Durations
from plimsoll.record.document import Document


class RateCell(CellFigures):
    """A cell whose level is a rate; its throughput is what was completed of it.

    Attributes:
        rate_tps: Transactions per second that were wanted.
        offered_tps: Transactions that fell due in each second of the whole trials, warm-up included.
        pool_wait_ms: From when a transaction was due until a connection was free.
        dispatch_delay_ms: From then until it was sent: the client's own slowness.
        waiting_max: The longest backlog at the end of an interval of an overload, transactions.
        overloaded_count: Trials in which more was wanted than could be done.
        is_carried: In all of its trials nothing was dropped, no overload lasted to the end, and at most 1 % failed.
    """

    rate_tps: float
    offered_tps: float | None = None
    pool_wait_ms: Durations = Durations()
    dispatch_delay_ms: Durations = Durations()
    waiting_max: int = 0
    overloaded_count: int = 0
    is_carried: bool


class RateCurve(Document):
    """One system under one workload: its cells by rising rate.

    Attributes:
        system: Which.
        workload: Which.
        connections: That served every rate.
        cells: By rising rate.
        carried_tps: The highest rate that was carried, with every lower one; None when the lowest was not.
        bracketed: A higher rate was tried and was not carried.
    """

    system: str
    workload: str
    connections: int
    cells: tuple[RateCell, ...]
    carried_tps: float | None
    bracketed: bool
