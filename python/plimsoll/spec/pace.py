"""Who sets the pace of a workload: a rate, a think time of the clients, or the workload itself. Never two of them.

What a workload's own keys say is in `tpcc` and `workload_file`.
"""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.spec.statements import StatementsSpec
from plimsoll.spec.tpcc import TpccSpec


def pace_faults(workload: object, connections: int, *, is_open: bool, has_think_time: bool) -> Iterable[str]:
    """What of any workload does not go together with a level, one line each, which begins with the key.

    Args:
        workload: Any; a file without faults.
        connections: Of the level.
        is_open: It is a rate.
        has_think_time: Clients think between transactions.
    """
    if isinstance(workload, TpccSpec):
        yield from _terminal_faults(workload, connections, is_open=is_open, has_think_time=has_think_time)
    elif isinstance(workload, StatementsSpec) and (is_open or has_think_time):
        reason = "a rate sets the pace" if is_open else "the clients have a think time"
        for index, transaction in enumerate(workload.definition.transaction):
            if transaction.pause is not None:
                yield f"file: transaction[{index}].think_time: {reason}; give only one of them"


def has_own_pace(workload: object) -> bool:
    """Whether any workload, without faults, has pauses of its own."""
    if isinstance(workload, TpccSpec):
        return workload.has_own_pace
    if isinstance(workload, StatementsSpec):
        return any(transaction.pause is not None for transaction in workload.definition.transaction)
    return False


def _terminal_faults(workload: TpccSpec, connections: int, *, is_open: bool, has_think_time: bool) -> Iterable[str]:
    if workload.terminals is not None and workload.terminals < connections:
        yield f"terminals: must be at least as many as connections, {connections:,}, are {workload.terminals:,}"
    if is_open and workload.has_own_pace:
        yield "times: a rate sets the pace; leave terminals, times, ramp_up and delivery_connections out"
    if has_think_time and workload.times:
        yield "times: has think times of its own; leave it or think_time out"
