"""How clients behave: when transactions are wanted, when clients connect, how long they think, what errors cause.

Transactions are wanted as connections become free, or at a rate that may change over time. The engine is told all of
it, defaults included, so that this is the one place that decides.
"""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator

from plimsoll.errors import SpecError
from plimsoll.record.level import Ramp
from plimsoll.spec.fields import DurationS, TimeLimit, Written, faults_of
from plimsoll.units import format_duration, format_ms, parse_duration_s

BURSTINESS_MAX = 1e5

RETRIED = (1213, 1205, 1020)
"""Deadlock, lock-wait timeout, record changed since it was read: what servers themselves ask to be tried again."""

RULES_MAX = 16
"""As many rules as the engine takes."""

PAUSE_MAX_S = 3600.0
"""As long as a client may pause before it tries again, seconds."""

THINK_TIME_MAX_S = 86_400.0

CodeNumber = Annotated[int, Field(ge=1, le=65_535)]
"""A number of MySQL's for an error."""


class ThinkTime(Written):
    """Think time: the pause between two transactions of a connection. Either `mean`, or `min` and `max`.

    Attributes:
        mean: Mean of exponentially distributed pauses.
        min: Shortest of uniformly distributed pauses.
        max: Longest of uniformly distributed pauses.
    """

    mean: DurationS | None = None
    min: DurationS | None = None
    max: DurationS | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.mean is None) == (self.min is None) or (self.min is None) != (self.max is None):
            raise ValueError('must have either mean, or min and max, such as { min = "1s", max = "5s" }')
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"must not have a min above its max, is {self.min:g} s to {self.max:g} s")
        if max(self.mean or 0.0, self.max or 0.0) > THINK_TIME_MAX_S:
            raise ValueError("must be at most a day (24h)")
        return self

    def line(self) -> dict[str, Any]:
        """As the engine reads it."""
        if self.mean is not None:
            return {"exponential": {"mean_ms": self.mean * 1e3}}
        assert self.min is not None, "checked above"
        assert self.max is not None, "checked above"
        return {"uniform": {"min_ms": self.min * 1e3, "max_ms": self.max * 1e3}}

    def __str__(self) -> str:
        """In words."""
        if self.mean is not None:
            return f"{format_ms(self.mean * 1e3)} on average"
        assert self.min is not None, "checked above"
        assert self.max is not None, "checked above"
        return f"{format_ms(self.min * 1e3)} to {format_ms(self.max * 1e3)}"


class RetryRule(Written):
    """One `[[study.clients.retry]]`: which errors are retried, and how often.

    Attributes:
        codes: Error codes of the server.
        limit: Most retries of one transaction for all these codes together; then it has failed.
        pause: Pause before the first retry, doubled each time.
        pause_max: Longest pause.
    """

    codes: tuple[CodeNumber, ...] = Field(min_length=1)
    limit: Annotated[int, Field(ge=0, le=1_000_000)] = 99
    pause: Annotated[DurationS, Field(le=PAUSE_MAX_S)] = 0.0
    pause_max: Annotated[DurationS, Field(le=PAUSE_MAX_S)] = 1.0

    @field_validator("codes", mode="before")
    @classmethod
    def _a_list(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value

    def line(self) -> dict[str, Any]:
        """As the engine reads it."""
        return {
            "codes": list(self.codes),
            "limit": self.limit,
            "pause_ms": self.pause * 1e3,
            "pause_max_ms": self.pause_max * 1e3,
        }

    def __str__(self) -> str:
        """In words."""
        codes = " and ".join(map(str, self.codes))
        pause = f", after {format_ms(self.pause * 1e3)} at first" if self.pause else ""
        return f"{codes}: {self.limit} times{pause}"


TIMEOUT_MAX_S = 86_400.0
"""As long as a silent connection may be waited for, where there is a limit, seconds."""


class Reconnect(Written):
    """`[study.clients.reconnect]`: when a connection counts as lost, and how it is opened again.

    Attributes:
        pause: Longest pause after the first failed attempt, doubled each time. Each pause is drawn between half of it
            and all of it.
        pause_max: Longest pause.
        network_timeout: A TCP connection counts as lost after this long without a packet from the server's machine: the
            machine or the network is gone.
        read_timeout: A connection counts as lost after a statement has gone unanswered for this long; "none" waits for
            ever. It must be longer than any statement and any lock wait.
        back_ratio: An outage is over when this share of the connections is open again, 0 to 1.
        give_up: The trial ends after this long without any connection.
    """

    pause: Annotated[DurationS, Field(le=PAUSE_MAX_S)] = 0.01
    pause_max: Annotated[DurationS, Field(le=PAUSE_MAX_S)] = 0.5
    network_timeout: DurationS = 30.0
    read_timeout: TimeLimit = 600.0
    back_ratio: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] = 1.0
    give_up: DurationS = 60.0

    @field_validator("network_timeout", "read_timeout")
    @classmethod
    def _within_a_day(cls, value: float | None, info: ValidationInfo) -> float | None:
        if value is not None and not 1 <= value <= TIMEOUT_MAX_S:
            none = '"none", or ' if info.field_name == "read_timeout" else ""
            raise ValueError(f'must be {none}"1s" to "24h", is {value:g} s')
        return value

    def line(self) -> dict[str, Any]:
        """As the engine reads it."""
        return {
            "pause_ms": self.pause * 1e3,
            "pause_max_ms": self.pause_max * 1e3,
            "network_timeout_ms": round(self.network_timeout * 1e3),
            "read_timeout_ms": None if self.read_timeout is None else round(self.read_timeout * 1e3),
            "back_ratio": self.back_ratio,
            "give_up_ms": round(self.give_up * 1e3),
        }

    def stated(self) -> dict[str, str]:
        """What differs from the defaults, in words, by name."""
        usual, differences = Reconnect(), dict[str, str]()
        again = self.model_copy(update={"network_timeout": usual.network_timeout, "read_timeout": usual.read_timeout})
        if again != usual:
            differences["reconnect"] = (
                f"after {format_ms(self.pause * 1e3)} to {format_ms(self.pause_max * 1e3)}, for"
                f" {format_duration(self.give_up)}; back with {self.back_ratio:.0%}"
            )
        if self.network_timeout != usual.network_timeout:
            differences["network_timeout"] = format_duration(self.network_timeout)
        if self.read_timeout != usual.read_timeout:
            differences["read_timeout"] = "none" if self.read_timeout is None else format_duration(self.read_timeout)
        return differences


class Clients(Written):
    """How clients connect, how long they think, and how they handle errors.

    Attributes:
        think_time: Pause between two transactions of a connection: a mean such as "5s" (exponentially distributed), or
            a table. Default: none.
        connect_per_s: Open at most this many connections per second. Default: as fast as possible.
        all_connections: End the trial if a connection cannot be opened. Otherwise it runs with those that opened.
        retry: Which errors are retried; `[]` for none. Default: deadlocks, lock wait timeouts and error 1020.
        reconnect: When a connection counts as lost, and how it is opened again.
        burstiness: Of arrivals at a target rate: their index of dispersion over long windows (variance over mean of
            counts). 1, the default, is a Poisson process; measured loads have 10 to 1,000.
    """

    think_time: ThinkTime | None = None
    connect_per_s: Annotated[float, Field(ge=0.001, allow_inf_nan=False)] | None = None
    all_connections: bool = False
    retry: tuple[RetryRule, ...] = (RetryRule(codes=RETRIED),)
    reconnect: Reconnect = Reconnect()
    burstiness: Annotated[float, Field(ge=1, le=BURSTINESS_MAX, allow_inf_nan=False)] = 1.0

    @field_validator("think_time", mode="before")
    @classmethod
    def _a_mean(cls, value: object) -> object:
        return {"mean": value} if isinstance(value, str) else value

    @field_validator("retry", mode="before")
    @classmethod
    def _a_list(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value

    @field_validator("retry", mode="after")
    @classmethod
    def _each_code_once(cls, value: tuple[RetryRule, ...]) -> tuple[RetryRule, ...]:
        codes = [code for rule in value for code in rule.codes]
        twice = sorted({code for code in codes if codes.count(code) > 1})
        if twice:
            raise ValueError(f"has {', '.join(map(str, twice))} more than once; one rule can have a code")
        if len(value) > RULES_MAX:
            raise ValueError(f"must be at most {RULES_MAX} rules, are {len(value)}")
        return value

    def identity(self) -> dict[str, Any]:
        """What makes trials other trials. Defaults that there were none of once leave them what they were."""
        fields = self.model_dump(mode="json")
        for key in ("network_timeout", "read_timeout"):
            if fields["reconnect"][key] == getattr(CLIENTS.reconnect, key):
                del fields["reconnect"][key]
        if self.burstiness == CLIENTS.burstiness:
            del fields["burstiness"]
        return fields

    def line(self) -> dict[str, Any]:
        """What the engine reads of a group about its connections."""
        return {
            "connect": {"per_s": self.connect_per_s, "all_required": self.all_connections},
            "retry": [rule.line() for rule in self.retry],
            "reconnect": self.reconnect.line(),
        }

    def stated(self) -> dict[str, str]:
        """What differs from the defaults, in words, by name: what a reader of results must know."""
        usual, differences = CLIENTS, dict[str, str]()
        if self.think_time is not None:
            differences["think_time"] = str(self.think_time)
        if self.retry != usual.retry:
            differences["retry"] = "; ".join(map(str, self.retry)) or "nothing"
        if self.connect_per_s is not None:
            differences["connect_per_s"] = f"{self.connect_per_s:g}"
        if self.burstiness != usual.burstiness:
            differences["burstiness"] = f"{self.burstiness:g}"
        return {**differences, **self.reconnect.stated()}


CLIENTS = Clients()
"""Clients as they are when nobody says otherwise."""


def parse_retry(text: str) -> RetryRule:
    """Reads a rule as typed: codes, and after colons how often and the first pause.

    Raises:
        SpecError: The text is no rule.

    >>> parse_retry("1213,1205:10:5ms")
    RetryRule(codes=(1213, 1205), limit=10, pause=0.005, pause_max=1.0)
    """
    match = re.fullmatch(r"\s*(\d{1,5}(?:,\d{1,5})*)(?::(\d{1,7}))?(?::(\S+))?\s*", text)
    if match is None:
        raise SpecError(f"must be codes, how often and a pause, such as 1213,1205:10:5ms, is {text[:60]!r}")
    written: dict[str, Any] = {"codes": [int(number) for number in match[1].split(",")]}
    written |= {"limit": int(match[2])} if match[2] else {}
    written |= {"pause": match[3]} if match[3] else {}
    try:
        return RetryRule.model_validate(written)
    except ValidationError as error:
        raise SpecError(*faults_of(error)) from None


Process = Literal["poisson", "uniform"]

PROCESSES: dict[str, Process] = {"poisson": "poisson", "uniform": "uniform"}
"""How arrivals may follow each other, by what people write."""

BACKLOG_MAX = 10_000
"""How many transactions may wait for a connection, when nobody says."""

RATE_MAX_TPS = 1e7

BURST_S = 1.0
"""How long a burst and a lull last on average, seconds; longer where burstiness needs that."""


@dataclass(frozen=True, slots=True)
class RateStep:
    """A stretch of time in which the target rate goes from one value to another in a straight line.

    Attributes:
        duration_s: How long it takes; None for the last step, whose final rate goes on.
        from_tps: Transactions per second at its begin.
        to_tps: Transactions per second at its end.
    """

    duration_s: float | None
    from_tps: float
    to_tps: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenArrivals:
    """Transactions are wanted at a rate, whether or not a connection is free.

    Attributes:
        steps: At least one, in order.
        process: How arrivals follow each other: independently (`poisson`), as those of many users, or evenly.
        backlog_max: So many may wait for a connection; what falls due beyond that is dropped and counted.
    """

    steps: tuple[RateStep, ...]
    process: Process = "poisson"
    backlog_max: int = BACKLOG_MAX

    @property
    def steady_tps(self) -> float | None:
        """The rate, where it is the same all the time; None where it changes."""
        rates = {rate for step in self.steps for rate in (step.from_tps, step.to_tps)}
        return rates.pop() if len(rates) == 1 else None

    def falls_s(self) -> tuple[float, ...]:
        """When the target rate is lower than just before, or begins to fall: seconds since the load began."""
        at_s, falls_s = 0.0, list[float]()
        for position, step in enumerate(self.steps):
            before = self.steps[position - 1].to_tps if position else step.from_tps
            if step.from_tps < before or step.to_tps < step.from_tps:
                falls_s.append(at_s)
            at_s += step.duration_s or 0.0
        return tuple(falls_s)


def steady(rate_tps: float) -> OpenArrivals:
    """The same rate all the time."""
    return OpenArrivals(steps=(RateStep(duration_s=None, from_tps=rate_tps, to_tps=rate_tps),))


def rising(ramp: Ramp) -> OpenArrivals:
    """The rates of a ramp, in straight lines of half a second."""
    at_s = [0.5 * step for step in range(math.ceil(ramp.longest_s / 0.5) + 1)]
    rates = [ramp.rate_tps(time_s) for time_s in at_s]
    steps = (RateStep(duration_s=0.5, from_tps=low, to_tps=high) for low, high in itertools.pairwise(rates))
    return OpenArrivals(steps=(*steps, RateStep(duration_s=None, from_tps=rates[-1], to_tps=rates[-1])))


def parse_rate(text: str) -> tuple[RateStep, ...]:
    """Reads a rate, or rates that follow each other: `500`, `0 to 2000 for 60s`, `2000 for 60s, 500`.

    Raises:
        SpecError: The text is no rate, or nothing would ever be wanted.

    >>> parse_rate("0 to 2000 for 60s, 500")
    (RateStep(duration_s=60.0, from_tps=0.0, to_tps=2000.0), RateStep(duration_s=None, from_tps=500.0, to_tps=500.0))
    """
    parts = text.split(",")
    steps = tuple(_step(part, is_last=part is parts[-1]) for part in parts)
    if all(step.from_tps == step.to_tps == 0 for step in steps):
        raise SpecError(f"must be more than 0 somewhere, is {text!r}")
    return steps


def _step(text: str, *, is_last: bool) -> RateStep:
    match = re.fullmatch(r"\s*(\S+?)(?:\s+to\s+(\S+))?(?:\s+for\s+(\S+))?\s*", text)
    if match is None or (match[3] is None and (match[2] or not is_last)):
        raise SpecError(
            f"must be a rate such as 500, or steps such as '0 to 2000 for 60s, 500' (only the last one without 'for'),"
            f" is {text.strip()[:60]!r}"
        )
    from_tps = _rate(match[1])
    return RateStep(
        duration_s=parse_duration_s(match[3]) if match[3] else None,
        from_tps=from_tps,
        to_tps=_rate(match[2]) if match[2] else from_tps,
    )


def _rate(text: str) -> float:
    try:
        rate_tps = float(text)
    except ValueError:
        rate_tps = math.nan
    if not 0 <= rate_tps <= RATE_MAX_TPS:
        raise SpecError(f"must be transactions per second, 0 to {RATE_MAX_TPS:,.0f}, is {text[:40]!r}")
    return rate_tps
