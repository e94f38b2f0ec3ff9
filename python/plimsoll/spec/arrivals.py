"""When transactions are wanted: as connections become free, or at a rate that may change over time."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass
from typing import Literal

from plimsoll.errors import SpecError
from plimsoll.record.ramp import Ramp
from plimsoll.units import parse_duration_s

Process = Literal["poisson", "uniform"]

PROCESSES: dict[str, Process] = {"poisson": "poisson", "uniform": "uniform"}
"""How arrivals may follow each other, by what people write."""

BACKLOG_MAX = 10_000
"""How many transactions may wait for a connection, when nobody says."""

RATE_MAX_TPS = 1e7

BURST_S = 1.0
"""How long a burst and a lull last on average, seconds; longer where burstiness needs that."""

BURSTINESS_MAX = 1e5


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
        at_s, found = 0.0, list[float]()
        for position, step in enumerate(self.steps):
            before = self.steps[position - 1].to_tps if position else step.from_tps
            if step.from_tps < before or step.to_tps < step.from_tps:
                found.append(at_s)
            at_s += step.duration_s or 0.0
        return tuple(found)


def steady(rate_tps: float) -> OpenArrivals:
    """The same rate all the time."""
    return OpenArrivals(steps=(RateStep(duration_s=None, from_tps=rate_tps, to_tps=rate_tps),))


def rising(ramp: Ramp) -> OpenArrivals:
    """The rates of a ramp, in straight lines of half a second."""
    at_s = [0.5 * step for step in range(math.ceil(ramp.longest_s / 0.5) + 1)]
    rates = [ramp.rate_tps(one) for one in at_s]
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
