"""Charts of scalability: one scale for all of a workload, smooth laws, each line with its name."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.model import Analysis
from plimsoll.guide.figures import chart_spec
from plimsoll.guide.html import render_html
from plimsoll.guide.marks import PAPER, Style
from plimsoll.guide.scalability import scalability_section
from support.made import measured

LEVELS = (1, 2, 4, 8, 16, 32)


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    """`b` sustains twice as much as `a`."""
    return analyse(
        "made",
        [
            measured(
                [tps * level / (1 + 0.1 * (level - 1)) * (1 + 0.004 * repetition)] * 12,
                system=name,
                repetition=repetition,
                connections=level,
            )
            for name, tps in (("a", 100.0), ("b", 200.0))
            for level in LEVELS
            for repetition in range(3)
        ],
    )


def specs(analysis: Analysis) -> list[dict[str, Any]]:
    section = scalability_section(analysis)
    assert section is not None
    return [chart_spec(chart.draw(Style(width_px=350, height_px=200, palette=PAPER))) for chart in section.charts]


def layers(spec: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [layer for layer in spec["layer"] if layer["mark"]["type"] == kind]


def test_charts_of_a_workload_end_at_the_same_throughput(analysis: Analysis) -> None:
    found = specs(analysis)
    assert len(found) == 2
    tops = {layers(spec, "point")[0]["encoding"]["y"]["scale"]["domain"][1] for spec in found}
    assert len(tops) == 1
    assert tops.pop() > 1500


def test_the_law_is_a_smooth_line_through_what_it_says_of_each_level(analysis: Analysis) -> None:
    for spec, one in zip(specs(analysis), analysis.scalability, strict=True):
        ideal, _, fitted = (layer["data"]["values"] for layer in layers(spec, "line"))
        assert len(fitted) == 60
        assert (fitted[0]["n"], fitted[-1]["n"]) == (1, pytest.approx(32))
        assert one.fit is not None
        for level in one.levels:
            assert one.fit.tps_at(level.level.connections) == pytest.approx(level.fitted_tps)
        slopes = {round(row["rate"] / row["n"], 6) for row in ideal}
        assert len(ideal) == 60
        assert len(slopes) == 1, "linear scaling is a straight line"


def test_lines_have_names_within_the_chart(analysis: Analysis) -> None:
    for spec in specs(analysis):
        (words,) = layers(spec, "text")
        assert [row["name"] for row in words["data"]["values"]] == ["linear scaling", "4 cores", "Amdahl's law"]


def test_tables_of_the_best_system_stand_open_and_the_others_are_folded(analysis: Analysis) -> None:
    section = scalability_section(analysis)
    assert section is not None
    assert {table.system: table.fold for table in section.tables} == {"a": "read-write, a", "b": ""}
    part = render_html(analysis).split('id="scalability"')[1].split("</section>")[0]
    assert part.index(">b, read-write: scalability") < part.index("<summary>read-write, a</summary>")


def test_each_system_keeps_its_colour(analysis: Analysis) -> None:
    drawn = [{layer["mark"].get("color") for layer in spec["layer"]} for spec in specs(analysis)]
    own = [colours & {PAPER.series[0], PAPER.series[1], "var(--series-0)", "var(--series-1)"} for colours in drawn]
    assert len(own) == 2
    assert all(len(colours) == 1 for colours in own)
    assert own[0] != own[1]
