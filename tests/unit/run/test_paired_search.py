"""Paired ramps as they run: order, what is frozen meanwhile, when it ends, and what is kept of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.support.queue_server import machine_at

from plimsoll.analyse.trial.samples import MachineSeconds
from plimsoll.errors import NothingCompletedError
from plimsoll.plan.capacity import CONFIRMED_RATIO, LOWER_RATIO, PAIRS_MOST, Step
from plimsoll.record.capacity import Capacity, CapacityObjective, CapacityRun, RunRole, RunVerdict, SearchRecord
from plimsoll.run.capacity_search import STEP_OVERHEAD_S
from plimsoll.run.events import RampsCompared, SearchEnded
from plimsoll.run.planning import Budget
from plimsoll.run.study_searches import Climber, PairedSearch
from plimsoll.spec.study import parse_study

OBJECTIVE = CapacityObjective(response_ms_p99=50.0)
STUDY = """
[study]
name = "s"
design = "duet"
duration = "10s"
warm_up = "1s"
levels = { connections = [8], capacity = { response_p99 = "50ms" } }
[[workload]]
name = "w"
kind = "oltp_point_select"
[[system]]
name = "a"
server = { managed = "mariadb" }
[[system]]
name = "b"
server = { managed = "mariadb", options = { innodb_flush_log_at_trx_commit = 2 } }
"""


@dataclass
class Log:
    said: list[Any] = field(default_factory=list)

    def say(self, event: Any) -> None:
        self.said.append(event)


@dataclass
class Frozen:
    """A freezer that notes whether it is frozen."""

    is_frozen: bool = False

    def freeze(self) -> None:
        self.is_frozen = True

    def thaw(self) -> None:
        self.is_frozen = False


@dataclass
class MadeUp:
    """A system that does what it is told in no time: the place of `StudySearch`.

    Attributes:
        knee_tps: Of its ramps; a function of the pair.
        holds_tps: The highest rate that it holds.
        recorded: So many pairs need not run.
        missing: But for this one.
        disturbed: So many of its first steady runs meet a disturbed machine.
        speed: Of the machine in its steady runs; None where that is not known.
    """

    name: str
    knee_tps: Callable[[int], float | None]
    holds_tps: float = math.inf
    swept_tps: float = 1000.0
    recorded: int = 0
    missing: int | None = None
    disturbed: int = 0
    speed: float | None = None
    ran: list[Step] = field(default_factory=list)
    kept: list[tuple[Capacity, bool]] = field(default_factory=list)
    stopped: str | None = None
    others: list[Frozen] = field(default_factory=list)
    spec: Any = field(default_factory=lambda: parse_study(STUDY))

    @property
    def planned(self) -> Any:
        return SimpleNamespace(system=self.name)

    @property
    def place(self) -> dict[str, object]:
        return {"search_id": self.name, "system": self.name, "workload": "w", "repetition": 0}

    def is_recorded(self, step: Step) -> bool:
        return step.ramp is not None and step.ordinal < self.recorded and step.ordinal != self.missing

    def record(self, found: Capacity, *, is_finished: bool) -> SearchRecord:
        return SearchRecord(**self.place, is_finished=is_finished, capacity=found)

    def keep(self, found: Capacity, *, is_finished: bool, stopped: str | None = None) -> None:
        self.stopped = stopped
        self.kept.append((found, is_finished))

    def execute(self, step: Step, machines: dict[str, MachineSeconds]) -> CapacityRun:
        assert all(other.is_frozen != self.is_recorded(step) for other in self.others)
        self.ran.append(step)
        rate_tps = step.rate_tps
        if rate_tps is None and step.ramp is None and not self.swept_tps:
            raise NothingCompletedError("nothing")
        holds = rate_tps is not None and rate_tps <= self.holds_tps
        steady_count = sum(one.role is RunRole.CONFIRM for one in self.ran)
        trial_id = f"{self.name}-{len(self.ran)}"
        if self.speed is not None and step.role is RunRole.CONFIRM:
            machines[trial_id] = machine_at(np.full(20, self.speed))
        return CapacityRun(
            trial_id=trial_id,
            role=step.role,
            connections=step.connections,
            rate_tps=rate_tps,
            throughput_tps=self.swept_tps,
            over_ratio=0.0 if holds else 0.5,
            duration_s=step.duration_s,
            verdict=RunVerdict.HOLDS if holds else RunVerdict.DOES_NOT_HOLD,
            knee_tps=None if step.ramp is None else self.knee_tps(step.ordinal),
            pair=None if step.ramp is None else step.ordinal,
            is_disturbed=step.role is RunRole.CONFIRM and steady_count <= self.disturbed,
        )


def noisy(tps: float, seed: int, spread: float = 0.05) -> Callable[[int], float]:
    chance = np.random.default_rng(seed).normal(0.0, spread, PAIRS_MOST)
    return lambda pair: tps * math.exp(float(chance[pair]))


def searched(*systems: MadeUp, left_s: float | None = None) -> Log:
    """Runs a search whose budget has so many seconds left, all the time."""
    log, freezers = Log(), [Frozen() for _ in systems]
    for index, system in enumerate(systems):
        system.others = [freezer for place, freezer in enumerate(freezers) if place != index]
    climbers = [Climber(system, freezer) for system, freezer in zip(systems, freezers, strict=True)]  # type: ignore[arg-type]
    budget = Budget(left_s, 0.0, clock=lambda: 0.0)
    assert PairedSearch(climbers, budget, log).run() == (left_s != 10.0)  # type: ignore[arg-type]
    assert not any(freezer.is_frozen for freezer in freezers)
    return log


def ramps_of(one: MadeUp) -> list[Step]:
    return [step for step in one.ran if step.ramp is not None]


def test_it_ends_when_the_difference_is_decided_and_all_ramps_are_alike() -> None:
    a, b = MadeUp("a", noisy(1000.0, 1)), MadeUp("b", noisy(1400.0, 2), swept_tps=1300.0)
    log = searched(a, b)
    assert 6 <= len(ramps_of(a)) == len(ramps_of(b)) < 15
    assert {step.ramp for one in (a, b) for step in ramps_of(one)} == {ramps_of(a)[0].ramp}
    assert ramps_of(a)[0].ramp.from_tps == 100.0  # type: ignore[union-attr]
    last = [event for event in log.said if isinstance(event, RampsCompared)][-1]
    (ratio,) = last.ratios
    assert (ratio.base, ratio.system, last.pair_count) == ("a", "b", len(ramps_of(a)))
    assert ratio.ratio == pytest.approx(1.4, rel=0.1)
    assert ratio.low is not None
    assert ratio.low > 1


def test_a_rate_clearly_below_the_knee_is_confirmed_and_a_lower_one_where_it_does_not_hold() -> None:
    a, b = MadeUp("a", noisy(1000.0, 1)), MadeUp("b", noisy(1400.0, 2), holds_tps=760.0)
    log = searched(a, b)
    confirmed = {one.name: [step.rate_tps for step in one.ran if step.role is RunRole.CONFIRM] for one in (a, b)}
    assert confirmed["a"] == [pytest.approx(1000 * CONFIRMED_RATIO, rel=0.1)]
    assert confirmed["b"] == [pytest.approx(1400 * CONFIRMED_RATIO * LOWER_RATIO**tried, rel=0.1) for tried in (0, 1)]
    found, is_finished = b.kept[-1]
    assert is_finished
    assert (found.low, found.high, found.capacity_tps) == (confirmed["b"][1], confirmed["b"][0], None)
    assert [event.held_tps for event in log.said if isinstance(event, SearchEnded)] == [confirmed["a"][0], found.low]


def test_a_steady_run_on_a_disturbed_machine_is_made_again_and_nothing_rests_on_it() -> None:
    a, b = MadeUp("a", noisy(1000.0, 1)), MadeUp("b", noisy(1400.0, 2), disturbed=2)
    searched(a, b)
    steady = [run for run in b.kept[-1][0].runs if run.role is RunRole.CONFIRM]
    assert [run.made_again for run in steady] == [True, True, False]
    assert len({run.rate_tps for run in steady}) == 1
    assert [step.ordinal for step in b.ran if step.role is RunRole.CONFIRM] == [0, 1, 2]
    assert [step.ordinal for step in a.ran if step.role is RunRole.CONFIRM] == [0]


def test_a_steady_run_is_judged_at_the_end_by_those_of_all_systems() -> None:
    """As the guide judges it; while it ran nothing showed how slow the machine was."""
    a, b = MadeUp("a", noisy(1000.0, 1), speed=0.5), MadeUp("b", noisy(1400.0, 2), speed=1.0)
    searched(a, b)
    marks = [[run.is_disturbed for run in one.kept[-1][0].runs if run.role is RunRole.CONFIRM] for one in (a, b)]
    assert marks == [[True], [False]]


def test_runs_that_are_made_again_leave_later_systems_the_time_for_theirs() -> None:
    a, b = (MadeUp(name, noisy(1000.0, seed), recorded=9, disturbed=2) for name, seed in (("a", 1), ("b", 2)))
    one_s = 1.0 + 10.0 + STEP_OVERHEAD_S  # the study's warm-up and duration
    searched(a, b, left_s=1.5 * one_s)
    steady = [[step.ordinal for step in one.ran if step.role is RunRole.CONFIRM] for one in (a, b)]
    assert steady == [[0], [0, 1, 2]]
    assert not any(run.made_again for run in a.kept[-1][0].runs), "nothing took its place"


def test_a_machine_that_stays_disturbed_is_given_up_in_time() -> None:
    a, b = MadeUp("a", noisy(1000.0, 1)), MadeUp("b", noisy(1400.0, 2), disturbed=99)
    searched(a, b)
    steady = [run for run in b.kept[-1][0].runs if run.role is RunRole.CONFIRM]
    assert [run.made_again for run in steady] == [True] * 4 + [False], "the last one stays, and is marked"
    assert steady[-1].is_disturbed


def test_equal_systems_go_on_until_the_time_is_used_up() -> None:
    a, b = MadeUp("a", noisy(1000.0, 1)), MadeUp("b", noisy(1000.0, 2))
    searched(a, b)
    assert len(ramps_of(a)) == PAIRS_MOST
    short = MadeUp("a", noisy(1000.0, 1)), MadeUp("b", noisy(1000.0, 2))
    searched(*short, left_s=10.0)
    assert ramps_of(short[0]) == []


def test_what_is_recorded_is_read_though_no_time_is_left() -> None:
    a, b = (MadeUp(name, noisy(1000.0, seed), recorded=9) for name, seed in (("a", 1), ("b", 2)))
    log = searched(a, b, left_s=0.0)
    assert len(ramps_of(a)) == len(ramps_of(b)) == 9
    assert [event.pair_count for event in log.said if isinstance(event, RampsCompared)] == list(range(2, 10))


def test_a_ramp_without_a_knee_has_no_pair() -> None:
    a, b = MadeUp("a", noisy(1000.0, 1)), MadeUp("b", lambda _pair: None)
    searched(a, b)
    assert len(ramps_of(a)) == len(ramps_of(b)) == 3, "nothing can be compared with a system without knees"
    assert not [step for step in b.ran if step.role is RunRole.CONFIRM]
    assert b.kept[-1][0].low is None


def test_a_ratio_is_decided_though_ramps_are_as_like_as_two_peas() -> None:
    a, b = MadeUp("a", noisy(1000.0, 1, 0.002)), MadeUp("b", noisy(1500.0, 2, 0.002))
    searched(a, b)
    assert len(ramps_of(a)) == 6


def test_a_pair_that_is_missing_among_recorded_ones_is_left_out_without_time() -> None:
    a, b = (MadeUp(name, noisy(1000.0, seed), recorded=9, missing=3) for name, seed in (("a", 1), ("b", 2)))
    searched(a, b, left_s=0.0)
    assert [step.ordinal for step in ramps_of(a)] == [0, 1, 2, 4, 5, 6, 7, 8]


def test_without_time_for_a_pair_the_search_is_not_finished_and_nothing_is_said_of_rates() -> None:
    short = MadeUp("a", noisy(1000.0, 1)), MadeUp("b", noisy(1000.0, 2))
    log = searched(*short, left_s=10.0)
    assert not short[0].kept[-1][1]
    assert not [event for event in log.said if isinstance(event, SearchEnded)]


def test_ramps_are_no_sign_that_no_rate_holds() -> None:
    a, b = MadeUp("a", noisy(1000.0, 1)), MadeUp("b", noisy(1400.0, 2), holds_tps=1.0)
    searched(a, b)
    found, is_finished = b.kept[-1]
    assert is_finished
    assert found.low is None
    assert not found.holds_nowhere


def test_the_steady_run_has_as_many_arrivals_as_any_other_at_a_rate() -> None:
    a, b = MadeUp("a", noisy(10.0, 1)), MadeUp("b", noisy(14.0, 2))
    searched(a, b)
    (confirmed,) = [step for step in a.ran if step.role is RunRole.CONFIRM]
    assert (confirmed.rate_tps or 0.0) * confirmed.duration_s >= 290


def test_ramps_stop_by_the_interval_that_all_workloads_together_will_have() -> None:
    counts = []
    for workloads in (1, 6):
        a, b = (MadeUp(name, noisy(tps, seed, 0.12)) for name, tps, seed in (("a", 1000.0, 1), ("b", 1300.0, 2)))
        for index in range(1, workloads):
            more = a.spec.workload[0].model_copy(update={"name": f"w{index}"})
            a.spec = a.spec.model_copy(update={"workload": (*a.spec.workload, more)})
        searched(a, b)
        counts.append(len(ramps_of(a)))
    assert counts[0] < counts[1]


def test_a_server_that_does_nothing_in_the_sweep_is_a_fault_of_it() -> None:
    a, b = MadeUp("a", noisy(1000.0, 1)), MadeUp("b", noisy(1000.0, 2), swept_tps=0.0)
    with pytest.raises(NothingCompletedError, match="b: no transaction"):
        searched(a, b)
    assert a.stopped == b.stopped == "b: no transaction completed in the sweep"
