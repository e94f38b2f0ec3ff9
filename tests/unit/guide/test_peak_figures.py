"""One peak, one figure: in the sentence, in the chart and in the table."""

from __future__ import annotations

import numpy as np

from plimsoll.analyse.analysis import analyse
from plimsoll.guide.charts import _sustained
from plimsoll.guide.markdown import render_markdown
from plimsoll.guide.sources import Links
from support.made import measured
from support.told import answer_of


def test_the_peak_is_one_figure_in_sentence_chart_and_table() -> None:
    """Noisy levels near the peak, where each repetition would choose another one."""
    chance = np.random.default_rng(3)
    recordings = [
        measured(
            tps * np.exp(chance.normal(0, 0.25)) * chance.normal(1, 0.01, 10),
            system=system,
            connections=connections,
            repetition=repetition,
        )
        for system, tps in (("durable", 25.0), ("relaxed", 27.0))
        for connections in (4, 8, 16)
        for repetition in range(3)
    ]
    analysis = analyse("made", recordings)
    for curve in analysis.curves:
        assert curve.peak is not None
        best = max(cell.throughput_tps.value for cell in curve.cells)
        assert curve.peak.throughput_tps.value == best
        assert _sustained(curve, None, "tps", Links(analysis))["rate"] == best
        figure = f"{best:.1f} tps"
        assert any(curve.system in text and figure in text for text in answer_of(analysis)), figure
        assert f"{best:.1f}" in render_markdown(analysis)
