"""One recording reduced to what the analysis needs, so that its tables can be forgotten at once.

Nothing here looks at more than one trial, except which of two trials counts when one was measured again.

Reported figures (`outcome.reported`) of an import come before what its intervals add up to: they are of the whole run,
and the intervals tell how it varied.

One recording reduced to what a comparison needs: throughput, its variance, response times, turns, its machine. It
gives the same figures as `summarise`, in a fraction of the time: errors are not read, and only response and service
times are merged.

What load at a rate left over: arrivals of the measured window that were offered and had not ended at its end. A system
that is a little too small for a rate completes nearly all of it. Its backlog grows by the shortage in every second,
and becomes an overload only when it is longer than a second's work (`window`). The share that is left over shows the
shortage earlier: over a window it is about 1 - capacity / rate. In a system that keeps up it is about 0, and may be a
little below, where the window began with more in flight than it ended with.

Trials that were measured again because their machine had been slow: the later one counts, the first one is listed.
Which trials are measured again follows from the weather of the machine and never from their throughput, so that no
result is chosen. A repeat that did not complete replaces nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import polars as pl

from plimsoll.analyse.study.cell_model import CpuShares
from plimsoll.analyse.trial.condition_model import SteadyState
from plimsoll.analyse.trial.drivers import DriverFigures, drivers_of
from plimsoll.analyse.trial.histograms import (
    DurationRows,
    SparseHistogram,
    duration_rows,
    durations,
    merge_measure,
    merge_rows,
    merge_window,
    unfinished_count,
)
from plimsoll.analyse.trial.instances import instances_tps, with_roles
from plimsoll.analyse.trial.processors import (
    other_ratio,
    processor_shares,
    reported_shares,
    sides_of,
    with_own_processors,
)
from plimsoll.analyse.trial.replicas import ServerTrial, Tables, servers_of
from plimsoll.analyse.trial.resources import Resources, resources_of
from plimsoll.analyse.trial.samples import (
    MachineSeconds,
    Samples,
    Telemetry,
    machine_seconds,
    samples_of,
    telemetry_of,
)
from plimsoll.analyse.trial.series import POINTS_OF_TRIAL, Steps, series_of, steps_of
from plimsoll.analyse.trial.stalls import Quiet, quiet_of
from plimsoll.analyse.trial.steady import innodb_series, steady_state
from plimsoll.analyse.trial.trial_model import TrialSeries
from plimsoll.analyse.trial.types import (
    ErrorCounts,
    TypeCounts,
    errors_by_type,
    stated_count,
    stated_errors,
    stated_types,
    summed,
    types_of,
)
from plimsoll.analyse.trial.window import (
    IntervalSums,
    Overload,
    WindowCounts,
    count_window,
    counts_of,
    inside,
    interval_loads,
    interval_sums,
    overloads,
    throughput_tps,
)
from plimsoll.record.environment import Environment
from plimsoll.record.frames import IN_FLIGHT
from plimsoll.record.model import EngineAccount, Outcome, TrialRecord, Verdict, Window
from plimsoll.stats.variance import MeanVariance, variance_of_mean

_AGES = f"{IN_FLIGHT}response"


class RecordingLike(Protocol):
    """What the analysis asks of a recording: `plimsoll.record.store.Recording` is one."""

    @property
    def trial(self) -> TrialRecord: ...  # noqa: D102

    @property
    def environment(self) -> Environment: ...  # noqa: D102

    @property
    def outcome(self) -> Outcome: ...  # noqa: D102

    def intervals(self) -> pl.DataFrame | None: ...  # noqa: D102

    def errors(self) -> pl.DataFrame | None: ...  # noqa: D102

    def histograms(self, measures: Collection[str] | None = None) -> pl.DataFrame | None: ...  # noqa: D102

    def telemetry(self) -> pl.DataFrame | None: ...  # noqa: D102

    def turns(self) -> pl.DataFrame | None: ...  # noqa: D102

    def replication(self) -> pl.DataFrame | None: ...  # noqa: D102


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSummary:
    """One complete trial.

    Attributes:
        throughput_tps: Completed transactions per second over the measured window.
        within: Relative variance of that mean; None where there are no intervals.
        counts: None for published figures without intervals.
        steady: Its state within the window; None for published figures without intervals.
        other_cpu_ratio: Processor time of others than the server, the client and Plimsoll, 0..1, in the window.
        frequency_hz: Mean clock frequency of the CPUs in the window; None where the kernel does not tell it.
        histograms: By measure.
        errors: Counts by (class, code) in the measured window.
        types: By type of transaction.
        instances_tps: Completed transactions per second of each instance; empty where there is only one.
        client_us_per_statement: Processor time of the load engine for each statement, microseconds.
        client_waits_s_per_s: How long the load engine's threads, all together, waited for a processor in each second.
        drivers: Each of several that shared the load; empty where one engine drove it.
        overloads: When more was wanted than could be done, in the whole trial; only load at a rate has them.
        unfinished_count: Transactions of the window that never ended, see `histograms`; None where that is not known.
        quiet: When nothing completed.
        resources: What was used and waited for in each second.
        machine: What the servers' machine did in each second; None where the recording does not say.
        turns: Those of the window of a duet (`frames.TURNS`), in order; None for other trials.
        series: How it went, warm-up included; None where there are no intervals.
        steps: Its window minute by minute; None for a short one.
        servers: Each server by itself where some are replicas, the source first; empty otherwise.
    """

    trial: TrialRecord
    environment: Environment = field(repr=False)
    outcome: Outcome = field(repr=False)
    throughput_tps: float
    within: MeanVariance | None = None
    counts: WindowCounts | None = field(default=None, repr=False)
    steady: SteadyState | None = field(default=None, repr=False)
    other_cpu_ratio: float | None = None
    frequency_hz: float | None = None
    histograms: dict[str, SparseHistogram] = field(default_factory=dict, repr=False)
    errors: ErrorCounts = field(default_factory=dict)
    cpu: CpuShares = field(default_factory=CpuShares)
    types: dict[str, TypeCounts] = field(default_factory=dict, repr=False)
    instances_tps: dict[str, float] = field(default_factory=dict)
    client_us_per_statement: float | None = None
    client_waits_s_per_s: float | None = None
    drivers: tuple[DriverFigures, ...] = ()
    overloads: tuple[Overload, ...] = ()
    unfinished_count: int | None = None
    quiet: Quiet = field(default_factory=Quiet)
    resources: Resources = field(default_factory=Resources, repr=False)
    machine: MachineSeconds | None = field(default=None, repr=False)
    turns: pl.DataFrame | None = field(default=None, repr=False)
    series: TrialSeries | None = field(default=None, repr=False)
    steps: Steps | None = field(default=None, repr=False)
    servers: tuple[ServerTrial, ...] = field(default=(), repr=False)

    @property
    def is_published(self) -> bool:
        """Whether its figures are of somebody else, and were not measured here."""
        return self.outcome.reported is not None or self.trial.origin.kind != "measured"

    @property
    def completed_count(self) -> int:
        """Completed transactions, as the source of an import states them or as they were counted."""
        counted = 0 if self.counts is None else self.counts.completed
        return stated_count(self.outcome.reported, "transactions", counted)

    @property
    def failed_count(self) -> int:
        """Failed transactions, in the same way."""
        return stated_count(self.outcome.reported, "failed", 0 if self.counts is None else self.counts.failed)

    @property
    def retries_count(self) -> int:
        """Retries, in the same way."""
        counted = 0 if self.counts is None else self.counts.retries
        return stated_count(self.outcome.reported, "ignored_errors", counted)


def summarise(recording: RecordingLike, *, points: int = POINTS_OF_TRIAL) -> TrialSummary | None:
    """Reduces a complete trial; None when it holds neither measured intervals nor published figures.

    Args:
        recording: Of the trial.
        points: At most so many has its series.

    Raises:
        RecordError: A table is missing or damaged.
    """
    outcome = recording.outcome
    intervals = recording.intervals()
    if intervals is None:
        return reported_trial(recording)
    measured = inside(intervals, outcome.window)
    counts = count_window(intervals, measured, outcome.window, recording.trial.interval_s)
    if counts is None:
        return None
    telemetry = telemetry_of(recording.telemetry(), measured, outcome.account)
    table = recording.histograms()
    durations = None if table is None else duration_rows(table)
    merged = {} if durations is None else merge_window(durations, first=counts.first, last=counts.last)
    failed = recording.errors()
    errors = errors_by_type(failed, outcome.window)
    types = types_of(measured, _inside(durations, outcome.window), merged.get("response"), counts.duration_s, errors)
    turns, all_samples, sums = recording.turns(), telemetry.window, interval_sums(intervals)
    samples = all_samples if turns is None or all_samples is None else all_samples.without_host()
    environment, servers = _by_role(recording, (measured, failed), durations, samples, counts)
    shares = processor_shares(samples, environment, outcome.drivers)
    shares = with_own_processors(shares, sides_of(environment))
    quiet = quiet_of(recording.trial, outcome, (intervals, durations), merged.get("service"), counts)
    steady = _steady(recording, counts, measured, telemetry)
    return TrialSummary(
        trial=recording.trial,
        environment=environment,
        outcome=outcome,
        throughput_tps=throughput_tps(outcome, counts),
        within=relative_variance(counts),
        counts=counts,
        steady=steady,
        other_cpu_ratio=other_ratio(shares, outcome, environment),
        frequency_hz=None if samples is None else samples.mean("cpu_frequency_hz"),
        histograms=merged,
        errors=stated_errors(outcome.reported, summed(errors.values())),
        types=stated_types(outcome.reported, types) if outcome.reported else types,
        instances_tps=instances_tps(measured, environment, counts.duration_s),
        cpu=shares,
        client_us_per_statement=_client_us_per_statement(outcome.account, counts),
        client_waits_s_per_s=None if samples is None else samples.mean("run_delay_s_per_s", "engine"),
        drivers=drivers_of(recording.trial, outcome, (intervals, table), samples, counts),
        overloads=overloads(interval_loads(sums, telemetry), recording.trial.level.connections),
        unfinished_count=_unfinished_count(recording, sums, durations, merged.get("response"), counts.last),
        resources=resources_of(samples, environment),
        machine=machine_seconds(recording, all_samples, measured, counts, merged.get("service")),
        turns=None if turns is None else inside(turns, outcome.window),
        quiet=quiet,
        series=series_of(
            (intervals, durations), counts, quiet.stalls, interval_s=recording.trial.interval_s, points=points
        ),
        steps=steps_of(counts, durations, steady, interval_s=recording.trial.interval_s),
        servers=servers,
    )


def _by_role(
    recording: RecordingLike,
    tables: tuple[pl.DataFrame, pl.DataFrame | None],
    durations: DurationRows | None,
    samples: Samples | None,
    counts: WindowCounts,
) -> tuple[Environment, tuple[ServerTrial, ...]]:
    """The environment with the role of each server, and each server by itself where some are replicas."""
    (measured, errors), replication = tables, recording.replication()
    environment = with_roles(recording.environment, (measured, replication))
    by_role = Tables(
        intervals=measured,
        durations=_inside(durations, recording.outcome.window),
        errors=None if errors is None else inside(errors, recording.outcome.window),
        replication=replication,
        samples=samples,
    )
    return environment, servers_of(recording.trial, recording.outcome, environment, by_role, counts)


def reported_trial(recording: RecordingLike) -> TrialSummary | None:
    """Published figures without intervals; None where there are none."""
    outcome = recording.outcome
    if outcome.reported is None:
        return None
    durations = recording.histograms()
    return TrialSummary(
        trial=recording.trial,
        environment=recording.environment,
        outcome=outcome,
        throughput_tps=outcome.reported.throughput_tps,
        histograms={} if durations is None else merge_rows(durations),
        errors=stated_errors(outcome.reported, {}),
        cpu=reported_shares(outcome.reported.host_cpu),
        types=stated_types(outcome.reported, {}),
    )


def _inside(durations: DurationRows | None, window: Window | None) -> DurationRows | None:
    """The histograms within the window; all where there is none."""
    if durations is None or window is None:
        return durations
    return durations.only(durations.is_within(window.first, window.last))


def _unfinished_count(
    recording: RecordingLike,
    sums: IntervalSums,
    durations: DurationRows | None,
    response: SparseHistogram | None,
    last: int,
) -> int | None:
    """Those of the window that ends with the interval `last`; the last interval of all says what never ended."""
    if durations is None or _AGES not in durations.measures:
        return None
    end_s = sums.to_s[sums.intervals == last]
    if response is None or not end_s.size:
        return 0
    at_end = merge_measure(durations, _AGES, durations.intervals == sums.intervals[-1])
    waited_s = float(sums.to_s[-1] - end_s[0])
    return unfinished_count(response, at_end, waited_s=waited_s, connections=recording.trial.level.connections)


def _steady(
    recording: RecordingLike, counts: WindowCounts, measured: pl.DataFrame, telemetry: Telemetry
) -> SteadyState | None:
    if counts.rates_tps.size == 0:
        return None
    from_s = float(measured["from_s"].to_numpy().min()) if measured.height else 0.0
    seconds = int(counts.duration_s)
    innodb = innodb_series(telemetry, recording.outcome.account, from_s=from_s, seconds=seconds)
    interval_s = counts.duration_s / max(counts.rates_tps.size, 1)
    return steady_state(counts.rates_tps, innodb, from_s=from_s, interval_s=interval_s)


def relative_variance(counts: WindowCounts) -> MeanVariance | None:
    """Variance of the mean throughput over its square; None where that cannot be seen."""
    mean_variance = variance_of_mean(counts.rates_tps)
    if mean_variance is None or counts.throughput_tps == 0:
        return None
    return MeanVariance(mean_variance.variance / counts.throughput_tps**2, mean_variance.degrees)


def _client_us_per_statement(account: EngineAccount | None, counts: WindowCounts) -> float | None:
    if account is None or counts.statements_of_trial == 0:
        return None
    return (account.client_user_s + account.client_system_s) / counts.statements_of_trial * 1e6


_MEASURES = ("response", f"{IN_FLIGHT}response", "service")


def compared_trial(recording: RecordingLike) -> TrialSummary | None:
    """Reduces a complete trial; None when it holds neither measured intervals nor published figures.

    Raises:
        RecordError: A table is missing or damaged.
    """
    outcome, intervals = recording.outcome, recording.intervals()
    if intervals is None:
        return reported_trial(recording)
    counts = counts_of(recording.trial, outcome, intervals)
    if counts is None:
        return None
    table, measured = recording.histograms(_MEASURES), inside(intervals, outcome.window)
    histograms = {} if table is None else merge_window(duration_rows(table), first=counts.first, last=counts.last)
    samples = samples_of(recording.telemetry(), measured, outcome.account)
    return TrialSummary(
        trial=recording.trial,
        environment=recording.environment,
        outcome=outcome,
        throughput_tps=throughput_tps(outcome, counts),
        within=relative_variance(counts),
        counts=counts,
        histograms=histograms,
        machine=machine_seconds(recording, samples, measured, counts, histograms.get("service")),
        turns=None if (turns := recording.turns()) is None else inside(turns, outcome.window),
    )


def p99_ms(trial: TrialSummary) -> float | None:
    """Its 99th percentile of response time; None where that is not known, or known as a lower bound only."""
    histogram, reported = trial.histograms.get("response"), trial.outcome.reported
    if histogram is None:
        return reported.response_ms.get("p99") if reported is not None else None
    times = durations(histogram)
    return None if "p99" in times.lower_bounds else times.p99


def left_ratio(trial_summary: TrialSummary) -> float | None:
    """The share of the arrivals of a window that are left over at its end, below 1; None where it is not known.

    Recordings without what was in flight (older ones) tell it for the whole load, warm-up and its backlog included.
    """
    counts, account = trial_summary.counts, trial_summary.outcome.account
    if counts is None:
        return None
    response = trial_summary.histograms.get("response")
    if trial_summary.unfinished_count is not None and response is not None:
        at_end, before = response.in_flight, response.in_flight_before
        left = (0 if at_end is None else at_end.total) - (0 if before is None else before.total)
        offered = counts.completed + counts.failed + counts.dropped + left
    elif account is not None:
        offered = account.offered_count
        left = offered - sum(counts.ended_of_trial.values())
    else:
        return None
    return left / offered if offered > 0 else None


_Recording = TypeVar("_Recording", bound=RecordingLike)


def counting(recordings: Sequence[_Recording]) -> tuple[list[_Recording], list[tuple[_Recording, str]]]:
    """The recordings that count, and those that were replaced, each with the id of the trial that did it."""
    by = {
        recording.trial.repeats: recording.trial.trial_id
        for recording in recordings
        if recording.trial.repeats is not None and recording.outcome.verdict is Verdict.COMPLETE
    }
    count = [recording for recording in recordings if recording.trial.trial_id not in by]
    return count, [
        (recording, by[recording.trial.trial_id]) for recording in recordings if recording.trial.trial_id in by
    ]
