"""The section "Scalability": the law that fits each curve, how well, where its peak is, how far it may be continued.

Deliberately not here: how laws are fitted (`plimsoll.analyse`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from plimsoll.analyse.explain.scalability import LEVELS_NEEDED
from plimsoll.analyse.explain.scaling_model import (
    Caution,
    LawFit,
    Region,
    Scalability,
    ScalingVerdict,
    SuperlinearReason,
    SuperlinearStep,
)
from plimsoll.analyse.explain.where_time import OTHERS_RATIO
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.cell_model import Estimate
from plimsoll.guide.drawing import alt
from plimsoll.guide.marks import Chart, Row, Series, Style, axis_y, chart_of, finish, names, rate_words
from plimsoll.guide.sections import Section, SectionChart, best_systems, folded_but_best
from plimsoll.guide.sources import Links, href, recordings_line
from plimsoll.guide.tables import NOT_KNOWN, Column, Entry, Table, per_unit, show_change, show_ratio, text_column
from plimsoll.guide.words import clean, grouped
from plimsoll.stats.scaling_laws import Law
from plimsoll.units import format_number, format_percent, format_rate
from plimsoll.wording import capitalised, counted, listed

_SHORT = {Law.LINEAR: "linear fit", Law.AMDAHL: "Amdahl's law", Law.USL: "USL"}
_LINE_POINTS = 60
_REGIONS = {
    "cores": "a core each",
    "siblings": "a hardware thread each",
    "beyond": "fewer CPUs than connections",
    "unknown": NOT_KNOWN,
}


def scalability_section(analysis: Analysis) -> Section | None:
    """The whole section; None where no curve has two levels."""
    curves = analysis.scalability
    if not curves:
        return None
    units, links, best = (
        {workload.name: workload.rate_unit for workload in analysis.workloads},
        Links(analysis),
        best_systems(analysis),
    )
    return Section(
        anchor="scalability",
        title="Scalability",
        sentences=tuple(scalability_sentences(curves)),
        tables=(
            *_nearest_laws(curves),
            *(
                folded_but_best(_table(curve, units.get(curve.workload, "tps"), links), curve.workload, best)
                for curve in curves
            ),
        ),
        charts=tuple(_charts(analysis, units)),
        notes=(
            "The scale factor is throughput over that of the lowest level. Efficiency is the scale factor divided by"
            " the factor by which connections increased: 1 is linear scaling. The dashed line is linear scaling from"
            " the lowest level; the dotted line is the number of physical cores.",
            *_within_cores(curves),
        ),
    )


def _nearest_laws(curves: Sequence[Scalability]) -> Iterator[Table]:
    """How far the nearest law misses, for the curves whose sentence they share."""
    rows = tuple(
        (
            Entry(curve.workload),
            Entry(curve.system),
            Entry(LAWS[curve.fit.law]),
            Entry(format_percent(curve.fit.residual_ratio_max)),
        )
        for group in without_law(curves).values()
        for curve in group
        if curve.fit is not None
    )
    if rows:
        columns = (
            *(text_column(heading) for heading in ("workload", "system", "nearest law")),
            Column(heading="misses a level by"),
        )
        yield Table(caption="Curves that no law fits", columns=columns, rows=rows)


def _table(fit: Scalability, unit: str, links: Links) -> Table:
    has_server = any(level.tps_per_server_cpu is not None for level in fit.levels)
    per_cpu = f"{unit} per {'CPU that the server kept busy' if has_server else 'busy CPU, client included'}"
    columns = (
        Column(heading="connections"),
        Column(heading=f"scale factor over {fit.levels[0].level.label()}"),
        Column(heading="efficiency"),
        Column(heading=per_cpu),
        Column(heading=f"law, {unit}"),
        text_column("CPUs for the connections"),
    )
    rows = []
    for level in fit.levels:
        scale, efficiency = show_ratio(level.scale_factor), show_ratio(level.efficiency)
        trials = links.trials_of(fit.system, fit.workload, level.level)
        band = None
        if level.low_tps is not None and level.high_tps is not None:
            band = " to ".join(format_number(per_unit(edge, unit)) for edge in (level.low_tps, level.high_tps))
        each = level.tps_per_server_cpu if has_server else level.tps_per_busy_cpu
        rows.append(
            (
                Entry(level.level.figure()),
                replace(scale, sources=trials),
                replace(efficiency, sources=trials),
                Entry(_rate(each, unit), sources=trials),
                Entry(_rate(level.fitted_tps, unit), band),
                Entry(_REGIONS[level.region.value]),
            )
        )
    per_core = f"At its peak: {format_rate(fit.tps_per_core, unit)} per core." if fit.tps_per_core else ""
    within_cores = "" if _has_law(fit) else capitalised(_law_within_cores(fit), ())
    return Table(
        caption=f"{fit.workload}: scalability",
        system=fit.system,
        columns=columns,
        rows=tuple(rows),
        notes=tuple(note for note in (per_core, within_cores) if note),
        is_printed=False,
    )


def _within_cores(curves: Sequence[Scalability]) -> Iterator[str]:
    """For curves that a law fits: that of the levels with a core for each connection, or why there is none."""
    of_curves: dict[str, list[str]] = {}
    for curve in filter(_has_law, curves):
        if words := _law_within_cores(curve):
            of_curves.setdefault(words, []).append(f"{curve.workload}, {curve.system}")
    yield from (f"{'; '.join(names)}: {words}" for words, names in of_curves.items())


def _has_law(curve: Scalability) -> bool:
    """Whether a law fits it, so that paper has its chart, and what is to know of the law."""
    return curve.fit is not None and curve.verdict is not ScalingVerdict.DOES_NOT_FIT


def _law_within_cores(fit: Scalability) -> str:
    if (inner := fit.fit_within_cores) is not None:
        return f"with a core for each connection, {LAWS[inner.law]} fits best{parameters(inner)}."
    count = sum(level.region is Region.CORES for level in fit.levels)
    if fit.fit is None or not fit.cores or count == len(fit.levels):
        return ""
    return (
        f"no law is fitted to the levels with a core for each connection alone: there are {count}, and it takes"
        f" {LEVELS_NEEDED}. So the law does not distinguish between cores, sibling threads and waiting connections."
    )


def _rate(tps: float | None, unit: str) -> str:
    return NOT_KNOWN if tps is None else format_number(per_unit(tps, unit))


def _charts(analysis: Analysis, units: Mapping[str, str]) -> Iterator[SectionChart]:
    """A chart for each curve; those of one workload have one scale, so that heights can be compared."""
    for workload, curves in grouped(analysis.scalability, lambda curve: curve.workload):
        unit = units.get(workload, "tps")
        rows = [_rows(curve, analysis, unit) for curve in curves]
        top = max(max(row["rate"], row["high"] or 0.0) for of in rows for row in of) * 1.06
        frame = _Frame(names(analysis), top, unit)
        for curve, of in zip(curves, rows, strict=True):
            draw = partial(scalability_chart, curve, of, frame)
            title = f"{curve.workload}, {curve.system}: scalability"
            yield SectionChart(title=title, draw=draw, is_printed=_has_law(curve))


def _rows(fit: Scalability, analysis: Analysis, unit: str) -> list[Row]:
    curve = next(
        x for x in analysis.curves if (x.system, x.workload) == (fit.system, fit.workload) and not x.kind.is_at_rate
    )
    measured, links = {cell.level.connections: cell.throughput_tps.value for cell in curve.cells}, Links(analysis)
    return [
        {
            "n": level.level.connections,
            "rate": per_unit(measured[level.level.connections], unit),
            "shown": format_rate(measured[level.level.connections], unit),
            "low": _scaled(level.low_tps, unit),
            "high": _scaled(level.high_tps, unit),
            **links.of_cell(fit.system, fit.workload, level.level),
        }
        for level in fit.levels
    ]


@dataclass(frozen=True, slots=True)
class _Frame:
    """What all charts of a workload share.

    Attributes:
        systems: All of the study, which have their colours everywhere.
        top: Where the axis ends, in the unit of throughput.
        unit: Of throughput.
    """

    systems: list[str]
    top: float
    unit: str


def scalability_chart(fit: Scalability, rows: list[Row], frame: _Frame, style: Style) -> Chart:
    """Measured points, the law with its band, linear scaling, and the physical cores, each with its name.

    Args:
        fit: Of one curve.
        rows: Its levels.
        frame: Of its workload.
        style: How the chart is made.
    """
    first, last, top, unit = rows[0], rows[-1], frame.top, frame.unit
    scale = alt.Scale(type="log", base=2, domain=[first["n"], max(last["n"], 2 * first["n"])], nice=False, padding=8)
    axis = alt.Axis(values=[row["n"] for row in rows], format=",d", title="Connections", labelOverlap="greedy")
    x = alt.X("n:Q", scale=scale, axis=axis)
    y = axis_y("rate:Q", f"Throughput, {rate_words(unit)}", alt.Scale(domain=[0, top], nice=False))
    colour, quiet = Series(frame.systems, style).colours[clean(fit.system)], style.palette.quiet
    slope = first["rate"] / first["n"]
    ideal = [{"n": n, "rate": slope * n} for n in _between(first["n"], min(last["n"], top / slope))]
    layers = [chart_of(ideal).mark_line(strokeDash=[6, 4], strokeWidth=1.5, color=quiet).encode(x=x, y=y)]
    named = [{"n": ideal[-1]["n"], "rate": ideal[-1]["rate"] * 0.97, "name": "linear scaling"}]
    if fit.cores and first["n"] <= fit.cores <= last["n"]:
        ends = [{"n": fit.cores, "rate": 0.0}, {"n": fit.cores, "rate": top}]
        layers.append(chart_of(ends).mark_line(strokeDash=[2, 3], color=quiet).encode(x=x, y=y))
        named.append({"n": fit.cores, "rate": top * 0.05, "name": counted(fit.cores, "core")})
    if fit.fit is not None:
        fitted = [{"n": n, "rate": per_unit(fit.fit.tps_at(n), unit)} for n in _between(first["n"], last["n"])]
        band = chart_of(rows).mark_area(opacity=0.16, color=colour, interpolate="monotone")
        layers.append(band.encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q")))
        layers.append(chart_of(fitted).mark_line(strokeWidth=2, color=colour).encode(x=x, y=y))
        named.append({"n": last["n"], "rate": fitted[-1]["rate"] - top * 0.09, "name": _SHORT[fit.fit.law]})
    tooltip = [alt.Tooltip("n:Q", title="connections"), alt.Tooltip("shown:N", title="throughput"), recordings_line()]
    points = chart_of(rows).mark_point(filled=True, size=58, opacity=1, color=colour)
    layers.append(points.encode(x=x, y=y, tooltip=tooltip, href=href()))
    words = chart_of(named).mark_text(align="right", dx=-6, fontSize=11, color=quiet)
    layers.append(words.encode(x=x, y=y, text=alt.Text("name:N")))
    return finish(alt.layer(*layers), style)


def _between(first: float, last: float) -> list[float]:
    """Numbers of connections for a smooth line on a scale of doublings."""
    return [first * (max(last, first) / first) ** (step / (_LINE_POINTS - 1)) for step in range(_LINE_POINTS)]


def _scaled(tps: float | None, unit: str) -> float | None:
    return None if tps is None else per_unit(tps, unit)


LAWS = {Law.LINEAR: "linear scaling", Law.AMDAHL: "Amdahl's law", Law.USL: "the universal scalability law"}
CAUTIONS: Mapping[Caution, str] = {
    Caution.DOES_NOT_FIT: "no law fits",
    Caution.TOO_FEW_LEVELS: "there are too few levels",
    Caution.WIDE_BAND: "the confidence band is too wide",
    Caution.ONE_REPETITION: "there is only one repetition",
    Caution.CLIENT_SATURATED: "the client was saturated",
    Caution.CLIENT_ON_SERVER_HOST: "the client shared the processors",
    Caution.SUPERLINEAR: "a step is superlinear",
}
_REASONS: Mapping[SuperlinearReason, str] = {
    SuperlinearReason.BATCHING: "likely batching, such as group commit: transactions took less processor time",
    SuperlinearReason.IDLE_STATES: (
        "likely idle states or halt polling: transactions took no less processor time, and the processors were idle"
    ),
    SuperlinearReason.OTHERS: (
        f"no reason is given, because other processes used {format_percent(OTHERS_RATIO)} or more of the busy"
        " processor time"
    ),
    SuperlinearReason.UNKNOWN: "processor time does not say why",
}


def scalability_sentences(curves: Sequence[Scalability]) -> Iterator[str]:
    """Each curve; those that no law fits, for the same cautions, together: the table of nearest laws has figures."""
    groups = without_law(curves)
    for cautions, group in groups.items():
        others = [CAUTIONS[caution] for caution in cautions if caution is not Caution.DOES_NOT_FIT]
        because = f": {listed(others)}" if others else ""
        whose = (
            "None of the laws fits any curve"
            if len(group) == len(curves)
            else f"No law fits {len(group)} of the curves"
        )
        yield f"{whose}; the nearest ones are in the table. Do not extrapolate{because}."
        yield from (f"{_place(curve)}: {' '.join(steps)}" for curve in group if (steps := _steps(curve)))
    covered = [curve for group in groups.values() for curve in group]
    yield from (scalability_sentence(curve) for curve in curves if curve not in covered)


def without_law(curves: Sequence[Scalability]) -> dict[tuple[Caution, ...], list[Scalability]]:
    """Curves that no law fits, by their cautions, where several have the same."""
    groups: dict[tuple[Caution, ...], list[Scalability]] = {}
    for curve in curves:
        if curve.verdict is ScalingVerdict.DOES_NOT_FIT:
            groups.setdefault(curve.cautions, []).append(curve)
    return {cautions: group for cautions, group in groups.items() if len(group) > 1}


def scalability_sentence(fit: Scalability) -> str:
    """Law, peak, how far to continue it, superlinear steps."""
    return " ".join((f"{_place(fit)}: {_law(fit)}{_peak(fit)}.", _continued(fit), *_steps(fit)))


def _place(fit: Scalability) -> str:
    return f"{fit.workload}, {fit.system}"


def _steps(fit: Scalability) -> list[str]:
    """What sibling threads change, and steps that are superlinear: of this curve alone."""
    siblings = [_siblings(fit.sibling_gain)] if fit.sibling_gain is not None else []
    return [*siblings, *(_step(step) for step in fit.superlinear)]


def _law(fit: Scalability) -> str:
    if fit.fit is None:
        return "too few levels to fit a scalability model"
    if fit.verdict is ScalingVerdict.DOES_NOT_FIT:
        miss = format_percent(fit.fit.residual_ratio_max)
        return f"no law fits: {LAWS[fit.fit.law]}, the nearest one, misses a level by {miss}"
    return f"{LAWS[fit.fit.law]} fits best{parameters(fit.fit)}"


def _siblings(gain: Estimate) -> str:
    """What the second hardware thread of each core adds."""
    shown = show_change(gain)
    interval = f" (95 % CI {shown.detail})" if shown.detail else ""
    return f"Sibling threads change throughput by {shown.text}{interval} against a core for each connection."


def parameters(fit: LawFit) -> str:
    """Contention and coherency with their intervals, in brackets; empty where a law has neither."""
    known = (("contention", fit.sigma, fit.sigma_bounds), ("coherency", fit.kappa, fit.kappa_bounds))
    shown = [f"{name} {value:.2g} ({edges[0]:.2g} to {edges[1]:.2g})" for name, value, edges in known if edges]
    return f" ({', '.join(shown)})" if shown else ""


def _peak(fit: Scalability) -> str:
    last = fit.levels[-1].level.label()
    match fit.verdict:
        case ScalingVerdict.PEAK_INSIDE:
            low, high = fit.peak_low or 0.0, fit.peak_high or 0.0
            return f"; peak at {fit.peak_connections or 0.0:,.0f} connections (95 % CI {low:,.0f} to {high:,.0f})"
        case ScalingVerdict.PEAK_OUTSIDE:
            return f"; the peak is outside the measured range, above {last}"
        case ScalingVerdict.NOT_RESOLVED:
            upper = "no peak at all" if fit.peak_high is None else f"{fit.peak_high:,.0f}"
            return f"; the peak is not resolved (95 % CI {fit.peak_low or 1.0:,.0f} connections to {upper})"
    return ""


def _continued(fit: Scalability) -> str:
    if fit.cautions:
        return f"Do not extrapolate: {listed([CAUTIONS[caution] for caution in fit.cautions])}."
    return f"The curve may be continued to {2 * fit.levels[-1].level.connections:,} connections at most."


def _step(step: SuperlinearStep) -> str:
    gain = format_percent(step.per_connection_ratio.value - 1, signed=True)
    return (
        f"From {step.from_connections:,} to {step.to_connections:,} connections throughput per connection rose"
        f" ({gain}): {_REASONS[step.reason]}."
    )
