"""What a server must sustain, as a log shows it: rates, sessions, burstiness. It holds no name and no literal.

`demand.json` is this document. It is made for others to read, so what is read back is checked as any file of others.
Deliberately not here: how it is found (`demand`), and what a system can sustain (`plimsoll.analyse.size`).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import Field

from plimsoll.learn.arrivals import STEPS_MAX
from plimsoll.learn.transaction_types import TYPES_MAX
from plimsoll.record.document import Document
from plimsoll.spec.arrivals import BURSTINESS_MAX, RATE_MAX_TPS

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
