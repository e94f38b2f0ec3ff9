"""Numbers of several engines, added up."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.drive.merging import merge_histograms, merge_intervals, merge_outages
from plimsoll.drive.protocol import Histogram, Interval, Outage, ReplicationInterval


@st.composite
def histograms(draw: st.DrawFn) -> Histogram:
    counts = draw(st.dictionaries(st.integers(0, 5_000), st.integers(1, 99), max_size=20))
    buckets = sorted(counts)
    total = draw(st.integers(0, 10**6))
    return Histogram(buckets=buckets, counts=[counts[bucket] for bucket in buckets], sum_ns=total, max_ns=total)


@given(histograms(), histograms(), histograms())
def test_histograms_merge_in_any_order(one: Histogram, two: Histogram, three: Histogram) -> None:
    merged = merge_histograms([one, two, three])
    assert merged == merge_histograms([merge_histograms([three, one]), two])
    assert sum(merged.counts) == sum(sum(part.counts) for part in (one, two, three))
    assert merged.buckets == sorted(set(merged.buckets))


def outage(instance: str, from_ns: int, to_ns: int | None) -> Outage:
    return Outage(instance=instance, from_ns=from_ns, to_ns=to_ns, connections_count=2, lost_count=1)


def test_outages_of_one_server_that_overlap_are_one() -> None:
    found = merge_outages(
        [outage("b", 5, None), outage("a", 1, 4), outage("a", 9, 12), outage("a", 3, 6), outage("b", 9, 11)]
    )
    assert [(one.instance, one.from_ns, one.to_ns, one.connections_count, one.lost_count) for one in found] == [
        ("a", 1, 6, 4, 2),
        ("a", 9, 12, 2, 1),
        ("b", 5, None, 4, 2),
    ]


def interval(lag_ns: int | None, reads_count: int) -> Interval:
    replication = {
        "lag_ns": lag_ns,
        "lag_end_ns": lag_ns,
        "reads_count": reads_count,
        "stale_count": 1,
        "waits_count": 2,
        "wait_ns": 3,
        "wait_timeouts_count": 4,
    }
    group = {"backlog_count": 0, "connected_count": 1, "snapshot": {"transactions": {}, "errors": []}, "in_flight": {}}
    return Interval.model_validate(
        {
            "type": "interval",
            "index": 0,
            "from_ns": 0,
            "to_ns": 1,
            "client": {"user_ns": 0, "system_ns": 0},
            "groups": [
                {"instance": "s/0", "role": "source", **group},
                {"instance": "s/1", "role": "replica", "replication": replication, **group},
            ],
        }
    )


def test_of_lags_the_largest_counts_and_reads_are_added() -> None:
    source, replica = merge_intervals({"a": interval(7, 10), "b": interval(None, 5)}).groups
    assert source.replication is None
    assert replica.replication == ReplicationInterval(
        lag_ns=7, lag_end_ns=7, reads_count=15, stale_count=2, waits_count=4, wait_ns=6, wait_timeouts_count=8
    )
    nobody = merge_intervals({"a": interval(None, 1), "b": interval(None, 1)}).groups[1].replication
    assert nobody is not None
    assert nobody.lag_ns is None
