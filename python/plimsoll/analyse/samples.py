"""The telemetry of one trial within its measured window: filtered and summed once, for all who ask it something.

Deliberately not here: what the figures mean (`processor`, `resources`), and telemetry outside of the window.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import polars as pl

from plimsoll.record.model import EngineAccount

LATE_S = 0.5
"""A sample that was taken late still belongs to the second before it."""

_PLACE = ("driver", "host", "instance", "source", "metric")


class MetricSum(NamedTuple):
    """All samples of a metric in one place, added up, and how many there are."""

    driver: str
    host: str
    instance: str
    source: str
    metric: str
    total: float
    size: int


class CounterRate(NamedTuple):
    """How much a counter of one server rose in each second."""

    instance: str
    metric: str
    per_s: float


@dataclass(frozen=True, slots=True)
class Samples:
    """What was sampled in the measured window of one trial.

    Attributes:
        rows: The samples, in the order of the recording (`frames.TELEMETRY`).
        sums: One for each place and metric that was sampled at all, in the order of their first samples.
    """

    rows: pl.DataFrame = field(repr=False)
    sums: tuple[MetricSum, ...] = field(repr=False)

    def mean(self, metric: str, source: str | None = None) -> float | None:
        """Mean of the samples of a metric in all places; None where there is none.

        Args:
            metric: Its name.
            source: Only of this source; None for any.
        """
        found = [one for one in self.sums if one.metric == metric and source in (None, one.source)]
        return mean_of_sums(found) if found else None

    def of(self, sources: Collection[str], metrics: Collection[str]) -> pl.DataFrame:
        """The samples of some metrics."""
        return self.rows.filter(pl.col("source").is_in(list(sources)) & pl.col("metric").is_in(list(metrics)))

    def rates(self, sources: Collection[str], metrics: Collection[str]) -> Iterator[CounterRate]:
        """How much counters rose in each second. One that fell was started again, and is left out."""
        risen = (
            self.of(sources, metrics)
            .sort("unix_s")
            .group_by("instance", "metric", maintain_order=True)
            .agg(
                (pl.col("value").last() - pl.col("value").first()).alias("rise"),
                (pl.col("unix_s").last() - pl.col("unix_s").first()).alias("elapsed_s"),
                pl.col("value").diff().min().alias("lowest_step"),
            )
        )
        for instance, metric, rise, elapsed_s, lowest_step in risen.iter_rows():
            if elapsed_s > 0 and (lowest_step or 0.0) >= 0:
                yield CounterRate(instance, metric, rise / elapsed_s)


def samples_of(telemetry: pl.DataFrame | None, measured: pl.DataFrame, account: EngineAccount | None) -> Samples | None:
    """The samples that belong to the measured intervals; None where nothing is known of them.

    Args:
        telemetry: All of the trial (`frames.TELEMETRY`).
        measured: The intervals of its window.
        account: Says when interval 0 began on the wall clock.
    """
    if telemetry is None or account is None or measured.is_empty():
        return None
    first_s, last_s = measured.select(pl.col("from_s").min(), pl.col("to_s").max()).row(0)
    rows = telemetry.filter(
        (pl.col("unix_s") > account.started_unix_s + first_s + LATE_S)
        & (pl.col("unix_s") <= account.started_unix_s + last_s + LATE_S)
    )
    sums = rows.group_by(*_PLACE, maintain_order=True).agg(pl.col("value").sum(), pl.len())
    return Samples(rows, tuple(MetricSum(*row) for row in sums.iter_rows()))


def mean_of_sums(sums: Iterable[MetricSum]) -> float:
    """Mean of all samples together; there must be some."""
    known = list(sums)
    return sum(one.total for one in known) / sum(one.size for one in known)
