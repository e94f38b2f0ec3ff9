"""A log's load as a demand: how much of it comes when, to size by and to run. It holds no name and no literal.

`demand.json` is this document. It is made for others to read, so what is read back is checked as any file of others.

Burstiness is that of the Allan factor in windows of 10 s. A rate that changes over minutes is told by the rates of
minutes, and a load at the rate of the busiest minute has it already; what varies within a minute must be in the bursts.
Windows of 10 s are ten stays of the engine's bursts, where these have nearly all of their index, and an hour has 360 of
them, which gives the factor a standard error of 9 %.

The engine's bursts are a Markov-modulated Poisson process of two states with rates r (1 ± a) and exponentially
distributed stays of mean T (Heffes and Lucantoni, IEEE JSAC 4(6), 1986, for equal stays). Its index of dispersion in
windows of length w is

    I(w) = 1 + (N - 1) h(w / T),   h(x) = 1 - (1 - exp(-2 x)) / (2 x),   N = 1 + a² r T

and its Allan factor is 2 I(w) - I(2 w), as that of every stationary process. N is the asymptotic index, `burstiness`. T
is one second; where that would need an amplitude a above 0.95, stays are longer.

Deliberately not here: sentences, the bursts themselves (the engine's `arrivals::bursts`), and what a system can sustain
(`plimsoll.analyse.answers.size`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Annotated, Final, Literal

import numpy as np
from pydantic import Field, ValidationError

from plimsoll.analyse.answers.size_model import LoadDemand
from plimsoll.errors import SpecError
from plimsoll.learn.arrivals import STEPS_MAX, WINDOWS_S, Arrivals, minutes_step_s
from plimsoll.learn.report_model import LogReport, TypeFigures
from plimsoll.learn.transactions import TYPES_MAX, LogTotals, TypeTotals
from plimsoll.record.document import Document, is_newer
from plimsoll.spec.clients import BURST_S, BURSTINESS_MAX, RATE_MAX_TPS
from plimsoll.spec.fields import faults_of

DEMAND_FORMAT: Final = 1
"""Version of this schema."""

LONG_BURSTS = "long-bursts"
"""Code of a doubt: bursts last for tens of seconds, of which neither `burstiness` nor rates of minutes have all."""

_YEAR_3000 = 32_503_680_000

Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]
Rate = Annotated[float, Field(ge=0, le=RATE_MAX_TPS, allow_inf_nan=False)]
PositiveRate = Annotated[float, Field(gt=0, le=RATE_MAX_TPS, allow_inf_nan=False)]
Seconds = Annotated[int, Field(ge=1, le=_YEAR_3000)]
Moment = Annotated[int, Field(ge=0, le=_YEAR_3000)]
Steps = Annotated[tuple[Rate, ...], Field(max_length=STEPS_MAX)]
Code = Annotated[str, Field(pattern="^[a-z][a-z0-9-]{0,39}$")]
TypeName = Annotated[str, Field(pattern="^(type [0-9]{1,4}|other)$")]


class Moments(StrEnum):
    """The part of the log whose rate is meant."""

    MEAN = "mean"
    P99_MINUTE = "p99-minute"
    PEAK_MINUTE = "peak-minute"
    PEAK_SECOND = "peak-second"


class Rates(Document):
    """Transactions per second, by when they began.

    Attributes:
        mean_tps: Over all of the log.
        p99_minute_tps: What 99 % of the minutes do not exceed.
        peak_minute_tps: In the busiest minute.
        peak_second_tps: In the busiest second.
    """

    mean_tps: Rate
    p99_minute_tps: Rate
    peak_minute_tps: Rate
    peak_second_tps: Rate

    def at(self, moment: Moments) -> float:
        """The rate at one of them."""
        return float(getattr(self, f"{moment.value.replace('-', '_')}_tps"))


class TypeDemand(Document):
    """Transactions of one type. Its rates are those of its own busiest minute and second.

    Attributes:
        name: As in the report: `type 1`, …, `other`.
        types_count: How many types these are.
        share: Of all transactions, 0..1.
        reads_only: Every statement of it locks and changes nothing.
        statements: Per transaction.
        steps_tps: Rate in each step of the demand's `step_s`.
    """

    name: TypeName
    types_count: int = Field(ge=1)
    share: Share
    reads_only: bool
    statements: Amount
    rates: Rates
    steps_tps: Steps


class SessionDemand(Document):
    """Connections.

    Attributes:
        count: How many there were.
        busy_mean: Statements in execution at a time, on average; null without times.
        in_transaction_mean: Transactions open at a time, on average; null without times.
        think_ms_mean: From the end of a transaction to the begin of the next one of its session; null where none is
            known.
    """

    count: int = Field(ge=0)
    busy_mean: Amount | None
    in_transaction_mean: Amount | None
    think_ms_mean: Amount | None
    think_ms_median: Amount | None


class ReadShares(Document):
    """What of the load only reads, 0..1; `time` is null without times."""

    statements: Share
    time: Share | None
    transactions: Share


class Window(Document):
    """How counts of arrivals in windows of one length vary, in the busiest hour.

    Attributes:
        dispersion: Variance over mean. A rate that rises or falls within the hour counts, too.
        allan_factor: The same from differences of windows that follow each other: slow changes do not count.
    """

    window_s: int = Field(ge=1, le=3600)
    dispersion: Amount
    allan_factor: Amount


class Burstiness(Document):
    """What the load engine must be given to vary as the log does.

    Attributes:
        index: Asymptotic index of dispersion: `clients = { burstiness = … }` of a study, `--burstiness` of a trial.
        window_s: The windows whose Allan factor it reproduces.
        rate_tps: Mean rate of the hour in which it was measured.
        reason: Why these windows: `within-minutes` (10 s; rates of minutes tell the longer ones) or `log-is-short`.
        is_lower_bound: No load of the engine varies that much; this one comes nearest.
    """

    index: float = Field(ge=1, le=BURSTINESS_MAX)
    window_s: int = Field(ge=1, le=3600)
    rate_tps: PositiveRate
    reason: Literal["within-minutes", "log-is-short"]
    is_lower_bound: bool = False


class ClosedForm(Document):
    """The load as sessions that think: `connections` and `think_time` of a study.

    Attributes:
        sessions: That are in a transaction or think, on average (Little's law, at the mean rate of the log). At another
            rate they are in proportion to it.
        think_ms_mean: Mean pause between two transactions of a session.
    """

    sessions: int = Field(ge=1)
    think_ms_mean: Amount


class OpenForm(Document):
    """The load as arrivals.

    Attributes:
        rate_tps: Of the busiest minute.
        burstiness: Null where it is not known.
    """

    rate_tps: PositiveRate
    burstiness: float | None = Field(ge=1, le=BURSTINESS_MAX)


class Demand(Document):
    """What a log says must be sustained.

    Attributes:
        schema_version: Of this document.
        first_unix_s: Second in which the first transaction began, since 1970; `last_unix_s` that of the last one.
        duration_s: From the first to the last second.
        busiest_hour_tps: Mean rate of the hour with the most transactions; of a shorter log that of all of it.
        step_s: Length of the steps of the curves: a minute, or several where the log is longer than a day.
        steps_tps: Rate of all transactions in each step.
        windows: Those that the log is long enough and its times exact enough for.
        burstiness: Null where it is not known.
        closed: Null where think times are not known.
        doubts: Codes of what the log cannot tell, as in the report, and `LONG_BURSTS`.
    """

    schema_version: Literal[1] = DEMAND_FORMAT
    first_unix_s: Moment
    last_unix_s: Moment
    duration_s: Seconds
    transactions_count: Amount
    rates: Rates
    busiest_hour_tps: PositiveRate
    step_s: Seconds
    steps_tps: Steps
    types: tuple[TypeDemand, ...] = Field(max_length=TYPES_MAX + 1)
    sessions: SessionDemand
    reads: ReadShares
    windows: tuple[Window, ...] = Field(max_length=16)
    burstiness: Burstiness | None
    arrivals: OpenForm
    closed: ClosedForm | None
    doubts: tuple[Code, ...] = Field(max_length=64)


_SECOND_US = 1_000_000
_WINDOW_S, _SHORT_WINDOW_S, _HALF_MINUTE_S = 10, 1, 30
_FAR_APART_RATIO = 0.2
_FAULTS_MAX = 5


def demand_of(report: LogReport, seen: LogTotals) -> Demand | None:
    """What the load of a log asks of a server; None where the log has no times, or is not of the whole load.

    Args:
        report: With or without names.
        seen: What the report was made of.
    """
    arrivals = seen.arrivals.arrivals()
    if arrivals is None or any(doubt.is_refusal for doubt in report.doubts):
        return None
    is_sample = any(doubt.code == "sampled" for doubt in report.doubts)
    step_s = minutes_step_s(arrivals.duration_s)
    coarse_s = max(source.resolution_us for source in report.sources) / _SECOND_US
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
        doubts=tuple(dict.fromkeys((*(doubt.code for doubt in report.doubts), *_doubts(burstiness, arrivals)))),
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
    demands, place = list[TypeDemand](), 0
    for figure in figures:
        first, *more = (
            each.arrivals.within(all_arrivals.first_unix_s, all_arrivals.duration_s)
            for each in totals[place : place + figure.types_count]
        )
        place += figure.types_count
        counts = sum((each.counts for each in more), start=first.counts)
        arrivals = Arrivals(first_unix_s=all_arrivals.first_unix_s, counts=counts)
        demands.append(
            TypeDemand(
                name=figure.name,
                types_count=figure.types_count,
                share=figure.share,
                reads_only=figure.reads_only,
                statements=figure.statements,
                rates=_rates(arrivals),
                steps_tps=_steps(arrivals, step_s),
            )
        )
    return demands


def _sessions(report: LogReport, seen: LogTotals, arrivals: Arrivals) -> SessionDemand:
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
    figures = ((each, arrivals.dispersion(each), arrivals.allan_factor(each)) for each in WINDOWS_S if each >= coarse_s)
    return tuple(
        Window(window_s=window_s, dispersion=dispersion, allan_factor=factor)
        for window_s, dispersion, factor in figures
        if dispersion is not None and factor is not None
    )


def _burstiness(windows: tuple[Window, ...], arrivals: Arrivals) -> Burstiness | None:
    by_length = {window.window_s: window for window in windows}
    window = by_length.get(_WINDOW_S) or by_length.get(_SHORT_WINDOW_S)
    if window is None:
        return None
    rate_tps = float(arrivals.busiest_hour().mean())
    estimate = index_that_shows(window.allan_factor, window.window_s, rate_tps)
    return Burstiness(
        index=min(round(estimate.index, 2), BURSTINESS_MAX),
        window_s=window.window_s,
        rate_tps=rate_tps,
        reason="within-minutes" if window.window_s == _WINDOW_S else "log-is-short",
        is_lower_bound=not estimate.is_reached,
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


def _closed(seen: LogTotals, arrivals: Arrivals) -> ClosedForm | None:
    """Sessions in a transaction or thinking: together they spend that much time in each second of the log."""
    if not seen.thinks.count:
        return None
    spent_s = (seen.in_transaction_us + seen.think_us) / _SECOND_US
    return ClosedForm(
        sessions=max(math.ceil(spent_s / arrivals.duration_s), 1),
        think_ms_mean=seen.think_us / seen.thinks.count / 1000,
    )


AMPLITUDE_MAX = 0.95
"""Of the engine's rate around its mean."""

_STEPS = 400


@dataclass(frozen=True, slots=True)
class IndexFound:
    """The asymptotic index of a load that shows an Allan factor.

    Attributes:
        index: From 1.
        is_reached: False where no index shows so much; `index` is that which shows the most.
    """

    index: float
    is_reached: bool


def allan_factor_shown(index: float, window_s: float, rate_tps: float) -> float:
    """The Allan factor, in windows of a length, of the engine's load with an asymptotic index at a rate."""
    excess = index - 1
    stay_s = max(BURST_S, excess / (AMPLITUDE_MAX**2 * rate_tps))
    return 1 + excess * (2 * _reached(window_s / stay_s) - _reached(2 * window_s / stay_s))


def index_that_shows(allan_factor: float, window_s: float, rate_tps: float) -> IndexFound:
    """The smallest asymptotic index with which the engine's load shows an Allan factor.

    Args:
        allan_factor: In windows of `window_s` seconds.
        window_s: Their length.
        rate_tps: Arrivals per second where it was measured, above 0.
    """
    if allan_factor <= 1:
        return IndexFound(1.0, is_reached=True)
    tried = np.geomspace(1e-3, BURSTINESS_MAX - 1, _STEPS) + 1
    shown = np.array([allan_factor_shown(float(index), window_s, rate_tps) for index in tried])
    above = np.flatnonzero(shown >= allan_factor)
    if not above.size:
        return IndexFound(float(tried[np.argmax(shown)]), is_reached=False)
    high = float(tried[above[0]])
    low = float(tried[above[0] - 1]) if above[0] else 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if allan_factor_shown(middle, window_s, rate_tps) < allan_factor else (low, middle)
    return IndexFound(high, is_reached=True)


def _reached(stays: float) -> float:
    """Share of the excess of the asymptotic index that a window of so many stays shows, 0..1."""
    return 1 + math.expm1(-2 * stays) / (2 * stays)


def sized_demand(demand: Demand, moment: Moments, yearly_growth: float | None, today: date) -> LoadDemand:
    """What `plimsoll.analyse.answers.size` needs of a demand.

    Args:
        demand: Of the log.
        moment: Whose rate is to be sustained.
        yearly_growth: 0.3 for 30 % more each year; None where it is not known.
        today: UTC.
    """
    return LoadDemand(
        at=moment.value,
        logged_tps=demand.rates.at(moment),
        logged_on=datetime.fromtimestamp(demand.last_unix_s, UTC).date(),
        duration_s=demand.duration_s,
        today=today,
        yearly_growth=yearly_growth,
        burstiness=demand.arrivals.burstiness,
        doubts=demand.doubts,
    )
