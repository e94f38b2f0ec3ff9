"""The section "Effects of factors": what each factor of a matrix changes over the others, and how factors interact.

Deliberately not here: how that is found (`plimsoll.analyse.main_effects`), and what tells systems apart that were
written out (`factors`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from plimsoll.analyse.effect_model import FactorEffect, Interaction
from plimsoll.analyse.model import Analysis
from plimsoll.guide.drawing import alt, at_x
from plimsoll.guide.effect_words import (
    ADDITIVE_NOTE,
    NAMED,
    averaged_words,
    change_words,
    effect_entry,
    effect_label,
    further_words,
    measured_words,
    verdict_words,
)
from plimsoll.guide.effects_brief import brief_tables
from plimsoll.guide.labels import chart_of
from plimsoll.guide.look import Look
from plimsoll.guide.marks import Chart, Row, finish
from plimsoll.guide.numbers import NOT_KNOWN, show_change, show_ratio
from plimsoll.guide.sections import Section, SectionChart
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.prose.phrases import effect, listed, plain_percent

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
    workloads = tuple(dict.fromkeys(one.workload for one in analysis.effects.factors))
    is_additive = any(one.is_additive for one in analysis.effects.factors)
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
    for one in analysis.effects.factors:
        if one.workload == workload:
            yield f"{workload}: {_effect_words(one)}."
    own = [one for one in analysis.effects.interactions if one.workload == workload]
    yield from (_interaction_sentence(one) for one in own if one.verdict in NAMED and one.other is not None)
    yield from _level_sentences(workload, own, analysis.effects.factors)
    if own and not any(one.verdict in NAMED for one in own):
        yield f"{workload}: no significant interaction{_largest(own)}."


def _interaction_sentence(one: Interaction) -> str:
    return (
        f"{one.workload}: the effect of {one.factor} on {measured_words(one.measure)} depends on {one.other}:"
        f" {one.value} instead of {one.base} changes it by {change_words(one.effect_at_base)} with {one.other_base}"
        f" and by {change_words(one.effect_at_value)} with {one.other_value}."
    )


def _effect_words(one: FactorEffect) -> str:
    change, over = effect_label(one), averaged_words(one)
    found, measured = show_change(one.ratio), measured_words(one.measure)
    interval = "" if found.bounds is None else f" (95 % CI {found.bounds})"
    match one.verdict:
        case "faster" | "slower":
            return f"{change} changes {measured} by {found.value}{interval}{over}"
        case "equal":
            within = plain_percent(one.equal_within)
            return f"{change} leaves {measured} equal within {within}: {found.value}{interval}{over}"
        case "untestable":
            return f"{change} changes {measured} by {found.value}{over}; a confidence interval needs repetitions"
        case "disturbed":
            return f"what {change} changes is not known: the machine was not equally fast"
    detectable = "" if one.smallest_effect is None else f"; minimum detectable effect {effect(one.smallest_effect)}"
    return f"no effect of {change} is established: {found.value}{interval}{over}{detectable}{further_words(one)}"


def _level_sentences(
    workload: str, interactions: Sequence[Interaction], effects: Iterable[FactorEffect]
) -> Iterator[str]:
    """One for each effect that depends on the level."""
    named = {(one.measure, one.factor, one.value) for one in interactions if one.other is None and one.verdict in NAMED}
    for one in effects:
        if one.workload == workload and (one.measure, one.factor, one.value) in named:
            shown = [f"{change_words(at.ratio)} at {at.level.label()}" for at in one.levels]
            yield (
                f"{workload}: the effect of {one.factor} ({one.value} instead of {one.base}) depends on the level:"
                f" {listed(shown)}."
            )


def _largest(interactions: Sequence[Interaction]) -> str:
    known = [one.smallest_effect for one in interactions if one.smallest_effect is not None]
    return f"; the largest minimum detectable effect of one is {effect(max(known))}" if known else ""


def _effects(analysis: Analysis) -> Table:
    columns = (
        Column(heading="factor", numeric=False),
        Column(heading="value", numeric=False),
        Column(heading="instead of", numeric=False),
        Column(heading="workload", numeric=False),
        Column(heading="effect"),
        Column(heading="verdict", numeric=False),
        Column(heading="minimum detectable effect (80 % power)"),
    )
    rows = tuple(
        (
            Entry(one.factor),
            Entry(one.value),
            Entry(one.base),
            Entry(one.workload),
            effect_entry(one.ratio, "*" if one.is_additive else ""),
            Entry(verdict_words(one)),
            Entry(NOT_KNOWN if one.smallest_effect is None else effect(one.smallest_effect)),
        )
        for one in analysis.effects.factors
    )
    return Table(caption="Effect of each factor over the others", columns=columns, rows=rows)


def _at_levels(analysis: Analysis) -> Table | None:
    """A column for each level; None where there is only one."""
    levels = {at.level.order: at.level for one in analysis.effects.factors for at in one.levels}
    if not levels:
        return None
    headings = [levels[order].label() for order in sorted(levels)]
    rows = []
    for one in analysis.effects.factors:
        found = {at.level.order: at.ratio for at in one.levels}
        entries = [effect_entry(found[order]) if order in found else Entry(NOT_KNOWN) for order in sorted(levels)]
        rows.append((Entry(effect_label(one)), Entry(one.workload), *entries))
    columns = (
        Column(heading="effect of", numeric=False),
        Column(heading="workload", numeric=False),
        *(Column(heading=heading) for heading in headings),
    )
    return Table(caption="Effect at each level", columns=columns, rows=tuple(rows))


def _interactions(analysis: Analysis) -> Table | None:
    if not analysis.effects.interactions:
        return None
    columns = (
        Column(heading="effect of", numeric=False),
        Column(heading="depending on", numeric=False),
        Column(heading="workload", numeric=False),
        Column(heading="ratio of effects"),
        Column(heading="from"),
        Column(heading="to"),
        Column(heading="verdict", numeric=False),
    )
    rows = tuple(_interaction(one) for one in analysis.effects.interactions)
    return Table(caption="Interactions", columns=columns, rows=rows)


def _interaction(one: Interaction) -> tuple[Entry, ...]:
    if one.other is None:
        assert one.base_level is not None, "without another factor it is the level"
        assert one.level is not None, "and what is compared with it"
        at = (one.base_level.label(), one.level.label())
        depends = "the level"
    else:
        at, depends = (one.other_base or "", one.other_value or ""), one.other
    ratio = show_ratio(one.ratio)
    return (
        Entry(effect_label(one)),
        Entry(depends),
        Entry(one.workload),
        Entry(ratio.value, ratio.bounds),
        Entry(f"{change_words(one.effect_at_base)} ({at[0]})"),
        Entry(f"{change_words(one.effect_at_value)} ({at[1]})"),
        Entry("established" if one.verdict in NAMED else "not established"),
    )


def _chart(workload: str, analysis: Analysis) -> SectionChart:
    own = [one for one in analysis.effects.factors if one.workload == workload]
    return SectionChart(title=f"{workload}: effect of each factor", draw=lambda look: effects_chart(own, look))


def effects_chart(effects: Sequence[FactorEffect], look: Look) -> Chart:
    """A point and its interval for each effect, below its name; a line where nothing changes."""
    rows: list[Row] = [_row(one) for one in effects]
    base, names = chart_of(rows), [row["label"] for row in rows]
    y = alt.Y("label:N", sort=names, axis=None, scale=alt.Scale(paddingInner=0.5, paddingOuter=0.6))
    edges = [0.0, *(row[key] for row in rows for key in ("low", "change", "high") if row[key] is not None)]
    room = (max(edges) - min(edges)) * 0.06 or 0.01
    x = alt.X(
        "change:Q",
        scale=alt.Scale(domain=[min(edges) - room, max(edges) + room], nice=False),
        axis=alt.Axis(title="Change", format="+.0%", tickCount=5, labelFlush=False),
    )
    colour = look.palette.series[0]
    nothing = chart_of([{"change": 0.0}]).mark_rule(strokeWidth=1.5, color=look.palette.quiet).encode(x=x)
    interval = base.mark_rule(strokeWidth=3, color=colour).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=y)
    tooltip = [alt.Tooltip("label:N", title="effect of"), alt.Tooltip("shown:N", title="change")]
    point = base.mark_point(filled=True, size=80, opacity=1, color=colour).encode(x=x, y=y, tooltip=tooltip)
    words: dict[str, Any] = {"align": "left", "dy": -14, "fontSize": 11.5, "limit": 280}
    halo = base.mark_text(**words, stroke=look.palette.paper, strokeWidth=5)
    name = base.mark_text(**words, color=look.palette.ink)
    written = [one.encode(x=at_x(0), y=y, text=alt.Text("label:N")) for one in (halo, name)]
    return finish(alt.layer(nothing, *written, interval.transform_filter("isValid(datum.low)"), point), look)


def _row(one: FactorEffect) -> Row:
    bounds = one.ratio.bounds
    if bounds is not None and bounds.is_vague:
        bounds = None  # an interval that wide would press all others together
    shown = show_change(one.ratio)
    return {
        "label": effect_label(one),
        "change": one.ratio.value - 1,
        "low": None if bounds is None else bounds.low - 1,
        "high": None if bounds is None else bounds.high - 1,
        "shown": shown.value if shown.bounds is None else f"{shown.value} ({shown.bounds})",
    }
