"""Histograms taken apart are the rows of the table, whichever of them are asked for."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from plimsoll.analyse.trial.histograms import duration_rows, merge_measure
from plimsoll.record import frames

MEASURES = ("response", "service", "in_flight_response")


def table(seed: int) -> pl.DataFrame:
    """Rows of two types in six intervals; every third has no bucket."""
    random = np.random.default_rng(seed)
    rows = []
    for number in range(36):
        buckets = np.sort(random.choice(300, size=0 if number % 3 == 0 else 1 + number % 7, replace=False))
        rows.append(
            {
                "driver": "d",
                "host": "h",
                "instance": f"i{number % 2}",
                "role": "source",
                "interval": number // 6,
                "transaction": f"t{number % 2}",
                "measure": MEASURES[number % 3 - 1],
                "buckets": buckets.tolist(),
                "counts": random.integers(1, 9, buckets.size).tolist(),
                "sum_ns": number * 100,
                "max_ns": number * 10,
            }
        )
    return pl.DataFrame(rows, schema=frames.HISTOGRAMS)


@pytest.mark.parametrize("seed", range(5))
def test_some_rows_are_those_of_the_filtered_table(seed: int) -> None:
    made, random = table(seed), np.random.default_rng(seed)
    for share in (0.0, 0.2, 0.7, 1.0):
        wanted = random.random(made.height) < share
        found, expected = duration_rows(made).only(wanted), duration_rows(made.filter(pl.Series(wanted)))
        for name in found.__slots__:
            assert getattr(found, name).tolist() == getattr(expected, name).tolist(), name


def test_a_measure_is_merged_bucket_by_bucket() -> None:
    made = table(1)
    rows = duration_rows(made)
    of_one = made.filter(pl.col("measure") == "response", pl.col("interval") >= 2)
    expected = of_one.explode("buckets", "counts").drop_nulls().group_by("buckets").agg(pl.col("counts").sum())
    found = merge_measure(rows, "response", rows.is_within(2, 5))
    assert found is not None
    assert dict(zip(found.buckets.tolist(), found.counts.tolist(), strict=True)) == dict(expected.iter_rows())
    filled = of_one.filter(pl.col("buckets").list.len() > 0)
    assert (found.sum_ns, found.max_ns) == (filled["sum_ns"].sum(), filled["max_ns"].max())


def test_no_transactions_are_no_histogram() -> None:
    rows = duration_rows(table(1).clear())
    assert rows.lengths.size == 0
    assert merge_measure(rows, "response", rows.is_within(0, 9)) is None
