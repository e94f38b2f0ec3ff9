"""How clients behave: when they connect, how long they think, and what they do about errors.

The engine is told all of it, defaults included, so that this is the one place that decides.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator

from plimsoll.errors import SpecError
from plimsoll.spec.arrivals import BURSTINESS_MAX
from plimsoll.spec.fields import DurationS, TimeLimit, Written, faults_of
from plimsoll.units import format_duration, format_ms

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
        usual, found = Reconnect(), dict[str, str]()
        again = self.model_copy(update={"network_timeout": usual.network_timeout, "read_timeout": usual.read_timeout})
        if again != usual:
            found["reconnect"] = (
                f"after {format_ms(self.pause * 1e3)} to {format_ms(self.pause_max * 1e3)}, for"
                f" {format_duration(self.give_up)}; back with {self.back_ratio:.0%}"
            )
        if self.network_timeout != usual.network_timeout:
            found["network_timeout"] = format_duration(self.network_timeout)
        if self.read_timeout != usual.read_timeout:
            found["read_timeout"] = "none" if self.read_timeout is None else format_duration(self.read_timeout)
        return found


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
        said = self.model_dump(mode="json")
        for key in ("network_timeout", "read_timeout"):
            if said["reconnect"][key] == getattr(CLIENTS.reconnect, key):
                del said["reconnect"][key]
        if self.burstiness == CLIENTS.burstiness:
            del said["burstiness"]
        return said

    def line(self) -> dict[str, Any]:
        """What the engine reads of a group about its connections."""
        return {
            "connect": {"per_s": self.connect_per_s, "all_required": self.all_connections},
            "retry": [rule.line() for rule in self.retry],
            "reconnect": self.reconnect.line(),
        }

    def stated(self) -> dict[str, str]:
        """What differs from the defaults, in words, by name: what a reader of results must know."""
        usual, found = CLIENTS, dict[str, str]()
        if self.think_time is not None:
            found["think_time"] = str(self.think_time)
        if self.retry != usual.retry:
            found["retry"] = "; ".join(map(str, self.retry)) or "nothing"
        if self.connect_per_s is not None:
            found["connect_per_s"] = f"{self.connect_per_s:g}"
        if self.burstiness != usual.burstiness:
            found["burstiness"] = f"{self.burstiness:g}"
        return {**found, **self.reconnect.stated()}


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
