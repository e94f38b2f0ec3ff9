"""Counters hold every interval, buckets hold whole transactions, and what is so now goes with the load."""

from __future__ import annotations

import itertools
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.metrics import families
from plimsoll.metrics.families import BOUNDS_US, FAMILIES, Buckets, Family, Kind
from plimsoll.metrics.totals import ERROR_CODES_MAX, Totals
from plimsoll.record.capacity import CapacityRun, RunRole, RunVerdict
from plimsoll.record.level import Level
from plimsoll.record.model import State, Verdict
from plimsoll.run.capacity_search import Searched
from plimsoll.run.events import StateBegan, StudyBegan, StudyEnded, TrialBegan, TrialEnded
from plimsoll.run.live import LiveSample
from support.live_intervals import fine_histogram, live_interval_of

MS = 1_000_000


def buckets_of(durations_ns: list[int]) -> Buckets:
    return Buckets().plus(fine_histogram(durations_ns))


def within(buckets: Buckets, bound_us: int) -> int:
    return sum(buckets.counts[: BOUNDS_US.index(bound_us) + 1])


@given(st.lists(st.integers(0, 70_000 * MS), max_size=50))
def test_a_bucket_counts_all_that_took_less_but_for_a_thousandth_and_none_that_took_longer(
    durations: list[int],
) -> None:
    buckets = buckets_of(durations)
    for bound_us in BOUNDS_US:
        bound_ns = bound_us * 1000
        most = sum(duration <= bound_ns for duration in durations)
        least = sum(duration <= bound_ns * (1 - 1 / 1024) for duration in durations)
        assert least <= within(buckets, bound_us) <= most
    assert buckets.count == len(durations)
    assert buckets.sum_ns == sum(durations)


def test_a_fine_bucket_that_a_bound_cuts_counts_above_the_bound() -> None:
    """100 us lie in the engine's bucket from 99,968 ns to 100,031 ns."""
    assert within(buckets_of([99_967]), 100) == 1
    assert within(buckets_of([99_968]), 100) == 0
    assert within(buckets_of([99_968]), 150) == 1


def test_what_is_longer_than_all_bounds_is_counted() -> None:
    assert buckets_of([61_000 * MS, 10**13]).counts[-1] == 2


def test_intervals_add_up() -> None:
    totals = Totals()
    counts = {
        "rolled_back": 1, "failed": 2, "dropped": 3, "retries": 4, "reads": 5, "writes": 6, "others": 7,
        "rows_returned": 8, "rows_affected": 9,
    }  # fmt: skip
    for index in range(3):
        state = State.WARM if index == 0 else State.MEASURE
        totals.observe(
            live_interval_of(
                {"buy": [MS, 2 * MS], "look": []},
                index=index, state=state, counts=counts, errors=[("retryable", 1213, 4)],
            )
        )  # fmt: skip
    seen = totals.readings
    buy = ("a", "w", "buy")
    assert {labels[-1]: value for labels, value in seen[families.TRANSACTIONS].items() if labels[:3] == buy} == {
        "completed": 6, "failed": 6, "dropped": 9,
    }  # fmt: skip
    assert seen[families.ROLLED_BACK][buy] == 3
    assert seen[families.RETRIES][buy] == 12
    assert {labels[-1]: value for labels, value in seen[families.STATEMENTS].items() if labels[:3] == buy} == {
        "read": 15, "write": 18, "other": 21,
    }  # fmt: skip
    assert {labels[-1]: value for labels, value in seen[families.ROWS].items() if labels[:3] == buy} == {
        "returned": 24, "affected": 27,
    }  # fmt: skip
    assert seen[families.ERRORS] == {("a", "w", "retryable", "1213"): 12}
    response = seen[families.RESPONSE][buy]
    assert isinstance(response, Buckets)
    assert (response.count, response.sum_ns) == (6, 9 * MS)
    assert seen[families.INTERVALS] == {("a", "w", "warm"): 1, ("a", "w", "measure"): 2}


def test_what_was_published_is_not_changed() -> None:
    totals = Totals()
    totals.observe(live_interval_of({"t": [MS]}))
    before = totals.readings
    kept = {family: dict(series) for family, series in before.items()}
    totals.observe(live_interval_of({"t": [MS], "other": [MS]}, index=1))
    assert before == kept
    assert totals.readings != kept


def test_a_server_with_ever_other_errors_gets_a_bounded_number_of_series() -> None:
    totals = Totals()
    for code in range(3 * ERROR_CODES_MAX):
        totals.observe(live_interval_of({"t": []}, errors=[("statement", code, 1)]))
    errors = totals.readings[families.ERRORS]
    assert len(errors) == ERROR_CODES_MAX + 1
    assert sum(count for count in errors.values() if isinstance(count, int)) == 3 * ERROR_CODES_MAX
    assert errors["a", "w", "other", "other"] == 2 * ERROR_CODES_MAX


def test_what_is_so_now_is_forgotten_when_the_load_ends() -> None:
    totals = Totals()
    sample = LiveSample(host="h", instance="a/0", metric="threads_running", value=7.0)
    level = Level(connections=4, rate_tps=50.0)
    totals.observe(live_interval_of({"t": [MS]}, level=level, lag_s={"a/1": 2.5}, telemetry=[sample]))
    now = {family.name: series for family, series in totals.readings.items()}
    assert now["level.connections"] == {("a", "w"): 4}
    assert now["level.target_rate"] == {("a", "w"): 50.0}
    assert now["connections.open"] == {("a", "w"): 4}
    assert now["transactions.waiting"] == {("a", "w"): 2}
    assert now["transactions.in_flight"] == {("a", "w"): 3}
    assert now["transactions.oldest"] == {("a", "w"): 1.5}
    assert now["client.cores"] == {("a", "w"): 0.5}
    assert now["replica.lag"] == {("a", "w", "a/1"): 2.5}
    assert now["telemetry.threads_running"] == {("h", "a/0"): 7.0}
    assert now["trial.state"]["measure",] == 1
    totals.observe(live_interval_of({"t": [MS]}, index=1))
    assert not {families.LEVEL_RATE, families.LAG, families.telemetry("threads_running")} & totals.readings.keys()
    totals.end()
    left = {family.name for family in totals.readings if family.kind is Kind.GAUGE}
    assert left == {"build.info", "trial.state"}
    assert set(totals.readings[families.STATE].values()) == {0.0}
    assert totals.readings[families.TRANSACTIONS]["a", "w", "t", "completed"] == 2


def test_systems_that_take_turns_keep_their_telemetry() -> None:
    totals = Totals()
    for turn, (system, value) in enumerate((("a", 7.0), ("b", 9.0), ("a", 8.0))):
        sample = LiveSample(host="h", instance=f"{system}/0", metric="threads_running", value=value)
        totals.observe(live_interval_of({"t": [MS]}, index=turn, system=system, telemetry=[sample]))
    assert totals.readings[families.telemetry("threads_running")] == {("h", "a/0"): 8.0, ("h", "b/0"): 9.0}


def trial_ended(verdict: Verdict) -> TrialEnded:
    return TrialEnded(
        trial_id="t", system="a", workload="w", connections=4, verdict=verdict, reason=None,
        throughput_tps=None, response_ms_p99=None,
    )  # fmt: skip


def test_a_study_tells_how_far_it_is() -> None:
    totals = Totals()
    totals.happened(StudyBegan(study="s", trial_count=6, finished_count=2, unplanned_count=0, estimated_s=100.0))
    totals.happened(
        TrialBegan(
            trial_id="t", system="a", workload="w", connections=4, repetition=0, position=3, remaining_s=80.0,
        )
    )  # fmt: skip
    totals.happened(StateBegan(state=State.SETTLE))
    seen = totals.readings
    assert seen[families.STUDY_TRIALS] == {("planned",): 6, ("complete",): 2}
    assert seen[families.REMAINING] == {(): 80.0}
    assert [labels for labels, value in seen[families.STATE].items() if value] == [("settle",)]
    for verdict in (Verdict.COMPLETE, Verdict.INVALID):
        totals.happened(trial_ended(verdict))
    assert totals.readings[families.STUDY_TRIALS]["complete",] == 3
    assert totals.readings[families.TRIALS] == {("complete",): 1, ("invalid",): 1}
    assert set(totals.readings[families.STATE].values()) == {0.0}
    totals.happened(StudyEnded(complete_count=3, failed_count=1, missing_count=2))
    assert totals.readings[families.STUDY_TRIALS] == {("planned",): 6, ("complete",): 3}
    assert families.REMAINING not in totals.readings


def test_a_search_tells_its_bracket() -> None:
    totals = Totals()
    totals.observe(live_interval_of({"t": [MS]}))
    run = CapacityRun(
        role=RunRole.BRACKET,
        connections=4,
        throughput_tps=10.0,
        over_ratio=0.0,
        duration_s=1.0,
        verdict=RunVerdict.HOLDS,
    )
    totals.searched(Searched(run=run, low_tps=0.0, high_tps=math.inf, remaining_s=9.0))
    assert totals.readings[families.SEARCH_RATE] == {("a", "w", "held"): 0.0}
    totals.searched(Searched(run=run, low_tps=10.0, high_tps=20.0, remaining_s=3.0))
    assert totals.readings[families.SEARCH_RATE] == {("a", "w", "held"): 10.0, ("a", "w", "missed"): 20.0}
    assert totals.readings[families.REMAINING] == {(): 3.0}


def test_names_are_those_that_both_worlds_expect() -> None:
    assert len({family.prometheus_name for family in FAMILIES}) == len(FAMILIES)
    assert all(family.prometheus_name.endswith("_total") is (family.kind is Kind.COUNTER) for family in FAMILIES)
    rate = Family("level.target_rate", Kind.GAUGE, "{transaction}/s", (), "")
    assert (rate.otel_name, rate.prometheus_name) == (
        "plimsoll.level.target_rate",
        "plimsoll_level_target_rate_per_second",
    )


def test_bounds_rise_by_less_than_half_a_decade() -> None:
    assert np.all(np.diff(BOUNDS_US) > 0)
    assert max(high / low for low, high in itertools.pairwise(BOUNDS_US)) <= 2
