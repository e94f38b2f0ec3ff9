"""The TPC-C-derived workload against what the specification asks for: new orders per minute, mix and response times.

NOTPM counts every New-Order that completed, with those that were to be rolled back. Its maximum follows from the
specification's times (`tpcc_clauses`); efficiency is said only where terminals kept those, since without them NOTPM
has no such bound. A share is that of the five types; deliveries from a queue are the second half of one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plimsoll.analyse.study.cell_model import Durations, TypeTotal
from plimsoll.analyse.trial.tpcc_clauses import (
    DELIVERY_DEFERRED,
    NEW_ORDER,
    NOTPM_PER_WAREHOUSE_MAX,
    RESPONSE_S_P90_MAX,
    SHARES_MIN,
    TYPES,
    Deviation,
    Measured,
    TpccFigures,
    TypeDemands,
    deviations,
)
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.analyse.trial.types import type_totals
from plimsoll.spec.tpcc import TPCC

_ISOLATION_VARIABLES = ("transaction_isolation", "tx_isolation")


def is_tpcc(trials: Sequence[TrialSummary]) -> bool:
    """Whether they are of the TPC-C-derived workload."""
    return bool(trials) and trials[0].trial.workload.kind == TPCC


def tpcc_figures(trials: Sequence[TrialSummary], types: Sequence[TypeTotal]) -> TpccFigures | None:
    """What is said about the trials of one cell; None for other workloads and where no New-Order completed.

    Args:
        trials: Of the cell.
        types: What `totals_of` says of them.
    """
    if not is_tpcc(trials):
        return None
    totals = {total.name: total for total in types}
    new_orders = totals.get(NEW_ORDER)
    if new_orders is None or not new_orders.throughput_tps:
        return None
    notpm = 60 * new_orders.throughput_tps
    options = trials[0].trial.workload.options
    count = warehouses_in_use(options, trials[0].trial.level.connections)
    each = notpm / count if count else None
    has_times = options.get("times") == 1
    return TpccFigures(
        notpm=notpm,
        warehouses_count=count,
        notpm_per_warehouse=each,
        is_above_maximum=None if each is None else each > NOTPM_PER_WAREHOUSE_MAX,
        efficiency_ratio=each / NOTPM_PER_WAREHOUSE_MAX if each is not None and has_times else None,
        types=tuple(_demands(totals)),
    )


def totals_of(trials: Sequence[TrialSummary]) -> tuple[TypeTotal, ...]:
    """Each type of transaction of the trials of a cell."""
    return type_totals([trial.types for trial in trials], beside=beside(trials))


def beside(trials: Sequence[TrialSummary]) -> tuple[str, ...]:
    """Types that are part of another one's work."""
    return (DELIVERY_DEFERRED,) if is_tpcc(trials) else ()


def warehouses_in_use(options: Mapping[str, Any], connections: int) -> int | None:
    """Homes of terminals, of all instances together; None where a source does not say how many warehouses there are."""
    count = options.get("warehouses")
    if not isinstance(count, int):
        return None
    terminals = options.get("terminals") or connections
    return count if options.get("all_warehouses", True) else min(count, terminals)


def tpcc_deviations(trials: Sequence[TrialSummary]) -> tuple[Deviation, ...]:
    """Where the trials of one workload depart from the specification; empty for other workloads.

    Of several levels and systems the one that departs most stands for all.
    """
    if not is_tpcc(trials):
        return ()
    cells: dict[tuple[str, tuple[bool, float]], list[TrialSummary]] = {}
    for trial in trials:
        cells.setdefault((trial.trial.system.name, trial.trial.level.order), []).append(trial)
    first = trials[0].trial
    return deviations(
        first.workload.options,
        connections=tuple(sorted({trial.trial.level.connections for trial in trials})),
        instances=max(trial.trial.system.instances for trial in trials),
        is_at_rates=any(trial.trial.level.kind.is_at_rate for trial in trials),
        is_ours=first.origin.kind == "measured",
        measured=_measured(trials, list(cells.values())),
    )


def _measured(trials: Sequence[TrialSummary], cells: Sequence[Sequence[TrialSummary]]) -> Measured:
    totals = [totals_of(cell) for cell in cells]
    figures = [figure for figure in map(tpcc_figures, cells, totals) if figure is not None]
    shares: dict[str, float] = {}
    for demand in (demand for figure in figures for demand in figure.types if demand.share_ratio is not None):
        shares[demand.name] = min(shares.get(demand.name, 1.0), demand.share_ratio or 0.0)
    slow_ms: dict[str, float] = {}
    for total in (total for of_cell in totals for total in of_cell):
        if (p90 := total.response_ms.p90) is not None:
            slow_ms[total.name] = max(slow_ms.get(total.name, 0.0), p90)
    lengths_s = [trial.counts.duration_s for trial in trials if trial.counts is not None]
    per_warehouse = [figure.notpm_per_warehouse for figure in figures if figure.notpm_per_warehouse is not None]
    return Measured(
        duration_s=min(lengths_s, default=None),
        isolations=frozenset(isolation for trial in trials for isolation in _isolations(trial)),
        shares=shares,
        response_ms_p90=slow_ms,
        notpm_per_warehouse=max(per_warehouse, default=None),
    )


def _isolations(trial_summary: TrialSummary) -> Iterator[str]:
    """What the servers' own setting is, as they call it."""
    for instance in trial_summary.environment.instances:
        isolations = (instance.variables.get(name) for name in _ISOLATION_VARIABLES)
        yield from (value for value in isolations if value)


def _demands(totals: Mapping[str, TypeTotal]) -> Iterator[TypeDemands]:
    of_five = sum(total.completed_count for name, total in totals.items() if name in TYPES)
    for name in (*TYPES, DELIVERY_DEFERRED):
        if (type_total := totals.get(name)) is None:
            continue
        share = type_total.completed_count / of_five if of_five and name in TYPES else None
        least, limit_ms = SHARES_MIN.get(name), RESPONSE_S_P90_MAX[name] * 1e3
        yield TypeDemands(
            name=name,
            share_ratio=share,
            share_ratio_min=least,
            has_share=None if share is None or least is None else share >= least,
            response_ms_p90_max=limit_ms,
            is_in_time=_is_in_time(type_total.response_ms, limit_ms),
        )


def _is_in_time(times: Durations, limit_ms: float) -> bool | None:
    """Where so few completed that there is no percentile, the longest may still say it."""
    if times.p90 is not None:
        return times.p90 <= limit_ms
    return True if times.max is not None and times.max <= limit_ms else None
