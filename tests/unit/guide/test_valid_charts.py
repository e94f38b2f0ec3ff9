"""Every chart of a page is valid Vega-Lite: guides are drawn without looking, since that takes longer than drawing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from plimsoll.analyse.model import Analysis
from plimsoll.guide import figures
from plimsoll.guide.html import render_html
from plimsoll.guide.marks import Chart
from plimsoll.guide.pictures import chart_spec
from support.analyses import hostile_analysis, measured_analysis
from support.published import imported_analysis, per_minute_analysis
from support.stalled import stalled_analysis


@pytest.mark.parametrize(
    "make", [measured_analysis, imported_analysis, per_minute_analysis, hostile_analysis, stalled_analysis]
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
