"""A level's throughput is one number wherever it is shown: sentence, bar, chart, tables, `compare`, JSON.

So is its p99 within a guide. Repetitions differ by a tenth, so that another mean of them would be another number.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.answers.compare import compare_sides
from plimsoll.analyse.answers.compare_model import CompareAnswer, ComparedSide, Sessions
from plimsoll.analyse.answers.compare_sides import Design, Side
from plimsoll.analyse.answers.size import size
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.cell_model import Cell
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.analyse.trial.trial_summary import compared_trial
from plimsoll.guide.answer import render_json, worded
from plimsoll.guide.charts import peaks_chart, throughput_chart
from plimsoll.guide.compare import compare_markdown
from plimsoll.guide.content import describe
from plimsoll.guide.headline import headline_findings
from plimsoll.guide.level_tables import workload_tables
from plimsoll.guide.markdown import render_markdown
from plimsoll.guide.marks import Style
from plimsoll.record.level import LevelKind
from plimsoll.units import format_ms, format_number
from support.made import Made, measured

LEVELS = (4, 16)
LOOK = Style(width_px=None, height_px=200)


def study(effect: float, seed: int = 3) -> list[Made]:
    """Two systems at two levels, four repetitions; the second has so many times the throughput of the first."""
    random, found = np.random.default_rng(seed), []
    for system, factor in (("a", 1.0), ("b", effect)):
        for connections in LEVELS:
            for repetition in range(4):
                noise = random.normal(1, 0.1)
                found.append(
                    measured(
                        1000 * connections**0.5 * factor * noise * random.normal(1, 0.02, 20),
                        response_ns=(np.arange(1, 2001) * 10_000 / noise).astype(int),
                        system=system,
                        connections=connections,
                        repetition=repetition,
                    )
                )
    return found


def compared(recordings: list[Made]) -> CompareAnswer:
    sides = []
    for name in "ab":
        trials = [one for made in recordings if made.trial.system.name == name and (one := compared_trial(made))]
        sides.append(Side(ComparedSide(name=name, study="s", system=name, trials_count=len(trials)), trials))
    return compare_sides(*sides, design=Design(is_paired=True, sessions=Sessions.ONE_STUDY))


@pytest.fixture(scope="module", params=[1.02, 2.0])
def recordings(request: pytest.FixtureRequest) -> list[Made]:
    return study(request.param)


@pytest.fixture(scope="module")
def analysis(recordings: list[Made]) -> Analysis:
    return analyse("s", recordings)


def cells(analysis: Analysis) -> list[tuple[Curve, Cell]]:
    return [(curve, cell) for curve in analysis.curves for cell in curve.cells]


def rows(chart: Any) -> list[dict[str, Any]]:
    """All rows of a chart's data, those of its layers included."""
    return list(_rows(chart if isinstance(chart, dict) else chart.to_dict()))


def _rows(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, list):
        for one in part:
            yield from [one] if isinstance(one, dict) and "rate" in one else _rows(one)
    elif isinstance(part, dict):
        for one in part.values():
            yield from _rows(one)


def test_a_levels_throughput_is_the_geometric_mean_of_its_repetitions(
    analysis: Analysis, recordings: list[Made]
) -> None:
    for curve, cell in cells(analysis):
        own = [compared_trial(recording) for recording in recordings if recording.trial.trial_id in cell.trials]
        logs = [math.log(one.throughput_tps) for one in own if one is not None]
        assert len(logs) == 4
        assert cell.throughput_tps.value == pytest.approx(math.exp(sum(logs) / 4), rel=1e-12), curve.system
        assert cell.throughput_tps.value != pytest.approx(np.exp(logs).mean(), rel=1e-4), "another mean would show"


def test_compare_has_the_same_figures_as_the_guide_in_json_and_markdown(
    analysis: Analysis, recordings: list[Made]
) -> None:
    answer = compared(recordings)
    text = compare_markdown(answer)
    by_key = {(curve.system, cell.level.connections): cell for curve, cell in cells(analysis)}
    for comparison in answer.comparisons:
        base, system = by_key["a", comparison.level.connections], by_key["b", comparison.level.connections]
        assert (comparison.base_value, comparison.system_value) == pytest.approx(
            (base.throughput_tps.value, system.throughput_tps.value), rel=1e-12
        )
        shown = " → ".join(format_number(cell.throughput_tps.value) for cell in (base, system))
        assert f"| {shown} |" in text
        (level,) = [each for each in analysis.differences if each.level == comparison.level]
        assert comparison.ratio == pytest.approx(level.ratio.value, rel=1e-12)
        assert (comparison.repetitions_needed, comparison.smallest_effect) == (
            level.repetitions_needed,
            pytest.approx(level.smallest_effect),
        )
    assert "The p99 of a guide is that of all transactions of a level together." in text


def test_charts_tables_sentences_and_json_have_the_figure_of_the_level(analysis: Analysis) -> None:
    (workload,) = analysis.workloads
    drawn = rows(throughput_chart(analysis, workload, LevelKind.CLOSED, LOOK))
    document, markdown = json.loads(render_json(analysis)), render_markdown(analysis)
    told = {
        (curve["system"], cell["level"]["connections"]): cell for curve in document["curves"] for cell in curve["cells"]
    }
    for curve, cell in cells(analysis):
        tps, p99 = cell.throughput_tps.value, cell.response_ms.p99
        assert p99 is not None
        at = [one for one in drawn if (one["system"], one["offered"]) == (curve.system, cell.level.connections)]
        assert tps in [one["rate"] for one in at if "repetition" not in one]
        found = told[curve.system, cell.level.connections]
        assert (found["throughput_tps"]["value"], found["response_ms"]["p99"]) == (tps, p99)
        (system,) = [system for system in analysis.systems if system.name == curve.system]
        (table,) = workload_tables(analysis, system, workload)
        texts = [[entry.text for entry in row] for row in table.rows]
        (row,) = [row for row in texts if row[0] == f"{cell.level.connections}"]
        assert format_number(tps) in row
        assert format_ms(p99).removesuffix(" ms") in row
        assert format_number(tps) in markdown


def test_a_peak_is_the_figure_of_its_level_in_the_bar_the_sentence_and_the_sizing(analysis: Analysis) -> None:
    (workload,) = analysis.workloads
    bars = {row["system"]: row for row in rows(peaks_chart(analysis, workload, LOOK))}
    said = " ".join(describe(analysis).answer)
    answer = size(analysis, tps=1.0, headroom=0.0)
    for curve in analysis.curves:
        cell = curve.peak_cell
        assert cell is not None
        assert curve.peak is not None
        tps, p99 = cell.throughput_tps.value, cell.response_ms.p99
        assert (curve.peak.throughput_tps.value, bars[curve.system]["rate"]) == (tps, tps)
        assert bars[curve.system]["figure"].startswith(format_number(tps))
        (sentence,) = [one.text for one in worded(analysis).answer if one.code == "peak" and one.system == curve.system]
        assert f"{format_number(tps)} tps" in sentence
        assert f"p99 response time {format_ms(p99 or 0.0)}" in sentence
        assert sentence in said
        (fit,) = [system for system in answer.systems if system.system == curve.system]
        assert fit.throughput_tps is not None
        at = curve.cell_at(next(cell.level for cell in curve.cells if cell.level.connections == fit.connections))
        assert at is not None
        assert (fit.throughput_tps.value, fit.response_p99_ms) == (at.throughput_tps.value, at.response_ms.p99)


def test_a_ranking_that_is_not_resolved_names_no_first(analysis: Analysis) -> None:
    (peaks,) = [difference for difference in analysis.differences if difference.level is None]
    findings = headline_findings(analysis)
    said = " ".join(describe(analysis).answer)
    if peaks.verdict is RatioVerdict.UNRESOLVED:
        assert [finding.code for finding in findings] == ["comparison", "peak", "peak"]
        assert "the most" not in said
        assert "highest figure" not in said
    else:
        assert [finding.code for finding in findings] == ["peak"]
        assert "b completes the most" in said


def test_both_rankings_are_among_the_studies() -> None:
    verdicts = {
        difference.verdict
        for effect in (1.02, 2.0)
        for difference in analyse("s", study(effect)).differences
        if difference.level is None
    }
    assert {RatioVerdict.UNRESOLVED, RatioVerdict.FASTER} <= verdicts
