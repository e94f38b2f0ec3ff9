"""The table of states: trials in which the same was seen share a row."""

from __future__ import annotations

from plimsoll.analyse.model import Analysis
from plimsoll.analyse.trial.condition_model import (
    Disturbance,
    Segment,
    SeriesState,
    SlowFigure,
    StateKind,
    SteadyState,
    TrialCondition,
)
from plimsoll.guide.html import render_html
from plimsoll.guide.trials import SLOWER, cell_strips, condition_table
from support.analyses import measured_analysis


def drifting(repetition: int, change: float, to_s: float = 16.0, *, name: str = "throughput") -> TrialCondition:
    series = SeriesState(name=name, state=StateKind.DRIFTING, change_ratio=change)
    segments = (Segment(from_s=4.0, to_s=to_s, mean_tps=100.0),)
    steady = SteadyState(state=StateKind.DRIFTING, from_s=4.0, to_s=to_s, segments=segments, series=(series,))
    return TrialCondition(trial_id="t", repetition=repetition, throughput_tps=100.0, steady=steady)


def with_conditions(*of_cells: tuple[TrialCondition, ...]) -> Analysis:
    """The first cells of the first curve have these."""
    made = measured_analysis()
    curve = made.curves[0]
    cells = [
        cell.model_copy(update={"conditions": of_cells[index] if index < len(of_cells) else ()})
        for index, cell in enumerate(curve.cells)
    ]
    return made.model_copy(update={"curves": (curve.model_copy(update={"cells": tuple(cells)}), *made.curves[1:])})


def texts(analysis: Analysis) -> list[list[str]]:
    table = condition_table(analysis)
    return [] if table is None else [[entry.text for entry in row[2:]] for row in table.rows]


def test_equal_trials_share_a_row_with_the_range_of_their_figures() -> None:
    cell = (drifting(0, 0.2), drifting(1, 0.3), drifting(2, 0.25))
    assert texts(with_conditions(cell, cell)) == [
        ["1 and 4 connections", "1 to 3", "drifting", "4–16 s", "throughput changed by +20.0 % to +30.0 %"]
    ]


def test_what_differs_has_a_row_of_its_own() -> None:
    rows = texts(
        with_conditions((drifting(0, 0.2), drifting(1, 0.2, name="dirty {pages}")), (drifting(0, 0.2, to_s=20.0),))
    )
    assert rows == [
        ["1 and 4 connections", "1", "drifting", "from 4 until 16 to 20 s", "throughput changed by +20.0 %"],
        ["1 connection", "2", "drifting", "4–16 s", "dirty {pages} changed by +20.0 %"],
    ]


def test_a_slow_machine_is_marked_and_steady_trials_are_not_listed() -> None:
    slow = TrialCondition(
        trial_id="t", repetition=1, throughput_tps=1.0, slower=(SlowFigure(figure="steal", ratio=1.5, limit_ratio=1.1),)
    )
    steady = drifting(0, 0.2).model_copy(update={"steady": None})
    analysis = with_conditions((steady, slow))
    assert texts(analysis) == [["1 connection", "2", "–", "–", "steal: 50.0 % slower than the median"]]
    table = condition_table(analysis)
    assert table is not None
    assert table.rows[0][4].mark == SLOWER
    assert condition_table(with_conditions((steady,))) is None


def test_the_page_folds_the_table_and_shows_states_beside_the_strips() -> None:
    steady = drifting(2, 0.0)
    assert steady.steady is not None
    steady = steady.model_copy(update={"steady": steady.steady.model_copy(update={"state": StateKind.STEADY})})
    analysis = with_conditions((drifting(0, 0.2), drifting(1, 0.3), steady), (steady,))
    assert "<details><summary>State of trials</summary>" in render_html(analysis)
    own = [
        cell_strip
        for w in analysis.workloads
        for cell_strip in cell_strips(analysis, w)
        if cell_strip.system == "durable" and cell_strip.state
    ]
    assert [one.state for one in own] == ["drifting in 2 of 3 repetitions", "steady"]
    assert "drifting in 2 of 3 repetitions" in render_html(analysis)


def test_disturbed_trials_are_listed_and_those_with_a_slow_second_are_not() -> None:
    found = [
        TrialCondition(
            trial_id="t",
            repetition=number,
            throughput_tps=1.0,
            disturbance=Disturbance(watched_s=20, slow_ratio=slow_ratio, slowness=slowness),
        )
        for number, (slow_ratio, slowness) in enumerate(((0.05, 1.02), (0.5, 1.5), (1.0, 2.0)))
    ]
    seen = "disturbed: machine 1.50 to 2.00 times as slow as at its best, slow in 50.0 % to 100.0 % of the seconds"
    assert texts(with_conditions(tuple(found))) == [["1 connection", "2 and 3", "–", "–", seen]]
