"""Where the share over an objective crosses what is allowed."""

from __future__ import annotations

import math

import pytest

from plimsoll.analyse.study.violations import contradict, crossing, times_allowed
from plimsoll.record.capacity import CapacityObjective, CapacityRun, RunRole, RunVerdict

OBJECTIVE = CapacityObjective(response_ms_p99=50.0)


def run(rate_tps: float, over_ratio: float, errors_ratio: float = 0.0) -> CapacityRun:
    return CapacityRun(
        role=RunRole.STEADY, connections=16, rate_tps=rate_tps, throughput_tps=rate_tps, over_ratio=over_ratio,
        errors_ratio=errors_ratio, duration_s=20.0, verdict=RunVerdict.UNDECIDED,
    )  # fmt: skip


def on_a_curve(slope: float, crossing_tps: float = 1000.0) -> list[CapacityRun]:
    rates = [crossing_tps * ratio for ratio in (0.95, 0.97, 0.985, 1.0, 1.015, 1.03)]
    edge = math.log(-math.log1p(-0.01))
    return [run(tps, -math.expm1(-math.exp(edge + slope * math.log(tps / crossing_tps)))) for tps in rates]


@pytest.mark.parametrize("slope", [30.0, 60.0, 100.0])
def test_runs_on_a_curve_give_its_crossing_and_slope(slope: float) -> None:
    found = crossing(on_a_curve(slope), OBJECTIVE)
    assert found.tps == pytest.approx(1000.0, rel=0.004)
    assert found.slope == pytest.approx(slope, rel=0.25)
    assert found.low is not None
    assert found.high is not None
    assert 950 < found.low < 1000 < found.high < 1050


def test_runs_that_differ_at_one_rate_widen_the_interval() -> None:
    same = [run(tps, share) for tps, share in [(980.0, 0.003), (1020.0, 0.03)] * 4]
    differ = [run(tps, share) for tps, share in [(980.0, 0.0), (1020.0, 0.06), (980.0, 0.006), (1020.0, 0.0)] * 2]
    narrow, wide = crossing(same, OBJECTIVE), crossing(differ, OBJECTIVE)
    assert narrow.low is not None
    assert wide.low is None or wide.low < narrow.low


def test_more_than_saturated_says_only_that_the_rate_is_above() -> None:
    runs = on_a_curve(60.0)
    far, further = [*runs, run(1100.0, 0.4)], [*runs, run(1100.0, 1.0)]
    assert crossing(far, OBJECTIVE) == crossing(further, OBJECTIVE)


def test_errors_have_a_limit_of_their_own() -> None:
    strict = OBJECTIVE.model_copy(update={"errors_ratio": 0.001})
    assert times_allowed(run(1.0, 0.005, 0.002), OBJECTIVE) == pytest.approx(0.5)
    assert times_allowed(run(1.0, 0.005, 0.002), strict) == pytest.approx(2.0)
    assert times_allowed(run(1.0, 0.005, 0.002), OBJECTIVE.model_copy(update={"errors_ratio": 0.0})) == math.inf
    assert times_allowed(run(1.0, 0.0).model_copy(update={"lag_grows": True}), OBJECTIVE) == pytest.approx(100.0)


def test_a_run_that_was_far_over_clearly_below_one_that_held_leaves_no_upper_limit() -> None:
    runs = on_a_curve(60.0)
    slow = run(930.0, 0.5)
    assert not contradict(runs, OBJECTIVE)
    assert contradict([*runs, slow], OBJECTIVE)
    assert crossing([*runs, slow], OBJECTIVE).high is None
    assert not contradict([*runs, run(990.0, 0.5)], OBJECTIVE), "the rates are too near each other"


def test_one_run_alone_has_an_answer() -> None:
    found = crossing([run(1000.0, 0.0)], OBJECTIVE)
    assert found.tps > 1000
