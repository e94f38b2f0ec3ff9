"""Capacities: the runs of a search, the systems of a study beside each other, and p99 response time against rate.

The chart has every run of the searches of a workload, with the objective and the verdicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.analyse.model import Analysis, WorkloadSummary
from plimsoll.analyse.study.capacity_model import CapacityRatio, SystemCapacity
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.guide.drawing import alt
from plimsoll.guide.marks import Chart, Row, Series, Style, axis_y, chart_of, finish, logarithmic_ticks, names
from plimsoll.guide.sources import Links, capacity_sources, href, recordings_line
from plimsoll.guide.tables import NOT_KNOWN, Column, Entry, Table, per_unit, show_change, show_rate, text_column
from plimsoll.guide.words import clean
from plimsoll.prose.capacity import VERDICTS, objective_words, run_words, share_words
from plimsoll.prose.ratios import verdict_word
from plimsoll.record.capacity import Capacity, CapacityRun, RunVerdict
from plimsoll.units import format_number, format_rate
from plimsoll.wording import counted, listed

NOTE = (
    "Capacity is the rate at which as many arrivals are over the objective as it allows, from all runs of a search"
    " together; of several searches the geometric mean. The limits are the ends of the 95 % confidence intervals of the"
    " searches, the lowest and the highest; an upper limit is not known where runs of a search contradict each other."
)
RAMPS_NOTE = (
    "Compared by {} of ramps: the rate of each system rose until most answers were late, in turn and in random order."
    " The ratio is that of these rates; the interval holds whenever it was looked at, and has what starts of a server"
    " are taken to differ by."
)


def runs_table(capacity: Capacity, caption: str = "Runs of the search") -> Table:
    """Every run of a search, in the order in which they ran."""
    columns = (
        text_column("run for"),
        Column(heading="connections"),
        Column(heading="rate tps"),
        Column(heading="completed tps"),
        Column(heading="p99 ms"),
        Column(heading="over the objective"),
        Column(heading="s"),
        text_column("verdict"),
    )
    notes = (f"Objective: {objective_words(capacity.objective)}.",)
    return Table(caption=caption, columns=columns, rows=tuple(_run(run) for run in capacity.runs), notes=notes)


def _run(run: CapacityRun) -> tuple[Entry, ...]:
    figures = (
        f"{run.connections:,}",
        NOT_KNOWN if run.rate_tps is None else format_number(run.rate_tps),
        format_number(run.throughput_tps),
        NOT_KNOWN if run.response_ms_p99 is None else format_number(run.response_ms_p99),
        NOT_KNOWN if run.rate_tps is None else share_words(run.over_ratio),
        f"{run.duration_s:g}",
    )
    linked = (Entry(text, sources=() if text == NOT_KNOWN else (run.trial_id,)) for text in figures)
    return (
        Entry(run.role.value),
        *linked,
        Entry(_verdict(run)),
    )


def _verdict(run: CapacityRun) -> str:
    if run.made_again:
        return "disturbed, left out"
    if run.pair is not None:
        return "no knee" if run.knee_tps is None else f"pair {run.pair + 1}: knee at {format_rate(run.knee_tps)}"
    return VERDICTS[run.verdict] + (": replica lag grows" if run.lag_grows else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityPart:
    """What a guide says about capacities besides charts.

    Attributes:
        systems: Every system with its capacity.
        ratios: Systems compared; None where there was nothing to compare.
        runs: The runs of each search.
    """

    systems: Table
    ratios: Table | None
    runs: tuple[Table, ...]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Those that are shown before the single runs."""
        return (self.systems,) if self.ratios is None else (self.systems, self.ratios)


def capacity_part(analysis: Analysis, workload: str | None = None) -> CapacityPart | None:
    """Tables of a study's capacities; None where none was searched for.

    Args:
        analysis: Of the study.
        workload: The one that they are about; None for all, which tables then name.
    """
    capacities = [capacity for capacity in analysis.capacities if workload in (None, capacity.workload)]
    if not capacities:
        return None
    ratios = [
        capacity_ratio for capacity_ratio in analysis.capacity_ratios if workload in (None, capacity_ratio.workload)
    ]
    units = {workload.name: workload.rate_unit for workload in analysis.workloads}
    columns = (
        text_column("system"),
        text_column("workload"),
        Column(heading="capacity"),
        Column(heading="lower limit"),
        Column(heading="upper limit"),
        Column(heading="searches"),
        text_column("objective"),
    )
    rows = tuple(_system(capacity, units.get(capacity.workload, "tps")) for capacity in capacities)
    systems = Table(caption="Capacity at the objective", columns=columns, rows=rows, notes=(NOTE,))
    runs = tuple(
        runs_table(
            search.capacity,
            (f"{search.system}, {search.workload}" if workload is None else search.system)
            + f", repetition {search.repetition + 1}"
            + ("" if search.is_finished else ", stopped" if search.stopped is not None else ", not finished"),
        )
        for capacity in capacities
        for search in capacity.searches
    )
    compared = _ratios(ratios)
    if workload is not None:
        systems, compared = systems.without("workload"), compared and compared.without("workload")
    return CapacityPart(systems=systems, ratios=compared, runs=runs)


def _system(system_capacity: SystemCapacity, unit: str) -> tuple[Entry, ...]:
    shown = None if system_capacity.capacity_tps is None else show_rate(system_capacity.capacity_tps, unit)
    return (
        Entry(system_capacity.system),
        Entry(system_capacity.workload),
        Entry("not known")
        if shown is None
        else Entry(f"{shown.text} {unit}", shown.detail, sources=capacity_sources(system_capacity)),
        Entry(NOT_KNOWN if system_capacity.low is None else format_rate(system_capacity.low, unit)),
        Entry(NOT_KNOWN if system_capacity.high is None else format_rate(system_capacity.high, unit)),
        Entry(str(len(system_capacity.searches))),
        Entry(objective_words(system_capacity.objective)),
    )


def _ratios(ratios: Sequence[CapacityRatio]) -> Table | None:
    if not ratios:
        return None
    columns = (
        text_column("compared"),
        text_column("workload"),
        Column(heading="capacity"),
        text_column("verdict"),
        Column(heading="more repetitions to decide"),
    )
    rows = tuple(_ratio(ratio) for ratio in ratios)
    pairs = [ratio.pairs_count for ratio in ratios if ratio.pairs_count]
    notes = (RAMPS_NOTE.format(listed(list(dict.fromkeys(counted(pair, "pair") for pair in pairs)))),) if pairs else ()
    return Table(caption="Capacities compared", columns=columns, rows=rows, notes=notes)


def _ratio(capacity_ratio: CapacityRatio) -> tuple[Entry, ...]:
    change = show_change(capacity_ratio.ratio)
    needed = NOT_KNOWN if capacity_ratio.repetitions_needed is None else str(capacity_ratio.repetitions_needed)
    pair = Entry(f"{capacity_ratio.system} against {capacity_ratio.base}")
    verdict = verdict_word(capacity_ratio.verdict, "higher", "lower")
    if capacity_ratio.verdict is RatioVerdict.UNTESTABLE:
        verdict = "not resolved" if capacity_ratio.pairs_count else "not resolved by one search each"
    return (pair, Entry(capacity_ratio.workload), change, Entry(verdict), Entry(needed))


_SHAPES = {RunVerdict.HOLDS: "circle", RunVerdict.UNDECIDED: "diamond", RunVerdict.DOES_NOT_HOLD: "cross"}


def capacity_chart(analysis: Analysis, workload: WorkloadSummary, style: Style) -> Chart | None:
    """Every run at a rate as a point whose shape is its verdict, on the line of its system; None where there is none.

    Lines join the runs of a system by rising rate, all of its searches together: dashes tell systems apart without
    colour, since shapes tell verdicts.
    """
    links = Links(analysis)
    capacities = [capacity for capacity in analysis.capacities if capacity.workload == workload.name]
    rows: list[Row] = [
        {
            "system": clean(capacity.system),
            "rate": per_unit(run.rate_tps, workload.rate_unit),
            "response": run.response_ms_p99,
            "verdict": VERDICTS[run.verdict],
            "shown": run_words(run),
            **links.of([run.trial_id]),
        }
        for capacity in capacities
        for search in capacity.searches
        for run in search.capacity.runs
        if run.rate_tps is not None and run.response_ms_p99
    ]
    if not rows:
        return None
    limits_ms = sorted({capacity.objective.response_ms_p99 for capacity in capacities})
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
    series = Series(names(analysis), style)
    through = chart_of(rows).mark_line(strokeWidth=1.5, opacity=0.5)
    through = through.encode(x=x, y=y, color=series.colour, strokeDash=series.dash, order=alt.Order("rate:Q"))
    points = chart_of(rows).mark_point(size=64, filled=False, strokeWidth=2, opacity=1)
    points = points.encode(x=x, y=y, color=series.colour, shape=shape, tooltip=tooltip, href=href())
    lines = chart_of([{"response": limit} for limit in limits_ms])
    rule = lines.mark_rule(strokeDash=[6, 4], strokeWidth=1.5, color=style.palette.quiet).encode(y=alt.Y("response:Q"))
    return finish(alt.layer(rule, through, points), style)
