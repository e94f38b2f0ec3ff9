"""Plans: all trials, each once, in an order that is random but repeatable; ids that depend on nothing else."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.plan.build import START_S, build_plan, former_ids
from plimsoll.plan.disk import OTHER_BYTES, SYSTEM_BYTES, data_bytes, disk_bytes
from plimsoll.spec.clients import Clients
from plimsoll.spec.levels import Levels
from plimsoll.spec.study import StudySpec, parse_study
from plimsoll.spec.tpcc import TpccSpec

SYSTEMS = """
server = { managed = "mariadb" }
[[system]]
name = "b"
server = { managed = "mariadb", options = { sync_binlog = 0 } }
"""


def study(levels: tuple[int, ...] = (1, 4), repetitions: int = 3, seed: int = 1, extra: str = "") -> StudySpec:
    return parse_study(
        f"""
[study]
name = "s"
levels = {{ connections = {list(levels)} }}
repetitions = {repetitions}
seed = {seed}
duration = "10s"
warm_up = "2s"
reset = "per_system"
{extra}
[[workload]]
name = "ro"
kind = "oltp_read_only"
[[workload]]
name = "rw"
kind = "oltp_read_write"
[[system]]
name = "a"
"""
        + SYSTEMS
    )


@given(
    levels=st.lists(st.integers(1, 500), min_size=1, max_size=5, unique=True),
    repetitions=st.integers(1, 4),
    seed=st.integers(0, 2**32),
)
def test_a_plan_is_a_permutation_of_all_cells_and_repetitions(levels: list[int], repetitions: int, seed: int) -> None:
    plan = build_plan(study(tuple(levels), repetitions, seed))
    found = Counter((t.system, t.workload, t.connections, t.repetition) for t in plan.trials)
    wanted = Counter((s, w, c, r) for s in ("a", "b") for w in ("ro", "rw") for c in levels for r in range(repetitions))
    assert found == wanted
    assert len({t.trial_id for t in plan.trials}) == len(plan.trials)


def test_rates_are_levels_and_part_of_a_trials_identity() -> None:
    spec = study((16,), repetitions=2)
    at_rates = spec.model_copy(
        update={"study": spec.study.model_copy(update={"levels": Levels(connections=(16,), rate_tps=(500, 12.5))})}
    )
    plan = build_plan(at_rates)
    assert Counter((t.connections, t.rate_tps) for t in plan.trials) == {(16, 500.0): 8, (16, 12.5): 8}
    assert len({t.trial_id for t in plan.trials}) == len({t.seed for t in plan.trials}) == 16
    assert any(t.trial_id.startswith("a-ro-12-5tps-r0-") for t in plan.trials)
    assert not {t.trial_id for t in plan.trials} & {t.trial_id for t in build_plan(spec).trials}


def test_a_block_is_one_system_and_repetitions_are_the_outer_loop() -> None:
    plan = build_plan(study())
    assert all(len({t.system for t in plan.trials if t.block == block}) == 1 for block in range(6))
    assert [t.repetition for t in plan.trials] == sorted(t.repetition for t in plan.trials)


def test_all_systems_meet_workloads_and_levels_in_one_order_per_repetition() -> None:
    plan = build_plan(study(levels=(1, 2, 4, 8)))
    for repetition in range(3):
        orders = {
            system: [
                (t.workload, t.connections) for t in plan.trials if (t.system, t.repetition) == (system, repetition)
            ]
            for system in ("a", "b")
        }
        assert orders["a"] == orders["b"]
    first = [next(t.system for t in plan.trials if t.repetition == repetition) for repetition in range(3)]
    assert first in (["a", "b", "a"], ["b", "a", "b"])


def test_more_repetitions_leave_the_order_of_the_earlier_ones() -> None:
    before = [t.trial_id for t in build_plan(study()).trials]
    assert [t.trial_id for t in build_plan(study(repetitions=5)).trials][: len(before)] == before


def test_the_same_study_gives_the_same_plan_and_another_seed_another_order() -> None:
    order = [(t.system, t.workload, t.connections) for t in build_plan(study()).trials]
    assert order == [(t.system, t.workload, t.connections) for t in build_plan(study()).trials]
    assert order != [(t.system, t.workload, t.connections) for t in build_plan(study(seed=2)).trials]


def test_adding_a_level_or_a_repetition_invalidates_nothing() -> None:
    before = {t.trial_id for t in build_plan(study()).trials}
    assert before < {t.trial_id for t in build_plan(study(levels=(1, 2, 4), repetitions=4)).trials}


def test_what_changes_a_trial_changes_its_id() -> None:
    before = {t.trial_id for t in build_plan(study()).trials}
    spec = study()
    longer = spec.model_copy(update={"study": spec.study.model_copy(update={"duration": 20.0})})
    assert before.isdisjoint(t.trial_id for t in build_plan(longer).trials)


def test_how_clients_behave_is_an_input_of_a_trial_unless_nobody_says() -> None:
    spec = study()
    trials = build_plan(spec).trials

    def with_clients(clients: Clients) -> tuple[str, ...]:
        section = spec.study.model_copy(update={"clients": clients})
        return tuple(t.trial_id for t in build_plan(spec.model_copy(update={"study": section})).trials)

    assert with_clients(Clients()) == tuple(t.trial_id for t in trials)
    assert set(with_clients(Clients(all_connections=True))).isdisjoint(t.trial_id for t in trials)
    impatient = Clients.model_validate({"reconnect": {"read_timeout": "5s"}})
    assert set(with_clients(impatient)).isdisjoint(t.trial_id for t in trials)


def test_timeouts_leave_trials_what_they_were_before_there_were_any() -> None:
    said = Clients.model_validate({"reconnect": {"give_up": "10m"}}).identity()["reconnect"]
    assert said == {"pause": 0.01, "pause_max": 0.5, "back_ratio": 1.0, "give_up": 600.0}


def changed(spec: StudySpec, **section: object) -> StudySpec:
    return spec.model_copy(update={"study": spec.study.model_copy(update=section)})


def ids(spec: StudySpec, former: dict[str, str] | None = None) -> set[str]:
    return {trial.trial_id for trial in build_plan(spec, former).trials}


def test_what_does_not_change_what_is_measured_is_no_input_of_a_trial() -> None:
    spec = study()
    assert spec.study.warm_up is not None
    for other in ({"settle_limit": 5.0}, {"warm_up_limit": 300.0}, {"settle_limit": 1.0, "budget": 1e6}):
        assert ids(changed(spec, **other)) == ids(spec)
    found_out = changed(spec, warm_up=None)
    assert ids(changed(found_out, warm_up_limit=300.0)).isdisjoint(ids(found_out))


def test_where_certificates_lie_is_no_input_of_a_trial() -> None:
    def reached(**files: str) -> StudySpec:
        spec = study()
        target = {"server": None, "target": "mysql://u@h/d", "tls": "verify_ca", "reset": "never", **files}
        return spec.model_copy(update={"system": tuple(one.model_copy(update=target) for one in spec.system)})

    assert ids(reached(ca="/etc/a.pem")) == ids(reached(ca="/srv/b.pem", cert="/c", key="/k"))
    assert ids(reached(ca="/etc/a.pem")).isdisjoint(ids(reached(ca="/etc/a.pem", tls="required")))


def test_trials_that_were_recorded_under_the_former_rule_keep_their_ids() -> None:
    before = changed(study(), settle_limit=5.0)
    former = former_ids(before)
    assert set(former) == ids(before)
    assert set(former.values()).isdisjoint(former)
    some = dict(list(former.items())[:3])
    plan = build_plan(changed(before, settle_limit=9.0), some)
    found = {trial.trial_id for trial in plan.trials}
    assert set(some.values()) < found
    assert found - set(some.values()) == ids(before) - set(some)
    assert plan.former_ids == some
    again = build_plan(changed(before, settle_limit=2.0), plan.former_ids)
    assert again.trials == plan.trials


def test_ids_are_what_they_were_where_nobody_stated_such_options() -> None:
    assert former_ids(study()) == {}


def test_waiting_for_quiet_servers_is_told_beside_the_estimate() -> None:
    spec = changed(study(), settle_limit=30.0)
    estimates = build_plan(spec).estimates
    assert estimates.settle_s_max == 30.0 * len(build_plan(spec).trials)
    assert estimates.total_s == build_plan(study()).estimates.total_s


def test_cost_is_no_input_of_a_trial() -> None:
    spec = study()
    costly = tuple(s.model_copy(update={"cost_per_month": 9.0}) for s in spec.system)
    assert build_plan(spec).trials == build_plan(spec.model_copy(update={"system": costly})).trials


def with_instances(count: int) -> StudySpec:
    spec = study(levels=(4, 8))
    workloads = tuple(one.model_copy(update={"tables": 4}) for one in spec.workload)
    servers = [one.server.model_copy(update={"instances": count}) for one in spec.system if one.server]
    systems = tuple(one.model_copy(update={"server": server}) for one, server in zip(spec.system, servers, strict=True))
    return spec.model_copy(update={"workload": workloads, "system": systems})


def test_a_trial_of_one_server_is_what_it_was_before_there_could_be_more() -> None:
    ids = [trial.trial_id for trial in build_plan(study(levels=(1,), repetitions=1)).trials]
    assert sorted(ids) == [
        "a-ro-c1-r0-0227d6319d", "a-rw-c1-r0-4a4add03ad", "b-ro-c1-r0-90b4553040", "b-rw-c1-r0-540b423775",
    ]  # fmt: skip


def test_the_number_of_instances_is_an_input_of_a_trial_and_in_its_plan() -> None:
    one, two = build_plan(with_instances(1)), build_plan(with_instances(2))
    assert {trial.instances for trial in two.trials} == {2}
    assert not {trial.trial_id for trial in one.trials} & {trial.trial_id for trial in two.trials}


def test_space_and_starts_grow_with_instances_and_rows_do_not() -> None:
    one, two = with_instances(1), with_instances(2)
    assert data_bytes(two, 2) == data_bytes(one, 1)
    more = disk_bytes(two, two.system[0]) - disk_bytes(one, one.system[0])
    assert more == 2 * SYSTEM_BYTES + sum(OTHER_BYTES.values())
    slower = build_plan(two).estimates.total_s - build_plan(one).estimates.total_s
    assert slower == pytest.approx(START_S * len(one.system) * one.study.repetitions)


def test_looking_at_consistency_takes_time() -> None:
    def estimated_s(consistency: str) -> float:
        orders = TpccSpec.model_validate({"warehouses": 10, "consistency": consistency})
        return build_plan(study().model_copy(update={"workload": (orders,)})).estimates.trial_s

    assert estimated_s("each_trial") - estimated_s("never") == pytest.approx(5, rel=0.1)


def test_seeds_differ_between_trials() -> None:
    trials = build_plan(study()).trials
    assert len({t.seed for t in trials}) == len(trials)


def test_estimates_grow_with_what_is_asked() -> None:
    small, large = build_plan(study()).estimates, build_plan(study(levels=(1, 2, 4, 8))).estimates
    assert small.trial_s == large.trial_s
    assert small.total_s < large.total_s
