"""Every chart of a page is valid Vega-Lite: guides are drawn without looking, since that takes longer than drawing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.model import Analysis
from plimsoll.guide import figures
from plimsoll.guide.figures import chart_spec
from plimsoll.guide.html import render_html
from plimsoll.guide.marks import Chart
from support.analyses import hostile_analysis, measured_analysis
from support.made import measured
from support.published import imported_analysis, per_minute_analysis
from support.stalled import stalled_analysis
from unit.guide.test_capacity_guide import searched


def scaling_analysis() -> Analysis:
    """Enough levels for a law."""
    recordings = [
        measured([100.0 * level / (1 + 0.1 * level) + repetition] * 12, connections=level, repetition=repetition)
        for level in (1, 2, 4, 8, 16)
        for repetition in range(2)
    ]
    return analyse("made", recordings)


def searched_analysis() -> Analysis:
    """Capacities of two systems."""
    return searched({"a": (1000.0, 1010.0), "b": (1500.0, 1500.0)})


@pytest.mark.parametrize(
    "make",
    [
        measured_analysis,
        imported_analysis,
        per_minute_analysis,
        hostile_analysis,
        stalled_analysis,
        scaling_analysis,
        searched_analysis,
    ],
)
def test_charts_of_a_page_are_valid(make: Callable[[], Analysis], monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Chart] = []

    def seen(chart: Chart) -> dict[str, object]:
        drawn.append(chart)
        return chart_spec(chart)

    monkeypatch.setattr(figures, "chart_spec", seen)
    render_html(make())
    assert drawn
    for chart in drawn:
        chart.to_dict(validate=True)
