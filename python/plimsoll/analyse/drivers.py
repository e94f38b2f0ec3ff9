"""The drivers of one trial, each by itself: what it did of the whole, and how fast it was.

Its expected part of the throughput is what its share of the plan says: of arrivals and terminals an equal part, of
connections in a closed loop as many as it has. The shortest service times tell its round trip to the server: the
fastest tenth of the transactions waited for little else. Deliberately not here: what is doubtful (`driver_checks`).
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from plimsoll.analyse.duration_rows import duration_rows
from plimsoll.analyse.durations import percentile_ms
from plimsoll.analyse.histograms import SparseHistogram, merge_window
from plimsoll.analyse.samples import Samples
from plimsoll.analyse.window import WindowCounts, inside
from plimsoll.record.model import Outcome, TrialRecord
from plimsoll.spec.shares import spread


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverFigures:
    """One driver in the measured window.

    Attributes:
        completed: Its transactions.
        expected_ratio: Its part of all transactions by its share of the plan, 0..1.
        completed_ratio: Its part of all transactions as it was, 0..1.
        response_ms_p50: None with too few transactions; so are the others.
        response_ms_mean: Milliseconds.
        dispatch_ms_p99: Delay inside of the driver, milliseconds.
        fastest_ms: The service time that the fastest tenth of its transactions did not exceed, milliseconds.
        waits_s_per_s: How long its threads, all together, waited for a processor in each second.
    """

    name: str
    throughput_tps: float
    completed: int
    expected_ratio: float
    completed_ratio: float
    response_ms_p50: float | None = None
    response_ms_mean: float | None = None
    dispatch_ms_p99: float | None = None
    fastest_ms: float | None = None
    waits_s_per_s: float | None = None


def drivers_of(
    trial: TrialRecord,
    outcome: Outcome,
    tables: tuple[pl.DataFrame, pl.DataFrame | None],
    samples: Samples | None,
    counts: WindowCounts,
) -> tuple[DriverFigures, ...]:
    """Each driver of a trial that several shared; nothing for others.

    Args:
        trial: What was planned.
        outcome: Names its drivers.
        tables: All of its intervals (`frames.INTERVALS`) and histograms (`frames.HISTOGRAMS`).
        samples: Telemetry of its window.
        counts: Of the window.
    """
    if len(outcome.drivers) < 2:
        return ()
    intervals, histograms = tables
    measured = inside(intervals, outcome.window)
    completed = dict(measured.group_by("driver").agg(pl.col("completed").sum()).iter_rows())
    expected = expected_ratios(trial, len(outcome.drivers))
    return tuple(
        _figures(
            one.name,
            completed=int(completed.get(one.name, 0)),
            expected_ratio=ratio,
            counts=counts,
            durations=_durations(histograms, one.name, counts),
            waits_s_per_s=_waits(samples, one.name),
        )
        for one, ratio in zip(outcome.drivers, expected, strict=True)
    )


def expected_ratios(trial: TrialRecord, driver_count: int) -> list[float]:
    """The part of all transactions that each of so many drivers is asked for, 0..1."""
    level = trial.level
    if level.rate_tps is not None or "terminals" in trial.workload.options:
        return [1 / driver_count] * driver_count
    of_instances = spread(level.connections, trial.system.instances)
    own = [
        sum((connections - index + driver_count - 1) // driver_count for connections in of_instances)
        for index in range(driver_count)
    ]
    return [connections / level.connections for connections in own]


def _durations(histograms: pl.DataFrame | None, name: str, counts: WindowCounts) -> dict[str, SparseHistogram]:
    if histograms is None:
        return {}
    return merge_window(
        duration_rows(histograms.filter(pl.col("driver") == name)), first=counts.first, last=counts.last
    )


def _waits(samples: Samples | None, name: str) -> float | None:
    if samples is None:
        return None
    found = [one for one in samples.sums if (one.source, one.metric) == ("engine", "run_delay_s_per_s")]
    return next((one.total / one.size for one in found if one.driver == name), None)


def _figures(
    name: str,
    *,
    completed: int,
    expected_ratio: float,
    counts: WindowCounts,
    durations: dict[str, SparseHistogram],
    waits_s_per_s: float | None,
) -> DriverFigures:
    response = durations.get("response")
    mean_ms = None if response is None or not response.total else response.sum_ns / response.total / 1e6
    return DriverFigures(
        name=name,
        throughput_tps=completed / counts.duration_s,
        completed=completed,
        expected_ratio=expected_ratio,
        completed_ratio=completed / max(counts.completed, 1),
        response_ms_p50=_percentile_ms(response, 0.5),
        response_ms_mean=mean_ms,
        dispatch_ms_p99=_percentile_ms(durations.get("dispatch_delay"), 0.99),
        fastest_ms=_percentile_ms(durations.get("service"), 0.1),
        waits_s_per_s=waits_s_per_s,
    )


def _percentile_ms(histogram: SparseHistogram | None, share: float) -> float | None:
    return None if histogram is None else percentile_ms(histogram, share)
