"""Sizing by capacities, of real searches on made-up servers: how often a system that is too small is said to fit.

Studies are all triples (or pairs) of eight or more searches of a world, so that their shares are exact to few searches.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import pytest
from tests.support.endure import draws
from tests.truth.test_capacity import HARD_WORLDS, WORLDS, cases, searched

from plimsoll.analyse.answers.size import size
from plimsoll.analyse.answers.size_model import Fit, SizeEvidence, SystemFit
from plimsoll.analyse.findings.finding_model import Grade
from plimsoll.analyse.model import Analysis, SystemSummary, WorkloadSummary
from plimsoll.analyse.study.capacities import capacities
from plimsoll.analyse.study.cell_model import Cell, Durations, RateFigures
from plimsoll.analyse.study.curve_model import Curve, Peak
from plimsoll.analyse.study.throughput import Repeated, mean_throughputs
from plimsoll.record.capacity import Capacity, CapacityObjective, SearchRecord
from plimsoll.record.level import Level, LevelKind

SEARCHES, FIRST_SEED = 12, 930_000
MADE = draws(8, SEARCHES)


@cache
def found_by_search(world: str, number: int) -> Capacity:
    return searched(WORLDS[world], FIRST_SEED + number)


def judged(found: list[Capacity], *curves: Curve, **asked: float | None) -> SystemFit:
    """The verdict of a study with these searches, without headroom."""
    records = [
        SearchRecord(search_id=str(number), system="a", workload="w", repetition=number, is_finished=True, capacity=one)
        for number, one in enumerate(found)
    ]
    study = Analysis(
        plimsoll_version="0",
        study="made",
        answer=(),
        limits=(),
        systems=(SystemSummary(name="a"),),
        workloads=(WorkloadSummary(name="w"),),
        curves=curves,
        capacities=capacities(records),
    )
    return size(study, **{"headroom": 0.0, **asked}).systems[0]  # type: ignore[arg-type]


def share_that_fits(world: str, demand_tps: float, searches_count: int = 3, *, made: int = SEARCHES) -> float:
    studies = list(combinations([found_by_search(world, number) for number in range(made)], searches_count))
    limit_ms = WORLDS[world].limit_ms
    found = (judged(list(study), tps=demand_tps, response_p99_ms=limit_ms).verdict for study in studies)
    return float(np.mean([verdict is Fit.FITS for verdict in found]))


@pytest.mark.parametrize("world", cases(HARD_WORLDS, WORLDS))
@pytest.mark.parametrize("searches_count", [2, 3])
def test_a_system_two_percent_too_small_rarely_fits(world: str, searches_count: int) -> None:
    assert share_that_fits(world, WORLDS[world].truth_tps / 0.98, searches_count, made=MADE) <= 0.05


@pytest.mark.parametrize("world", cases(HARD_WORLDS, WORLDS))
def test_a_system_with_a_fifth_to_spare_fits_in_most_studies(world: str) -> None:
    assert share_that_fits(world, 0.8 * WORLDS[world].truth_tps, made=MADE) >= 0.7


def answers(*found: tuple[float | None, float | None, float | None], objective_ms: float = 20.0) -> list[Capacity]:
    """Answers of searches: capacity, low, high."""
    objective = CapacityObjective(response_ms_p99=objective_ms)
    return [Capacity(capacity_tps=tps, low=low, high=high, objective=objective, runs=()) for tps, low, high in found]


def test_one_search_indicates_and_does_not_measure() -> None:
    found = judged(answers((9000.0, 8490.0, 9200.0)), tps=100.0, response_p99_ms=20.0)
    assert (found.verdict, found.grade) == (Fit.FITS, Grade.INDICATED)
    unsure = judged(answers((9000.0, 8490.0, 9200.0)), tps=8700.0, response_p99_ms=20.0)
    assert (unsure.verdict, unsure.reason.code) == (Fit.UNDECIDED, "capacity-of-one-search")


def test_confirmed_capacities_of_which_no_rate_is_sure_leave_it_undecided() -> None:
    found = judged(answers((1500.0, None, 1600.0), (1510.0, None, 1600.0)), tps=100.0, response_p99_ms=20.0)
    assert (found.verdict, found.reason.code) == (Fit.UNDECIDED, "capacity-not-sure")
    assert found.reason.figures["unsure_count"] == 2


def test_where_no_rate_holds_it_does_not_fit() -> None:
    found = judged(answers((None, None, 2.0), (None, None, 2.0)), tps=100.0, response_p99_ms=20.0)
    assert (found.verdict, found.reason.code) == (Fit.DOES_NOT_FIT, "no-rate-holds")


@pytest.mark.parametrize("asked_ms", [200.0, None])
@pytest.mark.parametrize("found", [(1000.0, 943.0, 1030.0), (None, None, 2.0)])
def test_a_stricter_objective_proves_nothing_against_a_system(
    asked_ms: float | None, found: tuple[float | None, float | None, float | None]
) -> None:
    one = judged(answers(found, found), tps=1100.0, response_p99_ms=asked_ms)
    assert (one.verdict, one.reason.code) == (Fit.UNDECIDED, "capacity-of-stricter-objective")
    assert judged(answers(found, found), tps=1100.0, response_p99_ms=20.0).verdict is Fit.DOES_NOT_FIT


def test_a_stricter_objective_that_holds_answers_for_a_looser_one() -> None:
    found = judged(answers(*[(1000.0, 943.0, 1030.0)] * 3), tps=800.0, response_p99_ms=200.0)
    assert (found.verdict, found.reason.code) == (Fit.FITS, "capacity-fits")


def at_a_rate(rate_tps: float, *left_ratios: float, p99_ms: float = 15.0) -> Curve:
    """A rate that was sustained in every repetition."""
    (mean,) = mean_throughputs([Repeated((rate_tps,) * len(left_ratios), (None,) * len(left_ratios))])
    cell = Cell(
        level=Level(connections=16, rate_tps=rate_tps),
        throughput_tps=mean.estimate(),
        rate=RateFigures(is_sustained=True, sustained_count=len(left_ratios), left_ratios=left_ratios),
        response_ms=Durations(p99=p99_ms),
        repetitions_ms_p99=(p99_ms,) * len(left_ratios),
        completed_count=1000,
    )
    peak = Peak(level=cell.level, throughput_tps=cell.throughput_tps, is_inside_range=False)
    return Curve(system="a", workload="w", kind=LevelKind.RATE, cells=(cell,), peak=peak)


def test_rates_decide_where_capacities_do_not() -> None:
    """The best evidence that decides counts; capacities that decide are not overruled."""
    kept, one_search = at_a_rate(1000.0, 0.0, 0.001, -0.001), answers((1200.0, 1130.0, 1230.0))
    found = judged(one_search, kept, tps=1000.0, response_p99_ms=20.0)
    assert (found.verdict, found.evidence) == (Fit.FITS, SizeEvidence.RATES)
    too_slow = judged(answers((500.0, 470.0, 515.0)), kept, tps=1000.0, response_p99_ms=20.0)
    assert (too_slow.verdict, too_slow.evidence) == (Fit.DOES_NOT_FIT, SizeEvidence.CAPACITY)
    neither = judged(one_search, at_a_rate(1000.0, 0.0, 0.02, 0.01), tps=1000.0, response_p99_ms=20.0)
    assert (neither.verdict, neither.evidence) == (Fit.UNDECIDED, SizeEvidence.RATES), "repetitions outdo one search"


def test_a_capacity_at_a_stricter_objective_leaves_the_word_to_other_evidence() -> None:
    strict = answers((500.0, 470.0, 515.0), (500.0, 470.0, 515.0), objective_ms=5.0)
    found = judged(strict, at_a_rate(1000.0, 0.0, 0.001, -0.001), tps=1000.0, response_p99_ms=20.0)
    assert (found.verdict, found.evidence) == (Fit.FITS, SizeEvidence.RATES)


def test_a_rate_of_which_it_is_not_known_what_was_left_over_is_undecided() -> None:
    curve = at_a_rate(1000.0, 0.0, 0.0, 0.0)
    (cell,) = curve.cells
    silent = cell.model_copy(update={"rate": RateFigures(is_sustained=True, sustained_count=3)})
    found = judged([], curve.model_copy(update={"cells": (silent,)}), tps=1000.0)
    assert (found.verdict, found.reason.code) == (Fit.UNDECIDED, "next-run-may-fall-behind")
