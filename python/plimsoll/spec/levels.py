"""The levels of a study as users write them, what must hold at a capacity, and who sets the pace of a workload.

Levels are connections at their own pace, or rates; at a capacity a response time must hold, and perhaps a share of
errors. A rate, a think time of the clients or the workload itself sets the pace, never two of them. Terminals of the
TPC-C-derived workload are held against the level that they are driven at; other workloads have none. What a workload's
own keys say is in `tpcc` and `workload_file`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, field_validator, model_validator

from plimsoll.errors import Fault, SpecError, within
from plimsoll.record.capacity import CapacityObjective
from plimsoll.record.level import Level
from plimsoll.spec.clients import RATE_MAX_TPS, Clients
from plimsoll.spec.fields import DurationS, Written, reader
from plimsoll.spec.tpcc import TpccSpec
from plimsoll.spec.workloads import StatementsSpec, is_sound
from plimsoll.units import parse_percent

if TYPE_CHECKING:
    from plimsoll.spec.study import StudySpec

_EXAMPLE = "0.1%"


def parse_share(text: str) -> float:
    """Reads a share written in percent.

    Raises:
        SpecError: It is none, or not from 0 to below 100 %.

    >>> parse_share("0.1%"), parse_share("5 %")
    (0.001, 0.05)
    """
    try:
        share = parse_percent(text.strip())
    except SpecError:
        share = 1.0
    if share >= 1:
        raise SpecError(f'must be a share from "0%" to below "100%", such as "{_EXAMPLE}", is {text[:40]!r}')
    return share


ShareRatio = Annotated[float, reader(parse_share, _EXAMPLE)]
"""Written as "0.1%"; kept as 0.001."""


class CapacityLevels(Written):
    """The objective of a search for the capacity, which is the highest rate that keeps it.

    Attributes:
        response_p99: 99 % of arrivals must be answered within this time.
        errors: At most this share of arrivals may fail, be dropped or not end, such as "0.1%". Default: they just count
            as too slow.
    """

    response_p99: DurationS
    errors: ShareRatio | None = None

    @property
    def objective(self) -> CapacityObjective:
        """As searches and recordings have it."""
        return CapacityObjective(response_ms_p99=self.response_p99 * 1e3, errors_ratio=self.errors)


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


def level_faults(levels: Levels, clients: Clients) -> Iterable[Fault]:
    """What does not go together in `[study]`."""
    for name, values in (("connections", levels.connections), ("rate_tps", levels.rate_tps or ())):
        for level, count in Counter(values).items():
            if count > 1:
                yield Fault(("levels", name), f"{level:g} is there {count} times; use repetitions to run a level again")
    if levels.capacity is not None:
        yield from _capacity_faults(levels, clients)
        return
    if levels.rate_tps is None:
        if clients.burstiness > 1:
            yield Fault(
                ("clients", "burstiness"), "is for load at a rate; add rate_tps or capacity to levels, or leave it out"
            )
        return
    if (count := len(levels.connections)) > 1:
        yield Fault(
            ("levels", "connections"), f"with rate_tps it must be one number, which serves every rate; are {count}"
        )
    if clients.think_time is not None:
        yield Fault(
            ("clients", "think_time"), "is for connections at their own pace; with rate_tps the rate sets the pace"
        )


def _capacity_faults(levels: Levels, clients: Clients) -> Iterable[Fault]:
    if levels.rate_tps is not None:
        yield Fault(
            ("levels", "rate_tps"), "cannot stand beside capacity, which chooses the rates; leave one of them out"
        )
    if clients.think_time is not None:
        yield Fault(
            ("clients", "think_time"), "is for connections at their own pace; capacity is searched for at rates"
        )


def pace_faults(workload: object, connections: int, *, is_open: bool, has_think_time: bool) -> Iterable[Fault]:
    """What of any workload does not go together with a level, one line each, which begins with the key.

    Args:
        workload: Any; a file without faults.
        connections: Of the level.
        is_open: It is a rate.
        has_think_time: Clients think between transactions.
    """
    if isinstance(workload, TpccSpec):
        yield from _terminal_faults(workload, connections, is_open=is_open, has_think_time=has_think_time)
    elif isinstance(workload, StatementsSpec) and (is_open or has_think_time):
        reason = "a rate sets the pace" if is_open else "the clients have a think time"
        for index, transaction in enumerate(workload.definition.transaction):
            if transaction.pause is not None:
                yield Fault(("file",), f"transaction[{index}].think_time: {reason}; give only one of them")


def has_own_pace(workload: object) -> bool:
    """Whether any workload, without faults, has pauses of its own."""
    if isinstance(workload, TpccSpec):
        return workload.has_own_pace
    if isinstance(workload, StatementsSpec):
        return any(transaction.pause is not None for transaction in workload.definition.transaction)
    return False


def _terminal_faults(workload: TpccSpec, connections: int, *, is_open: bool, has_think_time: bool) -> Iterable[Fault]:
    if workload.terminals is not None and workload.terminals < connections:
        yield Fault(
            ("terminals",), f"must be at least as many as connections, {connections:,}, are {workload.terminals:,}"
        )
    if is_open and workload.has_own_pace:
        yield Fault(("times",), "a rate sets the pace; leave terminals, times, ramp_up and delivery_connections out")
    if has_think_time and workload.times:
        yield Fault(("times",), "has think times of its own; leave it or think_time out")


def ramp_up_s(workload: object) -> float:
    """From the begin of the load until all terminals of any workload have begun, seconds."""
    return workload.ramp_up if isinstance(workload, TpccSpec) else 0.0


def background_connections(workload: object) -> int:
    """Connections that any workload needs besides those of a level."""
    return workload.delivery_connections if isinstance(workload, TpccSpec) else 0


def checks_each_trial(workload: object) -> bool:
    """Whether the conditions of any workload are looked at before and after the load of each trial."""
    return isinstance(workload, TpccSpec) and workload.checks_each_trial


def study_faults(spec: StudySpec) -> Iterable[Fault]:
    """The pace of a study's workloads against its levels, and terminals against how long load runs before it counts."""
    study = spec.study
    key, shortest_s = ("warm_up_limit", study.warm_up_limit) if study.warm_up is None else ("warm_up", study.warm_up)
    for index, workload in enumerate(spec.workload):
        if not is_sound(workload):
            continue
        faults = pace_faults(
            workload,
            max(study.levels.connections),
            is_open=study.levels.rate_tps is not None or study.levels.capacity is not None,
            has_think_time=study.clients.think_time is not None,
        )
        yield from within(("workload", index), faults)
        if (needed_s := ramp_up_s(workload)) > shortest_s:
            yield Fault(
                ("study", key),
                f"must be at least {needed_s:g} s, until all terminals of workload[{index}] have begun,"
                f" is {shortest_s:g} s",
            )
