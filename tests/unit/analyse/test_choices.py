"""Which system to choose for which load: whatever was measured, the choices say what `size` says at every load."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest

from plimsoll.analyse.answers.choices import choices
from plimsoll.analyse.answers.size import HEADROOM, needed_tps, objective_of, size, verdict_limits
from plimsoll.analyse.answers.size_model import Choice, Fit, SizedBy, SizeEvidence, SystemFit, WorkloadChoices
from plimsoll.analyse.explain.durability import less_durable_under
from plimsoll.analyse.explain.equivalence_model import Durability, DurabilityKind
from plimsoll.analyse.findings.finding_model import Grade
from plimsoll.analyse.model import Analysis
from support.choice_worlds import choice_world
from support.searched import searched
from unit.analyse.test_size import analysis, curve

SEEDS = range(40)

SMALL, MIDDLE, LARGE = (
    curve("small", (4, 1000.0, 5.0)),
    curve("middle", (4, 2000.0, 5.0)),
    curve("large", (8, 3000.0, 5.0)),
)


def fits_at(made: Analysis, workload: str, tps: float) -> dict[str, SystemFit]:
    """Every system with its verdict, as `plimsoll size` gives it."""
    answer = size(made, tps=tps, headroom=HEADROOM, workload=workload, response_p99_ms=objective_of(made))
    return {fit.system: fit for fit in answer.systems}


def figures(made: Analysis, workload: str) -> Iterator[float]:
    """Loads around each figure that was measured."""
    for measured in (each for each in made.curves if each.workload == workload):
        for cell in measured.cells:
            bounds = cell.throughput_tps.bounds
            yield from (cell.throughput_tps.value, cell.level.rate_tps or 0.0)
            yield from () if bounds is None else (bounds.low, bounds.high)
    for capacity in (each for each in made.capacities if each.workload == workload):
        best = capacity.capacity_tps
        yield from (capacity.low or 0.0, capacity.high or 0.0, capacity.next_low or 0.0)
        yield from () if best is None or best.bounds is None else (best.bounds.high,)
        yield from (run.knee_tps or 0.0 for search in capacity.searches for run in search.capacity.runs)


def loads(made: Analysis, of_workload: WorkloadChoices) -> list[float]:
    """A grid from nearly nothing to twice the largest figure, with loads around figures and ends of choices."""
    known = [figure * (1 - HEADROOM) for figure in figures(made, of_workload.workload) if figure > 0]
    most = 2 * max(known, default=1.0)
    grid = [most * 1.09**-step for step in range(80)]
    ends = [choice.up_to_tps for choice in of_workload.choices]
    around = [load * factor for load in (*known, *ends) for factor in (1 - 1e-9, 1.0, 1 + 1e-9)]
    return sorted({*grid, *around, *ends})


@cache
def verdicts(seed: int) -> list[tuple[Analysis, WorkloadChoices, list[tuple[float, dict[str, SystemFit]]]]]:
    """Every workload of a world with its choices, and what `size` says at each load."""
    made = choice_world(seed)
    return [
        (made, each, [(tps, fits_at(made, each.workload, tps)) for tps in loads(made, each)]) for each in choices(made)
    ]


def choice_for(of_workload: WorkloadChoices, tps: float) -> Choice | None:
    return next((choice for choice in of_workload.choices if tps <= choice.up_to_tps), None)


def good_until(by_load: list[tuple[float, dict[str, SystemFit]]]) -> dict[str, float]:
    """The largest load of the grid below the first that each system does not fit; 0 for none."""
    until, ended = Counter[str](), set[str]()
    for tps, fits in by_load:
        ended |= {name for name, fit in fits.items() if fit.verdict is not Fit.FITS}
        until |= Counter({name: tps for name in fits if name not in ended})
    return until


@pytest.mark.parametrize("seed", SEEDS)
def test_at_every_load_of_a_choice_its_system_fits_as_it_says(seed: int) -> None:
    for _, of_workload, by_load in verdicts(seed):
        for tps, fits in by_load:
            if (choice := choice_for(of_workload, tps)) is not None:
                fit = fits[choice.system]
                assert (fit.verdict, fit.grade, fit.evidence) == (Fit.FITS, choice.grade, choice.evidence)
                if tps == choice.up_to_tps:
                    assert (fit.connections, fit.response_p99_ms) == (choice.connections, choice.response_p99_ms)


@pytest.mark.parametrize("seed", SEEDS)
def test_between_two_limits_a_verdict_is_the_same(seed: int) -> None:
    for made, of_workload, by_load in verdicts(seed):
        for system in made.systems:
            limits = verdict_limits(made, system.name, of_workload.workload)
            seen: dict[int, set[tuple[object, ...]]] = {}
            for tps, fits in by_load:
                if (fit := fits.get(system.name)) is not None:
                    interval = bisect_left(limits, needed_tps(tps, HEADROOM))
                    seen.setdefault(interval, set()).add((fit.verdict, fit.grade, fit.evidence, fit.connections))
            assert all(len(alike) == 1 for alike in seen.values())


@pytest.mark.parametrize("seed", SEEDS)
def test_choices_go_as_far_as_any_system_is_good_and_say_what_is_above(seed: int) -> None:
    for _, of_workload, by_load in verdicts(seed):
        most = of_workload.choices[-1].up_to_tps if of_workload.choices else 0.0
        assert max(good_until(by_load).values(), default=0.0) <= most
        fitting_above = [
            tps for tps, fits in by_load if tps > most and any(fit.verdict is Fit.FITS for fit in fits.values())
        ]
        assert of_workload.is_gap_above == bool(fitting_above)


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_smaller_or_safer_is_passed_over(seed: int) -> None:
    for made, of_workload, by_load in verdicts(seed):
        until, loses = good_until(by_load), less_durable_under(made.systems, made.workloads)
        sizes = {
            system.name: {SizedBy.PRICE: system.cost_per_month, SizedBy.CORES: system.cores}.get(of_workload.sized_by)
            or 0.0
            for system in made.systems
        }
        for tps, _ in by_load:
            if (choice := choice_for(of_workload, tps)) is None:
                continue
            good = [name for name, most in until.items() if most >= tps]
            safest = [name for name in good if not any(loses(of_workload.workload, name, other) for other in good)]
            assert choice.system in safest
            assert sizes[choice.system] == min(sizes[name] for name in safest)


@pytest.mark.parametrize("seed", SEEDS)
def test_alternatives_fit_the_loads_that_are_said(seed: int) -> None:
    for _, of_workload, by_load in verdicts(seed):
        below = 0.0
        for choice in of_workload.choices:
            for alternative in choice.alternatives:
                assert below < alternative.up_to_tps <= choice.up_to_tps
                fits = [fits[alternative.system] for tps, fits in by_load if below < tps <= alternative.up_to_tps]
                assert all(fit.verdict is Fit.FITS for fit in fits)
                assert alternative.grade is not Grade.MEASURED or all(fit.grade is Grade.MEASURED for fit in fits)
            below = choice.up_to_tps


def test_the_worlds_have_what_is_tested() -> None:
    """Choices of each evidence and grade, steps, alternatives, systems that lose something, gaps; studies without."""
    known = [of_workload for seed in SEEDS for _, of_workload, _ in verdicts(seed)]
    made = [choice for of_workload in known for choice in of_workload.choices]
    assert {choice.evidence for choice in made} == set(SizeEvidence)
    assert {choice.grade for choice in made} == {Grade.MEASURED, Grade.INDICATED}
    assert {of_workload.sized_by for of_workload in known} == set(SizedBy)
    assert {min(len(of_workload.choices), 3) for of_workload in known} == {0, 1, 2, 3}
    assert {of_workload.is_gap_above for of_workload in known} == {True, False}
    assert any(choice.alternatives for choice in made)
    assert any(choice.less_durable for choice in made)


def with_cores(made: Analysis, **cores: int) -> Analysis:
    systems = tuple(system.model_copy(update={"cores": cores.get(system.name)}) for system in made.systems)
    return made.model_copy(update={"systems": systems})


_LOST_S = {DurabilityKind.AT_POWER_LOSS: 1, DurabilityKind.DURABLE: None}


def with_durability(made: Analysis, **kinds: DurabilityKind) -> Analysis:
    systems = tuple(
        system.model_copy(
            update={"durability": Durability(kind=kinds[system.name], lost_s=_LOST_S[kinds[system.name]])}
        )
        for system in made.systems
    )
    return made.model_copy(update={"systems": systems})


def names(made: Analysis) -> list[str]:
    (of_workload,) = choices(made)
    return [choice.system for choice in of_workload.choices]


def test_the_smallest_that_is_good_for_it() -> None:
    made = with_cores(analysis(SMALL, MIDDLE, LARGE), small=2, middle=4, large=8)
    assert names(made) == ["small", "middle", "large"]
    assert names(with_cores(made, small=8, middle=4, large=2)) == ["large"]


def test_prices_come_before_cores() -> None:
    costs = {"small": 90.0, "middle": 50.0, "large": 10.0}
    made = with_cores(analysis(SMALL, MIDDLE, LARGE, costs=costs), small=2, middle=4, large=8)
    assert names(made) == ["large"]


@pytest.mark.parametrize("cores", [{}, {"small": 2, "middle": 4}], ids=["nothing is known", "of one not"])
def test_where_nothing_says_which_is_smaller_the_one_that_does_most_is_chosen(cores: dict[str, int]) -> None:
    (of_workload,) = choices(with_cores(analysis(SMALL, MIDDLE, LARGE), **cores))
    (choice,) = of_workload.choices
    assert (of_workload.sized_by, choice.system) == (SizedBy.NOTHING, "large")
    assert [alternative.system for alternative in choice.alternatives] == ["middle", "small"]


def test_what_may_be_lost_is_dearer_than_money() -> None:
    costs = {"small": 10.0, "middle": 90.0, "large": 50.0}
    kinds = {
        "small": DurabilityKind.AT_POWER_LOSS,
        "middle": DurabilityKind.DURABLE,
        "large": DurabilityKind.AT_POWER_LOSS,
    }
    made = with_durability(analysis(SMALL, MIDDLE, LARGE, costs=costs), **kinds)
    assert names(made) == ["middle", "large"]
    reads = tuple(workload.model_copy(update={"kind": "oltp_read_only"}) for workload in made.workloads)
    assert names(made.model_copy(update={"workloads": reads})) == ["small", "large"], "nothing is written"


def test_no_alternative_may_lose_what_a_system_keeps_that_is_as_good_for_a_part_of_the_loads() -> None:
    """Of the best one nobody knows what it may lose, so it says nothing about the others."""
    kinds = {
        "small": DurabilityKind.DURABLE,
        "middle": DurabilityKind.AT_POWER_LOSS,
        "large": DurabilityKind.DURABLE,
    }
    made = with_durability(analysis(SMALL, MIDDLE, LARGE), **kinds)
    unknown = tuple(
        system.model_copy(update={"durability": None}) if system.name == "large" else system for system in made.systems
    )
    (of_workload,) = choices(made.model_copy(update={"systems": unknown}))
    (choice,) = of_workload.choices
    assert (choice.system, [each.system for each in choice.alternatives]) == ("large", ["small"])


def test_a_larger_system_that_is_measured_stands_beside_a_smaller_one_that_is_indicated() -> None:
    once = curve("once", (4, 2500.0, 5.0), spread=None)
    also_once = curve("also once", (4, 2500.0, 5.0), spread=None)
    (of_workload,) = choices(with_cores(analysis(once, also_once, LARGE), **{"once": 2, "also once": 4, "large": 8}))
    first, second = of_workload.choices
    assert (first.system, first.grade, second.system) == ("once", Grade.INDICATED, "large")
    assert [(one.system, one.grade) for one in first.alternatives] == [("large", Grade.MEASURED)]
    assert names(with_cores(analysis(once, LARGE), once=8, large=8)) == ["large"], "as large, and better known"


def test_no_connections_are_no_fault() -> None:
    (of_workload,) = choices(searched(a=(1000.0, 1010.0)))
    (choice,) = of_workload.choices
    assert (choice.connections, choice.evidence, choice.grade) == (None, SizeEvidence.CAPACITY, Grade.MEASURED)


def test_each_workload_has_its_choices() -> None:
    made = analysis(curve("a", (4, 10.0, 5.0), workload="v"), curve("b", (4, 90.0, 5.0), workload="w"))
    assert [(each.workload, [choice.system for choice in each.choices]) for each in choices(made)] == [
        ("v", ["a"]),
        ("w", ["b"]),
    ]


def test_repetitions_that_differ_a_hundredfold_at_many_levels_are_good_for_nothing() -> None:
    made = analysis(curve("a", *((connections, 1000.0 + connections, 100.0) for connections in range(1, 41))))
    cells = tuple(cell.model_copy(update={"repetitions_ms_p99": (1.0, 120.0)}) for cell in made.curves[0].cells)
    curves = (made.curves[0].model_copy(update={"cells": cells}),)
    assert names(made.model_copy(update={"curves": curves, "objective_ms_p99": 500.0})) == []


def test_the_last_load_needs_what_is_sustained_to_the_last_digit() -> None:
    made = analysis(curve("a", (4, 1000.0, 5.0), spread=None))
    (of_workload,) = choices(made)
    (choice,) = of_workload.choices
    assert choice.up_to_tps == pytest.approx(700.0, rel=1e-15)
    assert fits_at(made, "w", choice.up_to_tps)["a"].verdict is Fit.FITS
    assert fits_at(made, "w", math.nextafter(math.nextafter(choice.up_to_tps, 1e9), 1e9))["a"].verdict is not Fit.FITS
