"""How systems compare, in charts: a chart for each two, names beside the plot, one scale for all."""

from __future__ import annotations

from typing import Any

from plimsoll.analyse.model import Analysis
from plimsoll.guide.comparisons import COMPARED_MAX, comparison_charts
from plimsoll.guide.figures import chart_spec
from plimsoll.guide.marks import Style
from support.analyses import estimate, measured_analysis

LOOK = Style(width_px=None, height_px=200, labelled=True)
BAND, LINE, _, POINT, FIGURE = range(5)


def charts(analysis: Analysis, style: Style = LOOK) -> list[tuple[str, dict[str, Any]]]:
    return [(title, chart_spec(chart)) for title, chart in comparison_charts(analysis, analysis.workloads[1], style)]


def rows(spec: dict[str, Any]) -> list[dict[str, Any]]:
    return list(spec["layer"][POINT]["data"]["values"])


def compared(*pairs: tuple[str, str], levels: int = 1) -> Analysis:
    """Each (system, base), at so many levels, else at their peaks."""
    made = measured_analysis()
    like = next(
        difference
        for difference in made.differences
        if difference.workload == made.workloads[1].name and difference.level is not None
    )
    found = []
    for number, (system, base) in enumerate(pairs):
        for level in range(levels) or [None]:
            at = None if level is None else like.level.model_copy(update={"connections": level + 1})  # type: ignore[union-attr]
            update = {"system": system, "base": base, "level": at, "ratio": estimate(1.1 + number)}
            found.append(like.model_copy(update=update))
    return made.model_copy(update={"differences": tuple(found)})


def test_each_two_systems_have_a_chart_with_a_row_for_each_level() -> None:
    found = charts(compared(("b", "a"), ("c", "a"), levels=3))
    assert [title for title, _ in found] == ["b against a", "c against a"]
    for _, spec in found:
        assert [row["row"][3:] for row in rows(spec)] == ["1 connection", "2 connections", "3 connections"]
        assert spec["height"] == 3 * 26


def test_names_are_labels_of_the_axis_and_stand_outside_the_plot() -> None:
    ((_, spec),) = charts(compared(("b", "a"), levels=2))
    axis = spec["layer"][POINT]["encoding"]["y"]["axis"]
    assert axis["labelExpr"] == "slice(datum.value, 3)"
    assert axis["minExtent"] == axis["maxExtent"] > 6 * len("2 connections")
    texts = [layer for layer in spec["layer"] if layer["mark"]["type"] == "text"]
    assert [layer["encoding"]["text"]["field"] for layer in texts] == ["change"]
    assert texts[0]["mark"]["dx"] > 6 * max(len(row["change"]) for row in rows(spec)), "beyond the right edge"


def test_charts_of_a_workload_have_one_scale_and_one_title_of_it() -> None:
    found = charts(compared(("b", "a"), ("c", "a")))
    axes = [spec["layer"][POINT]["encoding"]["x"] for _, spec in found]
    assert axes[0]["scale"]["domain"] == axes[1]["scale"]["domain"]
    assert [axis["axis"].get("title") for axis in axes] == [None, "Ratio of throughputs"]


def test_peaks_alone_are_grouped_by_what_they_are_compared_with() -> None:
    long = "a server with a long name that begins like the others, with internal storage"
    found = charts(compared((long, "base"), ("c", "base"), ("c", long), levels=0))
    assert [title for title, _ in found] == ["Peaks against that of base", f"Peaks against that of {long}"]
    first = rows(found[0][1])[0]["row"][3:]
    assert (len(first), first[:8], first[-7:]) == (40, long[:8], long[-7:])
    ((_, narrow), _) = charts(compared((long, "base"), ("c", long), levels=0), Style(width_px=None, height_px=200))
    assert len(rows(narrow)[0]["row"]) == 3 + 18


def test_many_rows_are_left_to_the_table() -> None:
    pairs = [(f"s{number}", "a") for number in range(COMPARED_MAX + 9)]
    found = charts(compared(*pairs, levels=0))
    assert sum(len(rows(spec)) for _, spec in found) == COMPARED_MAX
