"""What becomes of the engine's intervals: rows of tables, and what the live display shows."""

from __future__ import annotations

from typing import Any

from plimsoll.drive.protocol import Interval
from plimsoll.run.rows import IntervalRows, oldest_in_flight_ms

COUNTS = dict.fromkeys(
    ("rolled_back", "failed", "dropped", "retries", "reads", "writes", "others", "rows_returned", "rows_affected"), 0
)
TIMES = {"buckets": [5], "counts": [3], "sum_ns": 15, "max_ns": 6}
AGES = {"buckets": [7, 9], "counts": [1, 1], "sum_ns": 2_000_000_016, "max_ns": 2_000_000_009}


def interval(*groups: dict[str, Any], index: int = 4) -> Interval:
    span = {"index": index, "from_ns": index * 10**9, "to_ns": (index + 1) * 10**9}
    return Interval(type="interval", **span, client={"user_ns": 1, "system_ns": 1}, groups=list(groups))


def group(instance: str = "one", connected: int = 2, **in_flight: Any) -> dict[str, Any]:
    typed = {"pay": {"counts": {"completed": 3, **COUNTS}, "histograms": {"response": TIMES}}}
    snapshot = {"transactions": typed, "errors": []}
    return {
        "instance": instance,
        "backlog_count": 0,
        "connected_count": connected,
        "snapshot": snapshot,
        "in_flight": in_flight,
    }


def test_what_is_in_flight_becomes_measures_of_their_own_without_a_type() -> None:
    rows = IntervalRows(driver="here", host="there")
    rows.add(interval(group(response=AGES, service=TIMES)), began_unix_s=0.0)
    table = rows.take()["histograms.parquet"]
    found = {(row["transaction"], row["measure"]): row for row in table.iter_rows(named=True)}
    assert found.keys() == {("pay", "response"), ("", "in_flight_response"), ("", "in_flight_service")}
    ages = found["", "in_flight_response"]
    assert {name: ages[name] for name in AGES} == AGES
    assert (ages["interval"], ages["instance"], ages["host"]) == (4, "one", "there")


def test_the_last_interval_says_who_is_connected() -> None:
    rows = IntervalRows(driver="", host="")
    rows.add(interval(group("a", 4), group("b", 4), index=0), began_unix_s=0.0)
    rows.add(interval(group("a", 4), group("b", 0), index=1), began_unix_s=0.0)
    assert rows.connected == {"a": 4, "b": 0}


def test_the_oldest_of_all_instances_is_shown() -> None:
    assert oldest_in_flight_ms(interval(group())) is None
    assert oldest_in_flight_ms(interval(group("a", response=TIMES), group("b", response=AGES))) == 2000.000009
