"""Whether an objective held in one run: by how often the verdict is wrong, whatever seconds have in common."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from plimsoll.analyse.study.violations import Arrivals, arrivals_of, judge_run
from plimsoll.record import frames
from plimsoll.record.capacity import CapacityObjective, RunVerdict

OBJECTIVE = CapacityObjective(response_ms_p99=20.0)
WITH_ERRORS = CapacityObjective(response_ms_p99=20.0, errors_ratio=0.001)


def made(share: float, memory: float, seed: int, *, seconds: int = 60, each: float = 500.0) -> Arrivals:
    """Seconds whose share of violations varies as an AR(1) process on a scale of logarithms."""
    chance = np.random.default_rng(seed)
    level, levels = chance.normal(), []
    for _ in range(seconds):
        level = memory * level + np.sqrt(1 - memory**2) * chance.normal()
        levels.append(level)
    shares = share * np.exp(np.array(levels) - 0.5)
    ended = chance.poisson(each, seconds).astype(float)
    return Arrivals(ended, chance.binomial(ended.astype(int), np.clip(shares, 0, 1)).astype(float), np.zeros(seconds))


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.8])
def test_at_the_edge_of_the_objective_few_verdicts_are_wrong(memory: float) -> None:
    verdicts = [judge_run(made(0.0101, memory, seed), OBJECTIVE) for seed in range(400)]
    assert (
        verdicts.count(RunVerdict.HOLDS) / 400 <= {0.0: 0.06, 0.5: 0.1, 0.8: 0.2}[memory]
    )  # shares as skewed as these are sure too soon
    verdicts = [judge_run(made(0.0099, memory, seed), OBJECTIVE) for seed in range(400)]
    assert verdicts.count(RunVerdict.DOES_NOT_HOLD) / 400 <= 0.05


def test_far_from_the_edge_a_run_decides() -> None:
    assert all(judge_run(made(0.001, 0.5, seed), OBJECTIVE) is RunVerdict.HOLDS for seed in range(50))
    far = [judge_run(made(0.1, 0.5, seed), OBJECTIVE) for seed in range(50)]
    assert RunVerdict.HOLDS not in far
    assert far.count(RunVerdict.DOES_NOT_HOLD) >= 45


def test_a_few_arrivals_without_a_violation_are_no_certainty() -> None:
    few = Arrivals(np.full(10, 5.0), np.zeros(10), np.zeros(10))
    assert judge_run(few, OBJECTIVE) is RunVerdict.UNDECIDED


def test_nothing_that_arrived_holds_nothing() -> None:
    assert judge_run(Arrivals(np.zeros(10), np.zeros(10), np.zeros(10)), OBJECTIVE) is RunVerdict.DOES_NOT_HOLD


def test_errors_have_a_limit_of_their_own() -> None:
    def with_lost(lost: float) -> Arrivals:
        return Arrivals(np.full(20, 1000.0), np.full(20, lost), np.full(20, lost))

    assert judge_run(with_lost(0.0), WITH_ERRORS) is RunVerdict.HOLDS
    assert judge_run(with_lost(1.0), WITH_ERRORS) is RunVerdict.HOLDS
    assert judge_run(with_lost(4.0), WITH_ERRORS) is RunVerdict.DOES_NOT_HOLD
    assert judge_run(with_lost(4.0), OBJECTIVE) is RunVerdict.HOLDS


def test_a_run_that_is_over_in_all_its_seconds_does_not_hold_however_bursty_it_is() -> None:
    """A server that stands still, then answers thousands at once, all too late."""
    ended = np.array([3, 5000, 0, 10, 9000, 2, 1, 4000, 7, 12], float)
    assert judge_run(Arrivals(ended, ended.copy(), np.zeros(10)), OBJECTIVE) is RunVerdict.DOES_NOT_HOLD
    late = Arrivals(ended, np.floor(0.9 * ended), np.zeros(10))
    assert judge_run(late, OBJECTIVE) is RunVerdict.DOES_NOT_HOLD
    assert judge_run(Arrivals(ended, np.zeros(10), np.zeros(10)), OBJECTIVE) is RunVerdict.HOLDS


def test_what_failed_was_dropped_or_still_waits_counts_as_over() -> None:
    place = {"driver": "a", "host": "a", "instance": "", "role": "source"}
    zeros = dict.fromkeys(("rolled_back", "retries", "reads", "writes", "others", "rows_returned", "rows_affected"), 0)
    rows = [
        {**place, **zeros, "interval": i, "from_s": float(i), "to_s": i + 1.0, "transaction": "t",
         "completed": 100, "failed": 2 if i == 1 else 0, "dropped": 3 if i == 2 else 0}
        for i in range(4)
    ]  # fmt: skip
    slow, fast = 21_000_000, 1_000_000
    from plimsoll.record.histograms import bucket_of_ns

    buckets = bucket_of_ns(np.array([fast, slow])).tolist()

    def durations(interval: int, measure: str, counts: list[int]) -> dict[str, object]:
        found = {"interval": interval, "transaction": "", "measure": measure, "buckets": buckets, "counts": counts}
        return {**place, **found, "sum_ns": 0, "max_ns": slow}

    histograms = [durations(i, "response", [96, 4]) for i in range(4)] + [
        durations(3, "in_flight_response", [5, 7]),
        durations(2, "in_flight_response", [5, 50]),
    ]
    seen = arrivals_of(
        pl.DataFrame(rows, schema=frames.INTERVALS),
        pl.DataFrame(histograms, schema=frames.HISTOGRAMS),
        first=1,
        last=3,
        limit_ms=20.0,
    )
    assert seen.ended.tolist() == [102, 103, 107]
    assert seen.over.tolist() == [6, 7, 11]
    assert seen.lost.tolist() == [2, 3, 7]
