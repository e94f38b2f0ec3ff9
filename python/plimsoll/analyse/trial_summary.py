"""One recording reduced to what the analysis needs, so that its tables can be forgotten at once.

Reported figures (`outcome.reported`) of an import come before what its intervals add up to: they are of the whole run,
and the intervals tell how it varied.
Deliberately not here: anything that looks at more than one trial.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import polars as pl

from plimsoll.analyse.cell_model import CpuShares
from plimsoll.analyse.drift import Drift, drift_of
from plimsoll.analyse.histograms import SparseHistogram, merge_measure, merge_rows, merge_window
from plimsoll.analyse.instances import instances_tps
from plimsoll.analyse.overload import Overload, interval_loads, overloads
from plimsoll.analyse.processor import engine_mean, processor_shares, reported_shares
from plimsoll.analyse.quiet import Quiet, quiet_of
from plimsoll.analyse.stated_totals import stated_count, stated_errors
from plimsoll.analyse.types import ErrorCounts, TypeCounts, stated_types, summed, types_of
from plimsoll.analyse.unfinished import unfinished_count
from plimsoll.analyse.window import WindowCounts, count_window, inside
from plimsoll.analyse.within_run import MeanVariance, variance_of_mean
from plimsoll.record.frames import IN_FLIGHT
from plimsoll.record.model import EngineAccount, Environment, Outcome, TrialRecord, Window

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

    def histograms(self) -> pl.DataFrame | None: ...  # noqa: D102

    def telemetry(self) -> pl.DataFrame | None: ...  # noqa: D102


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSummary:
    """One complete trial.

    Attributes:
        throughput_tps: Completed transactions per second over the measured window.
        within: Relative variance of that mean; None where there are no intervals.
        counts: None for published figures without intervals.
        drift: How throughput moved within the window; None where that cannot be seen.
        histograms: By measure.
        errors: Counts by (class, code) in the measured window.
        types: By type of transaction.
        instances_tps: Completed transactions per second of each instance; empty where there is only one.
        client_us_per_statement: Processor time of the load engine for each statement, microseconds.
        client_waits_s_per_s: How long the load engine's threads, all together, waited for a processor in each second.
        overloads: When more was wanted than could be done, in the whole trial; only load at a rate has them.
        unfinished_count: Transactions of the window that never ended, see `unfinished`; None where that is not known.
        quiet: When nothing completed.
    """

    trial: TrialRecord
    environment: Environment = field(repr=False)
    outcome: Outcome = field(repr=False)
    throughput_tps: float
    within: MeanVariance | None = None
    counts: WindowCounts | None = field(default=None, repr=False)
    drift: Drift | None = None
    histograms: dict[str, SparseHistogram] = field(default_factory=dict, repr=False)
    errors: ErrorCounts = field(default_factory=dict)
    cpu: CpuShares = field(default_factory=CpuShares)
    types: dict[str, TypeCounts] = field(default_factory=dict, repr=False)
    instances_tps: dict[str, float] = field(default_factory=dict)
    client_us_per_statement: float | None = None
    client_waits_s_per_s: float | None = None
    overloads: tuple[Overload, ...] = ()
    unfinished_count: int | None = None
    quiet: Quiet = field(default_factory=Quiet)

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


def summarise(recording: RecordingLike) -> TrialSummary | None:
    """Reduces a complete trial; None when it holds neither measured intervals nor published figures.

    Raises:
        RecordError: A table is missing or damaged.
    """
    outcome = recording.outcome
    intervals = recording.intervals()
    if intervals is None:
        return _reported(recording)
    measured = inside(intervals, outcome.window)
    counts = count_window(intervals, measured, outcome.window, recording.trial.interval_s)
    if counts is None:
        return None
    telemetry = recording.telemetry()
    durations = recording.histograms()
    histograms = None if durations is None else inside(durations, outcome.window)
    merged = {} if durations is None else merge_window(durations, first=counts.first, last=counts.last)
    errors = _errors(recording, outcome.window)
    types = types_of(measured, histograms, merged.get("response"), counts.duration_s, errors)
    return TrialSummary(
        trial=recording.trial,
        environment=recording.environment,
        outcome=outcome,
        throughput_tps=outcome.reported.throughput_tps if outcome.reported else counts.throughput_tps,
        within=_relative_variance(counts),
        counts=counts,
        drift=drift_of(counts.rates_tps),
        histograms=merged,
        errors=stated_errors(outcome.reported, summed(errors.values())),
        types=stated_types(outcome.reported, types) if outcome.reported else types,
        instances_tps=instances_tps(measured, recording.environment, counts.duration_s),
        cpu=processor_shares(telemetry, measured, outcome, recording.environment),
        client_us_per_statement=_client_us_per_statement(outcome.account, counts),
        client_waits_s_per_s=engine_mean(telemetry, measured, outcome, "run_delay_s_per_s"),
        overloads=overloads(interval_loads(intervals, telemetry), recording.trial.level.connections),
        unfinished_count=_unfinished_count(recording, (intervals, durations), merged.get("response"), counts.last),
        quiet=quiet_of(recording.trial, outcome, (intervals, durations), merged.get("service"), counts),
    )


def _reported(recording: RecordingLike) -> TrialSummary | None:
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


def _unfinished_count(
    recording: RecordingLike,
    tables: tuple[pl.DataFrame, pl.DataFrame | None],
    response: SparseHistogram | None,
    last: int,
) -> int | None:
    """Those of the window that ends with the interval `last`; the last interval of all says what never ended."""
    intervals, durations = tables
    if durations is None or not (durations["measure"] == _AGES).any():
        return None
    ends_s = intervals.group_by("interval").agg(pl.col("to_s").max())
    end_s = ends_s.filter(pl.col("interval") == last)["to_s"]
    if response is None or end_s.is_empty():
        return 0
    final, final_s = ends_s.sort("interval").row(-1)
    at_end = merge_measure(durations.filter(pl.col("interval") == final), _AGES)
    waited_s = final_s - float(end_s[0])
    return unfinished_count(response, at_end, waited_s=waited_s, connections=recording.trial.level.connections)


def _relative_variance(counts: WindowCounts) -> MeanVariance | None:
    found = variance_of_mean(counts.rates_tps)
    if found is None or counts.throughput_tps == 0:
        return None
    return MeanVariance(found.variance / counts.throughput_tps**2, found.degrees)


def _errors(recording: RecordingLike, window: Window | None) -> dict[str | None, ErrorCounts]:
    """By the type of transaction that met them; None for none."""
    rows = recording.errors()
    found: dict[str | None, ErrorCounts] = {}
    if rows is None or rows.is_empty():
        return found
    counted = inside(rows, window).group_by("transaction", "class", "code").agg(pl.col("count").sum())
    for transaction, kind, code, count in counted.iter_rows():
        found.setdefault(transaction, {})[str(kind), int(code)] = int(count)
    return found


def _client_us_per_statement(account: EngineAccount | None, counts: WindowCounts) -> float | None:
    if account is None or counts.statements_of_trial == 0:
        return None
    return (account.client_user_s + account.client_system_s) / counts.statements_of_trial * 1e6
