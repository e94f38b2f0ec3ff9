"""The knee of a ramp, and what pairs of knees say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from plimsoll.analyse.study.capacities import PAIRS_LEAST, WINDOW, judged_pairs, knee_at, log_ratios, unlike_sides
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.analyse.trial.condition_model import Disturbance
from plimsoll.record.capacity import CapacityRun, RunRole, RunVerdict
from plimsoll.record.level import GROWTH, INTERVAL_S, Ramp, seconds_until
from plimsoll.spec.clients import rising


def arrived(size: int, at_most: float = 1e9) -> np.ndarray:
    """What a ramp from 50 arrivals per interval brings, and the server does at most."""
    return np.minimum(50.0 * np.exp(GROWTH * INTERVAL_S * np.arange(size)), at_most)


def none(size: int) -> np.ndarray:
    return np.zeros(size)


def test_most_answers_are_late_from_the_knee_on() -> None:
    ended, late = arrived(60), none(60)
    late[40:] = ended[40:]
    knee = knee_at(ended, late, none(60))
    assert knee == pytest.approx(40, abs=1)


def test_a_knee_lies_between_intervals() -> None:
    """Two servers that differ by less than what the rate rises by in an interval have different knees."""
    knees = []
    for share in (0.2, 0.6):
        ended, late = arrived(60), none(60)
        late[40], late[41:] = share * ended[40], ended[41:]
        knees.append(knee_at(ended, late, none(60)))
    assert knees[0] is not None
    assert knees[1] is not None
    assert 0.1 < knees[0] - knees[1] < 1.0


def test_a_ramp_in_time_has_no_knee() -> None:
    assert knee_at(arrived(60), none(60), none(60)) is None


def test_a_stall_of_a_fifth_of_a_second_is_no_knee() -> None:
    """Nothing ends for two intervals, and what waited comes late in the next one."""
    ended, late, waiting = arrived(60), none(60), none(60)
    waiting[21] = ended[20]
    late[22] = ended[20] + ended[21]
    ended[22] += late[22]
    ended[20:22] = 0
    assert knee_at(ended, late, waiting) is None


def test_a_server_that_answers_nothing_any_more_has_its_knee_there() -> None:
    ended, waiting = arrived(60), none(60)
    waiting[30:] = np.cumsum(ended[30:])
    ended[30:] = 0
    knee = knee_at(ended, none(60), waiting)
    assert knee is not None
    assert 24 < knee < 36


def test_of_a_slow_server_more_intervals_count_together() -> None:
    """Two late answers among few are chance."""
    ended, late = np.ones(60), none(60)
    late[[20, 21, 22, 23, 24, 25]] = 1
    assert knee_at(ended, late, none(60)) is None
    late[30:] = 1
    knee = knee_at(ended, late, none(60))
    assert knee is not None
    assert knee >= 24


def test_the_window_is_longer_than_a_short_stall() -> None:
    assert WINDOW * INTERVAL_S >= 1.0


def test_the_rate_rises_by_the_same_share() -> None:
    ramp = Ramp(from_tps=100.0, longest_s=seconds_until(10.0))
    plan = rising(ramp)
    assert plan.steps[0].from_tps == 100.0
    assert plan.steps[-1].to_tps >= 1000.0
    ratios = [step.to_tps / step.from_tps for step in plan.steps[:-1]]
    assert ratios == [pytest.approx(math.exp(GROWTH / 2))] * len(ratios)
    assert all(step.to_tps == other.from_tps for step, other in zip(plan.steps, plan.steps[1:], strict=False))


def ramp_run(pair: int, knee_tps: float | None) -> CapacityRun:
    return CapacityRun(
        role=RunRole.RAMP,
        connections=8,
        throughput_tps=1.0,
        over_ratio=0.1,
        duration_s=10.0,
        verdict=RunVerdict.NOT_JUDGED,
        knee_tps=knee_tps,
        pair=pair,
    )


def test_only_ramps_of_the_same_pair_are_compared() -> None:
    base = [ramp_run(0, 100.0), ramp_run(1, None), ramp_run(2, 100.0)]
    system = [ramp_run(0, 200.0), ramp_run(1, 300.0), ramp_run(3, 400.0)]
    assert log_ratios(base, system) == [pytest.approx(math.log(2.0))]


def noise(count: int, spread: float = 0.05, middle: float = 0.0) -> list[float]:
    return [float(one) for one in np.random.default_rng(3).normal(middle, spread, count)]


def test_few_pairs_decide_nothing_however_alike() -> None:
    found = judged_pairs(noise(PAIRS_LEAST - 1, middle=1.0), alpha=0.05)
    assert (found.ratio.bounds, found.verdict) == (None, RatioVerdict.UNTESTABLE)
    assert judged_pairs([0.5] * 8, alpha=0.05).verdict is RatioVerdict.UNTESTABLE  # copied figures are no spread of 0


def test_a_clear_difference_is_decided_either_way() -> None:
    for middle, wanted in ((0.3, RatioVerdict.FASTER), (-0.3, RatioVerdict.SLOWER)):
        found = judged_pairs(noise(10, middle=middle), alpha=0.05)
        assert found.verdict is wanted
        assert found.ratio.value == pytest.approx(math.exp(middle), rel=0.05)
        assert found.ratio.trial_count == 10


def test_a_ramp_in_a_slow_minute_does_not_open_the_interval() -> None:
    plain = noise(12, middle=0.3)
    assert judged_pairs([*plain, 3.0], alpha=0.05).verdict is RatioVerdict.FASTER
    assert judged_pairs([*plain, -3.0], alpha=0.05).verdict is RatioVerdict.FASTER


def test_one_start_of_the_servers_never_shows_that_they_are_equal_and_many_do() -> None:
    values = noise(200, spread=0.02)
    assert judged_pairs(values, alpha=0.05).verdict is RatioVerdict.UNRESOLVED
    assert judged_pairs(values, alpha=0.05, starts=8).verdict is RatioVerdict.EQUAL


def met(*slowness: float) -> dict[int, Disturbance]:
    return {pair: Disturbance(watched_s=8.0, slow_ratio=0.0, slowness=one) for pair, one in enumerate(slowness)}


def test_sides_are_unlike_where_one_is_slower_in_the_mean_and_not_by_chance() -> None:
    found = unlike_sides(met(1.0, 1.02, 1.0, 1.01), met(1.3, 1.2, 1.25, 1.3))
    assert found is not None
    assert found.contrast_ratio > 1.2
    assert unlike_sides(met(1.0, 1.5, 1.0, 1.6), met(1.5, 1.0, 1.5, 1.0)) is None
    assert unlike_sides(met(1.0, 1.0, 1.0), met(1.01, 1.0, 1.02)) is None
    assert unlike_sides(met(1.0), met(2.0)) is None
