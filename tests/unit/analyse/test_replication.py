"""Systems with replicas: who did what, what a growing lag takes away, what another replica adds, what commits cost."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.answers.size import size
from plimsoll.analyse.explain.replication import delay_ms
from plimsoll.analyse.explain.replication_model import FleetCosts, LagState
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.capacities import judged_run
from plimsoll.analyse.trial.trial_summary import summarise
from plimsoll.guide.size import worded
from plimsoll.record.capacity import CapacityObjective, RunRole, RunVerdict
from support.replicated import GROWING_S, LOST, Fleet, recording

EACH = range(3)


def fleets(*counts: int, tps: dict[int, float], **more: object) -> Analysis:
    """Three repetitions of a system for each number of replicas, with a little noise."""
    random = np.random.default_rng(4)
    made = [
        recording(
            Fleet(system=f"r{count}", replicas=count, tps=tps[count] * (1 + 0.004 * random.normal()), **more),
            repetition=repetition,
        )
        for repetition in EACH
        for count in counts
    ]
    return analyse("made", made)


def test_each_transaction_counts_once_and_each_server_for_itself() -> None:
    one = summarise(recording(Fleet(replicas=2, tps=1000), outages=(LOST,)))
    assert one is not None
    assert one.throughput_tps == pytest.approx(1000)
    assert [server.throughput_tps for server in one.servers] == pytest.approx([200, 400, 400])
    assert [server.role for server in one.servers] == ["source", "replica", "replica"]
    assert sum(server.written_tps for server in one.servers) == pytest.approx(200)
    assert one.instances_tps == {}, "replicas divide reads by a policy: none lags behind the source"
    assert one.servers[1].outages_s == (2.5,)
    assert one.resources.per_s["apply_cpu_s"] == pytest.approx(2 * 200 * 0.001)


def test_apply_cost_and_processor_time_per_transaction() -> None:
    (level,) = analyse(
        "made", [recording(Fleet(replicas=2, read_ms=0.5, apply_ms=1.25, write_ms=2.0))]
    ).replication.levels
    source, first, _ = level.servers
    assert source.cpu_ms_per_transaction == pytest.approx(2.0)
    assert first.cpu_ms_per_transaction == pytest.approx(0.5)
    assert first.apply_ms == pytest.approx(1.25)
    assert first.applied_tps == pytest.approx(level.written_tps)
    assert first.stale_ratio == pytest.approx(0.01)
    assert first.wait_ms_per_read == pytest.approx(0.2)


def test_the_time_of_a_transaction_has_no_appliers_in_it() -> None:
    analysis = analyse("made", [recording(Fleet(replicas=2, apply_ms=3.0))])
    (level,) = analysis.where_time[0].levels
    assert level.parts_ms["server-cpu"] == pytest.approx(0.8 * 0.5 + 0.2 * 2.0)


def test_a_growing_lag_is_warned_of_and_is_no_capacity() -> None:
    made = [recording(Fleet(lag_s=GROWING_S), repetition=repetition) for repetition in EACH]
    analysis = analyse("made", made, objective_ms_p99=1000.0)
    assert "replica-lag-grows" in [warning.code for warning in analysis.warnings]
    assert analysis.answer[0].code == "lag-grows"
    (cell,) = analysis.curves[0].cells
    assert cell.growing_replicas == ("a/1",)
    within = next(one for one in analysis.answer if one.code in ("within-objective", "objective-missed"))
    assert within.level is None
    assert not size(analysis, tps=100.0).fits
    assert (
        size(analyse("made", [recording(Fleet(), repetition=one) for one in EACH]), tps=100.0).systems[0].reason.code
        != "objective-not-met"
    )


def test_a_capacity_search_judges_a_growing_lag_as_over_the_objective() -> None:
    objective = CapacityObjective(response_ms_p99=1000.0)
    verdicts = []
    for lag_s in (None, GROWING_S):
        made = recording(Fleet(lag_s=lag_s))
        level = made.trial.level.model_copy(update={"rate_tps": 1000.0})
        at_rate = type(made)(
            made.trial.model_copy(update={"level": level}), made.environment, made.outcome, made.tables
        )
        run = judged_run(at_rate, RunRole.CONFIRM, objective)
        verdicts.append((run.verdict, run.lag_grows, run.counted_over_ratio))
    assert verdicts[0] == (RunVerdict.UNDECIDED, False, 0.0)  # too short to hold
    assert verdicts[1] == (RunVerdict.DOES_NOT_HOLD, True, 1.0)


def test_lag_is_told_for_each_replica_and_trial() -> None:
    stall = tuple(max(0.0, 5.0 - abs(second - 10.0)) + 0.03 for second in range(22))
    (level,) = analyse("made", [recording(Fleet(lag_s=stall))]).replication.levels
    (lag,) = level.servers[1].lag
    assert lag.state is LagState.BOUNDED
    assert lag.largest_s == pytest.approx(5.04)
    assert len(lag.lag_s) == 20
    assert not level.servers[0].lag


def test_settings_of_replication_are_no_finding() -> None:
    def with_variables(fleet: Fleet) -> object:
        made = recording(fleet)
        own = {"innodb_buffer_pool_size": "1073741824", "server_id": "1", "read_only": "OFF"}
        instances = tuple(
            instance.model_copy(
                update={"variables": {**own, "server_id": str(n + 1), "read_only": "ON" if n else "OFF"}}
            )
            for n, instance in enumerate(made.environment.instances)
        )
        environment = made.environment.model_copy(update={"instances": instances})
        return type(made)(made.trial, environment, made.outcome, made.tables)

    both = [with_variables(Fleet(system="a", replicas=1)), with_variables(Fleet(system="b", replicas=0))]
    assert [variable.variable for variable in analyse("made", both).variables if not variable.expected] == []


COSTS = FleetCosts(
    read_ms=0.5,
    write_ms=2.0,
    apply_ms=1.0,
    write_ratio=0.2,
    source_cpu_s=1.0,
    replica_cpu_s=1.0,
    is_shared=False,
    is_placed=True,
)


def test_the_arithmetic_of_a_fleet() -> None:
    """By hand: reads 0.4 ms, writes 0.4 ms, applying 0.2 ms of each transaction."""
    assert COSTS.expected_tps(0) == pytest.approx(1 / 0.0008)
    assert COSTS.expected_tps(1) == pytest.approx(1 / 0.0006)
    assert COSTS.expected_tps(2) == pytest.approx(min(2 / 0.0008, 1 / 0.0004))
    assert COSTS.expected_tps(9) == COSTS.most_tps == pytest.approx(2500)
    shared = COSTS.model_copy(update={"is_shared": True})
    assert [shared.expected_tps(k) for k in (0, 1, 2)] == pytest.approx([1250, 1000, 1 / 0.0012])


def test_the_first_replica_helps_and_the_third_does_not() -> None:
    tps = {k: COSTS.expected_tps(k) for k in (0, 1, 2, 3)}
    (scaling,) = fleets(0, 1, 2, 3, tps=tps).replication.scaling
    assert [point.replicas for point in scaling.points] == [0, 1, 2, 3]
    assert [step.verdict for step in scaling.steps] == ["faster", "faster", "equal"]
    assert (scaling.stops_after, scaling.stops_after_expected) == (2, 2)
    assert scaling.costs is not None
    assert scaling.costs.read_ms == pytest.approx(0.5, rel=0.02)
    assert scaling.costs.write_ms == pytest.approx(2.0, rel=0.02)
    assert scaling.costs.apply_ms == pytest.approx(1.0, rel=0.02)
    assert not scaling.costs.is_shared
    assert scaling.points[3].deviation_ratio == pytest.approx(0.0, abs=0.03)
    assert scaling.read_ratio == pytest.approx(0.8, abs=0.01)


def test_what_noise_hides_is_not_resolved() -> None:
    made = [
        recording(Fleet(system=f"r{count}", replicas=count, tps=tps), repetition=repetition)
        for count, each in ((1, (900, 1300, 1000)), (2, (1200, 950, 1150)))
        for repetition, tps in enumerate(each)
    ]
    (scaling,) = analyse("made", made).replication.scaling
    assert scaling.steps[0].verdict == "unresolved"
    assert (scaling.stops_after, scaling.unresolved_from) == (None, 1)
    assert scaling.costs is None, "without the cell of no replicas there is no cost of a write"


def test_a_step_to_a_growing_lag_is_no_gain() -> None:
    lag = {1: None, 2: GROWING_S}
    made = [
        recording(
            Fleet(system=f"r{count}", replicas=count, tps=1000 * count + repetition, lag_s=lag[count]),
            repetition=repetition,
        )
        for repetition in EACH
        for count in (1, 2)
    ]
    (scaling,) = analyse("made", made).replication.scaling
    assert scaling.stops_after == 1


def test_servers_without_processors_of_their_own_share_them() -> None:
    tps = {k: COSTS.model_copy(update={"is_shared": True}).expected_tps(k) for k in (0, 1, 2)}
    (scaling,) = fleets(0, 1, 2, tps=tps, is_placed=False).replication.scaling
    assert scaling.costs is not None
    assert (scaling.costs.is_shared, scaling.costs.is_placed) == (True, False)
    assert scaling.points[2].deviation_ratio == pytest.approx(0.0, abs=0.03)


def test_commits_by_acknowledging_replicas_and_delay() -> None:
    ways = (("async", "1", "none", 4.0), ("semisync", "1", "none", 5.0), ("semisync", "1", "2ms", 9.0))
    made = [
        recording(
            Fleet(
                system=f"{way} {delay}",
                replicas=2,
                write_response_ms=ms * (1 + 0.002 * repetition),
                stated=(("replication", way), ("semisync_replicas", count), ("replication_delay", delay)),
            ),
            repetition=repetition,
        )
        for repetition in EACH
        for way, count, delay, ms in ways
    ]
    (cost,) = analyse("made", made).replication.commits
    assert [(point.acknowledging, point.delay_ms) for point in cost.points] == [(0, 0.0), (1, 0.0), (1, 2.0)]
    assert [point.verdict for point in cost.points] == ["", "slower", "slower"]
    assert cost.points[2].ratio is not None
    assert cost.points[2].ratio.value == pytest.approx(9.05 / 4.05, rel=0.01)


@pytest.mark.parametrize(("text", "ms"), [("2ms", 2.0), ("0.5 s", 500.0), ("none", 0.0), ("250us", 0.25)])
def test_a_delay_as_it_is_stated(text: str, ms: float) -> None:
    assert delay_ms(text) == ms


def test_size_takes_the_arithmetic_of_the_fleet() -> None:
    tps = {k: COSTS.expected_tps(k) for k in (0, 1)}
    analysis = fleets(0, 1, tps=tps)
    enough = size(analysis, tps=2300.0, headroom=0.0).scale_out[0]
    assert (enough.replicas, enough.is_shared) == (2, False)
    assert "as source with 2 replicas" in worded(size(analysis, tps=2300.0, headroom=0.0)).scale_out[0].text
    none = worded(size(analysis, tps=9000.0, headroom=0.0)).scale_out[0]
    assert none.replicas is None
    assert none.text.startswith("No number of replicas of r0 exceeds 2,4"), none.text
