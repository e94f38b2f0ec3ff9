"""Analyses of systems by the capacities that searches found, and the demand of a log that they are sized for."""

from __future__ import annotations

from datetime import date
from typing import Any

from plimsoll.analyse.answers.size_model import LoadDemand
from plimsoll.analyse.model import Analysis, SystemSummary, WorkloadSummary
from plimsoll.analyse.study.capacities import capacities
from plimsoll.record.capacity import Capacity, CapacityObjective, SearchRecord

TODAY = date(2026, 11, 1)
OBJECTIVE = CapacityObjective(response_ms_p99=20.0)


def demand(tps: float = 1000.0, **facts: Any) -> LoadDemand:
    usual = {
        "at": "peak-minute",
        "logged_on": TODAY,
        "duration_s": 86_400,
        "today": TODAY,
        "yearly_growth": 0.3,
        "burstiness": 1.0,
    }
    return LoadDemand(logged_tps=tps, **{**usual, **facts})


def searches(system: str, *tps: float) -> list[SearchRecord]:
    return [
        SearchRecord(
            search_id=f"{system}{index}",
            system=system,
            workload="w",
            repetition=index,
            is_finished=True,
            capacity=Capacity(capacity_tps=one, low=one, high=one * 1.02, objective=OBJECTIVE, runs=()),
        )
        for index, one in enumerate(tps)
    ]


def searched(
    options: dict[str, str] | None = None, costs: dict[str, float] | None = None, **tps: tuple[float, ...]
) -> Analysis:
    """An analysis of systems by the capacities that were found of each."""
    return Analysis(
        plimsoll_version="0",
        study="made",
        answer=(),
        limits=(),
        systems=tuple(SystemSummary(name=name, cost_per_month=(costs or {}).get(name)) for name in tps),
        workloads=(WorkloadSummary(name="w", options=options or {}),),
        curves=(),
        capacities=capacities([search for name, own in tps.items() for search in searches(name, *own)]),
    )
