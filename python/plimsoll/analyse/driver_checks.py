"""Doubts about trials that several drivers shared: one that is the limit, differs from the others, or began late.

Each driver is compared with the median of the others, so that one alone stands out; of two that differ the slower one
is named. Deliberately not here: checks of the whole trial (`trial_checks`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import TYPE_CHECKING

from plimsoll.analyse.doubts import Code, Doubt, place_of
from plimsoll.analyse.drivers import DriverFigures
from plimsoll.analyse.own_processors import shares_processors
from plimsoll.record.drivers import start_error_s, start_spread_s

if TYPE_CHECKING:
    from plimsoll.analyse.trial_summary import TrialSummary

START_SPREAD_MS = 10.0
"""Drivers that began further apart than this offered another load at the begin than was asked for."""

_LATE_MS, _LATE_RATIO = 1.0, 0.1
"""A driver is late when that shows in what users wait: more than a tenth of the median, and than 1 ms."""

_PART_RATIO = 0.1
"""A driver that did so much less or more than its part is not like the others."""

_NOISES = 5.0
"""Standard deviations of a count of independent transactions; fewer are chance."""

_DISPATCH_FACTOR = 3.0
_TRIP_FACTOR, _TRIP_MS = 1.5, 0.2
"""A longer way to the server shows when it is half as long again, and 0.2 ms."""


def check_drivers(one: TrialSummary) -> Iterator[Doubt]:
    """All doubts about the drivers of a trial; none where one engine drove it."""
    yield from _started_apart(one)
    for driver in one.drivers:
        yield from _late(one, driver)
        yield from _waited(one, driver)
        others = [other for other in one.drivers if other is not driver]
        yield from _part(one, driver)
        yield from _dispatch(one, driver, others)
        yield from _round_trip(one, driver, others)


def _started_apart(one: TrialSummary) -> Iterator[Doubt]:
    drivers = one.outcome.drivers
    spread_ms, error_ms = start_spread_s(drivers) * 1e3, start_error_s(drivers) * 1e3
    if len(drivers) > 1 and spread_ms + error_ms > START_SPREAD_MS:
        last = max(drivers, key=lambda driver: driver.start_late_s or 0.0)
        yield place_of(one.trial).doubt(
            Code.DRIVERS_STARTED_APART,
            "drivers-started-apart",
            spread_ms + error_ms,
            driver=last.name,
            spread_ms=spread_ms,
            error_ms=error_ms,
        )


def _late(one: TrialSummary, driver: DriverFigures) -> Iterator[Doubt]:
    late_ms, median_ms = driver.dispatch_ms_p99, driver.response_ms_p50
    if late_ms is not None and median_ms is not None and late_ms > max(_LATE_MS, _LATE_RATIO * median_ms):
        yield place_of(one.trial).doubt(
            Code.CLIENT_SATURATED, "driver-late", late_ms, driver=driver.name, dispatch_ms_p99=late_ms
        )


def _waited(one: TrialSummary, driver: DriverFigures) -> Iterator[Doubt]:
    """On the server's host the two compete anyway, and another warning says so."""
    waits, mean_ms = driver.waits_s_per_s, driver.response_ms_mean
    if waits is None or mean_ms is None or driver.throughput_tps == 0 or shares_processors(one.environment):
        return
    waited_ms = waits / driver.throughput_tps * 1000
    if waited_ms > _LATE_RATIO * mean_ms:
        share = waited_ms / mean_ms
        figures = {"waited_ms_per_transaction": waited_ms, "of_response_ratio": share}
        yield place_of(one.trial).doubt(Code.CLIENT_SATURATED, "driver-waited", share, driver=driver.name, **figures)


def _part(one: TrialSummary, driver: DriverFigures) -> Iterator[Doubt]:
    """Fewer transactions than its part: the others are then above theirs, and not named."""
    whole = sum(other.completed for other in one.drivers)
    expected = driver.expected_ratio * whole
    missing = expected - driver.completed
    if missing > _PART_RATIO * expected and missing > _NOISES * expected**0.5:
        yield place_of(one.trial).doubt(
            Code.DRIVER_DIFFERS,
            "driver-part",
            missing / expected,
            driver=driver.name,
            completed_ratio=driver.completed_ratio,
            expected_ratio=driver.expected_ratio,
        )


def _dispatch(one: TrialSummary, driver: DriverFigures, others: Sequence[DriverFigures]) -> Iterator[Doubt]:
    own_ms, usual_ms = driver.dispatch_ms_p99, _median([other.dispatch_ms_p99 for other in others])
    if own_ms is not None and usual_ms is not None and own_ms > max(_LATE_MS, _DISPATCH_FACTOR * usual_ms):
        figures = {"dispatch_ms_p99": own_ms, "others_ms_p99": usual_ms}
        yield place_of(one.trial).doubt(
            Code.DRIVER_DIFFERS, "driver-dispatch", own_ms / max(usual_ms, 1e-6), driver=driver.name, **figures
        )


def _round_trip(one: TrialSummary, driver: DriverFigures, others: Sequence[DriverFigures]) -> Iterator[Doubt]:
    own_ms, usual_ms = driver.fastest_ms, _median([other.fastest_ms for other in others])
    if own_ms is not None and usual_ms is not None and own_ms > max(_TRIP_FACTOR * usual_ms, usual_ms + _TRIP_MS):
        figures = {"fastest_ms": own_ms, "others_ms": usual_ms}
        yield place_of(one.trial).doubt(
            Code.DRIVER_DIFFERS, "driver-round-trip", own_ms / max(usual_ms, 1e-6), driver=driver.name, **figures
        )


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
