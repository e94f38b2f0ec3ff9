"""The levels of a study as users write them: connections at their own pace, or rates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Annotated

from pydantic import Field, field_validator, model_validator

from plimsoll.record.level import Level
from plimsoll.spec.arrivals import RATE_MAX_TPS
from plimsoll.spec.capacity import CapacityLevels
from plimsoll.spec.clients import Clients
from plimsoll.spec.fields import Written

SWEEP_CONNECTIONS = (4, 16, 64)
"""Connections of the sweep that begins a search for a capacity, when nobody says."""

CONNECTIONS_MAX = 100_000
"""As many as the engine opens."""


class Levels(Written):
    """The loads to offer.

    Connections in a closed loop (each starts its next transaction when the last one is done), or rates in an open loop.

    Attributes:
        connections: Numbers of connections, each a level. With `rate_tps`: one number, which serves every rate. With
            `capacity`: the levels of the sweep that begins the search; may be left out.
        rate_tps: Target rates, each a level, in transactions per second. They are offered whether or not a connection
            is free.
        capacity: Search for the highest rate that keeps this objective.
    """

    capacity: CapacityLevels | None = None
    connections: tuple[Annotated[int, Field(gt=0, le=CONNECTIONS_MAX)], ...] = Field(min_length=1)
    rate_tps: tuple[Annotated[float, Field(gt=0, le=RATE_MAX_TPS, allow_inf_nan=False)], ...] | None = Field(
        default=None, min_length=1
    )

    @property
    def levels(self) -> tuple[Level, ...]:
        """Every level, in the order in which it was written; none where a search chooses them."""
        if self.capacity is not None:
            return ()
        if self.rate_tps is None:
            return tuple(Level(connections=connections) for connections in self.connections)
        return tuple(Level(connections=self.connections[0], rate_tps=rate_tps) for rate_tps in self.rate_tps)

    @model_validator(mode="before")
    @classmethod
    def _usual_sweep(cls, value: object) -> object:
        is_bare = isinstance(value, dict) and "capacity" in value and "connections" not in value
        return {**value, "connections": SWEEP_CONNECTIONS} if is_bare and isinstance(value, dict) else value

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
    if levels.capacity is not None:
        yield from _capacity_faults(levels, clients)
        return
    if levels.rate_tps is None:
        if clients.burstiness > 1:
            yield "study.clients.burstiness: is for load at a rate; add rate_tps or capacity to levels, or leave it out"
        return
    if (count := len(levels.connections)) > 1:
        yield f"study.levels.connections: with rate_tps it must be one number, which serves every rate; are {count}"
    if clients.think_time is not None:
        yield "study.clients.think_time: is for connections at their own pace; with rate_tps the rate sets the pace"


def _capacity_faults(levels: Levels, clients: Clients) -> Iterable[str]:
    if levels.rate_tps is not None:
        yield "study.levels.rate_tps: cannot stand beside capacity, which chooses the rates; leave one of them out"
    if clients.think_time is not None:
        yield "study.clients.think_time: is for connections at their own pace; capacity is searched for at rates"
