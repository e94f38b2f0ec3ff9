"""Percentiles of merged histograms against sorted durations."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from plimsoll.analyse.trial.histograms import durations, durations_of_runs, merge, merge_rows, percentile_ms
from support.made import histogram_table


def nearest_rank_ms(values_ns: np.ndarray, share: float) -> float:
    return float(np.sort(values_ns)[int(np.ceil(share * values_ns.size)) - 1]) / 1e6


@pytest.mark.parametrize("seed", range(5))
def test_percentiles_are_those_of_all_durations_within_a_bucket(seed: int) -> None:
    random = np.random.default_rng(seed)
    parts = [random.lognormal(15, 1.5, 3_000).astype(np.int64) for _ in range(4)]
    rows = pl.concat([histogram_table(part, interval=index) for index, part in enumerate(parts)])
    found = durations(merge_rows(rows)["response"])
    everything = np.concatenate(parts)
    for name, share in (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)):
        assert getattr(found, name) == pytest.approx(nearest_rank_ms(everything, share), rel=0.0006)
    assert found.mean == pytest.approx(everything.mean() / 1e6, rel=1e-9)
    assert found.max == everything.max() / 1e6


def test_merging_is_associative_and_the_same_as_merging_rows() -> None:
    random = np.random.default_rng(1)
    a, b, c = (merge_rows(histogram_table(random.integers(1, 10**9, 500), interval=0))["response"] for _ in range(3))
    left, right = merge([merge([a, b]), c]), merge([a, merge([b, c])])  # type: ignore[list-item]
    assert left is not None
    assert right is not None
    assert np.array_equal(left.buckets, right.buckets)
    assert np.array_equal(left.counts, right.counts)
    assert (left.sum_ns, left.max_ns, left.total) == (right.sum_ns, right.max_ns, 1_500)


def test_a_percentile_beyond_which_nothing_lies_is_not_given() -> None:
    few = merge_rows(histogram_table(np.arange(1, 101), interval=0))["response"]
    assert percentile_ms(few, 0.95) == pytest.approx(95e-6)
    assert percentile_ms(few, 0.99) == pytest.approx(99e-6)
    assert percentile_ms(few, 0.999) is None


def test_no_transactions_no_durations() -> None:
    assert durations(None).p50 is None
    assert merge([]) is None


def test_percentiles_of_several_published_figures_are_given_as_those_of_single_runs() -> None:
    stated = [{"mean": 2.0, "p99": 11.0, "max": 20.0}, {"mean": 4.0, "p99": 9.0, "max": 30.0}]
    found = durations_of_runs([(None, one) for one in stated])
    assert (found.mean, found.p99, found.max) == (3.0, None, 30.0)
    assert found.single_runs == {"p99": (11.0, 9.0)}
    alone = durations_of_runs([(None, {"p99": 9.0})])
    assert (alone.p99, alone.single_runs) == (9.0, {})


def test_a_histogram_of_one_run_does_not_speak_for_another_that_has_none() -> None:
    one = merge_rows(histogram_table(np.full(1000, 5_000_000), interval=0))["response"]
    mixed = durations_of_runs([(one, {}), (None, {"p95": 80.0})])
    assert (mixed.p95, mixed.p99) == (None, None)
    assert mixed.single_runs["p95"] == pytest.approx((5.0, 80.0), rel=0.001)
    assert mixed.single_runs["p99"] == pytest.approx((5.0,), rel=0.001)


@pytest.mark.parametrize("seed", range(5))
def test_the_percentile_of_all_runs_lies_between_those_of_single_runs(seed: int) -> None:
    """What lets an objective be judged by single runs alone."""
    random = np.random.default_rng(seed)
    runs = [
        merge_rows(histogram_table((random.lognormal(15, 1, 2_000) * factor).astype(np.int64), interval=0))["response"]
        for factor in (1.0, 1.3, 0.8)
    ]
    merged = durations(merge(runs))
    for name in ("p50", "p90", "p95", "p99", "p999"):
        each = [getattr(durations(run), name) for run in runs]
        assert min(each) <= getattr(merged, name) <= max(each)
