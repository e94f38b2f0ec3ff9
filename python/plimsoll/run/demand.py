"""What a study wants of each server: connections, prepared statements, whether it writes.

The load engine counts exactly, before each trial, and refuses what does not fit. This is told before the study.
"""

from __future__ import annotations

from plimsoll.analyse.readiness.model import Demand
from plimsoll.spec.oltp import SENT_AS_TEXT
from plimsoll.spec.statements import StatementsSpec, Workload
from plimsoll.spec.study import StudySpec
from plimsoll.spec.tpcc import TpccSpec

_STATEMENTS_OF_OLTP = 9
"""Five reads and four writes for each table."""

_STATEMENTS_OF_TPCC = 60


def demand_of(spec: StudySpec, instances: int = 1) -> Demand:
    """The most that one of a system's servers is asked for."""
    connections = -(-spec.sessions_max // instances)
    each = max(statements_of(workload) for workload in spec.workload)
    return Demand(
        connections=connections,
        prepared_statements=connections * each,
        writes=any(workload.writes for workload in spec.workload),
    )


def statements_of(workload: Workload) -> int:
    """How many statements a connection prepares at most; 0 where it sends text."""
    if isinstance(workload, TpccSpec):
        return _STATEMENTS_OF_TPCC if workload.prepared is not False else 0
    if isinstance(workload, StatementsSpec):
        return _of_file(workload) if workload.is_prepared else 0
    is_prepared = workload.kind not in SENT_AS_TEXT if workload.prepared is None else workload.prepared
    return _STATEMENTS_OF_OLTP * workload.tables if is_prepared else 0


def _of_file(workload: StatementsSpec) -> int:
    """Each text of a statement with rows or lists is one of its own."""
    statements = [one for each in workload.line()["transactions"] for one in each["statements"]]
    return sum(max(len(one["variants"]), 1) for one in statements)
