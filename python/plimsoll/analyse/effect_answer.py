"""What a study with factors answers: its strongest established effects, and the interactions that matter most.

Deliberately not here: how effects are found and judged (`main_effects`), and words (`plimsoll.guide.effects_answer`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeVar

from plimsoll.analyse.effect_model import Effects, FactorEffect, Interaction
from plimsoll.analyse.finding_model import Finding, Scalar, found
from plimsoll.analyse.model import DifferenceVerdict

Judged = TypeVar("Judged", FactorEffect, Interaction)

TOLD_MAX = 2
"""So many effects, and as many interactions, are told first; the section of the guide has them all."""


def effect_answer(effects: Effects) -> Iterator[Finding]:
    """One finding for each workload and measure; none where systems were written out."""
    for workload, measure in dict.fromkeys((one.workload, one.measure) for one in effects.factors):
        own = [one for one in effects.factors if (one.workload, one.measure) == (workload, measure)]
        crossed = [one for one in effects.interactions if (one.workload, one.measure) == (workload, measure)]
        strongest, interactions = _established(own), _one_each(_established(crossed))
        yield found(
            "effects",
            workload=workload,
            measure=measure.value,
            effects=tuple((one.factor, one.value, one.base, one.ratio.value) for one in strongest[:TOLD_MAX]),
            more_effects_count=max(len(strongest) - TOLD_MAX, 0),
            interactions=tuple(map(_figures, interactions[:TOLD_MAX])),
            more_interactions_count=max(len(interactions) - TOLD_MAX, 0),
        )


def _established(judged: Sequence[Judged]) -> list[Judged]:
    """Those that are established, the strongest first."""
    named = [one for one in judged if one.verdict in (DifferenceVerdict.FASTER, DifferenceVerdict.SLOWER)]
    return sorted(named, key=lambda one: -abs(math.log(one.ratio.value)))


def _one_each(interactions: Sequence[Interaction]) -> list[Interaction]:
    """The strongest for each effect and what it depends on: a factor's values, or levels, are told by one of them."""
    strongest: dict[tuple[str, str, str | None], Interaction] = {}
    for one in interactions:
        strongest.setdefault((one.factor, one.value, one.other), one)
    return list(strongest.values())


def _figures(one: Interaction) -> tuple[Scalar, ...]:
    """Effect (factor, value, base), what it depends on (null: the level), and the ratio at either of two values."""
    at: tuple[Scalar, Scalar] = (one.other_base, one.other_value)
    if one.base_level is not None and one.level is not None:
        at = one.base_level.connections, one.level.connections
    return (
        *(one.factor, one.value, one.base, one.other),
        *(at[0], one.effect_at_base.value, at[1], one.effect_at_value.value),
    )
