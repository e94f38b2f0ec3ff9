"""Effects and interactions as tables that a terminal has room for.

Deliberately not here: the tables of the other forms (`effects`), which have more columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plimsoll.analyse.effect_model import EffectMeasure, FactorEffect, Interaction
from plimsoll.analyse.model import Analysis
from plimsoll.guide.effect_words import (
    ADDITIVE_NOTE,
    NAMED,
    change_words,
    effect_entry,
    measured_words,
    verdict_words,
)
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.prose.phrases import effect


def brief_tables(analysis: Analysis) -> Iterator[Table]:
    """For each workload its effects, and the interactions that are established."""
    found = analysis.effects
    for workload, measure in dict.fromkeys((one.workload, one.measure) for one in found.factors):
        own = [one for one in found.factors if (one.workload, one.measure) == (workload, measure)]
        crossed = [one for one in found.interactions if (one.workload, one.measure) == (workload, measure)]
        yield _effects(workload, measure, own, _no_interaction(crossed))
        if named := [one for one in crossed if one.verdict in NAMED]:
            yield _interactions(workload, named)


def _effects(workload: str, measure: EffectMeasure, effects: Sequence[FactorEffect], note: str) -> Table:
    columns = (
        Column(heading="factor", numeric=False),
        Column(heading="values", numeric=False),
        Column(heading="effect"),
        Column(heading="verdict", numeric=False),
    )
    rows = tuple(
        (
            Entry(one.factor),
            Entry(f"{one.value} instead of {one.base}"),
            effect_entry(one.ratio, "*" if one.is_additive else ""),
            Entry(verdict_words(one)),
        )
        for one in effects
    )
    notes = (ADDITIVE_NOTE,) if any(one.is_additive for one in effects) else ()
    caption = f"{workload}: effects on {measured_words(measure)}, each a mean over the other factors{_levels(effects)}"
    return Table(caption=caption, columns=columns, rows=rows, notes=(*notes, *filter(None, (note,))))


def _levels(effects: Sequence[FactorEffect]) -> str:
    return " and all levels" if any(one.levels for one in effects) else ""


def _no_interaction(interactions: Sequence[Interaction]) -> str:
    """That none is established; nothing where one is, or where none was looked for."""
    if not interactions or any(one.verdict in NAMED for one in interactions):
        return ""
    known = [one.smallest_effect for one in interactions if one.smallest_effect is not None]
    largest = f"; the largest minimum detectable effect of one is {effect(max(known))}" if known else ""
    return f"No interaction is established{largest}."


def _interactions(workload: str, interactions: Sequence[Interaction]) -> Table:
    columns = (
        Column(heading="effect of", numeric=False),
        Column(heading="depends on", numeric=False),
        Column(heading="from", numeric=False),
        Column(heading="to", numeric=False),
    )
    rows = tuple(_interaction(one) for one in interactions)
    return Table(caption=f"{workload}: interactions that are established", columns=columns, rows=rows)


def _interaction(one: Interaction) -> tuple[Entry, ...]:
    at = (one.other_base or "", one.other_value or "")
    if one.base_level is not None and one.level is not None:
        at = one.base_level.label(), one.level.label()
    return (
        Entry(f"{one.factor} {one.value} instead of {one.base}"),
        Entry(one.other or "the level"),
        Entry(f"{change_words(one.effect_at_base)} ({at[0]})"),
        Entry(f"{change_words(one.effect_at_value)} ({at[1]})"),
    )
