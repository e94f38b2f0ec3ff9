"""Terminals of the TPC-C-derived workload against the level that they are driven at. Other workloads have none.

What a workload's own keys say is in `tpcc`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from plimsoll.spec.pace import pace_faults
from plimsoll.spec.tpcc import TpccSpec
from plimsoll.spec.workloads import is_sound

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


def study_faults(spec: StudySpec) -> Iterable[str]:
    """The pace of a study's workloads against its levels, and terminals against how long load runs before it counts."""
    study = spec.study
    key, shortest_s = ("warm_up_limit", study.warm_up_limit) if study.warm_up is None else ("warm_up", study.warm_up)
    for index, workload in enumerate(spec.workload):
        if not is_sound(workload):
            continue
        faults = pace_faults(
            workload,
            max(study.levels.connections),
            is_open=study.levels.rate_tps is not None or study.levels.capacity is not None,
            has_think_time=study.clients.think_time is not None,
        )
        yield from (f"workload[{index}].{fault}" for fault in faults)
        if (needed_s := ramp_up_s(workload)) > shortest_s:
            yield (
                f"study.{key}: must be at least {needed_s:g} s, until all terminals of workload[{index}] have begun,"
                f" is {shortest_s:g} s"
            )
