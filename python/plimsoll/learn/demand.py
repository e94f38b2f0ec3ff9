"""A log's load as a demand: how much of it comes when, to size by and to run.

Burstiness is that of the Allan factor in windows of 10 s. A rate that changes over minutes is told by the rates of
minutes, and a load at the rate of the busiest minute has it already; what varies within a minute must be in the bursts.
Windows of 10 s are ten stays of the engine's bursts, where these have nearly all of their index, and an hour has 360
of them, which gives the factor a standard error of 9 %. Deliberately not here: sentences, and reading files.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from pydantic import ValidationError

from plimsoll.errors import SpecError
from plimsoll.learn.arrivals import WINDOWS_S, Arrivals, minutes_step_s
from plimsoll.learn.bursts import allan_factor_shown, index_that_shows
from plimsoll.learn.demand_model import (
    DEMAND_FORMAT,
    LONG_BURSTS,
    Burstiness,
    ClosedForm,
    Demand,
    OpenForm,
    Rates,
    ReadShares,
    SessionDemand,
    TypeDemand,
    Window,
)
from plimsoll.learn.report_model import LogReport, TypeFigures
from plimsoll.learn.seen import Seen
from plimsoll.learn.transaction_types import TypeTotals
from plimsoll.record.document import is_newer
from plimsoll.spec.arrivals import BURSTINESS_MAX
from plimsoll.spec.fields import faults_of

_SECOND_US = 1_000_000
_WINDOW_S, _SHORT_WINDOW_S, _HALF_MINUTE_S = 10, 1, 30
_FAR_APART_RATIO = 0.2
_FAULTS_MAX = 5


def demand_of(report: LogReport, seen: Seen) -> Demand | None:
    """What the load of a log asks of a server; None where the log has no times, or is not of the whole load.

    Args:
        report: With or without names.
        seen: What the report was made of.
    """
    arrivals = seen.arrivals.arrivals()
    if arrivals is None or any(one.is_refusal for one in report.doubts):
        return None
    is_sample = any(one.code == "sampled" for one in report.doubts)
    step_s = minutes_step_s(arrivals.duration_s)
    coarse_s = max(one.resolution_us for one in report.sources) / _SECOND_US
    windows = () if is_sample else _windows(arrivals, coarse_s)
    burstiness = _burstiness(windows, arrivals)
    rates = _rates(arrivals)
    return Demand(
        first_unix_s=arrivals.first_unix_s,
        last_unix_s=arrivals.first_unix_s + arrivals.duration_s - 1,
        duration_s=arrivals.duration_s,
        transactions_count=report.transactions_count,
        rates=rates,
        busiest_hour_tps=float(arrivals.busiest_hour().mean()),
        step_s=step_s,
        steps_tps=_steps(arrivals, step_s),
        types=tuple(_types(report.types, seen.types.types(), arrivals, step_s)),
        sessions=_sessions(report, seen, arrivals),
        reads=ReadShares(
            statements=report.read_statements, time=report.read_time, transactions=report.read_transactions
        ),
        windows=windows,
        burstiness=burstiness,
        arrivals=OpenForm(rate_tps=rates.peak_minute_tps, burstiness=None if burstiness is None else burstiness.index),
        closed=None if is_sample else _closed(seen, arrivals),
        doubts=tuple(dict.fromkeys((*(one.code for one in report.doubts), *_doubts(burstiness, arrivals)))),
    )


def parse_demand(content: bytes) -> Demand:
    """Reads a `demand.json`, whoever wrote it.

    Raises:
        SpecError: It is none, or a newer one; the first faults.
    """
    if is_newer(content, "schema_version", DEMAND_FORMAT):
        raise SpecError(f"schema_version: is newer than {DEMAND_FORMAT}, which this version of Plimsoll reads")
    try:
        return Demand.model_validate_json(content)
    except ValidationError as error:
        raise SpecError("is no demand.json of plimsoll learn", *faults_of(error)[:_FAULTS_MAX]) from None


def _rates(arrivals: Arrivals) -> Rates:
    return Rates(
        mean_tps=arrivals.mean_tps,
        p99_minute_tps=arrivals.p99_tps(),
        peak_minute_tps=arrivals.peak_tps(),
        peak_second_tps=float(arrivals.counts.max()),
    )


def _steps(arrivals: Arrivals, step_s: int) -> tuple[float, ...]:
    return tuple(arrivals.steps_tps(step_s).round(3).tolist())


def _types(
    figures: tuple[TypeFigures, ...], totals: Sequence[TypeTotals], all_arrivals: Arrivals, step_s: int
) -> list[TypeDemand]:
    """The report's types, in its order; those that it tells as one are one here, too."""
    found, place = list[TypeDemand](), 0
    for one in figures:
        first, *more = (
            each.arrivals.within(all_arrivals.first_unix_s, all_arrivals.duration_s)
            for each in totals[place : place + one.types_count]
        )
        place += one.types_count
        counts = sum((each.counts for each in more), start=first.counts)
        arrivals = Arrivals(first_unix_s=all_arrivals.first_unix_s, counts=counts)
        found.append(
            TypeDemand(
                name=one.name,
                types_count=one.types_count,
                share=one.share,
                reads_only=one.reads_only,
                statements=one.statements,
                rates=_rates(arrivals),
                steps_tps=_steps(arrivals, step_s),
            )
        )
    return found


def _sessions(report: LogReport, seen: Seen, arrivals: Arrivals) -> SessionDemand:
    figures = report.sessions
    has_times = report.read_time is not None
    return SessionDemand(
        count=figures.count,
        busy_mean=figures.busy_mean,
        in_transaction_mean=seen.in_transaction_us / _SECOND_US / arrivals.duration_s if has_times else None,
        think_ms_mean=figures.think_ms_mean,
        think_ms_median=figures.think_ms_median,
    )


def _windows(arrivals: Arrivals, coarse_s: float) -> tuple[Window, ...]:
    found = ((each, arrivals.dispersion(each), arrivals.allan_factor(each)) for each in WINDOWS_S if each >= coarse_s)
    return tuple(
        Window(window_s=window_s, dispersion=dispersion, allan_factor=factor)
        for window_s, dispersion, factor in found
        if dispersion is not None and factor is not None
    )


def _burstiness(windows: tuple[Window, ...], arrivals: Arrivals) -> Burstiness | None:
    by_length = {one.window_s: one for one in windows}
    window = by_length.get(_WINDOW_S) or by_length.get(_SHORT_WINDOW_S)
    if window is None:
        return None
    rate_tps = float(arrivals.busiest_hour().mean())
    found = index_that_shows(window.allan_factor, window.window_s, rate_tps)
    return Burstiness(
        index=min(round(found.index, 2), BURSTINESS_MAX),
        window_s=window.window_s,
        rate_tps=rate_tps,
        reason="within-minutes" if window.window_s == _WINDOW_S else "log-is-short",
        is_lower_bound=not found.is_reached,
    )


def _doubts(burstiness: Burstiness | None, arrivals: Arrivals) -> Iterator[str]:
    """Whether halves of the same minute differ by more than the bursts explain, and not only now and then.

    Of the engine's load 5 % of the minutes do so by more than two standard deviations. One busy minute does not count:
    the rates of minutes tell it.
    """
    halves = arrivals.minute_halves()
    if halves is None or burstiness is None:
        return
    factor = allan_factor_shown(burstiness.index, _HALF_MINUTE_S, burstiness.rate_tps)
    limit = 2 * math.sqrt(2 * float(halves.mean()) * factor)
    if (np.abs(halves[:, 0] - halves[:, 1]) > limit).mean() > _FAR_APART_RATIO:
        yield LONG_BURSTS


def _closed(seen: Seen, arrivals: Arrivals) -> ClosedForm | None:
    """Sessions in a transaction or thinking: together they spend that much time in each second of the log."""
    if not seen.thinks.count:
        return None
    spent_s = (seen.in_transaction_us + seen.think_us) / _SECOND_US
    return ClosedForm(
        sessions=max(math.ceil(spent_s / arrivals.duration_s), 1),
        think_ms_mean=seen.think_us / seen.thinks.count / 1000,
    )
