"""Terminals of the TPC-C-derived workload against the level that they are driven at. Other workloads have none.

What a workload's own keys say is in `tpcc`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from plimsoll.spec.tpcc import TpccSpec

if TYPE_CHECKING:
    from plimsoll.spec.study import StudySpec


def ramp_up_s(workload: object) -> float:
    """From the begin of the load until all terminals of any workload have begun, seconds."""
    return workload.ramp_up if isinstance(workload, TpccSpec) else 0.0


def background_connections(workload: object) -> int:
    """Connections that any workload needs besides those of a level."""
    return workload.delivery_connections if isinstance(workload, TpccSpec) else 0


def checks_each_trial(workload: object) -> bool:
    """Whether the conditions of any workload are looked at before and after the load of each trial."""
    return isinstance(workload, TpccSpec) and workload.checks_each_trial


def pace_faults(workload: object, connections: int, *, is_open: bool, has_think_time: bool) -> Iterable[str]:
    """What of any workload does not go together with a level, one line each, which begins with the key.

    Args:
        workload: Any.
        connections: Of the level.
        is_open: It is a rate.
        has_think_time: Clients think between transactions.
    """
    if not isinstance(workload, TpccSpec):
        return
    if workload.terminals is not None and workload.terminals < connections:
        yield f"terminals: must be at least as many as connections, {connections:,}, are {workload.terminals:,}"
    if is_open and workload.has_own_pace:
        yield "times: a rate sets the pace; leave terminals, times, ramp_up and delivery_connections out"
    if has_think_time and workload.times:
        yield "times: has think times of its own; leave it or think_time out"


def study_faults(spec: StudySpec) -> Iterable[str]:
    """Terminals of a study's workloads against its levels, and against how long load runs before it counts."""
    study = spec.study
    key, shortest_s = ("warm_up_limit", study.warm_up_limit) if study.warm_up is None else ("warm_up", study.warm_up)
    for index, workload in enumerate(spec.workload):
        faults = pace_faults(
            workload,
            max(study.levels.connections),
            is_open=study.levels.rate_tps is not None,
            has_think_time=study.clients.think_time is not None,
        )
        yield from (f"workload[{index}].{fault}" for fault in faults)
        if (needed_s := ramp_up_s(workload)) > shortest_s:
            yield (
                f"study.{key}: must be at least {needed_s:g} s, until all terminals of workload[{index}] have begun,"
                f" is {shortest_s:g} s"
            )
