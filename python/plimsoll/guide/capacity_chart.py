"""p99 response time against rate for every run of the searches of a workload, with the objective and the verdicts."""

from __future__ import annotations

from plimsoll.analyse.model import Analysis, WorkloadSummary
from plimsoll.guide.chart_links import Links, href, recordings_line
from plimsoll.guide.drawing import alt
from plimsoll.guide.labels import chart_of
from plimsoll.guide.look import Look
from plimsoll.guide.marks import Chart, Row, Series, axis_y, finish, logarithmic_ticks, names
from plimsoll.guide.numbers import per_unit
from plimsoll.guide.words import clean
from plimsoll.prose.capacity import VERDICTS, run_words
from plimsoll.record.capacity import RunVerdict

_SHAPES = {RunVerdict.HOLDS: "circle", RunVerdict.UNDECIDED: "diamond", RunVerdict.DOES_NOT_HOLD: "cross"}


def capacity_chart(analysis: Analysis, workload: WorkloadSummary, look: Look) -> Chart | None:
    """Every run at a rate as a point whose shape is its verdict, on the line of its system; None where there is none.

    Lines join the runs of a system by rising rate, all of its searches together: dashes tell systems apart without
    colour, since shapes tell verdicts.
    """
    links = Links(analysis)
    found = [one for one in analysis.capacities if one.workload == workload.name]
    rows: list[Row] = [
        {
            "system": clean(one.system),
            "rate": per_unit(run.rate_tps, workload.rate_unit),
            "response": run.response_ms_p99,
            "verdict": VERDICTS[run.verdict],
            "shown": run_words(run),
            **links.of([run.trial_id]),
        }
        for one in found
        for search in one.searches
        for run in search.capacity.runs
        if run.rate_tps is not None and run.response_ms_p99
    ]
    if not rows:
        return None
    limits_ms = sorted({one.objective.response_ms_p99 for one in found})
    times = [*(row["response"] for row in rows), *limits_ms]
    rates = [row["rate"] for row in rows]
    x = alt.X(
        "rate:Q",
        scale=alt.Scale(domain=[min(rates) * 0.9, max(rates) * 1.05], nice=False),
        axis=alt.Axis(title=f"Target rate, {workload.rate_unit}", tickCount=4, labelFlush=False, format=",~r"),
    )
    scale = alt.Scale(type="log", domain=[min(times) * 0.8, max(times) * 1.25], nice=False)
    y = axis_y("response:Q", "p99 response time, ms", scale, values=logarithmic_ticks(min(times), max(times)))
    verdicts = [VERDICTS[verdict] for verdict in _SHAPES]
    shape = alt.Shape(
        "verdict:N",
        scale=alt.Scale(domain=verdicts, range=list(_SHAPES.values())),
        legend=alt.Legend(title=None, orient="bottom", columns=3),
    )
    tooltip = [alt.Tooltip("system:N", title="system"), alt.Tooltip("shown:N", title="run"), recordings_line()]
    series = Series(names(analysis), look)
    through = chart_of(rows).mark_line(strokeWidth=1.5, opacity=0.5)
    through = through.encode(x=x, y=y, color=series.colour, strokeDash=series.dash, order=alt.Order("rate:Q"))
    points = chart_of(rows).mark_point(size=64, filled=False, strokeWidth=2, opacity=1)
    points = points.encode(x=x, y=y, color=series.colour, shape=shape, tooltip=tooltip, href=href())
    lines = chart_of([{"response": limit} for limit in limits_ms])
    rule = lines.mark_rule(strokeDash=[6, 4], strokeWidth=1.5, color=look.palette.quiet).encode(y=alt.Y("response:Q"))
    return finish(alt.layer(rule, through, points), look)
