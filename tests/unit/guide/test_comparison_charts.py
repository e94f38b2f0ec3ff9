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
    names = dict.fromkeys(name for pair in pairs for name in reversed(pair))
    systems = tuple(made.systems[0].model_copy(update={"name": name}) for name in names)
    return made.model_copy(update={"differences": tuple(found), "systems": systems})


def test_each_two_systems_have_a_chart_with_a_row_for_each_level() -> None:
    found = charts(compared(("b", "a"), ("c", "a"), levels=3))
    assert [title for title, _ in found] == ["b against a", "c against a"]
    for _, spec in found:
        assert [row["row"][3:] for row in rows(spec)] == ["1 connection", "2 connections", "3 connections"]
        assert spec["height"] == 3 * 26


def test_names_are_labels_of_the_axis_and_stand_outside_the_plot() -> None:
    ((_, spec),) = charts(compared(("b", "a"), levels=2))
    axis = spec["layer"][POINT]["encoding"]["y"]["axis"]
    assert axis["labelExpr"] == r"split(slice(datum.value, 3), '\n')"
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
    assert first.split("\n") == ["a server with a long name that begins", "like the others"]
    assert found[0][1]["height"] == 2 * (26 + 14), "each row has room for both lines"
    ((_, narrow), _) = charts(compared((long, "base"), ("c", long), levels=0), Style(width_px=None, height_px=200))
    assert max(map(len, rows(narrow)[0]["row"][3:].split("\n"))) <= 18


def test_a_system_has_its_colour_whatever_it_is_compared_with_and_shapes_say_the_verdict() -> None:
    for _, spec in charts(compared(("b", "a"), ("c", "a"), ("c", "b"))):
        encoding = spec["layer"][POINT]["encoding"]
        assert encoding["color"]["field"] == "system"
        colours = dict(zip(*(encoding["color"]["scale"][side] for side in ("domain", "range")), strict=True))
        assert colours == {"a": "var(--series-0)", "b": "var(--series-1)", "c": "var(--series-2)"}
        assert encoding["shape"]["field"] == "kind"


def with_ratios(*ratios: float, spread: float = 0.05) -> Analysis:
    made = compared(*((f"s{number}", "a") for number in range(len(ratios))), levels=0)
    differences = [
        difference.model_copy(update={"ratio": estimate(ratio, spread)})
        for difference, ratio in zip(made.differences, ratios, strict=True)
    ]
    return made.model_copy(update={"differences": tuple(differences)})


def test_one_ratio_far_away_is_clipped_with_a_mark_and_leaves_the_others_their_room() -> None:
    ((_, spec),) = charts(with_ratios(1.1, 0.9, 1.2, 20.0))
    low, high = spec["layer"][POINT]["encoding"]["x"]["scale"]["domain"]
    assert (round(low, 2), high) == (0.83, 3.0)
    assert [row["to"] for row in rows(spec)][-1] == high
    (sign,) = (layer for layer in spec["layer"] if layer["mark"].get("text") == "▶")
    assert [row["ratio"] for row in sign["data"]["values"]] == [20.0]
    assert rows(spec)[-1]["change"].startswith("+1900.0 %"), "the figure is whole"


def test_where_several_are_far_away_nothing_is_clipped() -> None:
    ((_, spec),) = charts(with_ratios(1.1, 0.9, 1.2, 1.0, 6.0, 6.5, 5.0))
    assert not any(row["is_beyond_low"] or row["is_beyond_high"] for row in rows(spec))


def test_an_interval_that_decides_nothing_is_drawn_as_far_as_the_axis_goes() -> None:
    ((_, spec),) = charts(with_ratios(1.0, 1.1, 0.9, 1.05, spread=0.9))
    assert all(row["low"] is not None for row in rows(spec))


def test_many_rows_are_left_to_the_table() -> None:
    pairs = [(f"s{number}", "a") for number in range(COMPARED_MAX + 9)]
    found = charts(compared(*pairs, levels=0))
    assert sum(len(rows(spec)) for _, spec in found) == COMPARED_MAX
