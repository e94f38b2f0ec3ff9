"""Effects of factors: what each factor of a matrix changes over the others, and how factors interact.

The section, the one or two sentences of the answer, and the tables that a terminal has room for. Deliberately not here:
how effects are found (`plimsoll.analyse`), and what tells systems apart that were written out (`facts`).
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from plimsoll.analyse.findings.finding_model import Scalar
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.cell_model import Estimate
from plimsoll.analyse.study.curve_model import EffectMeasure, FactorEffect, Interaction
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.guide.drawing import alt, at_x
from plimsoll.guide.marks import (
    LINE_PX,
    Chart,
    Row,
    Style,
    chart_of,
    clip_signs,
    clipped,
    finish,
    in_lines,
    lines_of,
    ratio_axis,
    ratio_domain,
)
from plimsoll.guide.sections import Section, SectionChart
from plimsoll.guide.tables import NOT_KNOWN, Column, Entry, Table, show_change, show_ratio, text_column
from plimsoll.guide.words import FindingContext, effect_words
from plimsoll.prose.phrases import plain_percent
from plimsoll.prose.ratios import effect, further_words, verdict_words
from plimsoll.record.level import Level
from plimsoll.wording import counted, listed

NOTES = (
    "An effect is the ratio of throughputs, or of capacities, with one value of a factor and with its first value: the"
    " geometric mean over all combinations of the other factors and over all levels. Verdicts are corrected for all"
    " effects and interactions of the study; confidence intervals stand for one figure alone.",
    "Where an effect depends on another factor or on the level, its mean describes none of the single cases.",
)


def effects_section(analysis: Analysis) -> Section | None:
    """The whole section; None where systems were written out."""
    if not analysis.effects.factors:
        return None
    workloads = tuple(dict.fromkeys(factor.workload for factor in analysis.effects.factors))
    is_additive = any(factor.is_additive for factor in analysis.effects.factors)
    return Section(
        anchor="effects",
        title="Effects of factors",
        sentences=tuple(sentence for name in workloads for sentence in effect_sentences(name, analysis)),
        tables=tuple(filter(None, (_effects(analysis), _at_levels(analysis), _interactions(analysis)))),
        charts=tuple(_chart(name, analysis) for name in workloads),
        brief=tuple(brief_tables(analysis)),
        notes=(*NOTES, ADDITIVE_NOTE) if is_additive else NOTES,
    )


def effect_sentences(workload: str, analysis: Analysis) -> Iterator[str]:
    """Under one workload: every effect, then the interactions that are established, or that none is."""
    for factor in analysis.effects.factors:
        if factor.workload == workload:
            yield f"{workload}: {_effect_words(factor)}."
    interactions = [interaction for interaction in analysis.effects.interactions if interaction.workload == workload]
    yield from (
        _interaction_sentence(interaction)
        for interaction in interactions
        if interaction.verdict.is_difference and interaction.other is not None
    )
    yield from _level_sentences(workload, interactions, analysis.effects.factors)
    if interactions and not any(interaction.verdict.is_difference for interaction in interactions):
        yield f"{workload}: no significant interaction{_largest(interactions)}."


def _interaction_sentence(interaction: Interaction) -> str:
    return (
        f"{interaction.workload}: the effect of {interaction.factor} on {measured_words(interaction.measure)}"
        f" depends on {interaction.other}: {interaction.value} instead of {interaction.base}"
        f" changes it by {change_words(interaction.effect_at_base)} with {interaction.other_base}"
        f" and by {change_words(interaction.effect_at_value)} with {interaction.other_value}."
    )


def _effect_words(factor_effect: FactorEffect) -> str:
    change, over = effect_label(factor_effect), averaged_words(factor_effect)
    shown, measured = show_change(factor_effect.ratio), measured_words(factor_effect.measure)
    interval = "" if shown.detail is None else f" (95 % CI {shown.detail})"
    match factor_effect.verdict:
        case RatioVerdict.FASTER | RatioVerdict.SLOWER:
            return f"{change} changes {measured} by {shown.text}{interval}{over}"
        case RatioVerdict.EQUAL:
            within = plain_percent(factor_effect.equal_within)
            return f"{change} leaves {measured} equal within {within}: {shown.text}{interval}{over}"
        case RatioVerdict.UNTESTABLE:
            return f"{change} changes {measured} by {shown.text}{over}; a confidence interval needs repetitions"
        case RatioVerdict.DISTURBED:
            return f"what {change} changes is not known: the machine was not equally fast"
    detectable = (
        ""
        if factor_effect.smallest_effect is None
        else f"; minimum detectable effect {effect(factor_effect.smallest_effect)}"
    )
    further = further_words(factor_effect.repetitions_needed)
    return f"no effect of {change} is established: {shown.text}{interval}{over}{detectable}{further}"


def _level_sentences(
    workload: str, interactions: Sequence[Interaction], effects: Iterable[FactorEffect]
) -> Iterator[str]:
    """One for each effect that depends on the level."""
    named = {
        (interaction.measure, interaction.factor, interaction.value)
        for interaction in interactions
        if interaction.other is None and interaction.verdict.is_difference
    }
    for factor_effect in effects:
        if (
            factor_effect.workload == workload
            and (factor_effect.measure, factor_effect.factor, factor_effect.value) in named
        ):
            shown = [f"{change_words(at.ratio)} at {at.level.label()}" for at in factor_effect.levels]
            yield (
                f"{workload}: the effect of {factor_effect.factor} ({factor_effect.value} instead of"
                f" {factor_effect.base}) depends on the level: {listed(shown)}."
            )


def _largest(interactions: Sequence[Interaction]) -> str:
    known = [interaction.smallest_effect for interaction in interactions if interaction.smallest_effect is not None]
    return f"; the largest minimum detectable effect of one is {effect(max(known))}" if known else ""


def _effects(analysis: Analysis) -> Table:
    columns = (
        text_column("factor"),
        text_column("value"),
        text_column("instead of"),
        text_column("workload"),
        Column(heading="effect"),
        text_column("verdict"),
        Column(heading="minimum detectable effect (80 % power)"),
    )
    rows = tuple(
        (
            Entry(factor.factor),
            Entry(factor.value),
            Entry(factor.base),
            Entry(factor.workload),
            effect_entry(factor.ratio, "*" if factor.is_additive else ""),
            Entry(verdict_words(factor, "higher", "lower")),
            Entry(effect_words(factor)),
        )
        for factor in analysis.effects.factors
    )
    return Table(caption="Effect of each factor over the others", columns=columns, rows=rows)


def _at_levels(analysis: Analysis) -> Table | None:
    """A column for each level; None where there is only one."""
    levels = {at.level.order: at.level for factor in analysis.effects.factors for at in factor.levels}
    if not levels:
        return None
    headings = [levels[order].label() for order in sorted(levels)]
    rows = []
    for factor in analysis.effects.factors:
        ratios = {at.level.order: at.ratio for at in factor.levels}
        entries = [effect_entry(ratios[order]) if order in ratios else Entry(NOT_KNOWN) for order in sorted(levels)]
        rows.append((Entry(effect_label(factor)), Entry(factor.workload), *entries))
    columns = (
        text_column("effect of"),
        text_column("workload"),
        *(Column(heading=heading) for heading in headings),
    )
    return Table(caption="Effect at each level", columns=columns, rows=tuple(rows))


def _interactions(analysis: Analysis) -> Table | None:
    if not analysis.effects.interactions:
        return None
    columns = (
        text_column("effect of"),
        text_column("depending on"),
        text_column("workload"),
        Column(heading="ratio of effects"),
        Column(heading="from"),
        Column(heading="to"),
        text_column("verdict"),
    )
    rows = tuple(_interaction(interaction) for interaction in analysis.effects.interactions)
    return Table(caption="Interactions", columns=columns, rows=rows)


def _interaction(interaction: Interaction) -> tuple[Entry, ...]:
    if interaction.other is None:
        assert interaction.base_level is not None, "without another factor it is the level"
        assert interaction.level is not None, "and what is compared with it"
        at = (interaction.base_level.label(), interaction.level.label())
        depends = "the level"
    else:
        at, depends = (interaction.other_base or "", interaction.other_value or ""), interaction.other
    ratio = show_ratio(interaction.ratio)
    return (
        Entry(effect_label(interaction)),
        Entry(depends),
        Entry(interaction.workload),
        ratio,
        Entry(f"{change_words(interaction.effect_at_base)} ({at[0]})"),
        Entry(f"{change_words(interaction.effect_at_value)} ({at[1]})"),
        Entry("established" if interaction.verdict.is_difference else "not established"),
    )


def _chart(workload: str, analysis: Analysis) -> SectionChart:
    effects = [factor for factor in analysis.effects.factors if factor.workload == workload]
    return SectionChart(title=f"{workload}: effect of each factor", draw=lambda style: effects_chart(effects, style))


def effects_chart(effects: Sequence[FactorEffect], style: Style) -> Chart:
    """A point and its interval for each effect, below its name; a line where nothing changes."""
    whole = [_row(factor_effect) for factor_effect in effects]
    domain = ratio_domain(whole, 1 + effects[0].equal_within)
    rows = [clipped(row, domain) for row in whole]
    base, labels = chart_of(rows), [row["label"] for row in rows]
    y = alt.Y("label:N", sort=labels, axis=None, scale=alt.Scale(paddingInner=0.5, paddingOuter=0.6))
    x = alt.X(
        "ratio:Q",
        scale=alt.Scale(type="log", domain=list(domain), nice=False, clamp=True),
        axis=alt.Axis(title="Change", labelFlush=False, **ratio_axis(domain, is_wide=False)),
    )
    ink = style.palette.ink
    nothing = chart_of([{"ratio": 1.0}]).mark_rule(strokeWidth=1.5, color=style.palette.quiet).encode(x=x)
    interval = base.mark_rule(strokeWidth=3, color=ink).encode(x=alt.X("from:Q"), x2=alt.X2("to:Q"), y=y)
    tooltip = [alt.Tooltip("label:N", title="effect of"), alt.Tooltip("shown:N", title="change")]
    point = base.mark_point(filled=True, size=80, opacity=1, color=ink).encode(x=x, y=y, tooltip=tooltip)
    words: dict[str, Any] = {"align": "left", "fontSize": 11.5, **in_lines(-14)}
    halo = base.mark_text(**words, stroke=style.palette.paper, strokeWidth=5)
    name = base.mark_text(**words, color=ink)
    written = [mark.encode(x=at_x(0), y=y, text=alt.Text("label:N")) for mark in (halo, name)]
    signs = clip_signs(rows, domain, y, alt.ColorValue(ink))
    layers = (nothing, *written, interval.transform_filter("isValid(datum.from)"), point, *signs)
    row_px = _ROW_PX + LINE_PX * max(row["more_lines"] for row in rows)
    return finish(alt.layer(*layers), style).properties(height=len(rows) * row_px)


_ROW_PX, _LABEL_CHARACTERS = 50, 44


def _row(factor_effect: FactorEffect) -> Row:
    bounds, shown = factor_effect.ratio.bounds, show_change(factor_effect.ratio)
    return {
        **lines_of(textwrap.wrap(effect_label(factor_effect), _LABEL_CHARACTERS)),
        "ratio": factor_effect.ratio.value,
        "low": None if bounds is None else bounds.low,
        "high": None if bounds is None else bounds.high,
        "shown": shown.text if shown.detail is None else f"{shown.text} ({shown.detail})",
    }


def effects_answer_sentence(context: FindingContext) -> str:
    """The strongest established effects under a workload, and the interactions that matter most."""
    figures, workload = context.figures, context.finding.workload
    measure = EffectMeasure(figures["measure"])
    effects = [
        factor
        for factor in context.analysis.effects.factors
        if (factor.workload, factor.measure) == (workload, measure)
    ]
    strongest = [
        next(factor_effect for factor_effect in effects if (factor_effect.factor, factor_effect.value) == figure[:2])
        for figure in figures["effects"]
    ]
    more = figures["more_effects_count"]
    first = _strongest(strongest, more, measure) if strongest else _none(effects, measure)
    return f"{workload}: {first}.{_dependence_sentence(figures['interactions'], figures['more_interactions_count'])}"


def _strongest(strongest: Sequence[FactorEffect], more_count: int, measure: EffectMeasure) -> str:
    first, *others = strongest
    which = "strongest" if others else "only established"
    also = "".join(f"; then {effect_label(other)}: {_with_interval(other)}" for other in others)
    more = (
        f"; {counted(more_count, 'more effect')} {'is' if more_count == 1 else 'are'} established" if more_count else ""
    )
    return (
        f"the {which} effect on {measured_words(measure)} is that of {effect_label(first)}:"
        f" {_with_interval(first)}{averaged_words(first)}{also}{more}"
    )


def _with_interval(factor_effect: FactorEffect) -> str:
    shown = show_change(factor_effect.ratio)
    return shown.text if shown.detail is None else f"{shown.text} (95 % CI {shown.detail})"


def _none(effects: Sequence[FactorEffect], measure: EffectMeasure) -> str:
    """What is known where no effect is established."""
    what, verdicts = measured_words(measure), {factor_effect.verdict for factor_effect in effects}
    factors = list(dict.fromkeys(factor_effect.factor for factor_effect in effects))
    if verdicts == {RatioVerdict.EQUAL}:
        within = plain_percent(effects[0].equal_within)
        return f"no effect of {_either(factors)}: all values leave {what} equal within {within}"
    if verdicts == {RatioVerdict.UNTESTABLE}:
        verb = "changes" if len(factors) == 1 else "change"
        return f"whether {listed(factors)} {verb} {what} is not known: confidence intervals need repetitions"
    if RatioVerdict.DISTURBED in verdicts:
        return f"what {listed(factors)} {'changes' if len(factors) == 1 else 'change'} is not known: disturbed"
    detectable = [
        factor_effect.smallest_effect for factor_effect in effects if factor_effect.smallest_effect is not None
    ]
    least = f"; the largest minimum detectable effect is {effect(max(detectable))}" if detectable else ""
    return f"no effect of {_either(factors)} on {what} is established on average{least}"


def _either(names: Sequence[str]) -> str:
    return listed(names) if len(names) < 2 else f"{', '.join(names[:-1])} or {names[-1]}"


def _dependence_sentence(interactions: Sequence[tuple[Scalar, ...]], more_count: int) -> str:
    """A sentence with a blank before it: on what effects depend; nothing where no interaction is established."""
    if not interactions:
        return ""
    by_effect: dict[str, list[str]] = {}
    for factor, value, base, other, *at in interactions:
        by_effect.setdefault(f"{factor} {value} instead of {base}", []).append(_depends(other, at))
    clauses = [f"the effect of {label} depends on {listed(dependences)}" for label, dependences in by_effect.items()]
    more = (
        f"; {counted(more_count, 'more interaction')} {'is' if more_count == 1 else 'are'} established"
        if more_count
        else ""
    )
    text = "; ".join(clauses)
    return f" {text[0].upper()}{text[1:]}{more}."


def _depends(other: Scalar, at: Sequence[Scalar]) -> str:
    """On what an effect depends, and how large it is where."""
    base, at_base, value, at_value = at
    changes = [change_words(Estimate(value=float(ratio or 0))) for ratio in (at_base, at_value)]
    if other is None:
        levels = [Level(connections=int(connections or 0)).label() for connections in (base, value)]
        return f"the level ({changes[0]} at {levels[0]}, {changes[1]} at {levels[1]})"
    return f"{other} ({changes[0]} with {base}, {changes[1]} with {value})"


def brief_tables(analysis: Analysis) -> Iterator[Table]:
    """For each workload its effects, and the interactions that are established."""
    effects = analysis.effects
    for workload, measure in dict.fromkeys((factor.workload, factor.measure) for factor in effects.factors):
        factor_effects = [
            factor for factor in effects.factors if (factor.workload, factor.measure) == (workload, measure)
        ]
        crossed = [
            interaction
            for interaction in effects.interactions
            if (interaction.workload, interaction.measure) == (workload, measure)
        ]
        yield _brief_effects(workload, measure, factor_effects, _no_interaction(crossed))
        if named := [interaction for interaction in crossed if interaction.verdict.is_difference]:
            yield _brief_interactions(workload, named)


def _brief_effects(workload: str, measure: EffectMeasure, effects: Sequence[FactorEffect], note: str) -> Table:
    columns = (
        text_column("factor"),
        text_column("values"),
        Column(heading="effect"),
        text_column("verdict"),
    )
    rows = tuple(
        (
            Entry(factor_effect.factor),
            Entry(f"{factor_effect.value} instead of {factor_effect.base}"),
            effect_entry(factor_effect.ratio, "*" if factor_effect.is_additive else ""),
            Entry(verdict_words(factor_effect, "higher", "lower")),
        )
        for factor_effect in effects
    )
    notes = (ADDITIVE_NOTE,) if any(factor_effect.is_additive for factor_effect in effects) else ()
    caption = f"{workload}: effects on {measured_words(measure)}, each a mean over the other factors{_levels(effects)}"
    return Table(caption=caption, columns=columns, rows=rows, notes=(*notes, *filter(None, (note,))))


def _levels(effects: Sequence[FactorEffect]) -> str:
    return " and all levels" if any(factor_effect.levels for factor_effect in effects) else ""


def _no_interaction(interactions: Sequence[Interaction]) -> str:
    """That none is established; nothing where one is, or where none was looked for."""
    if not interactions or any(interaction.verdict.is_difference for interaction in interactions):
        return ""
    known = [interaction.smallest_effect for interaction in interactions if interaction.smallest_effect is not None]
    largest = f"; the largest minimum detectable effect of one is {effect(max(known))}" if known else ""
    return f"No interaction is established{largest}."


def _brief_interactions(workload: str, interactions: Sequence[Interaction]) -> Table:
    columns = (
        text_column("effect of"),
        text_column("depends on"),
        text_column("from"),
        text_column("to"),
    )
    rows = tuple(_brief_interaction(interaction) for interaction in interactions)
    return Table(caption=f"{workload}: interactions that are established", columns=columns, rows=rows)


def _brief_interaction(interaction: Interaction) -> tuple[Entry, ...]:
    at = (interaction.other_base or "", interaction.other_value or "")
    if interaction.base_level is not None and interaction.level is not None:
        at = interaction.base_level.label(), interaction.level.label()
    return (
        Entry(f"{interaction.factor} {interaction.value} instead of {interaction.base}"),
        Entry(interaction.other or "the level"),
        Entry(f"{change_words(interaction.effect_at_base)} ({at[0]})"),
        Entry(f"{change_words(interaction.effect_at_value)} ({at[1]})"),
    )


ADDITIVE_NOTE = (
    "* No two systems differ in this factor alone, so the effect is right only if factors do not interact. More"
    " combinations would tell."
)


def effect_label(factor_effect: FactorEffect | Interaction) -> str:
    """Which effect it is, such as `threads 64 instead of 0`."""
    return f"{factor_effect.factor} {factor_effect.value} instead of {factor_effect.base}"


def measured_words(measure: EffectMeasure) -> str:
    """On what it is an effect."""
    return "the capacity" if measure is EffectMeasure.CAPACITY else "throughput"


def change_words(ratio: Estimate) -> str:
    """A ratio as a change, such as `+21.3 %`, without its interval."""
    return show_change(ratio).text


def averaged_words(factor_effect: FactorEffect) -> str:
    """What an effect is a mean over, with the comma before it; or what it assumes instead."""
    if factor_effect.is_additive:
        return ", if factors do not interact"
    averaged = [*factor_effect.over, *([counted(len(factor_effect.levels), "level")] if factor_effect.levels else [])]
    return f", on average over {listed(averaged)}" if averaged else ""


def effect_entry(ratio: Estimate, mark: str = "") -> Entry:
    """A ratio as a change with its interval, for a table."""
    shown = show_change(ratio)
    return Entry(f"{shown.text}{mark}", shown.detail)
