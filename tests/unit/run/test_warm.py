"""When a trial is warm: noise does not keep it warming, a slow rise does."""

from __future__ import annotations

import numpy as np

from plimsoll.run.watch import HALF, is_flat, trends


def test_too_short_a_series_is_never_flat() -> None:
    assert not is_flat([100.0] * (2 * HALF - 1), 0.03)
    assert is_flat([100.0] * (2 * HALF), 0.03)


def test_a_steady_rise_is_seen() -> None:
    assert not is_flat([100.0 + 3 * n for n in range(20)], 0.03)


def test_only_the_last_intervals_count() -> None:
    assert is_flat([10.0, 50.0, 80.0] + [100.0] * 10, 0.03)


def test_noise_is_flat_in_most_cases() -> None:
    random = np.random.default_rng(1)
    found = [is_flat(list(random.normal(1000, 30, 10)), 0.03) for _ in range(400)]
    assert np.mean(found) > 0.85


def test_a_server_that_answers_nothing_is_not_warm() -> None:
    assert trends([0.0] * 20, {}) == ("throughput",)
    assert trends([100.0] * 10 + [0.0] * 10, {}) == ("throughput",)
    assert trends([0.0] * 10 + [100.0] * 10, {}) == ()
    assert trends([100.0] * 10, {"innodb_history_list_length": [0.0] * 12}) == (), "a stock may be empty"


def test_a_growing_stock_keeps_the_trial_warming() -> None:
    flat = [100.0] * 10
    assert trends(flat, {"innodb_history_list_length": [float(n * n) for n in range(12)]}) == (
        "innodb_history_list_length",
    )
    assert trends(flat, {"innodb_history_list_length": [5.0] * 12, "innodb_checkpoint_age": []}) == ()
    assert trends([float(n) for n in range(10)], {}) == ("throughput",)
