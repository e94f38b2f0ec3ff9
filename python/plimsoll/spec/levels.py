"""The levels of a study as users write them: connections at their own pace, or rates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Annotated

from pydantic import Field, field_validator

from plimsoll.spec.arrivals import RATE_MAX_TPS
from plimsoll.spec.clients import Clients
from plimsoll.spec.fields import Written

CONNECTIONS_MAX = 100_000
"""As many as the engine opens."""


class Levels(Written):
    """The offered loads: connections that each start the next transaction when the last one is done, or rates.

    Attributes:
        connections: Each a level; with `rate_tps` one number, which serves every rate.
        rate_tps: Each a level: transactions per second that are wanted whether or not a connection is free.
    """

    connections: tuple[Annotated[int, Field(gt=0, le=CONNECTIONS_MAX)], ...] = Field(min_length=1)
    rate_tps: tuple[Annotated[float, Field(gt=0, le=RATE_MAX_TPS, allow_inf_nan=False)], ...] | None = Field(
        default=None, min_length=1
    )

    @property
    def loads(self) -> tuple[tuple[int, float | None], ...]:
        """Every level as connections and rate; the rate is None where each connection goes at its own pace."""
        if self.rate_tps is None:
            return tuple((connections, None) for connections in self.connections)
        return tuple((self.connections[0], rate_tps) for rate_tps in self.rate_tps)

    @field_validator("connections", "rate_tps", mode="before")
    @classmethod
    def _a_list(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value


def level_faults(levels: Levels, clients: Clients) -> Iterable[str]:
    """What does not go together, one line each."""
    for name, values in (("connections", levels.connections), ("rate_tps", levels.rate_tps or ())):
        for level, count in Counter(values).items():
            if count > 1:
                yield f"study.levels.{name}: {level:g} is there {count} times; use repetitions to run a level again"
    if levels.rate_tps is None:
        return
    if (count := len(levels.connections)) > 1:
        yield f"study.levels.connections: with rate_tps it must be one number, which serves every rate; are {count}"
    if clients.think_time is not None:
        yield "study.clients.think_time: is for connections at their own pace; with rate_tps the rate sets the pace"
