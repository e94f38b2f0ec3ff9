"""All repetitions of one system, workload and level together: a cell, whatever its kind of level.

Also which cells were measured alike, and which repetitions are far below their siblings.

What must be the same for repetitions to vary alike: the host, its storage, the client, the way of measuring. How much
repetitions differ belongs to a machine and to a way of measuring as much as to a workload: short windows vary more
than long ones, a shared disk more than one of its own, and a table that somebody published says nothing about how
repetitions vary here. So the spread of one cell may be used for another one only where all of this is the same.

Windows of similar length count as equally long: the classes are a factor of about three wide, and their edges lie away
from the lengths that people choose. A host of which not even the name is known may be any host, so systems on unknown
hosts share nothing.

Repetitions that are far below their siblings: the same system, workload and level, measured again. A repetition is far
below when it completed less than 70 % of the median of its siblings, and

* chance does not explain it: with independent transactions at the siblings' rate so few would complete in fewer than 1
  of 1,000 studies (Poisson, over all repetitions of the study);
* repetitions of this workload do not usually differ as much: on the scale of natural logarithms it is more than five
  usual spreads below. The spread is the median difference between two repetitions of a cell over 0.954, which is the
  standard deviation of a normal distribution; the repetition in question is left out. Unlike a standard deviation it
  hardly changes when a few repetitions are outliers.

Source: differences of pairs in place of deviations from a centre, Rousseeuw and Croux 1993.
"""

from __future__ import annotations

import bisect
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from plimsoll.analyse.findings.doubts import Doubt, place_of
from plimsoll.analyse.findings.repetitions import RepetitionLags
from plimsoll.analyse.study.cell_model import Cell, CpuShares, Durations, Estimate, RateFigures
from plimsoll.analyse.study.points import ALLOWED_FAILED_RATIO
from plimsoll.analyse.study.ratios import blocks_of
from plimsoll.analyse.study.throughput import MeanThroughput, Repeated, mean_throughputs
from plimsoll.analyse.trial.histograms import Run, durations_of_runs
from plimsoll.analyse.trial.instances import mean_tps, sources_of
from plimsoll.analyse.trial.replicas import growing
from plimsoll.analyse.trial.tpcc import totals_of, tpcc_figures
from plimsoll.analyse.trial.trial_summary import TrialSummary, left_ratio
from plimsoll.analyse.trial.types import error_totals
from plimsoll.record.environment import HostFacts, StorageFacts
from plimsoll.record.level import Level
from plimsoll.record.model import Origin, TrialRecord
from plimsoll.stats.significance import chance_of_at_most


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
    lagging, blocks = lagging_trials(summaries), blocks_of(summary.trial for summary in summaries)
    groups: dict[tuple[str, bool], dict[tuple[str, float], list[TrialSummary]]] = defaultdict(lambda: defaultdict(list))
    for summary in summaries:
        is_at_rate, offered = summary.trial.level.order
        groups[summary.trial.workload.name, is_at_rate][summary.trial.system.name, offered].append(summary)
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
        tuple(trial.throughput_tps for trial in trials),
        tuple(trial.within for trial in trials),
        common_setting(trials),
        system=trial.system.name,
        level=trial.level.order,
        repetitions=_repetitions(trials),
        stands_alone=any(trial.trial.trial_id in lagging for trial in trials),
        environment=trial.system.environment,
        blocks=tuple(blocks[trial.trial.trial_id] for trial in trials if trial.trial.trial_id in blocks),
    )


def _repetitions(trials: Sequence[TrialSummary]) -> tuple[int, ...] | None:
    """Which of the study they are; None for imports, whose repetitions are numbered as they come."""
    numbers = tuple(trial.trial.repetition for trial in trials)
    is_planned = all(trial.trial.origin.kind == "measured" for trial in trials)
    return numbers if is_planned and len(set(numbers)) == len(numbers) else None


def describe(cell: MeasuredCell, scale_factor: Estimate | None) -> Cell:
    """Everything that is said about a cell."""
    trials = cell.trials
    counts = [trial.counts for trial in trials if trial.counts is not None]
    whole = [trial.counts for trial in trials if trial.counts is not None and not trial.is_published]
    whole_completed = sum(trial_counts.completed for trial_counts in whole)
    duration_s = sum(trial_counts.duration_s for trial_counts in whole)
    client = [trial.client_us_per_statement for trial in trials if trial.client_us_per_statement is not None]
    types = totals_of(trials)
    return Cell(
        level=cell.level,
        throughput_tps=cell.throughput.estimate(),
        scale_factor=scale_factor,
        rate=_rate_figures(trials) if cell.level.kind.is_at_rate else None,
        response_ms=_durations_of(trials, "response"),
        service_ms=_durations_of(trials, "service"),
        cpu=_mean_shares(trials),
        statements_per_s=sum(trial_counts.statements for trial_counts in whole) / duration_s if whole else None,
        rows_returned_per_transaction=_each([trial_counts.rows_returned for trial_counts in whole], whole_completed),
        rows_affected_per_transaction=_each([trial_counts.rows_affected for trial_counts in whole], whole_completed),
        client_us_per_statement=sum(client) / len(client) if client else None,
        errors=error_totals(trial.errors for trial in trials),
        completed_count=sum(trial.completed_count for trial in trials),
        failed_count=sum(trial.failed_count for trial in trials),
        dropped_count=sum(trial_counts.dropped for trial_counts in counts),
        unfinished_count=sum(trial.unfinished_count or 0 for trial in trials),
        stalled_ratio=sum(trial.quiet.stalled_ratio for trial in trials) / len(trials),
        retries_count=sum(trial.retries_count for trial in trials),
        types=types,
        tpcc=tpcc_figures(trials, types),
        instances_tps=mean_tps([trial.instances_tps for trial in trials]),
        trials=tuple(trial.trial.trial_id for trial in trials),
        repetitions_ms_p99=_repetitions_ms_p99(trials),
        growing_replicas=tuple(dict.fromkeys(name for trial in trials for name in growing(trial.servers))),
    )


def _repetitions_ms_p99(trials: Sequence[TrialSummary]) -> tuple[float, ...]:
    """Of each trial; empty where one is unknown, or only known to be at least so long."""
    runs = (_run(trial, "response") for trial in trials)
    each = [durations_of_runs([run]) for run in runs if run is not None]
    known = tuple(
        durations.p99 for durations in each if durations.p99 is not None and "p99" not in durations.lower_bounds
    )
    return known if len(known) == len(trials) else ()


def _rate_figures(trials: Sequence[TrialSummary]) -> RateFigures:
    """What only load at a rate has.

    A rate is sustained when in every repetition, from the first second of the load on, nothing was dropped, no overload
    (`analyse.trial.window`) lasted to the end, at most 1 % of the transactions failed or never ended, and no replica's
    lag grew. A stall that was worked off is no reason: it shows in the response times.
    """
    overloads = [overload for trial in trials for overload in trial.overloads]
    accounts = [trial.outcome.account for trial in trials if trial.outcome.account is not None]
    load_s = sum(account.duration_s for account in accounts)
    sustained_count = sum(map(is_sustained, trials))
    left = [ratio for ratio in map(left_ratio, trials) if ratio is not None]
    return RateFigures(
        offered_tps=sum(account.offered_count for account in accounts) / load_s if load_s else None,
        pool_wait_ms=_durations_of(trials, "pool_wait"),
        dispatch_delay_ms=_durations_of(trials, "dispatch_delay"),
        waiting_max=max((overload.waiting_max for overload in overloads), default=0),
        overloaded_count=sum(bool(trial.overloads) for trial in trials),
        is_sustained=sustained_count == len(trials),
        sustained_count=sustained_count,
        left_ratios=tuple(left) if len(left) == len(trials) else (),
    )


def is_sustained(trial_summary: TrialSummary) -> bool:
    """Whether a target rate was sustained.

    Nothing was dropped, no overload lasted to the end, at most 1 % failed or did not end, and no replica's lag grew.
    """
    ended = {} if trial_summary.counts is None else trial_summary.counts.ended_of_trial
    unfinished = trial_summary.unfinished_count or 0
    failed_ratio = (ended.get("failed", 0) + unfinished) / max(sum(ended.values()) + unfinished, 1)
    fell_behind = any(overload.to_s is None for overload in trial_summary.overloads)
    is_kept = not fell_behind and not ended.get("dropped", 0) and failed_ratio <= ALLOWED_FAILED_RATIO
    return is_kept and not growing(trial_summary.servers)


def _each(rows: Sequence[int], completed: int) -> float | None:
    return sum(rows) / completed if completed else None


def _durations_of(trials: Sequence[TrialSummary], measure: str) -> Durations:
    runs = (_run(trial, measure) for trial in trials)
    return durations_of_runs([run for run in runs if run is not None])


def response_of(trial_summary: TrialSummary) -> Durations:
    """Response times of one trial."""
    return _durations_of([trial_summary], "response")


def _run(trial_summary: TrialSummary, measure: str) -> Run | None:
    """None for a measured trial in which nothing completed: it has no part in any percentile."""
    histogram, reported = trial_summary.histograms.get(measure), trial_summary.outcome.reported
    if histogram is None and not trial_summary.is_published:
        return None
    return histogram, reported.response_ms if reported is not None and measure == "response" else {}


def _mean_shares(trials: Sequence[TrialSummary]) -> CpuShares:
    known: dict[str, list[float]] = defaultdict(list)
    for trial in trials:
        for name, value in trial.cpu.model_dump(exclude_none=True).items():
            known[name].append(value)
    return CpuShares(**{name: sum(values) / len(values) for name, values in known.items()})


_LENGTH_EDGES_S = (2.5, 8.0, 25.0, 80.0, 250.0, 800.0, 2500.0, 8000.0)

Storage = tuple[str | None, str | None, str | None, bool | None]
"""File system, device, its model, whether it rotates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementSetting:
    """Under what one trial was measured; trials with equal settings vary alike.

    Attributes:
        host: The servers' machine: hardware, kernel, frequency governor.
        environment: Of the study, where environments are measured in turn: repetitions share its blocks.
        system: Of a host without a name, the system that ran on it; None where the host is known.
        storage: Of each instance's data; a replica only repeats its source, and a study may vary how many there are.
        reported: What the source of an import says about its machines and its load generator.
        client_here: Whether client and server shared a machine; None when unknown.
        drivers: How many shared the load.
        engine: Version of what drove the load; None for imports.
        origin: Measured or imported, and from which table.
        interval_s: Length of an interval, seconds.
        length_class: Class of the length of the measured window; None when it is not known.
    """

    host: HostFacts
    environment: str | None
    system: str | None
    storage: tuple[Storage, ...]
    reported: tuple[tuple[str, str], ...]
    client_here: bool | None
    drivers: int
    engine: str | None
    origin: tuple[str, str | None]
    interval_s: float
    length_class: int | None


def setting_of(trial_summary: TrialSummary) -> MeasurementSetting:
    """Under what a trial was measured."""
    environment, trial = trial_summary.environment, trial_summary.trial
    return MeasurementSetting(
        host=environment.host,
        environment=trial.system.environment,
        system=None if environment.host.name else trial.system.name,
        storage=tuple(_storage(instance.storage) for instance in sources_of(environment)),
        reported=tuple(sorted(environment.reported.items())),
        client_here=environment.client.on_server_host,
        drivers=max(len(environment.client.drivers), 1),
        engine=environment.client.engine_version,
        origin=_source(trial.origin),
        interval_s=trial.interval_s,
        length_class=_length_class(trial_summary),
    )


def common_setting(trials: Iterable[TrialSummary]) -> MeasurementSetting | None:
    """The setting of all trials; None where they do not share one."""
    settings = {setting_of(trial) for trial in trials}
    return settings.pop() if len(settings) == 1 else None


def _storage(storage: StorageFacts | None) -> Storage:
    facts = storage or StorageFacts()
    return facts.file_system, facts.device, facts.device_model, facts.rotational


def _source(origin: Origin) -> tuple[str, str | None]:
    """Kind and table. Each log is a file of its own, so the file's name tells nothing there."""
    if origin.kind in ("imported-sysbench", "imported-tpcc"):
        return origin.kind, None
    return origin.kind, re.sub(r", lines? \d.*$", "", origin.detail) if origin.detail else None


def _length_class(trial_summary: TrialSummary) -> int | None:
    planned_s = trial_summary.trial.duration_s
    length_s = trial_summary.counts.duration_s if planned_s is None and trial_summary.counts is not None else planned_s
    return None if length_s is None else bisect.bisect(_LENGTH_EDGES_S, length_s)


_FAR_RATIO = 0.7
_CHANCE = 0.001
_SPREADS = 5.0
_PAIR_TO_DEVIATION = 0.954

_Cells = list[list[TrialSummary]]


def check_repetitions(trials: Sequence[TrialSummary]) -> Iterator[Doubt]:
    """A doubt for each repetition that is far below the others of its cell."""
    yield from (_doubt(trial, siblings_tps) for trial, siblings_tps in _lagging(trials))


def lagging_trials(trials: Sequence[TrialSummary]) -> frozenset[str]:
    """The ids of those repetitions: they say nothing about how other cells vary."""
    return frozenset(trial.trial.trial_id for trial, _ in _lagging(trials))


def _lagging(trials: Sequence[TrialSummary]) -> Iterator[tuple[TrialSummary, float]]:
    """Each with the median of its siblings, transactions per second."""
    workloads: dict[str, dict[object, list[TrialSummary]]] = defaultdict(lambda: defaultdict(list))
    for trial in trials:
        workloads[trial.trial.workload.name][trial.trial.system.name, trial.trial.level.order].append(trial)
    for cells in workloads.values():
        repeated = [cell for cell in cells.values() if len(cell) > 1]
        count = sum(map(len, repeated))
        for cell in repeated:
            for trial in cell:
                siblings_tps = _median_tps([other for other in cell if other is not trial])
                if _is_unlikely(trial, siblings_tps, count) and _is_far_below(trial, siblings_tps, repeated):
                    yield trial, siblings_tps


def _is_unlikely(trial_summary: TrialSummary, siblings_tps: float, count: int) -> bool:
    if trial_summary.counts is None or not trial_summary.throughput_tps < _FAR_RATIO * siblings_tps:
        return False
    return (
        chance_of_at_most(trial_summary.counts.completed, siblings_tps * trial_summary.counts.duration_s)
        < _CHANCE / count
    )


def _is_far_below(trial_summary: TrialSummary, siblings_tps: float, cells: _Cells) -> bool:
    distance = math.inf if trial_summary.throughput_tps == 0 else math.log(siblings_tps / trial_summary.throughput_tps)
    return distance > _SPREADS * _usual_spread(cells, trial_summary)


def _usual_spread(cells: _Cells, besides: TrialSummary) -> float:
    """Of the logarithms of all repetitions but one; 0 where there are no others to tell it from."""
    differences = [
        abs(math.log(trial.throughput_tps / other.throughput_tps))
        for cell in cells
        for trial, other in combinations(
            [trial for trial in cell if trial is not besides and trial.throughput_tps > 0], 2
        )
    ]
    return float(np.median(differences)) / _PAIR_TO_DEVIATION if differences else 0.0


def _median_tps(trials: Sequence[TrialSummary]) -> float:
    return float(np.median([trial.throughput_tps for trial in trials]))


def _doubt(trial_summary: TrialSummary, siblings_tps: float) -> Doubt:
    trial = trial_summary.trial
    seen = RepetitionLags(
        rate_unit=trial.workload.rate_unit,
        repetition=trial.repetition,
        throughput_tps=trial_summary.throughput_tps,
        others_tps_median=siblings_tps,
    )
    return place_of(trial).doubt(seen, 1 - trial_summary.throughput_tps / siblings_tps)
