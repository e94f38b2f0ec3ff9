"""Each cell over time: lines within their strip, warm-up apart from the window, stretches that stand out."""

from __future__ import annotations

import re

from plimsoll.analyse.model import Analysis
from plimsoll.analyse.trial.series import POINTS_OF_STUDY
from plimsoll.analyse.trial.trial_model import Stretch
from plimsoll.guide.html import render_html
from plimsoll.guide.trials import HEIGHT, OPEN_COUNT, WIDTH, CellStrips, Span, cell_strips
from support.analyses import hostile_analysis, measured_analysis
from support.published import imported_analysis
from support.trials import SECONDS, WARM_S

BEGIN = WIDTH * WARM_S // SECONDS


def cell(analysis: Analysis, system: int, index: int) -> CellStrips:
    own = [
        cell_strip
        for cell_strip in cell_strips(analysis, analysis.workloads[1])
        if cell_strip.system == analysis.systems[system].name
    ]
    return own[index]


def test_every_repetition_has_a_line_of_throughput_and_of_p99() -> None:
    found = cell(measured_analysis(), 0, 2)
    assert (found.system, found.title, found.throughput) == ("durable", "16 connections", "1,245 tps")
    assert (found.mark, found.is_answer) == ("best", True)
    assert [(strip.name, len(strip.lines)) for strip in found.strips] == [("tps", 3), ("p99", 3)]
    assert found.trials == ("160f1245", "161f1245", "162f1245")
    assert (found.window, found.warm_up) == ("12 s", "4 s")


def test_lines_stay_within_the_strip_and_change_where_the_window_begins() -> None:
    for strip in cell(measured_analysis(), 0, 2).strips:
        for line in strip.lines:
            numbers = [int(one) for one in re.findall(r"\d+", line.measured)]
            assert all(BEGIN <= x <= WIDTH for x in numbers[::2])
            assert all(0 <= y <= HEIGHT for y in numbers[1::2])
            assert line.measured.count(" ") > 2 * (SECONDS - WARM_S) - 2
            warm = [int(one) for one in re.findall(r"\d+", line.warm)]
            assert min(warm[::2]) < BEGIN


def test_warm_up_and_stalls_are_spans_and_nothing_is_drawn_where_nothing_ended() -> None:
    found = cell(measured_analysis(), 0, 3)
    assert found.spans[0] == Span("warm-up", 0, BEGIN)
    (stall,) = [span for span in found.spans if span.kind == "stall"]
    assert (stall.left, stall.width) == (
        round(WIDTH * 9 / SECONDS),
        round(WIDTH * 10 / SECONDS) - round(WIDTH * 9 / SECONDS),
    )
    assert [line.measured.count("M") for line in found.strips[1].lines] == [1, 2, 1]
    assert 'class="stall"' in render_html(measured_analysis())


def test_windows_line_up_though_warm_ups_differ() -> None:
    analysis = measured_analysis()
    trials = [
        trial.model_copy(update={"series": trial.series.model_copy(update={"window_from_s": WARM_S - 3.0})})
        if trial.series is not None and trial.repetition == 1
        else trial
        for trial in analysis.trials
    ]
    found = cell(analysis.model_copy(update={"trials": tuple(trials)}), 0, 2)
    firsts = [int(line.measured[1:].split(" ")[0]) for line in found.strips[0].lines]
    assert max(firsts) - min(firsts) <= WIDTH // SECONDS


def test_a_kind_of_stretch_that_is_new_is_drawn_too() -> None:
    analysis = measured_analysis()
    trial = analysis.trials[0]
    assert trial.series is not None
    series = trial.series.model_copy(update={"stretches": (Stretch(from_s=5, to_s=7, kind="unsteady"),)})
    changed = analysis.model_copy(
        update={"trials": (trial.model_copy(update={"series": series}), *analysis.trials[1:])}
    )
    page = render_html(changed)
    assert '<rect class="unsteady"' in page
    assert "unsteady at 5 s" in page


def test_many_cells_are_folded_but_those_at_the_peaks() -> None:
    analysis = measured_analysis()
    assert render_html(analysis).count('<figure class="strips"') == 16
    curves = tuple(curve.model_copy(update={"cells": (*curve.cells, *curve.cells)}) for curve in analysis.curves)
    page = render_html(analysis.model_copy(update={"curves": curves}))
    assert sum(len(curve.cells) for curve in curves[:2]) > OPEN_COUNT
    assert "<summary>Over time at 12 other levels</summary>" in page
    assert page.count('<figure class="strips"') == 32


def test_without_series_there_are_no_strips() -> None:
    assert cell_strips(imported_analysis(), imported_analysis().workloads[0]) == ()
    assert "Over time" not in render_html(imported_analysis())


def test_hostile_names_stay_text() -> None:
    assert "<script>alert" not in render_html(hostile_analysis())


def test_a_page_with_as_many_points_as_a_study_may_have_can_be_opened() -> None:
    analysis = measured_analysis()
    each = POINTS_OF_STUDY // len(analysis.trials)
    trials = []
    for trial in analysis.trials:
        assert trial.series is not None
        values = {name: (getattr(trial.series, name) * each)[:each] for name in ("throughput_tps", "response_ms_p99")}
        longer = trial.series.model_copy(update={**values, "step_s": SECONDS / each})
        trials.append(trial.model_copy(update={"series": longer}))
    page = render_html(analysis.model_copy(update={"trials": tuple(trials)}))
    assert len(render_html(analysis)) + POINTS_OF_STUDY * 4 < len(page) < 4_500_000
