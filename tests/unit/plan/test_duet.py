"""The order of turns, and the plan of a duet."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise

import pytest

from plimsoll.plan.build import build_plan
from plimsoll.plan.order import order_of_turns
from plimsoll.spec.study import StudySpec, parse_study

STUDY = """
[study]
name = "s"
{design}
levels = {{ connections = [1, 4] }}
warm_up = "10s"
duration = "30s"
[[workload]]
name = "w"
kind = "oltp_read_only"
"""
SYSTEM = '[[system]]\nname = "{}"\n[system.server]\nmanaged = "mariadb"\n'


def spec(*systems: str, design: str = 'design = "duet"\nrounds = 2') -> StudySpec:
    return parse_study(STUDY.format(design=design) + "".join(map(SYSTEM.format, systems)))


@pytest.mark.parametrize("count", [2, 3, 5])
def test_each_sweep_has_one_pair_of_each_two_systems_in_tossed_order(count: int) -> None:
    sweeps, couples = 200, list(combinations(range(count), 2))
    turns = order_of_turns(count, sweeps, seed=1)
    pairs = list(zip(turns[::2], turns[1::2], strict=True))
    for number, (first, second) in enumerate(pairs):
        assert (first.pair, first.position, second.pair, second.position) == (number, 0, number, 1)
        assert (first.side, first.against) == (second.against, second.side)
    for at in range(0, len(pairs), len(couples)):
        sweep = {tuple(sorted((first.side, first.against))) for first, _ in pairs[at : at + len(couples)]}
        assert sweep == set(couples)
    order = Counter((first.side, second.side) for first, second in pairs)
    assert all(0.35 * sweeps < order[couple] < 0.65 * sweeps for couple in couples), "a coin decides who is first"
    assert order_of_turns(count, sweeps, seed=1) == turns != order_of_turns(count, sweeps, seed=2)


def test_all_systems_of_a_round_workload_and_level_are_one_block() -> None:
    plan = build_plan(spec("a", "b"))
    assert [(trial.block, trial.repetition, trial.system) for trial in plan.trials] == [
        (block, block // 2, system) for block in range(4) for system in ("a", "b")
    ]
    assert all(one.connections == other.connections for one, other in pairwise(plan.trials) if one.block == other.block)
    # 4 parts of 20 s of warm-up and 30 s of turns, and starts and switches
    assert 200 < plan.estimates.total_s < 300


def test_who_takes_part_is_part_of_what_is_measured() -> None:
    ids = {trial.trial_id for trial in build_plan(spec("a", "b")).trials}
    assert not ids & {trial.trial_id for trial in build_plan(spec("a", "b", "c")).trials}
    assert not ids & {trial.trial_id for trial in build_plan(spec("a", "b", design="repetitions = 2")).trials}
    assert ids == {trial.trial_id for trial in build_plan(spec("b", "a")).trials}, "their order is not"
