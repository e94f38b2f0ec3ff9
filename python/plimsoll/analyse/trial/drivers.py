"""The drivers of one trial: what each did of the whole, how fast it was, and doubts about it.

Its expected part of the throughput is what its share of the plan says: of arrivals and terminals an equal part, of
connections in a closed loop as many as it has. The shortest service times tell its round trip to the server: the
fastest tenth of the transactions waited for little else.

Doubts about trials that several drivers shared: one that is the limit, differs from the others, or began late. Each
driver is compared with the median of the others, so that one alone stands out; of two that differ the slower one is
named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import TYPE_CHECKING

import polars as pl

from plimsoll.analyse.findings.client import (
    LATE_MS,
    LATE_RATIO,
    DriverDispatch,
    DriverLate,
    DriverPart,
    DriverRoundTrip,
    DriversStartedApart,
    DriverWaited,
)
from plimsoll.analyse.findings.doubts import Doubt, place_of
from plimsoll.analyse.trial.histograms import SparseHistogram, duration_rows, merge_window, percentile_ms
from plimsoll.analyse.trial.processors import shares_processors
from plimsoll.analyse.trial.samples import Samples
from plimsoll.analyse.trial.window import WindowCounts, inside
from plimsoll.record.document import Document
from plimsoll.record.model import Outcome, TrialRecord, start_error_s, start_spread_s
from plimsoll.spec.system import spread

if TYPE_CHECKING:
    from plimsoll.analyse.trial.trial_summary import TrialSummary


class DriverFigures(Document):
    """One driver in the measured window.

    Attributes:
        name: Of the driver.
        throughput_tps: Its transactions per second.
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
            driver.name,
            completed=int(completed.get(driver.name, 0)),
            expected_ratio=ratio,
            counts=counts,
            durations=_durations(histograms, driver.name, counts),
            waits_s_per_s=_waits(samples, driver.name),
        )
        for driver, ratio in zip(outcome.drivers, expected, strict=True)
    )


def expected_ratios(trial: TrialRecord, driver_count: int) -> list[float]:
    """The part of all transactions that each of so many drivers is asked for, 0..1."""
    level = trial.level
    if level.rate_tps is not None or "terminals" in trial.workload.options:
        return [1 / driver_count] * driver_count
    of_instances = spread(level.connections, trial.system.instances)
    by_driver = [
        sum((connections - index + driver_count - 1) // driver_count for connections in of_instances)
        for index in range(driver_count)
    ]
    return [connections / level.connections for connections in by_driver]


def _durations(histograms: pl.DataFrame | None, name: str, counts: WindowCounts) -> dict[str, SparseHistogram]:
    if histograms is None:
        return {}
    return merge_window(
        duration_rows(histograms.filter(pl.col("driver") == name)), first=counts.first, last=counts.last
    )


def _waits(samples: Samples | None, name: str) -> float | None:
    if samples is None:
        return None
    run_delays = [
        metric_sum
        for metric_sum in samples.sums
        if (metric_sum.source, metric_sum.metric) == ("engine", "run_delay_s_per_s")
    ]
    return next((metric_sum.total / metric_sum.size for metric_sum in run_delays if metric_sum.driver == name), None)


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


START_SPREAD_MS = 10.0
"""Drivers that began further apart than this offered another load at the begin than was asked for."""

"""A driver is late when that shows in what users wait: more than a tenth of the median, and than 1 ms."""

_PART_RATIO = 0.1
"""A driver that did so much less or more than its part is not like the others."""

_NOISES = 5.0
"""Standard deviations of a count of independent transactions; fewer are chance."""

_DISPATCH_FACTOR = 3.0
_TRIP_FACTOR, _TRIP_MS = 1.5, 0.2
"""A longer way to the server shows when it is half as long again, and 0.2 ms."""


def check_drivers(trial_summary: TrialSummary) -> Iterator[Doubt]:
    """All doubts about the drivers of a trial; none where one engine drove it."""
    yield from _started_apart(trial_summary)
    for driver in trial_summary.drivers:
        yield from _late(trial_summary, driver)
        yield from _waited(trial_summary, driver)
        others = [other for other in trial_summary.drivers if other is not driver]
        yield from _part(trial_summary, driver)
        yield from _dispatch(trial_summary, driver, others)
        yield from _round_trip(trial_summary, driver, others)


def _started_apart(trial_summary: TrialSummary) -> Iterator[Doubt]:
    drivers = trial_summary.outcome.drivers
    spread_ms, error_ms = start_spread_s(drivers) * 1e3, start_error_s(drivers) * 1e3
    if len(drivers) > 1 and spread_ms + error_ms > START_SPREAD_MS:
        last = max(drivers, key=lambda driver: driver.start_late_s or 0.0)
        seen = DriversStartedApart(driver=last.name, spread_ms=spread_ms, error_ms=error_ms)
        yield place_of(trial_summary.trial).doubt(seen, spread_ms + error_ms)


def _late(trial_summary: TrialSummary, driver: DriverFigures) -> Iterator[Doubt]:
    late_ms, median_ms = driver.dispatch_ms_p99, driver.response_ms_p50
    if late_ms is not None and median_ms is not None and late_ms > max(LATE_MS, LATE_RATIO * median_ms):
        yield place_of(trial_summary.trial).doubt(DriverLate(driver=driver.name, dispatch_ms_p99=late_ms), late_ms)


def _waited(trial_summary: TrialSummary, driver: DriverFigures) -> Iterator[Doubt]:
    """On the server's host the two compete anyway, and another warning says so."""
    waits, mean_ms = driver.waits_s_per_s, driver.response_ms_mean
    if waits is None or mean_ms is None or driver.throughput_tps == 0 or shares_processors(trial_summary.environment):
        return
    waited_ms = waits / driver.throughput_tps * 1000
    if waited_ms > LATE_RATIO * mean_ms:
        share = waited_ms / mean_ms
        seen = DriverWaited(driver=driver.name, waited_ms_per_transaction=waited_ms, of_response_ratio=share)
        yield place_of(trial_summary.trial).doubt(seen, share)


def _part(trial_summary: TrialSummary, driver: DriverFigures) -> Iterator[Doubt]:
    """Fewer transactions than its part: the others are then above theirs, and not named."""
    whole = sum(other.completed for other in trial_summary.drivers)
    expected = driver.expected_ratio * whole
    missing = expected - driver.completed
    if missing > _PART_RATIO * expected and missing > _NOISES * expected**0.5:
        seen = DriverPart(
            driver=driver.name, completed_ratio=driver.completed_ratio, expected_ratio=driver.expected_ratio
        )
        yield place_of(trial_summary.trial).doubt(seen, missing / expected)


def _dispatch(trial_summary: TrialSummary, driver: DriverFigures, others: Sequence[DriverFigures]) -> Iterator[Doubt]:
    own_ms, usual_ms = driver.dispatch_ms_p99, _median([other.dispatch_ms_p99 for other in others])
    if own_ms is not None and usual_ms is not None and own_ms > max(LATE_MS, _DISPATCH_FACTOR * usual_ms):
        seen = DriverDispatch(driver=driver.name, dispatch_ms_p99=own_ms, others_ms_p99=usual_ms)
        yield place_of(trial_summary.trial).doubt(seen, own_ms / max(usual_ms, 1e-6))


def _round_trip(trial_summary: TrialSummary, driver: DriverFigures, others: Sequence[DriverFigures]) -> Iterator[Doubt]:
    own_ms, usual_ms = driver.fastest_ms, _median([other.fastest_ms for other in others])
    if own_ms is not None and usual_ms is not None and own_ms > max(_TRIP_FACTOR * usual_ms, usual_ms + _TRIP_MS):
        seen = DriverRoundTrip(driver=driver.name, fastest_ms=own_ms, others_ms=usual_ms)
        yield place_of(trial_summary.trial).doubt(seen, own_ms / max(usual_ms, 1e-6))


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
