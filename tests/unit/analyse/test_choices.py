"""Up to which load to choose which system: the ladder agrees with `size`, and is no longer than it has to be."""

from __future__ import annotations

import random

import pytest

from plimsoll.analyse.answers.choices import choices
from plimsoll.analyse.answers.size import HEADROOM, size
from plimsoll.analyse.answers.size_model import Choice, Fit
from plimsoll.analyse.explain.equivalence_model import Durability, DurabilityKind
from plimsoll.analyse.findings.finding_model import Grade
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.curve_model import Curve
from unit.analyse.test_size import analysis, curve

SMALL, MIDDLE, LARGE = (
    curve("small", (4, 1000.0, 5.0)),
    curve("middle", (4, 2000.0, 5.0)),
    curve("large", (8, 3000.0, 5.0)),
)


def ladder(made: Analysis) -> list[Choice]:
    return list(choices(made))


def names(made: Analysis) -> list[str]:
    return [rung.system for rung in choices(made)]


def with_cores(made: Analysis, **cores: int) -> Analysis:
    systems = tuple(system.model_copy(update={"cores": cores.get(system.name)}) for system in made.systems)
    return made.model_copy(update={"systems": systems})


def with_durability(made: Analysis, **kinds: DurabilityKind) -> Analysis:
    systems = tuple(
        system.model_copy(update={"durability": Durability(kind=kinds[system.name], lost_s=1.0)})
        for system in made.systems
    )
    return made.model_copy(update={"systems": systems})


@pytest.mark.parametrize("objective_ms", [None, 50.0])
def test_each_rung_is_good_for_what_size_says(objective_ms: float | None) -> None:
    made = with_cores(analysis(SMALL, MIDDLE, LARGE), small=2, middle=4, large=8)
    made = made.model_copy(update={"objective_ms_p99": objective_ms})
    assert names(made) == ["small", "middle", "large"]
    for rung in choices(made):
        for factor, verdict in ((0.999, True), (1.001, False)):
            answer = size(made, tps=rung.up_to_tps * factor, headroom=HEADROOM, response_p99_ms=objective_ms)
            fit = next(fit for fit in answer.systems if fit.system == rung.system)
            assert (fit.verdict is Fit.FITS) is verdict
            assert fit.grade is rung.grade is Grade.MEASURED or not verdict


@pytest.mark.parametrize("seed", range(40))
def test_whatever_was_measured_the_ladder_says_what_size_says(seed: int) -> None:
    """At the end of each rung its system fits, as the rung says; above the last one, none does."""
    chance = random.Random(seed)
    made = with_cores(
        analysis(*(random_curve(chance, name) for name in "abcde")),
        **{name: chance.choice((2, 4, 8)) for name in "abcde"},
    )
    objective_ms = chance.choice((None, 20.0, 50.0))
    made = made.model_copy(update={"objective_ms_p99": objective_ms})
    rungs = ladder(made)
    assert [rung.up_to_tps for rung in rungs] == sorted(rung.up_to_tps for rung in rungs)
    for rung in rungs:
        answer = size(made, tps=rung.up_to_tps * 0.9999, headroom=HEADROOM, response_p99_ms=objective_ms)
        fit = next(fit for fit in answer.systems if fit.system == rung.system)
        assert (fit.verdict, fit.grade, fit.evidence) == (Fit.FITS, rung.grade, rung.evidence)
        assert (fit.connections, fit.response_p99_ms) == (rung.connections, rung.response_p99_ms)
    beyond_tps = rungs[-1].up_to_tps * 1.0001 if rungs else 1.0
    answer = size(made, tps=beyond_tps, headroom=HEADROOM, response_p99_ms=objective_ms)
    assert not any(fit.verdict is Fit.FITS for fit in answer.systems)


def random_curve(chance: random.Random, name: str) -> Curve:
    base = chance.uniform(500, 5000)
    levels = [
        (connections, base * chance.uniform(0.5, 1.2), chance.choice((None, chance.uniform(5, 80))))
        for connections in (1, 4, 16)
    ]
    return curve(name, *levels, spread=chance.choice((None, 0.02, 0.3)))


def test_figures_that_no_verdict_speaks_for_have_no_rung() -> None:
    """Whether the next run keeps the objective is open: at no load does the system fit."""
    made = analysis(curve("a", (4, 1000.0, 49.8)))
    made = made.model_copy(update={"objective_ms_p99": 50.0})
    assert not size(made, tps=1.0, response_p99_ms=50.0).fits
    assert names(made) == []


def test_a_step_of_a_hair_is_none() -> None:
    costs = {"small": 10.0, "a hair more": 20.0, "large": 50.0}
    hair = curve("a hair more", (4, 1010.0, 5.0))
    assert names(analysis(SMALL, hair, LARGE, costs=costs)) == ["small", "large"]


def test_what_may_be_lost_is_dearer_than_money() -> None:
    """A cheap system that may lose transactions is not chosen where another one keeps them."""
    costs = {"small": 10.0, "middle": 90.0, "large": 50.0}
    kinds = {
        "small": DurabilityKind.AT_POWER_LOSS,
        "middle": DurabilityKind.DURABLE,
        "large": DurabilityKind.AT_POWER_LOSS,
    }
    assert names(with_durability(analysis(SMALL, MIDDLE, LARGE, costs=costs), **kinds)) == ["middle", "large"]


def test_prices_of_systems_elsewhere_do_not_matter() -> None:
    other = curve("other", (4, 50.0, 5.0), workload="v")
    made = analysis(SMALL, LARGE, other, costs={"small": 10.0, "large": 90.0})
    assert [rung.system for rung in choices(made) if rung.workload == "w"] == ["small", "large"]


def test_what_costs_more_and_does_less_has_no_rung() -> None:
    costs = {"small": 10.0, "middle": 90.0, "large": 50.0}
    assert names(analysis(SMALL, MIDDLE, LARGE, costs=costs)) == ["small", "large"]


def test_costs_come_before_cores() -> None:
    costs = {"small": 90.0, "middle": 50.0, "large": 10.0}
    made = with_cores(analysis(SMALL, MIDDLE, LARGE, costs=costs), small=2, middle=4, large=8)
    assert names(made) == ["large"]


@pytest.mark.parametrize("cores", [{}, {"small": 2, "middle": 4}], ids=["nothing is known", "of one not"])
def test_where_nothing_says_which_is_smaller_the_one_that_does_most_is_chosen(cores: dict[str, int]) -> None:
    assert names(with_cores(analysis(SMALL, MIDDLE, LARGE), **cores)) == ["large"]


def test_a_system_that_keeps_its_transactions_is_chosen_as_long_as_it_is_good_for_the_load() -> None:
    kinds = {"small": DurabilityKind.DURABLE, "middle": DurabilityKind.AT_POWER_LOSS, "large": DurabilityKind.DAMAGED}
    made = with_durability(analysis(SMALL, MIDDLE, LARGE), **kinds)
    assert [(rung.system, rung.less_durable is None) for rung in choices(made)] == [
        ("small", True),
        ("middle", False),
        ("large", False),
    ]


def test_durability_is_no_matter_where_nothing_is_written() -> None:
    reads = curve("a", (4, 1000.0, 5.0), workload="r"), curve("b", (4, 2000.0, 5.0), workload="r")
    made = with_durability(analysis(*reads), a=DurabilityKind.DURABLE, b=DurabilityKind.AT_POWER_LOSS)
    workloads = tuple(workload.model_copy(update={"kind": "oltp_read_only"}) for workload in made.workloads)
    assert names(made.model_copy(update={"workloads": workloads})) == ["b"]


def test_systems_that_are_good_for_nearly_as_much_are_named_beside_it() -> None:
    made = with_cores(
        analysis(LARGE, curve("as large", (8, 2900.0, 5.0)), curve("larger", (8, 2950.0, 5.0))),
        **{"large": 8, "as large": 8, "larger": 16},
    )
    (rung,) = ladder(made)
    assert (rung.system, rung.or_systems) == ("large", ("as large",))


def test_a_system_that_misses_the_objective_at_every_level_has_no_rung() -> None:
    made = analysis(SMALL, curve("slow", (4, 9000.0, 500.0)))
    assert names(made.model_copy(update={"objective_ms_p99": 50.0})) == ["small"]


def test_each_workload_has_its_ladder() -> None:
    made = analysis(curve("a", (4, 10.0, 5.0), workload="v"), curve("b", (4, 90.0, 5.0), workload="w"))
    assert [(rung.workload, rung.system) for rung in choices(made)] == [("v", "a"), ("w", "b")]


def test_repetitions_that_differ_a_hundredfold_at_many_levels_break_no_analysis() -> None:
    levels = [(connections, 1000.0 + connections, 100.0) for connections in range(1, 41)]
    made = analysis(curve("a", *levels))
    cells = tuple(
        cell.model_copy(update={"repetitions_ms_p99": (1.0, 120.0)}) for curve in made.curves for cell in curve.cells
    )
    curves = (made.curves[0].model_copy(update={"cells": cells}),)
    assert names(made.model_copy(update={"curves": curves, "objective_ms_p99": 500.0})) == []
