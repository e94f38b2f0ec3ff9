"""What the live display says of response times is what the guide says of the same transactions."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.analyse.durations import durations
from plimsoll.analyse.histograms import merge_rows
from plimsoll.drive.protocol import Interval
from plimsoll.run.rows import IntervalRows, response_ms_p99
from unit.analyse.made import bucket_of

COUNTS = dict.fromkeys(
    ("completed", "rolled_back", "failed", "dropped", "retries", "reads", "writes", "others", "rows_returned",
     "rows_affected"), 0,
)  # fmt: skip


def interval(index: int, of_types: dict[str, np.ndarray]) -> Interval:
    """An interval as the engine says it, with response times in nanoseconds by type of transaction."""
    transactions = {}
    for name, values in of_types.items():
        buckets, counts = np.unique(bucket_of(values), return_counts=True)
        histogram = {
            "buckets": buckets.tolist(), "counts": counts.tolist(), "sum_ns": int(values.sum()),
            "max_ns": int(values.max(initial=0)),
        }  # fmt: skip
        counted = {**COUNTS, "completed": values.size}
        transactions[name] = {"counts": counted, "histograms": {"response": histogram}}
    group = {
        "instance": "a", "backlog_count": 0, "connected_count": 1, "in_flight": {},
        "snapshot": {"transactions": transactions, "errors": []},
    }  # fmt: skip
    return Interval.model_validate(
        {
            "type": "interval", "index": index, "from_ns": index * 10**9, "to_ns": (index + 1) * 10**9,
            "groups": [group], "client": {"user_ns": 0, "system_ns": 0}, "run_delay_ns": None,
        }
    )  # fmt: skip


def guide_p99(intervals: list[Interval]) -> float | None:
    rows = IntervalRows(driver="", host="")
    for one in intervals:
        rows.add(one, began_unix_s=0.0)
    return durations(merge_rows(rows.take()["histograms.parquet"]).get("response")).p99


@pytest.mark.parametrize("size", [1, 99, 100, 101, 150, 5_000])
def test_live_and_guide_agree_on_the_99th_percentile(size: int) -> None:
    random = np.random.default_rng(size)
    made = [
        interval(index, {"read": random.integers(10**6, 10**8, size), "write": np.array([], dtype=np.int64)})
        for index in range(2)
    ]
    for shown in ([made[0]], made):
        assert response_ms_p99(shown) == guide_p99(shown)


def test_the_longest_of_few_does_not_pass_for_a_percentile() -> None:
    assert response_ms_p99([interval(0, {"t": np.full(99, 10**7)})]) is None
    assert response_ms_p99([interval(0, {"t": np.full(100, 10**7)})]) == pytest.approx(10.0, rel=0.001)


def test_a_percentile_is_never_above_the_longest() -> None:
    longest = 10**9  # below the middle of its bucket
    assert response_ms_p99([interval(0, {"t": np.full(1_000, longest)})]) == longest / 1e6


def test_nothing_completed() -> None:
    assert response_ms_p99([interval(0, {"t": np.array([], dtype=np.int64)})]) is None
    assert response_ms_p99([]) is None
