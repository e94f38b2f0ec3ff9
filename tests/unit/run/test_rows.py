"""What the live display says of response times is what the guide says of the same transactions."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.analyse.trial.histograms import durations, merge_rows
from plimsoll.drive.merging import merge_intervals
from plimsoll.drive.protocol import Interval, ReplicationInterval
from plimsoll.run.rows import IntervalRows, response_ms_p99
from support.made import bucket_of

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


def test_several_drivers_have_rows_of_their_own_and_one_time() -> None:
    long = interval(3, {"read": np.array([10**6, 10**7])})
    short = interval(3, {"read": np.array([10**8])}).model_copy(update={"to_ns": 3_500_000_000})
    rows = IntervalRows(driver="here", host="db")
    whole = merge_intervals({"load1": long, "load2": short})
    rows.add(whole, began_unix_s=100.0)
    taken = rows.take()
    assert taken["intervals.parquet"].select("driver", "completed", "to_s").rows() == [
        ("load1", 2, 4.0),
        ("load2", 1, 3.5),
    ]
    assert taken["histograms.parquet"]["driver"].to_list() == ["load1", "load2"]
    assert set(taken["telemetry.parquet"]["unix_s"]) == {104.0}, "samples of one interval are added up by their time"
    assert (whole.completed, rows.connected) == (3, {"a": 2})


def test_what_replicas_did_has_rows_of_its_own() -> None:
    replication = {
        "lag_ns": 1_500_000_000, "lag_end_ns": None, "reads_count": 9, "stale_count": 2, "waits_count": 3,
        "wait_ns": 2_000_000, "wait_timeouts_count": 1,
    }  # fmt: skip
    one = interval(4, {"read": np.array([1_000])})
    changes = {"instance": "s/1", "role": "replica", "replication": ReplicationInterval.model_validate(replication)}
    rows = IntervalRows(driver="d", host="h")
    rows.add(one.model_copy(update={"groups": [*one.groups, one.groups[0].model_copy(update=changes)]}), began_unix_s=0)
    (row,) = rows.take()["replication.parquet"].to_dicts()
    assert row == {
        "driver": "d", "host": "h", "instance": "s/1", "role": "replica", "interval": 4, "lag_s": 1.5,
        "lag_end_s": None, "reads": 9, "stale_reads": 2, "waits": 3, "wait_s": 0.002, "wait_timeouts": 1,
    }  # fmt: skip
    rows.add(one, began_unix_s=0)
    assert "replication.parquet" not in rows.take()
