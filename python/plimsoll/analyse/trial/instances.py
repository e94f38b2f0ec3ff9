"""The servers of a trial: sources, replicas and instances, what each instance completed, and how unevenly.

An instance lags when it completed less than `LAG_RATIO` of what can be expected of it: an equal part of the whole, or
its part of the connections where that is less, since those are spread as evenly as possible and some may have one
fewer. With fewer than `COMPLETED_NEEDED` transactions to be expected that is not judged: chance alone makes such
differences.

How unevenly the instances of a system completed their load: the fastest over the slowest. An instance with one
connection more may complete more, so each is divided by its part of the load (`parts`). The skew is doubted above
`SKEW_FACTOR_MAX`, and only where chance does not explain it: the logarithm of the ratio must exceed that of the limit
by `_ERRORS` standard errors, sqrt(1/a + 1/b) for a and b completed transactions (Poisson; with a fixed number of
connections counts vary less). Four standard errors leave the fastest and slowest of 64 instances beyond the limit by
chance in fewer than one of 1,000 trials (Bonferroni over all pairs of 64: 6e-5 each, two-sided, is 4.0).

Which servers of a trial are sources and which are replicas. Instances of a system divide the whole: rows, connections
and throughput add up over them. A replica repeats its source: its data is the same data again, and every write is
applied by each of them. A transaction is counted once, at the server on which it ran, so that throughput adds up over
all servers; data, durability and settings of a system are those of its sources.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from plimsoll.record.environment import Environment, InstanceFacts
from plimsoll.record.level import Level
from plimsoll.spec.system import spread

LAG_RATIO = 0.8
COMPLETED_NEEDED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Lag:
    """The instance that lags most.

    Attributes:
        throughput_tps: What it completed per second.
        expected_tps: What was to be expected of it.
    """

    instance: str
    throughput_tps: float
    expected_tps: float


def instances_tps(measured: pl.DataFrame, environment: Environment, duration_s: float) -> dict[str, float]:
    """Completed transactions per second of each instance over the measured window; empty where there is only one.

    Empty where some are replicas: these divide reads as their policy says, and nothing is to be expected of each.

    Args:
        measured: Rows of `intervals.parquet` within the window.
        environment: Names the instances; one that completed nothing has no rows.
        duration_s: Length of the window, seconds.
    """
    names = [instance.name for instance in environment.instances]
    if replicas_of(environment) or len(names) < 2:
        return {}
    counted = dict(measured.group_by("instance").agg(pl.col("completed").sum()).iter_rows())
    if not counted.keys() <= set(names):
        return {}
    return {name: counted.get(name, 0) / duration_s for name in names}


def lag_of(tps_by_instance: Mapping[str, float], level: Level, duration_s: float) -> Lag | None:
    """The instance that lags most; None when none does.

    Args:
        tps_by_instance: Transactions per second by instance.
        level: What was offered.
        duration_s: Length of the window, seconds.
    """
    shares = parts(level, len(tps_by_instance))
    whole = sum(tps_by_instance.values())
    lags = [
        Lag(instance=name, throughput_tps=tps, expected_tps=whole * part)
        for (name, tps), part in zip(tps_by_instance.items(), shares, strict=True)
        if whole * part * duration_s >= COMPLETED_NEEDED and tps < LAG_RATIO * whole * part
    ]
    return min(lags, key=lambda lag: lag.throughput_tps / lag.expected_tps, default=None)


def mean_tps(trials: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of several trials, by instance; empty where not all of them have the same ones."""
    if not trials or any(trial.keys() != trials[0].keys() for trial in trials):
        return {}
    return {name: sum(trial[name] for trial in trials) / len(trials) for name in trials[0]}


def parts(level: Level, count: int) -> list[float]:
    """The part of the whole that can be expected of each instance, 0..1."""
    if level.rate_tps is not None or level.connections < count:
        return [1 / count] * count
    return [min(1 / count, connections / level.connections) for connections in spread(level.connections, count)]


SKEW_FACTOR_MAX = 1.25
_ERRORS = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Skew:
    """The fastest and the slowest instance.

    Attributes:
        fastest: Its name.
        slowest: Its name.
        fastest_tps: Transactions per second, as are the next.
        slowest_tps: Of the slowest.
        factor: The one over the other, each over its part of the load.
    """

    fastest: str
    slowest: str
    fastest_tps: float
    slowest_tps: float
    factor: float


def skew_of(tps_by_instance: Mapping[str, float], level: Level, duration_s: float) -> Skew | None:
    """The skew between instances, where it is too large to be chance; None otherwise.

    Args:
        tps_by_instance: Transactions per second by instance.
        level: What was offered.
        duration_s: Length of the window, seconds.
    """
    if len(tps_by_instance) < 2 or min(tps_by_instance.values()) <= 0:
        return None
    rates = {
        name: tps / part
        for (name, tps), part in zip(tps_by_instance.items(), parts(level, len(tps_by_instance)), strict=True)
    }
    fastest, slowest = max(rates, key=rates.__getitem__), min(rates, key=rates.__getitem__)
    error = math.sqrt(sum(1 / (tps_by_instance[name] * duration_s) for name in (fastest, slowest)))
    factor = rates[fastest] / rates[slowest]
    if math.log(factor) - _ERRORS * error <= math.log(SKEW_FACTOR_MAX):
        return None
    return Skew(
        fastest=fastest,
        slowest=slowest,
        fastest_tps=tps_by_instance[fastest],
        slowest_tps=tps_by_instance[slowest],
        factor=factor,
    )


SOURCE, REPLICA = "source", "replica"


def with_roles(environment: Environment, tables: Sequence[pl.DataFrame | None]) -> Environment:
    """The environment with the role of each server, where rows of the recording name replicas.

    Args:
        environment: Of the trial.
        tables: Those of its tables that have columns `instance` and `role`.
    """
    replicas = {name for table in tables if table is not None for name in replicas_in(table)}
    if not replicas:
        return environment
    instances = tuple(
        instance.model_copy(update={"role": REPLICA}) if instance.name in replicas else instance
        for instance in environment.instances
    )
    known = {instance.name for instance in instances}
    added = tuple(InstanceFacts(name=name, role=REPLICA) for name in sorted(replicas - known))
    return environment.model_copy(update={"instances": (*instances, *added)})


def replicas_in(table: pl.DataFrame) -> set[str]:
    """The replicas that rows of a table with columns `instance` and `role` are of."""
    places = zip(table["instance"].to_list(), table["role"].to_list(), strict=True)
    return {instance for instance, role in places if role == REPLICA}


def sources_of(environment: Environment) -> tuple[InstanceFacts, ...]:
    """The servers that hold the system's own data: all but its replicas."""
    return tuple(instance for instance in environment.instances if instance.role == SOURCE)


def replicas_of(environment: Environment) -> tuple[InstanceFacts, ...]:
    """The servers that repeat a source."""
    return tuple(instance for instance in environment.instances if instance.role == REPLICA)
