"""What each instance of a system completed, where it has several.

An instance lags when it completed less than `LAG_RATIO` of what can be expected of it: an equal part of the whole, or
its part of the connections where that is less, since those are spread as evenly as possible and some may have one
fewer. With fewer than `COMPLETED_NEEDED` transactions to be expected that is not judged: chance alone makes such
differences.

Deliberately not here: response times by instance; histograms are merged over all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from plimsoll.analyse.replication.roles import replicas_of
from plimsoll.record.environment import Environment
from plimsoll.record.level import Level
from plimsoll.spec.shares import spread

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
    counted = dict(measured.group_by("instance").agg(pl.col("completed").sum()).iter_rows())
    names = [one.name for one in environment.instances]
    if replicas_of(environment) or len(names) < 2 or not counted.keys() <= set(names):
        return {}
    return {name: counted.get(name, 0) / duration_s for name in names}


def lag_of(found: Mapping[str, float], level: Level, duration_s: float) -> Lag | None:
    """The instance that lags most; None when none does.

    Args:
        found: Transactions per second by instance.
        level: What was offered.
        duration_s: Length of the window, seconds.
    """
    shares = parts(level, len(found))
    whole = sum(found.values())
    lags = [
        Lag(instance=name, throughput_tps=tps, expected_tps=whole * part)
        for (name, tps), part in zip(found.items(), shares, strict=True)
        if whole * part * duration_s >= COMPLETED_NEEDED and tps < LAG_RATIO * whole * part
    ]
    return min(lags, key=lambda lag: lag.throughput_tps / lag.expected_tps, default=None)


def mean_tps(trials: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of several trials, by instance; empty where not all of them have the same ones."""
    if not trials or any(one.keys() != trials[0].keys() for one in trials):
        return {}
    return {name: sum(one[name] for one in trials) / len(trials) for name in trials[0]}


def parts(level: Level, count: int) -> list[float]:
    """The part of the whole that can be expected of each instance, 0..1."""
    if level.rate_tps is not None or level.connections < count:
        return [1 / count] * count
    return [min(1 / count, connections / level.connections) for connections in spread(level.connections, count)]
