"""All repetitions of one system, workload and level together: a cell, whatever its kind of level."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.analyse.cell_model import Cell, CpuShares, Estimate, RateFigures
from plimsoll.analyse.duration_model import Durations
from plimsoll.analyse.durations import Run, durations_of_runs
from plimsoll.analyse.environment_blocks import blocks_of
from plimsoll.analyse.instances import mean_tps
from plimsoll.analyse.left_over import left_ratio
from plimsoll.analyse.objective import ALLOWED_FAILED_RATIO
from plimsoll.analyse.repetitions import lagging_trials
from plimsoll.analyse.replication.servers import growing
from plimsoll.analyse.setting import common_setting
from plimsoll.analyse.throughput import MeanThroughput, Repeated, mean_throughputs
from plimsoll.analyse.tpcc import totals_of, tpcc_figures
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.analyse.types import error_totals
from plimsoll.record.level import Level
from plimsoll.record.model import TrialRecord


@dataclass(frozen=True, slots=True)
class MeasuredCell:
    """The trials of one cell with their mean.

    Attributes:
        throughput: With the spread that comparisons need; a `Cell` only keeps the bounds.
    """

    system: str
    workload: str
    level: Level
    trials: tuple[TrialSummary, ...]
    throughput: MeanThroughput


def measured_cells(summaries: Iterable[TrialSummary]) -> list[MeasuredCell]:
    """Groups trials into cells; spreads are moderated by systems measured alike at the same level.

    Load at a rate varies otherwise than clients at their own pace: the two share no spread.
    """
    summaries = list(summaries)
    lagging, blocks = lagging_trials(summaries), blocks_of(one.trial for one in summaries)
    groups: dict[tuple[str, bool], dict[tuple[str, float], list[TrialSummary]]] = defaultdict(lambda: defaultdict(list))
    for one in summaries:
        is_at_rate, offered = one.trial.level.order
        groups[one.trial.workload.name, is_at_rate][one.trial.system.name, offered].append(one)
    return [cell for alike in groups.values() for cell in _of_workload(list(alike.values()), lagging, blocks)]


def _of_workload(
    cells: Sequence[Sequence[TrialSummary]], lagging: frozenset[str], blocks: Mapping[str, int]
) -> list[MeasuredCell]:
    means = mean_throughputs([_repeated(trials, lagging, blocks) for trials in cells])
    return [
        MeasuredCell(trial.system.name, trial.workload.name, level_of(trial), tuple(trials), mean)
        for trials, mean in zip(cells, means, strict=True)
        for trial in (trials[0].trial,)
    ]


def level_of(trial: TrialRecord) -> Level:
    """The level of a trial with the workload's terminals."""
    options, level = trial.workload.options, trial.level
    terminals = options.get("terminals") or (level.connections if options.get("times") else None)
    return level if level.kind.is_at_rate else level.model_copy(update={"terminals": terminals})


def _repeated(trials: Sequence[TrialSummary], lagging: frozenset[str], blocks: Mapping[str, int]) -> Repeated:
    trial = trials[0].trial
    return Repeated(
        tuple(one.throughput_tps for one in trials),
        tuple(one.within for one in trials),
        common_setting(trials),
        system=trial.system.name,
        level=trial.level.order,
        repetitions=_repetitions(trials),
        stands_alone=any(one.trial.trial_id in lagging for one in trials),
        environment=trial.system.environment,
        blocks=tuple(blocks[one.trial.trial_id] for one in trials if one.trial.trial_id in blocks),
    )


def _repetitions(trials: Sequence[TrialSummary]) -> tuple[int, ...] | None:
    """Which of the study they are; None for imports, whose repetitions are numbered as they come."""
    numbers = tuple(one.trial.repetition for one in trials)
    is_planned = all(one.trial.origin.kind == "measured" for one in trials)
    return numbers if is_planned and len(set(numbers)) == len(numbers) else None


def describe(cell: MeasuredCell, scale_factor: Estimate | None) -> Cell:
    """Everything that is said about a cell."""
    trials = cell.trials
    counts = [one.counts for one in trials if one.counts is not None]
    whole = [one.counts for one in trials if one.counts is not None and not one.is_published]
    whole_completed = sum(one.completed for one in whole)
    duration_s = sum(one.duration_s for one in whole)
    client = [one.client_us_per_statement for one in trials if one.client_us_per_statement is not None]
    types = totals_of(trials)
    return Cell(
        level=cell.level,
        throughput_tps=cell.throughput.estimate(),
        scale_factor=scale_factor,
        rate=_rate_figures(trials) if cell.level.kind.is_at_rate else None,
        response_ms=_durations_of(trials, "response"),
        service_ms=_durations_of(trials, "service"),
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
        repetitions_ms_p99=_repetitions_ms_p99(trials),
        growing_replicas=tuple(dict.fromkeys(name for one in trials for name in growing(one.servers))),
    )


def _repetitions_ms_p99(trials: Sequence[TrialSummary]) -> tuple[float, ...]:
    """Of each trial; empty where one is unknown, or only known to be at least so long."""
    runs = (_run(one, "response") for one in trials)
    each = [durations_of_runs([run]) for run in runs if run is not None]
    known = tuple(one.p99 for one in each if one.p99 is not None and "p99" not in one.lower_bounds)
    return known if len(known) == len(trials) else ()


def _rate_figures(trials: Sequence[TrialSummary]) -> RateFigures:
    """What only load at a rate has.

    A rate is sustained when in every repetition, from the first second of the load on, nothing was dropped, no overload
    (`overload`) lasted to the end, at most 1 % of the transactions failed or never ended, and no replica's lag grew. A
    stall that was worked off is no reason: it shows in the response times.
    """
    overloads = [overload for one in trials for overload in one.overloads]
    accounts = [one.outcome.account for one in trials if one.outcome.account is not None]
    load_s = sum(account.duration_s for account in accounts)
    sustained_count = sum(map(is_sustained, trials))
    left = [ratio for ratio in map(left_ratio, trials) if ratio is not None]
    return RateFigures(
        offered_tps=sum(account.offered_count for account in accounts) / load_s if load_s else None,
        pool_wait_ms=_durations_of(trials, "pool_wait"),
        dispatch_delay_ms=_durations_of(trials, "dispatch_delay"),
        waiting_max=max((overload.waiting_max for overload in overloads), default=0),
        overloaded_count=sum(bool(one.overloads) for one in trials),
        is_sustained=sustained_count == len(trials),
        sustained_count=sustained_count,
        left_ratios=tuple(left) if len(left) == len(trials) else (),
    )


def is_sustained(one: TrialSummary) -> bool:
    """Whether a target rate was sustained.

    Nothing was dropped, no overload lasted to the end, at most 1 % failed or did not end, and no replica's lag grew.
    """
    ended = {} if one.counts is None else one.counts.ended_of_trial
    unfinished = one.unfinished_count or 0
    failed_ratio = (ended.get("failed", 0) + unfinished) / max(sum(ended.values()) + unfinished, 1)
    fell_behind = any(overload.to_s is None for overload in one.overloads)
    is_kept = not fell_behind and not ended.get("dropped", 0) and failed_ratio <= ALLOWED_FAILED_RATIO
    return is_kept and not growing(one.servers)


def _each(rows: Sequence[int], completed: int) -> float | None:
    return sum(rows) / completed if completed else None


def _durations_of(trials: Sequence[TrialSummary], measure: str) -> Durations:
    runs = (_run(one, measure) for one in trials)
    return durations_of_runs([run for run in runs if run is not None])


def response_of(one: TrialSummary) -> Durations:
    """Response times of one trial."""
    return _durations_of([one], "response")


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
