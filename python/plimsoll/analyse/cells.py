"""All repetitions of one system, workload and level together: a cell, still without its place in a curve."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.analyse.cell_model import Cell, CellFigures, CpuShares, Estimate
from plimsoll.analyse.duration_model import Durations
from plimsoll.analyse.durations import Run, durations_of_runs
from plimsoll.analyse.instances import mean_tps
from plimsoll.analyse.setting import common_setting
from plimsoll.analyse.throughput import MeanThroughput, Repeated, mean_throughputs
from plimsoll.analyse.tpcc import totals_of, tpcc_figures
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.analyse.types import error_totals


@dataclass(frozen=True, slots=True)
class CellKey:
    """Which cell."""

    system: str
    workload: str
    connections: int


@dataclass(frozen=True, slots=True)
class MeasuredCell:
    """The trials of one cell with their mean.

    Attributes:
        throughput: With the spread that comparisons need; a `Cell` only keeps the bounds.
    """

    key: CellKey
    trials: tuple[TrialSummary, ...]
    throughput: MeanThroughput


def measured_cells(summaries: Iterable[TrialSummary]) -> list[MeasuredCell]:
    """Groups trials into cells; spreads are pooled within each workload, over cells that were measured alike."""
    groups: dict[CellKey, list[TrialSummary]] = defaultdict(list)
    for one in summaries:
        groups[CellKey(one.trial.system.name, one.trial.workload.name, one.trial.level.connections)].append(one)
    workloads = dict.fromkeys(key.workload for key in groups)
    return [
        cell for name in workloads for cell in _of_workload({k: v for k, v in groups.items() if k.workload == name})
    ]


def _of_workload(groups: dict[CellKey, list[TrialSummary]]) -> list[MeasuredCell]:
    means = mean_throughputs([repeated(trials) for trials in groups.values()])
    return [MeasuredCell(key, tuple(trials), mean) for (key, trials), mean in zip(groups.items(), means, strict=True)]


def repeated(trials: Sequence[TrialSummary]) -> Repeated:
    """The trials of a cell as their mean needs them."""
    return Repeated(
        tuple(one.throughput_tps for one in trials), tuple(one.within for one in trials), common_setting(trials)
    )


def describe(cell: MeasuredCell, scale_factor: Estimate) -> Cell:
    """Everything that is said about a cell."""
    return Cell(scale_factor=scale_factor, **figures(cell.trials, cell.throughput))


def figures(trials: Sequence[TrialSummary], throughput: MeanThroughput) -> dict[str, Any]:
    """What is said about the trials of a cell whatever its level is: the fields of `CellFigures`."""
    counts = [one.counts for one in trials if one.counts is not None]
    whole = [one.counts for one in trials if one.counts is not None and not one.is_published]
    whole_completed = sum(one.completed for one in whole)
    duration_s = sum(one.duration_s for one in whole)
    client = [one.client_us_per_statement for one in trials if one.client_us_per_statement is not None]
    types = totals_of(trials)
    said = CellFigures(
        connections=trials[0].trial.level.connections,
        connections_per_instance=trials[0].trial.level.connections_per_instance,
        throughput_tps=throughput.estimate(),
        response_ms=durations_of(trials, "response"),
        service_ms=durations_of(trials, "service"),
        cpu=_mean_shares(trials),
        statements_per_s=sum(one.statements for one in whole) / duration_s if whole else None,
        rows_returned_per_transaction=_each([one.rows_returned for one in whole], whole_completed),
        rows_affected_per_transaction=_each([one.rows_affected for one in whole], whole_completed),
        client_us_per_statement=sum(client) / len(client) if client else None,
        errors=error_totals(one.errors for one in trials),
        completed_count=sum(one.completed_count for one in trials),
        failed_count=sum(one.failed_count for one in trials),
        dropped_count=sum(one.dropped for one in counts),
        unfinished_count=sum(one.unfinished_count or 0 for one in trials),
        stalled_ratio=sum(one.quiet.stalled_ratio for one in trials) / len(trials),
        retries_count=sum(one.retries_count for one in trials),
        types=types,
        tpcc=tpcc_figures(trials, types),
        instances_tps=mean_tps([one.instances_tps for one in trials]),
        trials=tuple(one.trial.trial_id for one in trials),
    )
    return {name: getattr(said, name) for name in CellFigures.model_fields}


def _each(rows: Sequence[int], completed: int) -> float | None:
    return sum(rows) / completed if completed else None


def durations_of(trials: Sequence[TrialSummary], measure: str) -> Durations:
    """One measure of all trials together."""
    runs = (_run(one, measure) for one in trials)
    return durations_of_runs([run for run in runs if run is not None])


def _run(one: TrialSummary, measure: str) -> Run | None:
    """None for a measured trial in which nothing completed: it has no part in any percentile."""
    histogram, reported = one.histograms.get(measure), one.outcome.reported
    if histogram is None and not one.is_published:
        return None
    return histogram, reported.response_ms if reported is not None and measure == "response" else {}


def _mean_shares(trials: Sequence[TrialSummary]) -> CpuShares:
    known: dict[str, list[float]] = defaultdict(list)
    for one in trials:
        for name, value in one.cpu.model_dump(exclude_none=True).items():
            known[name].append(value)
    return CpuShares(**{name: sum(values) / len(values) for name, values in known.items()})
