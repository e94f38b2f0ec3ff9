"""How systems compare, as sentences, tables and charts: the verdict, its interval, and what would decide an open one.

Charts have a row for each level of two systems, or one for each of many systems. Names stand beside the plot, never
within it: there is the band of what is equal enough. All charts of a workload have one scale and one width of their
columns, so that they can be read as one. Deliberately not here: what each system sustains (`charts`),
and systems that took turns (`duets`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from plimsoll.analyse.model import Analysis, Difference, WorkloadSummary
from plimsoll.analyse.study.cell_model import EQUAL_WITHIN, Estimate
from plimsoll.analyse.study.comparison import MOST_FURTHER_REPETITIONS
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.guide.drawing import alt, at_x
from plimsoll.guide.marks import (
    LINE_PX,
    Chart,
    Row,
    Series,
    Style,
    chart_of,
    clip_signs,
    clipped,
    finish,
    name_lines,
    names,
    ratio_axis,
    ratio_domain,
)
from plimsoll.guide.sources import Links, cell_sources, href
from plimsoll.guide.tables import NOT_KNOWN, Column, Entry, Table, show_change, text_column
from plimsoll.guide.words import (
    FindingContext,
    clean,
    difference_verdict,
    effect_words,
    grouped,
    other_factor_words,
    response_verdict,
)
from plimsoll.prose.phrases import VAGUE_SHORT, factor_words, plain_percent
from plimsoll.prose.ratios import effect, higher, ratio_interval, verdict_word
from plimsoll.units import format_rate
from plimsoll.wording import counted


def comparison_sentence(context: FindingContext) -> str:
    """Two peaks, the higher one first, with the verdict."""
    finding, figures = context.finding, context.figures
    high, low = str(finding.system), figures["base"]
    ratio: Estimate = figures["ratio"]
    interval = ratio_interval(ratio)
    inside = f" ({interval})" if interval else ""
    if figures["verdict"] == RatioVerdict.DISTURBED:
        place, _, plural = _compared_figures(context)
        return (
            f"{place}{plural} of {high} and {low} cannot be compared: the measurement was disturbed."
            f"{_differing(context)}"
        )
    if (turns := _turns(context)) is not None and figures["verdict"] != RatioVerdict.UNTESTABLE:
        return f"{_of_turns(context, turns)}{_but(context)}.{_differing(context)}"
    place, noun, plural = _compared_figures(context)
    text = f"{place}{noun} of {high} is {higher(ratio.value)} {low}{inside}"
    if figures["verdict"] == RatioVerdict.UNTESTABLE:
        text = (
            f"{place}{noun} of {high} is {higher(ratio.value)} {low} ({peaks_words(context)}). {_untestable(figures)}"
        )
    elif figures["verdict"] == RatioVerdict.UNRESOLVED:
        text = _unresolved(context, inside)
    elif figures["verdict"] == RatioVerdict.EQUAL:
        share = plain_percent(figures.get("equal_within", EQUAL_WITHIN))
        text = f"{place}{plural} of {high} and {low} are equal within {share}{inside}"
    return f"{text}{_but(context)}{_compared_at(context)}.{_differing(context)}"


def _untestable(figures: Mapping[str, Any]) -> str:
    if "environments" not in figures:
        return "How much repetitions vary is unknown, so chance cannot be ruled out"
    return (
        f"The environments {' and '.join(figures['environments'])} were measured in turn, one of them only once, so"
        " whatever changed in between may be the cause"
    )


def _but(context: FindingContext) -> str:
    """What the faster system may lose, where it is decided that it is faster."""
    durability = context.figures.get("less_durable")
    is_difference = RatioVerdict(context.figures["verdict"]).is_difference
    return f", but {context.finding.system} {durability}" if durability and is_difference else ""


def _differing(context: FindingContext) -> str:
    """What the systems differ in, if that is more than the durability that `_but` has told."""
    differing, one_sided = context.figures["differing"], context.figures["one_sided"]
    is_told = bool(_but(context)) and [name for name, *_ in differing] == ["durability"]
    return factor_words(() if is_told else differing, one_sided)


def _compared_figures(context: FindingContext) -> tuple[str, str, str]:
    """Where two systems are compared and by what, in the singular and in the plural; one level has no peak."""
    finding, base = context.finding, context.figures["base"]
    levels = {
        cell.level.order: cell.level
        for curve in context.analysis.curves
        if curve.workload == finding.workload and curve.system in (finding.system, base) and not curve.kind.is_at_rate
        for cell in curve.cells
    }
    if len(levels) != 1:
        return f"{finding.workload}: ", "the peak", "the peaks"
    (level,) = levels.values()
    return f"{finding.workload}: at {level.label()}, ", "throughput", "throughputs"


def _turns(context: FindingContext) -> Difference | None:
    """The pairs of turns behind a comparison of peaks; None where the systems did not take turns."""
    finding = context.finding
    pair, level = {finding.system, context.figures["base"]}, context.figures.get("system_level")
    for difference in context.analysis.differences:
        is_of_pair = difference.workload == finding.workload and {difference.base, difference.system} == pair
        is_turns = difference.duet is not None and is_of_pair and difference.level is not None
        if is_turns and (level is None or difference.level == level):
            return difference
    return None


def _of_turns(context: FindingContext, turns: Difference) -> str:
    """Two systems that took turns, the faster one first, with the verdict and what it rests on."""
    finding, figures = context.finding, context.figures
    high, low = str(finding.system), figures["base"]
    ratio: Estimate = figures["ratio"]
    assert turns.duet is not None, "only such comparisons are chosen"
    assert turns.level is not None, "only such comparisons are chosen"
    rests_on = f"{counted(turns.duet.pair_count, 'pair')} of turns in {counted(len(turns.duet.rounds), 'round')}"
    inside = f" ({', '.join(filter(None, (ratio_interval(ratio), rests_on)))})"
    place = f"{finding.workload}: at {turns.level.label()},"
    faster = f"{higher(ratio.value)} {low}"
    if figures["verdict"] == RatioVerdict.UNRESOLVED:
        return (
            f"{place} it is not resolved whether {high} and {low} differ. Throughput of {high} is"
            f" {faster}{inside}. {_would_decide(figures, 'round')}"
        )
    if figures["verdict"] == RatioVerdict.EQUAL:
        share = plain_percent(figures.get("equal_within", EQUAL_WITHIN))
        return f"{place} {high} and {low} are equal within {share}{inside}"
    return f"{place} {high} is faster: its throughput is {faster}{inside}"


def _would_decide(figures: Mapping[str, Any], outer: str) -> str:
    """What such a study can find, where that is known, and how many more of its outermost unit would decide."""
    needed, detectable = figures.get("repetitions_needed"), figures["smallest_effect"]
    more = f"more than {MOST_FURTHER_REPETITIONS} further {outer}s would be needed to decide"
    if needed:
        more = f"about {counted(needed, f'more {outer}')} would decide"
    if detectable is None:
        return f"{more[0].upper()}{more[1:]}"
    return f"The minimum detectable effect (80 % power) is {effect(detectable)}; {more}"


def _unresolved(context: FindingContext, inside: str) -> str:
    """Which difference is open, and what would decide it."""
    finding, figures = context.finding, context.figures
    high, low = str(finding.system), figures["base"]
    place, _, plural = _compared_figures(context)
    ratio: Estimate = figures["ratio"]
    more = _would_decide(figures, "block" if "environments" in figures else "repetition")
    alone = ratio.bounds is not None and ratio.bounds.low > 1.0
    corrected = " It excludes 0 % for this comparison alone, but not with all comparisons counted." if alone else ""
    return (
        f"{place}it is not resolved whether {plural} of {high} and {low} differ. That of {high} is"
        f" {higher(ratio.value)} {low}{inside}.{corrected} {more}"
    )


def _compared_at(context: FindingContext) -> str:
    """At which level two peaks were compared, where that is not the highest of both."""
    figures, workload = context.figures, context.finding.workload
    levels = figures.get("system_level"), figures.get("base_level")
    if levels[0] is None or levels[0] != levels[1]:
        return ""
    peaks = [context.curve(system, workload).peak for system in (str(context.finding.system), figures["base"])]
    if all(peak is not None and peak.level.order == levels[0].order for peak in peaks):
        return ""
    return f"; both were compared at {levels[0].label()}, which is near the peak of both"


def peaks_words(context: FindingContext) -> str:
    """Both peaks with their levels."""
    finding, figures = context.finding, context.figures
    of_both = (
        (finding.system, finding.workload),
        (figures["base"], figures.get("base_workload", finding.workload)),
    )
    peaks = [context.curve(str(system), workload).peak for system, workload in of_both]
    return " against ".join(
        f"{format_rate(peak.throughput_tps.value, context.unit)} at {peak.level.label()}" for peak in peaks if peak
    )


def peak_differences(analysis: Analysis) -> Table | None:
    """The peaks of each two systems, with what else differs; None where no two were compared, or only in a duet."""
    has_peaks = len(_single_levels(analysis)) < len(analysis.workloads)
    turns = {
        difference.workload for difference in analysis.differences if difference.duet is not None
    } & _single_levels(analysis)
    differences = [
        difference
        for difference in analysis.differences
        if difference.level is None and difference.workload not in turns
    ]
    return _differences(analysis, "Peaks compared" if has_peaks else "Systems compared", differences)


def level_differences(analysis: Analysis) -> Table | None:
    """Each level of two systems; None where there is none but what `peak_differences` or a table of duets has."""
    single = _single_levels(analysis)
    differences = [
        difference
        for difference in analysis.differences
        if difference.level is not None and difference.duet is None and difference.workload not in single
    ]
    return _differences(analysis, "Systems at the same number of connections compared", differences)


def _single_levels(analysis: Analysis) -> set[str]:
    """Workloads under which one level was measured: comparing that level says what comparing the systems says."""
    levels: dict[str, set[tuple[bool, float]]] = {}
    for curve in analysis.curves:
        levels.setdefault(curve.workload, set()).update(cell.level.order for cell in curve.cells)
    return {workload for workload, level in levels.items() if len(level) == 1}


def _differences(analysis: Analysis, caption: str, differences: list[Difference]) -> Table | None:
    if not differences:
        return None
    with_level = any(difference.level is not None for difference in differences)
    with_others = any(difference.other_factors or difference.one_sided_factors for difference in differences)
    statistics = response_statistics(differences)
    base, *other_bases = dict.fromkeys(difference.base for difference in differences)
    columns = [text_column("compared" if other_bases else "system"), text_column("workload")]
    columns += [Column(heading="connections")] if with_level else []
    columns += [
        Column(heading="throughput"),
        text_column("verdict"),
        *response_columns(statistics),
        Column(heading=_EFFECT),
    ]
    columns += [text_column("what else differs")] if with_others else []
    curves = {(curve.system, curve.workload): curve for curve in analysis.curves if not curve.kind.is_at_rate}
    rows = tuple(
        (
            Entry(f"{difference.system} against {difference.base}" if other_bases else difference.system),
            *_difference_row(
                difference,
                curves.get((difference.system, difference.workload)),
                statistics,
                with_level=with_level,
                with_others=with_others,
            ),
        )
        for difference in differences
    )
    if not other_bases:
        caption = f"{caption} with {base}"
    table = Table(caption=caption, columns=tuple(columns), rows=rows, notes=response_notes(statistics))
    has_effects = any(difference.smallest_effect is not None for difference in differences)
    return table if has_effects else table.without(_EFFECT)


_EFFECT = "minimum detectable effect (80 % power)"


def _difference_row(
    difference: Difference, curve: Curve | None, statistics: tuple[str, ...], *, with_level: bool, with_others: bool
) -> tuple[Entry, ...]:
    change = show_change(difference.ratio)
    cell = None if curve is None else curve.peak_cell if difference.level is None else curve.cell_at(difference.level)
    level = [Entry(NOT_KNOWN if difference.level is None else difference.level.figure())] if with_level else []
    others = [Entry(other_factor_words(difference) or NOT_KNOWN)] if with_others else []
    return (
        Entry(difference.workload),
        *level,
        replace(change, sources=cell_sources(cell)),
        Entry(difference_verdict(difference)),
        *response_entries(difference, statistics, cell_sources(cell)),
        Entry(effect_words(difference)),
        *others,
    )


def response_statistics(differences: Sequence[Difference]) -> tuple[str, ...]:
    """By which statistics response times are compared; none where they are not known."""
    responses = (difference.response for difference in differences)
    return tuple(dict.fromkeys(response.statistic for response in responses if response is not None))


def response_notes(statistics: tuple[str, ...]) -> tuple[str, ...]:
    """What stands below a table with response times; nothing where it has none."""
    note = (
        "Response times are compared where both systems were read at one level: the geometric means of the repetitions'"
        " own figures, as plimsoll compare has them. The system whose response times are shorter is faster."
    )
    return (note,) if statistics else ()


def response_columns(statistics: tuple[str, ...]) -> tuple[Column, ...]:
    """Response times with a verdict of their own; no columns where none are known."""
    if not statistics:
        return ()
    which = f"{statistics[0]} " if len(statistics) == 1 else ""
    return Column(heading=f"{which}response time"), text_column("response verdict")


def response_entries(
    difference: Difference, statistics: tuple[str, ...], sources: tuple[str, ...]
) -> tuple[Entry, ...]:
    """What `response_columns` have for two systems; each names its statistic where the table has several."""
    if not statistics:
        return ()
    response = difference.response
    if response is None:
        return Entry(NOT_KNOWN), Entry(NOT_KNOWN)
    change = show_change(response.ratio)
    which = f"{response.statistic} " if len(statistics) > 1 else ""
    return replace(change, text=f"{which}{change.text}", sources=sources), Entry(response_verdict(difference))


COMPARED_MAX = 24
"""With more rows than that, only peaks are drawn; the table has all."""

_ROW_PX = 26
_CHARACTER_PX, _GAP_PX = 6.9, 10
_LABEL_CHARACTERS, _NARROW_LABEL_CHARACTERS = 40, 18
_PLACE_DIGITS = 3
_SHAPES = {
    "faster": "triangle-right",
    "slower": "triangle-left",
    "equal": "diamond",
    "not resolved": "circle",
    "not testable": "cross",
    "disturbed": "cross",
}
"""Shapes say the verdict, since colours say the system."""


_Group = tuple[str, list[tuple[str, Difference]]]
"""A title, and the name of each row with what is compared."""


@dataclass(frozen=True, slots=True)
class _Frame:
    """What all charts of a workload share.

    Attributes:
        systems: All of the study, which have their colours everywhere.
        domain: The ends of the axis.
        row_px: Height of a row.
        label_px: Width of the column of names, at the left.
        figure_px: Width of the column of figures, at the right.
        last: Place of the last row, below which the axis has its title.
    """

    systems: list[str]
    domain: tuple[float, float]
    row_px: int
    equal_ratio: float
    label_px: int
    figure_px: int
    figure: str
    last: str


def comparison_charts(analysis: Analysis, workload: WorkloadSummary, style: Style) -> Iterator[tuple[str, Chart]]:
    """For each two systems, else for each that others are compared with, a title and the ratios with their intervals.

    Args:
        analysis: Of the study.
        workload: Under which.
        style: How it is made; labelled ones have room for the intervals in figures.
    """
    differences = _without_repeated(
        [difference for difference in analysis.differences if difference.workload == workload.name]
    )
    if len(differences) > COMPARED_MAX:
        differences = [difference for difference in differences if difference.level is None][:COMPARED_MAX]
    if not differences:
        return
    links, unit = Links(analysis), workload.rate_unit
    systems = names(analysis)
    labels = name_lines(systems, _LABEL_CHARACTERS if style.labelled else _NARROW_LABEL_CHARACTERS)
    groups = (
        _by_pair(differences, unit)
        if any(difference.level is not None for difference in differences)
        else _by_base(differences)
    )
    places = itertools.count()
    charts = [
        (
            clean(title),
            [
                {
                    "row": f"{next(places):03d}" + "\n".join(labels.get(clean(label), [clean(label)])),
                    **_compared(difference, unit),
                    **links.of(_trials(difference, analysis, links)),
                }
                for label, difference in compared
            ],
        )
        for title, compared in groups
    ]
    frame = _frame([row for _, rows in charts for row in rows], systems, differences[0].equal_within, style)
    yield from ((title, _chart(rows, frame, style)) for title, rows in charts)


def _by_pair(differences: Sequence[Difference], unit: str) -> list[_Group]:
    """A group for each two systems, a row for each level."""
    return [
        (
            f"{system} against {base}",
            [
                ("peaks" if difference.level is None else difference.level.label(unit), difference)
                for difference in group
            ],
        )
        for (system, base), group in grouped(differences, lambda difference: (difference.system, difference.base))
    ]


def _by_base(differences: Sequence[Difference]) -> list[_Group]:
    """A group for each system that others are compared with, a row for each of these."""
    return [
        (f"Peaks against that of {base}", [(difference.system, difference) for difference in group])
        for base, group in grouped(differences, lambda difference: difference.base)
    ]


def _frame(rows: Sequence[Row], systems: list[str], equal_ratio: float, style: Style) -> _Frame:
    figure = "change" if style.labelled else "ratio_shown"
    lines = [row["row"][_PLACE_DIGITS:].split("\n") for row in rows]
    return _Frame(
        systems=systems,
        domain=ratio_domain(rows, 1 + 2 * equal_ratio),
        row_px=_ROW_PX + LINE_PX * (max(map(len, lines)) - 1),
        equal_ratio=equal_ratio,
        label_px=round(_CHARACTER_PX * max(len(line) for of in lines for line in of)) + _GAP_PX,
        figure_px=round(_CHARACTER_PX * max(len(row[figure]) for row in rows)) + _GAP_PX,
        figure=figure,
        last=max(row["row"] for row in rows),
    )


def _chart(rows: Sequence[Row], frame: _Frame, style: Style) -> Chart:
    """A band for equal enough, a line at equal; a point with its interval in each row, its figure at the right."""
    rows = [clipped(row, frame.domain) for row in rows]
    palette, base = style.palette, chart_of(rows)
    scale = alt.Scale(type="log", domain=list(frame.domain), nice=False, clamp=True)
    band = chart_of([{"from": 1 - frame.equal_ratio, "to": 1 + frame.equal_ratio}])
    band = band.mark_rect(color=palette.quiet, opacity=0.13).encode(x=alt.X("from:Q", scale=scale), x2=alt.X2("to:Q"))
    line = chart_of([{"at": 1}]).mark_rule(color=palette.quiet, strokeWidth=1.2).encode(x=alt.X("at:Q", scale=scale))
    y, colour = _labels(rows, frame), Series(frame.systems, style).colour
    shape_scale = alt.Scale(domain=list(_SHAPES), range=list(_SHAPES.values()))
    shape = alt.Shape("kind:N", scale=shape_scale, legend=None)
    tooltip = [alt.Tooltip(f"{field}:N") for field in ("compared", "change", "verdict", "recordings")]
    title = "Ratio of throughputs" if rows[-1]["row"] == frame.last else None
    axis = alt.Axis(title=title, grid=True, labelFlush=False, **ratio_axis(frame.domain, is_wide=style.labelled))
    point = base.mark_point(filled=True, size=80, opacity=1).encode(
        x=alt.X("ratio:Q", scale=scale, axis=axis), y=y, color=colour, shape=shape, tooltip=tooltip, href=href()
    )
    interval = base.mark_rule(strokeWidth=2.4).encode(
        x=alt.X("from:Q", scale=scale), x2=alt.X2("to:Q"), y=y, color=colour
    )
    figure = base.mark_text(align="right", dx=frame.figure_px, fontSize=12, color=palette.quiet)
    figure = figure.encode(x=at_x("width"), y=y, text=alt.Text(f"{frame.figure}:N"))
    signs = clip_signs(rows, frame.domain, y, colour)
    layers = alt.layer(band, line, interval.transform_filter("isValid(datum.from)"), point, figure, *signs)
    return finish(layers, style).properties(height=len(rows) * frame.row_px)


def _labels(rows: Sequence[Row], frame: _Frame) -> alt.Y:
    """The names of rows; their places before them keep apart what is called the same."""
    axis = alt.Axis(
        title=None,
        domain=False,
        ticks=False,
        labelExpr=f"split(slice(datum.value, {_PLACE_DIGITS}), '\\n')",
        labelLineHeight=LINE_PX,
        labelLimit=frame.label_px,
        labelPadding=_GAP_PX,
        minExtent=frame.label_px,
        maxExtent=frame.label_px,
    )
    scale = alt.Scale(domain=[row["row"] for row in rows], paddingInner=0.0, paddingOuter=0.0)
    return alt.Y("row:N", sort=None, scale=scale, axis=axis)


def _compared(difference: Difference, unit: str) -> Row:
    change, bounds = show_change(difference.ratio), difference.ratio.bounds
    inside = VAGUE_SHORT if bounds is not None and bounds.is_vague_ratio else change.detail
    level = "at their peaks" if difference.level is None else f"at {difference.level.label(unit)}"
    return {
        "system": clean(difference.system),
        "compared": clean(f"{difference.system} against {difference.base}, {level}"),
        "ratio": difference.ratio.value,
        "low": None if bounds is None else bounds.low,
        "high": None if bounds is None else bounds.high,
        "kind": verdict_word(difference.verdict),
        "ratio_shown": change.text,
        "change": change.text if inside is None else f"{change.text} ({inside})",
        "verdict": difference_verdict(difference),
    }


def _trials(difference: Difference, analysis: Analysis, links: Links) -> Iterator[str]:
    """The recordings of both systems, those of the compared one first."""
    peaks = {(curve.system, curve.workload): curve.peak for curve in analysis.curves if not curve.kind.is_at_rate}
    for system, compared_level in (
        (difference.system, difference.system_level),
        (difference.base, difference.base_level),
    ):
        peak = peaks.get((system, difference.workload))
        level = difference.level or compared_level or (None if peak is None else peak.level)
        yield from () if level is None else links.trials_of(system, difference.workload, level)


def _without_repeated(differences: list[Difference]) -> list[Difference]:
    """Without comparisons of peaks that were read at one level of both, where that level has a row of its own."""
    levels = {
        (difference.base, difference.system, difference.level.order)
        for difference in differences
        if difference.level is not None
    }

    def is_repeated(difference: Difference) -> bool:
        of_base, of_system = difference.base_level, difference.system_level
        if difference.level is not None or of_base is None or of_system is None:
            return False
        return of_base.order == of_system.order and (difference.base, difference.system, of_base.order) in levels

    kept = [difference for difference in differences if not is_repeated(difference)]
    return kept if len(kept) <= COMPARED_MAX else differences
