"""The sizing question: who carries it, who does not and why, and what it takes when none does."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.analyse.answers.size import size as find
from plimsoll.analyse.answers.size_model import Fit, SizeAnswer
from plimsoll.analyse.findings.finding_model import Grade
from plimsoll.analyse.model import Analysis, SystemSummary, WorkloadSummary
from plimsoll.analyse.study.cell_model import Bounds, Cell, Durations, Estimate, SpreadKind
from plimsoll.analyse.study.curve_model import Curve, Peak
from plimsoll.errors import PlimsollError, RecordError, SpecError
from plimsoll.guide.size import worded
from plimsoll.record.level import Level, LevelKind

_Level = tuple[int, float, float | None]
"""Connections, throughput, response p99 in milliseconds."""


def curve(
    system: str,
    *levels: _Level,
    spread: float | None = 0.05,
    workload: str = "w",
    failed: int = 0,
    unfinished: int = 0,
    bounds_of_times: tuple[str, ...] = (),
) -> Curve:
    cells = []
    for connections, tps, p99_ms in levels:
        edges = {"low": tps * (1 - (spread or 0)), "high": tps * (1 + (spread or 0))}
        bounds = None if spread is None else Bounds(**edges, basis=SpreadKind.POOLED, degrees=16, method="made up")
        cells.append(
            Cell(
                level=Level(connections=connections),
                throughput_tps=Estimate(value=tps, bounds=bounds, trial_count=3),
                scale_factor=Estimate(value=1.0),
                response_ms=Durations(p99=p99_ms, lower_bounds=bounds_of_times),
                repetitions_ms_p99=() if p99_ms is None or bounds_of_times else (p99_ms, p99_ms * 1.01, p99_ms * 0.99),
                completed_count=1000,
                failed_count=failed,
                unfinished_count=unfinished,
            )
        )
    best = max(cells, key=lambda cell: cell.throughput_tps.value)
    peak = Peak(level=best.level, throughput_tps=best.throughput_tps, is_inside_range=best is not cells[-1])
    return Curve(system=system, workload=workload, kind=LevelKind.CLOSED, cells=tuple(cells), peak=peak)


def size(*args: Any, **options: Any) -> SizeAnswer:
    """The answer with its sentences; without headroom where none is asked for."""
    return worded(find(*args, **{"headroom": 0.0, **options}))


def analysis(*curves: Curve, costs: dict[str, float] | None = None) -> Analysis:
    systems = dict.fromkeys(one.system for one in curves)
    return Analysis(
        plimsoll_version="0",
        study="made",
        answer=(),
        limits=(),
        systems=tuple(SystemSummary(name=name, cost_per_month=(costs or {}).get(name)) for name in systems),
        workloads=tuple(WorkloadSummary(name=name) for name in dict.fromkeys(one.workload for one in curves)),
        curves=curves,
    )


ONE = analysis(curve("a", (4, 1000.0, 5.0), (16, 2000.0, 20.0), (32, 1500.0, 60.0)))


@pytest.mark.parametrize(
    ("tps", "verdict"),
    [(1840.0, Fit.FITS), (1845.0, Fit.UNDECIDED), (2099.0, Fit.UNDECIDED), (2101.0, Fit.DOES_NOT_FIT)],
)
def test_what_the_next_run_surely_sustains_decides(tps: float, verdict: Fit) -> None:
    answer = size(ONE, tps=tps, connections=16)
    assert answer.systems[0].verdict is verdict
    assert answer.fits == (verdict is Fit.FITS)


def test_one_repetition_indicates_and_does_not_measure() -> None:
    made = analysis(curve("a", (16, 2000.0, None), spread=None))
    answer = size(made, tps=1000, connections=16)
    assert (answer.systems[0].verdict, answer.grade) == (Fit.FITS, Grade.INDICATED)
    assert any("Run at least two repetitions" in assumption.text for assumption in answer.assumptions)
    short = size(made, tps=2000.1, connections=16)
    assert (short.systems[0].verdict, short.grade) == (Fit.DOES_NOT_FIT, Grade.INDICATED)


def test_the_grade_is_that_of_the_best_that_fits_else_of_the_worst() -> None:
    repeated, single = curve("a", (4, 2000.0, 1.0)), curve("b", (4, 9000.0, 1.0), spread=None)
    both = size(analysis(repeated, single), tps=1000)
    assert (both.grade, [system.system for system in both.systems]) == (Grade.MEASURED, ["a", "b"])
    assert both.text[0].startswith("1 of 2 systems completes 1,000 tps of w, by clients that wait for each answer")
    assert both.text[1].startswith("Indicated for 1,000 tps of w: b, by 800 %; measured without a known spread, so")
    assert size(analysis(repeated, single), tps=5000).grade is Grade.INDICATED
    assert size(analysis(repeated, single), tps=10_000).grade is Grade.INDICATED
    assert size(analysis(repeated), tps=10_000).grade is Grade.MEASURED
    assert size(analysis(repeated), tps=1900).systems[0].grade is Grade.MEASURED, "undecided by repetitions"
    assert size(analysis(repeated), tps=10, connections=99).grade is Grade.UNKNOWN


def test_what_is_cheapest_is_said_of_those_that_are_measured() -> None:
    curves = [curve("large", (4, 4000.0, 1.0)), curve("small", (4, 2000.0, 1.0), spread=None)]
    answer = size(analysis(*curves, costs={"large": 900.0, "small": 10.0}), tps=1000)
    assert "Of those that are measured the cheapest is large, 900 per month." in answer.text


def test_a_closed_loop_sustains_nothing() -> None:
    """It is the most that so many clients get through, who send nothing while they wait."""
    found = size(ONE, tps=1000, connections=16).systems[0]
    assert found.reason.text == (
        "It completes at most 2,000 tps (95 % CI 1,900 to 2,100) with 16 clients that wait for each answer: do not"
        " plan by this figure."
    )
    one = size(analysis(curve("a", (1, 500.0, 1.0))), tps=100).systems[0]
    assert "with 1 client that waits for each answer" in one.reason.text


@pytest.mark.parametrize(("tps", "headroom"), [(1400.0, 0.3), (1600.0, 0.2), (2000.0, 0.0)])
def test_headroom_is_applied_once(tps: float, headroom: float) -> None:
    """The same figure is asked for by each of these, so verdict and margin are the same."""
    made = analysis(curve("a", (4, 2000.0, 1.0), spread=None), curve("b", (4, 1999.0, 1.0), spread=None))
    answer = size(made, tps=tps, headroom=headroom)
    assert answer.asked.needed_tps == 2000.0
    assert [(system.verdict, system.margin_ratio) for system in answer.systems] == [
        (Fit.FITS, 0.0),
        (Fit.DOES_NOT_FIT, pytest.approx(-0.0005)),
    ]


def test_headroom_asks_for_more() -> None:
    answer = size(ONE, tps=1400, headroom=0.3)
    assert answer.asked.needed_tps == pytest.approx(2000)
    assert answer.systems[0].verdict is Fit.UNDECIDED
    assert size(ONE, tps=1400).fits
    assert find(ONE, tps=1).asked.headroom == 0.3


@pytest.mark.parametrize(
    ("tps", "headroom", "needed_tps"), [(100, 0.8, 500), (30, 0.9, 300), (21, 0.3, 30), (1e-3, 0.5, 2e-3)]
)
def test_headroom_is_calculated_as_people_do(tps: float, headroom: float, needed_tps: float) -> None:
    assert size(ONE, tps=tps, headroom=headroom).asked.needed_tps == needed_tps


def test_between_two_levels_it_is_interpolated_and_says_so() -> None:
    found = size(ONE, tps=1300, connections=10).systems[0]
    assert found.throughput_tps is not None
    assert found.throughput_tps.value == pytest.approx(1500)
    assert found.throughput_tps.bounds is not None
    assert found.throughput_tps.bounds.low == pytest.approx(1425)
    assert found.response_p99_ms == pytest.approx(12.5)
    assert found.interpolated_between == (4, 16)
    assert "interpolated between 4 and 16" in found.reason.text


@pytest.mark.parametrize(("connections", "word"), [(33, "many"), (3, "few")])
def test_nothing_is_said_outside_of_the_levels(connections: int, word: str) -> None:
    found = size(ONE, tps=10, connections=connections).systems[0]
    assert found.verdict is Fit.UNDECIDED
    assert found.throughput_tps is None
    assert f"Not measured at so {word} connections" in found.reason.text


def test_an_objective_chooses_the_level_that_keeps_it() -> None:
    found = size(ONE, tps=850, response_p99_ms=10).systems[0]
    assert (found.verdict, found.connections) == (Fit.FITS, 4)
    over = size(ONE, tps=900, connections=16, response_p99_ms=10).systems[0]
    assert over.verdict is Fit.DOES_NOT_FIT
    assert "over the objective of 10.0 ms" in over.reason.text


def test_failed_transactions_count_as_over_the_objective() -> None:
    made = analysis(curve("a", (4, 1000.0, 5.0), failed=20))
    found = size(made, tps=100, connections=4, response_p99_ms=10).systems[0]
    assert found.verdict is Fit.DOES_NOT_FIT
    assert "2.0 % of its transactions failed" in found.reason.text
    few = analysis(curve("a", (4, 1000.0, 5.0), failed=5))
    assert size(few, tps=100, connections=4, response_p99_ms=10).fits


def test_cheapest_first_when_costs_are_given_otherwise_by_margin() -> None:
    curves = [curve("large", (4, 4000.0, 1.0)), curve("small", (4, 2000.0, 1.0)), curve("tiny", (4, 500.0, 1.0))]
    by_margin = size(analysis(*curves), tps=1000, connections=4)
    assert [system.system for system in by_margin.systems] == ["large", "small", "tiny"]
    assert by_margin.tightest == "small"
    priced = size(analysis(*curves, costs={"large": 900.0, "small": 300.0, "tiny": 10.0}), tps=1000, connections=4)
    assert [system.system for system in priced.systems] == ["small", "large", "tiny"]
    assert "The cheapest is small, 300 per month." in priced.text


def with_bounds(of: Curve, connections: int, low: float, high: float, basis: SpreadKind | None = None) -> Curve:
    """The curve with other bounds at one level."""
    bounds = Bounds(low=low, high=high, basis=basis, method="made up")
    cells = tuple(
        cell.model_copy(update={"throughput_tps": cell.throughput_tps.model_copy(update={"bounds": bounds})})
        if cell.level.connections == connections
        else cell
        for cell in of.cells
    )
    return of.model_copy(update={"cells": cells})


def test_a_level_that_may_carry_it_keeps_a_system_undecided() -> None:
    """The level that surely carries most is too slow; another one, less sure, may carry it."""
    made = analysis(with_bounds(curve("a", (16, 1000.0, 5.0), (32, 1100.0, 5.0), (64, 500.0, 5.0)), 32, 800.0, 1500.0))
    found = size(made, tps=1200).systems[0]
    assert (found.verdict, found.connections) == (Fit.UNDECIDED, 32)


def test_a_fast_level_with_unknown_response_times_keeps_a_system_undecided() -> None:
    made = analysis(curve("a", (4, 1000.0, 5.0), (16, 4000.0, None), (32, 3000.0, 50.0)))
    found = size(made, tps=2000, response_p99_ms=10).systems[0]
    assert (found.verdict, found.connections) == (Fit.UNDECIDED, 16)
    assert "response times are unknown" in found.reason.text


@pytest.mark.parametrize(("last_tps", "is_said"), [(3000.0, True), (1500.0, False)])
def test_too_slow_at_the_last_level_says_that_higher_ones_were_not_measured(last_tps: float, is_said: bool) -> None:
    found = size(analysis(curve("a", (4, 1000.0, 5.0), (16, 2000.0, 5.0), (32, last_tps, 5.0))), tps=9000).systems[0]
    assert found.verdict is Fit.DOES_NOT_FIT
    assert ("Higher levels were not measured." in found.reason.text) is is_said


@pytest.mark.parametrize("connections", [4, 10])
def test_bounds_from_within_one_run_are_told_even_between_levels(connections: int) -> None:
    made = analysis(
        with_bounds(curve("a", (4, 1000.0, 5.0), (16, 2000.0, 5.0)), 4, 900.0, 1100.0, SpreadKind.WITHIN_RUN)
    )
    answer = size(made, tps=500, connections=connections)
    assert "Some confidence intervals come from within one run: repetitions may vary more." in [
        assumption.text for assumption in answer.assumptions
    ]


def test_costs_of_some_systems_make_none_of_the_others_dear() -> None:
    curves = [curve("large", (4, 4000.0, 1.0)), curve("small", (4, 2000.0, 1.0))]
    answer = size(analysis(*curves, costs={"large": 900.0}), tps=1000, connections=4)
    assert "Of those with a known cost the cheapest is large, 900 per month." in answer.text


def test_a_reason_with_figures_is_told_of_its_own_system_only() -> None:
    answer = size(analysis(curve("a", (4, 1000.0, None)), curve("b", (4, 900.0, None))), tps=500, response_p99_ms=10)
    assert answer.text[1].startswith("All are undecided. a: It completes at most 1,000 tps")
    same = size(analysis(curve("a", (4, 1000.0, 1.0)), curve("b", (4, 900.0, 1.0))), tps=500, connections=9)
    assert same.text[1].startswith("All are undecided: Not measured at so many connections: asked for 9, measured at 4")


def test_what_an_answer_leaves_out_is_told() -> None:
    made = analysis(curve("a", (4, 1000.0, 5.0)), curve("b", (4, 9000.0, 5.0), workload="other"))
    answer = size(made, tps=100, workload="w", response_p99_ms=10)
    assert "Not measured under w, and so left out: b." in [assumption.text for assumption in answer.assumptions]
    assert any("prediction limit of the repetitions' own 99th" in assumption.text for assumption in answer.assumptions)
    assert any("saturation and not capacity" in assumption.text for assumption in answer.assumptions)


def test_margin_is_what_the_next_run_surely_leaves() -> None:
    assert size(ONE, tps=1000, connections=16).systems[0].margin_ratio == pytest.approx(0.842, abs=0.001)


def test_an_answer_survives_writing_and_reading() -> None:
    answer = size(ONE, tps=3801)
    assert SizeAnswer.model_validate_json(answer.model_dump_json()) == answer


@pytest.mark.parametrize(
    ("asked", "part"),
    [
        ({"tps": 0.0}, "tps: must be a number above 0, is 0"),
        ({"tps": float("nan")}, "tps"),
        ({"tps": 1.0, "connections": 0}, "connections: must be at least 1, is 0"),
        ({"tps": 1.0, "headroom": 1.0}, "headroom"),
        ({"tps": 1.0, "response_p99_ms": -1.0}, "response p99"),
        ({"tps": 1.0, "workload": "x"}, "there is no 'x' in the study, it has w"),
    ],
)
def test_bad_questions_are_refused(asked: dict[str, float], part: str) -> None:
    with pytest.raises(SpecError, match=part):
        size(ONE, **asked)  # type: ignore[arg-type]


def test_several_workloads_must_be_named() -> None:
    made = analysis(curve("a", (4, 1.0, None), workload="w"), curve("a", (4, 1.0, None), workload="v"))
    with pytest.raises(SpecError, match="name one: v, w"):
        size(made, tps=1)


def test_an_empty_study_has_no_answer() -> None:
    with pytest.raises(RecordError, match="holds no complete trial"):
        size(analysis(), tps=1)
    assert issubclass(RecordError, PlimsollError)


def test_what_never_ended_and_what_is_known_only_as_a_lower_bound_meet_no_objective() -> None:
    hung = analysis(curve("a", (4, 500, 5.0), unfinished=100))
    (found,) = size(hung, tps=100, response_p99_ms=20).systems
    assert found.verdict is Fit.DOES_NOT_FIT
    assert (
        "9.1 % of its transactions failed, were dropped or never ended, which counts as over 20.0 ms"
        in found.reason.text
    )
    cut = analysis(curve("a", (4, 500, 5.0), bounds_of_times=("p99",)))
    (found,) = size(cut, tps=100, response_p99_ms=20).systems
    assert (found.verdict, found.response_is_lower_bound) == (Fit.UNDECIDED, True)
    assert "p99 response time is at least 5.00 ms, and whether it is within 20.0 ms is unknown" in found.reason.text
    (found,) = size(cut, tps=100, response_p99_ms=4).systems
    assert "p99 response time is at least 5.00 ms there, over the objective" in found.reason.text
    assert size(cut, tps=100).systems[0].verdict is Fit.FITS, "without an objective throughput alone decides"


def test_between_two_levels_of_which_one_is_a_lower_bound_so_is_the_line() -> None:
    low, high = curve("a", (4, 500, 5.0)), curve("a", (8, 900, 9.0), bounds_of_times=("p99",))
    both = low.model_copy(update={"cells": (*low.cells, *high.cells), "peak": high.peak})
    (found,) = size(analysis(both), tps=100, connections=6, response_p99_ms=20).systems
    assert (found.response_p99_ms, found.verdict) == (7.0, Fit.UNDECIDED)


def test_repetitions_that_differ_a_hundredfold_at_many_levels_leave_it_open() -> None:
    made = analysis(curve("a", *((connections, 1000.0 + connections, 100.0) for connections in range(1, 41))))
    cells = tuple(cell.model_copy(update={"repetitions_ms_p99": (1.0, 120.0)}) for cell in made.curves[0].cells)
    made = made.model_copy(update={"curves": (made.curves[0].model_copy(update={"cells": cells}),)})
    assert size(made, tps=500.0, response_p99_ms=500.0).systems[0].verdict is Fit.UNDECIDED
