"""The charts of a guide's first screen, one for each of the first workloads.

Deliberately not here: what charts show (`interval_charts`, `duets` and others), and what the first screen says
(`headline`).
"""

from __future__ import annotations

from dataclasses import replace

from plimsoll.analyse.model import Analysis, WorkloadSummary
from plimsoll.guide.capacity_chart import capacity_chart
from plimsoll.guide.charts import throughput_chart
from plimsoll.guide.content import Content
from plimsoll.guide.duets import duet_charts
from plimsoll.guide.figures import Figure, picture
from plimsoll.guide.headline import is_duet
from plimsoll.guide.interval_charts import capacities_chart, peaks_chart, sustained_words
from plimsoll.guide.look import Look
from plimsoll.guide.marks import Chart
from plimsoll.prose.phrases import capitalised

FIRST_PX = 430
FIRST_COUNT = 2
"""So many workloads have a chart on the first screen."""


def first_figures(content: Content) -> tuple[Figure, ...]:
    """The charts of the first screen: what each system sustains; of a single system its curve, of a duet its rounds."""
    analysis = content.analysis
    workloads = analysis.workloads[:FIRST_COUNT]
    look = Look(width_px=None, height_px=300 // max(len(workloads), 1))
    charts = ((one, *_first_chart(analysis, one, look)) for one in workloads)
    return tuple(
        Figure(
            title=f"{one.name}: {shows}",
            label=f"{capitalised(shows, ())}, {one.name}",
            pictures=(picture(chart, "any", FIRST_PX, f"f{index}-"),),
        )
        for index, (one, shows, chart) in enumerate(charts)
        if chart is not None
    )


def _first_chart(analysis: Analysis, workload: WorkloadSummary, look: Look) -> tuple[str, Chart | None]:
    """What the chart of a workload on the first screen shows, and the chart."""
    tall = replace(look, height_px=max(look.height_px, 220))
    if is_duet(analysis, workload.name):
        rounds = next(duet_charts(analysis, tall, workload.name), None)
        return "systems compared", None if rounds is None else rounds[1]
    if any(one.workload == workload.name for one in analysis.capacities):
        several = capacities_chart(analysis, workload, look) if len(analysis.systems) > 1 else None
        if several is not None:
            return "capacity of each system", several
        return "p99 response time against rate", capacity_chart(analysis, workload, tall)
    if len(analysis.systems) == 1:
        return "throughput", _first_curve(analysis, workload, look)
    return sustained_words(analysis, workload), peaks_chart(analysis, workload, look)


def _first_curve(analysis: Analysis, workload: WorkloadSummary, look: Look) -> Chart | None:
    kinds = (curve.kind for curve in analysis.curves if curve.workload == workload.name)
    kind = next(kinds, None)
    return None if kind is None else throughput_chart(analysis, workload, kind, look)
