"""Up to which load to choose which system: the ladder agrees with `size`, and is no longer than it has to be."""

from __future__ import annotations

import pytest

from plimsoll.analyse.answers.choices import choices
from plimsoll.analyse.answers.size import HEADROOM, size
from plimsoll.analyse.answers.size_model import Choice, Fit
from plimsoll.analyse.explain.equivalence_model import Durability, DurabilityKind
from plimsoll.analyse.findings.finding_model import Grade
from plimsoll.analyse.model import Analysis
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
    made = analysis(LARGE, curve("as large", (8, 2900.0, 5.0)), MIDDLE)
    (rung,) = ladder(made)
    assert (rung.system, rung.or_systems) == ("large", ("as large",))


def test_a_system_that_misses_the_objective_at_every_level_has_no_rung() -> None:
    made = analysis(SMALL, curve("slow", (4, 9000.0, 500.0)))
    assert names(made.model_copy(update={"objective_ms_p99": 50.0})) == ["small"]


def test_each_workload_has_its_ladder() -> None:
    made = analysis(curve("a", (4, 10.0, 5.0), workload="v"), curve("b", (4, 90.0, 5.0), workload="w"))
    assert [(rung.workload, rung.system) for rung in choices(made)] == [("v", "a"), ("w", "b")]
