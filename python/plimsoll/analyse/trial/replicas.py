"""What each server of a trial did where some are replicas: transactions, processor time, lag, stale reads.

Apply cost is the processor time of a replica's applier threads over the transactions that it applied, both as rises of
counters within the measured window. Where the server does not count what it applied, it is the committed write
transactions of the source: every replica applies all of them.

Whether the lag of a replica is bounded or grows: does its lower envelope rise all the time? A replica that applies as
fast as its source writes comes back to a small lag again and again, however high its lag rises in between: behind a
large transaction, a flush, a stall. One that is too slow never comes back. So not the lag itself is judged but its
lower envelope: the window is cut into `BLOCKS` equal blocks, and the least lag of each is taken. The lag grows where

* every block's least lag is above that of the block before by at least `STEADINESS` of the mean rise (a single stall
  and a lag that settles at a level rise once, not all the time; blocks in random order rise strictly in one case of
  120), and
* the whole rise is at least `LEAST_RISE_S` (five heartbeats, which come every 50 ms) and `LEAST_RATE` seconds in each
  second: a replica that is 0.2 % too slow is three minutes behind after a day.

It assumes no distribution and no correlation. A test of Mann and Kendall, with its variance widened for neighbours
that resemble each other (`stats.series`), was tried in its place: it finds hardly any growth once a stall is in the
window, because the stall passes for correlation. Error rates by simulation are in docs/evidence.md. A sawtooth longer
than the window, and a stall that has not ended with it, cannot be told from growth by anybody: measure longer.

Source of the idea: a queue is stable where its minima recur (Loynes 1962); blocks and constants by simulation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from plimsoll.analyse.explain.replication_model import LagSeries, LagState
from plimsoll.analyse.trial.histograms import DurationRows, SparseHistogram, merge_measure
from plimsoll.analyse.trial.instances import REPLICA, SOURCE, replicas_of
from plimsoll.analyse.trial.samples import APPLIED, APPLY_CPU, MetricSum, Samples, mean_of_sums, replica_rises
from plimsoll.analyse.trial.window import WindowCounts
from plimsoll.record.environment import Environment
from plimsoll.record.frames import ERRORS, REPLICATION
from plimsoll.record.model import Outcome, TrialRecord, Window
from plimsoll.stats.variance import Series

_CPU = ("server_cpu_user_s_per_s", "server_cpu_system_s_per_s")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTrial:
    """One server in the measured window of one trial.

    Attributes:
        instance: Its name.
        role: `source` or `replica`.
        host: Its machine, as rows name it; None where no row does.
        throughput_tps: Transactions that ran on it in each second.
        written_tps: Of those, that wrote and were committed.
        read_tps: Of those, whose type only reads.
        response: Response times of all of them.
        written: Response times of those that write.
        failed_count: Transactions that failed.
        errors_count: Failed statements.
        outages_s: Length of each outage that it had within the load, seconds.
        cpu_s_per_s: Processor time of its process in each second; None where not known.
        apply_cpu_s_per_s: Of that, its applier threads'; None where not known.
        applied_tps: Replicated transactions that it applied in each second; None where not known.
        lag: None for sources, and where its heartbeat was never read.
        seen: Sums of `frames.REPLICATION` over the window: reads, stale_reads, waits, wait_s, wait_timeouts.
    """

    instance: str
    role: str
    host: str | None = None
    throughput_tps: float = 0.0
    written_tps: float = 0.0
    read_tps: float = 0.0
    response: SparseHistogram | None = field(default=None, repr=False)
    written: SparseHistogram | None = field(default=None, repr=False)
    failed_count: int = 0
    errors_count: int = 0
    outages_s: tuple[float, ...] = ()
    cpu_s_per_s: float | None = None
    apply_cpu_s_per_s: float | None = None
    applied_tps: float | None = None
    lag: LagSeries | None = field(default=None, repr=False)
    seen: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The tables of one trial, as far as they are there.

    Attributes:
        intervals: Within the window (`frames.INTERVALS`).
        durations: Within the window.
        errors: Within the window (`frames.ERRORS`).
        replication: All of the trial (`frames.REPLICATION`).
        samples: Telemetry of the window.
    """

    intervals: pl.DataFrame
    durations: DurationRows | None
    errors: pl.DataFrame | None
    replication: pl.DataFrame | None
    samples: Samples | None


def servers_of(
    trial: TrialRecord, outcome: Outcome, environment: Environment, tables: Tables, counts: WindowCounts
) -> tuple[ServerTrial, ...]:
    """Every server, the source first; empty where the system has no replicas.

    Args:
        trial: What was planned.
        outcome: Its window and outages.
        environment: Names the servers with their roles.
        tables: Of the trial.
        counts: Of the window.
    """
    if not replicas_of(environment):
        return ()
    order = sorted(environment.instances, key=lambda instance: instance.role != SOURCE)
    lags = lags_of(tables.replication, outcome.window, trial.interval_s)
    writing = _writing_types(tables.intervals)
    rises = replica_rises(tables.samples)
    seen = _seen(tables.replication, counts)
    servers = []
    for instance in order:
        rows = tables.intervals.filter(pl.col("instance") == instance.name)
        written_tps, read_tps = _committed(rows, writing, counts.duration_s)
        servers.append(
            ServerTrial(
                instance=instance.name,
                role=instance.role,
                host=_host(rows, tables.replication, instance.name),
                throughput_tps=int(rows["completed"].sum()) / counts.duration_s,
                written_tps=written_tps,
                read_tps=read_tps,
                response=_response(tables.durations, instance.name, None),
                written=_response(tables.durations, instance.name, writing),
                failed_count=int(rows["failed"].sum()),
                errors_count=_errors(tables.errors, instance.name),
                outages_s=_outages_s(outcome, instance.name),
                cpu_s_per_s=_cpu_s_per_s(tables.samples, instance.name),
                apply_cpu_s_per_s=rises.get((instance.name, APPLY_CPU)) if instance.role == REPLICA else None,
                applied_tps=rises.get((instance.name, APPLIED)) if instance.role == REPLICA else None,
                lag=_named(lags.get(instance.name), trial.trial_id),
                seen=seen.get(instance.name, {}),
            )
        )
    return tuple(servers)


def growing(servers: tuple[ServerTrial, ...]) -> tuple[str, ...]:
    """Names of the replicas whose lag grew."""
    return tuple(
        server.instance for server in servers if server.lag is not None and server.lag.state is LagState.GROWING
    )


def _named(lag: LagSeries | None, trial_id: str) -> LagSeries | None:
    return None if lag is None else lag.model_copy(update={"trial_id": trial_id})


def _writing_types(intervals: pl.DataFrame) -> set[str]:
    """Types of transactions that write: those of which any statement did."""
    sums = intervals.group_by("transaction").agg(pl.col("writes").sum())
    return set(sums.filter(pl.col("writes") > 0)["transaction"])


def _committed(rows: pl.DataFrame, writing: set[str], duration_s: float) -> tuple[float, float]:
    """Transactions per second that wrote and were committed, and that only read."""
    writes = rows.filter(pl.col("transaction").is_in(list(writing)))
    committed = int(writes["completed"].sum()) - int(writes["rolled_back"].fill_null(0).sum())
    reads = int(rows["completed"].sum()) - int(writes["completed"].sum())
    return committed / duration_s, reads / duration_s


def _host(rows: pl.DataFrame, replication: pl.DataFrame | None, name: str) -> str | None:
    tables = [rows] if replication is None else [rows, replication.filter(pl.col("instance") == name)]
    return next((str(table["host"][0]) for table in tables if table.height), None)


def _response(durations: DurationRows | None, instance: str, types: set[str] | None) -> SparseHistogram | None:
    if durations is None:
        return None
    among = durations.instances == instance
    if types is not None:
        among &= np.array([name in types for name in durations.transactions], dtype=bool)
    return merge_measure(durations, "response", np.asarray(among, dtype=bool))


def _errors(errors: pl.DataFrame | None, instance: str) -> int:
    if errors is None or errors.is_empty():
        return 0
    assert set(ERRORS) <= set(errors.columns)
    return int(errors.filter(pl.col("instance") == instance)["count"].sum())


def _outages_s(outcome: Outcome, instance: str) -> tuple[float, ...]:
    end_s = None if outcome.account is None else outcome.account.duration_s
    outages = (outage for outage in outcome.outages if outage.instance == instance)
    return tuple(
        max((outage.to_s if outage.to_s is not None else end_s or outage.from_s) - outage.from_s, 0.0)
        for outage in outages
    )


def _cpu_s_per_s(samples: Samples | None, instance: str) -> float | None:
    by_metric: dict[str, list[MetricSum]] = {}
    for metric_sum in () if samples is None else samples.sums:
        if metric_sum.source == "process" and metric_sum.instance == instance and metric_sum.metric in _CPU:
            by_metric.setdefault(metric_sum.metric, []).append(metric_sum)
    return sum(map(mean_of_sums, by_metric.values())) if by_metric else None


def _seen(replication: pl.DataFrame | None, counts: WindowCounts) -> dict[str, dict[str, float]]:
    if replication is None or replication.is_empty():
        return {}
    names = [name for name in REPLICATION if name in ("reads", "stale_reads", "waits", "wait_s", "wait_timeouts")]
    rows = replication.filter(pl.col("interval").is_between(counts.first, counts.last))
    sums = rows.group_by("instance").agg(pl.col(name).sum() for name in names)
    return {str(row.pop("instance")): row for row in sums.iter_rows(named=True)}


BLOCKS = 5
STEADINESS = 0.25
LEAST_RISE_S = 0.25
LEAST_RATE = 0.002
INTERVALS_NEEDED = 10
"""Of fewer nothing is said."""

_SEEN_RATIO = 0.8
"""Of the intervals of the window; a replica that was away is an outage, and its lag is not known."""

_POINTS_MAX = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """What a window says of a lag.

    Attributes:
        rate: Rise of the lower envelope, seconds in each second; negative where it fell.
    """

    state: LagState
    rate: float | None = None


def growth_of(lag_s: Series, interval_s: float) -> Growth:
    """Judges the lags of one window.

    Args:
        lag_s: At the end of each interval, in order, seconds.
        interval_s: Length of an interval, seconds.
    """
    if lag_s.size < INTERVALS_NEEDED:
        return Growth(state=LagState.UNKNOWN)
    least = np.array([block.min() for block in np.array_split(lag_s, BLOCKS)])
    steps = np.diff(least)
    mean_step = float(steps.mean())
    length_s = lag_s.size * interval_s
    rise_s = mean_step * BLOCKS
    rises = float(steps.min()) > STEADINESS * mean_step
    is_material = rise_s >= max(LEAST_RISE_S, LEAST_RATE * length_s)
    state = LagState.GROWING if rises and is_material else LagState.BOUNDED
    return Growth(state=state, rate=rise_s / length_s)


def lags_of(replication: pl.DataFrame | None, window: Window | None, interval_s: float) -> dict[str, LagSeries]:
    """The lag of each replica within the measured window, by its name.

    Args:
        replication: All of the trial (`frames.REPLICATION`); None for trials without replicas.
        window: Which intervals count; None for all.
        interval_s: Length of an interval, seconds.
    """
    if replication is None or replication.is_empty():
        return {}
    first = window.first if window is not None else int(replication["interval"].min() or 0)  # type: ignore[arg-type]
    last = window.last if window is not None else int(replication["interval"].max() or 0)  # type: ignore[arg-type]
    rows = (
        replication.filter(pl.col("interval").is_between(first, last))
        .group_by("instance", "interval")
        .agg(pl.col("lag_s").max(), pl.col("lag_end_s").max())
        .sort("instance", "interval")
    )
    return {
        str(name): _series(replica_rows, count=last - first + 1, first=first, interval_s=interval_s)
        for (name,), replica_rows in rows.partition_by("instance", as_dict=True, maintain_order=True).items()
    }


def _series(rows: pl.DataFrame, *, count: int, first: int, interval_s: float) -> LagSeries:
    known = rows.filter(pl.col("lag_s").is_not_null())
    ends = known.filter(pl.col("lag_end_s").is_not_null())["lag_end_s"].to_numpy()
    if known.is_empty() or ends.size < _SEEN_RATIO * count:
        largest = None if known.is_empty() else float(known["lag_s"].max())  # type: ignore[arg-type]  # a float
        return LagSeries(state=LagState.UNKNOWN, largest_s=largest, from_s=first * interval_s)
    growth = growth_of(ends, interval_s)
    block = -(-count // _POINTS_MAX)
    values = np.full(-(-count // block) * block, np.nan)
    values[known["interval"].to_numpy().astype(int) - first] = known["lag_s"].to_numpy()
    shown = [None if np.isnan(lags).all() else float(f"{np.nanmax(lags):.4g}") for lags in values.reshape(-1, block)]
    return LagSeries(
        state=growth.state,
        largest_s=float(known["lag_s"].max()),  # type: ignore[arg-type]  # a float
        median_s=float(np.median(ends)),
        end_s=float(ends[-1]),
        growth_s_per_s=growth.rate,
        from_s=first * interval_s,
        step_s=block * interval_s,
        lag_s=tuple(shown),
    )
