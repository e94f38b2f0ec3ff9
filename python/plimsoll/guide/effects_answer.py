"""What factors do, in one or two sentences of the answer: the strongest effects, and on what they depend.

Deliberately not here: which these are (`plimsoll.analyse.effect_answer`), and all the others (`effects`).
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.analyse.cell_model import Estimate
from plimsoll.analyse.effect_model import EffectMeasure, FactorEffect
from plimsoll.analyse.finding_model import Scalar
from plimsoll.guide.effect_words import averaged_words, change_words, effect_label, measured_words
from plimsoll.guide.numbers import show_change
from plimsoll.guide.said import Said
from plimsoll.prose.phrases import counted, effect, listed, plain_percent
from plimsoll.record.level import Level


def effects_answer_sentence(said: Said) -> str:
    """The strongest established effects under a workload, and the interactions that matter most."""
    figures, workload = said.figures, said.finding.workload
    measure = EffectMeasure(figures["measure"])
    own = [one for one in said.analysis.effects.factors if (one.workload, one.measure) == (workload, measure)]
    strongest = [next(one for one in own if (one.factor, one.value) == told[:2]) for told in figures["effects"]]
    more = figures["more_effects_count"]
    first = _strongest(strongest, more, measure) if strongest else _none(own, measure)
    return f"{workload}: {first}.{_interactions(figures['interactions'], figures['more_interactions_count'])}"


def _strongest(strongest: Sequence[FactorEffect], more_count: int, measure: EffectMeasure) -> str:
    first, *others = strongest
    which = "strongest" if others else "only established"
    also = "".join(f"; then {effect_label(one)}: {_with_interval(one)}" for one in others)
    more = (
        f"; {counted(more_count, 'more effect')} {'is' if more_count == 1 else 'are'} established" if more_count else ""
    )
    return (
        f"the {which} effect on {measured_words(measure)} is that of {effect_label(first)}:"
        f" {_with_interval(first)}{averaged_words(first)}{also}{more}"
    )


def _with_interval(one: FactorEffect) -> str:
    found = show_change(one.ratio)
    return found.value if found.bounds is None else f"{found.value} (95 % CI {found.bounds})"


def _none(own: Sequence[FactorEffect], measure: EffectMeasure) -> str:
    """What is known where no effect is established."""
    what, verdicts = measured_words(measure), {one.verdict for one in own}
    factors = list(dict.fromkeys(one.factor for one in own))
    if verdicts == {"equal"}:
        within = plain_percent(own[0].equal_within)
        return f"no effect of {_either(factors)}: all values leave {what} equal within {within}"
    if verdicts == {"untestable"}:
        verb = "changes" if len(factors) == 1 else "change"
        return f"whether {listed(factors)} {verb} {what} is not known: confidence intervals need repetitions"
    if "disturbed" in verdicts:
        return f"what {listed(factors)} {'changes' if len(factors) == 1 else 'change'} is not known: disturbed"
    detectable = [one.smallest_effect for one in own if one.smallest_effect is not None]
    least = f"; the largest minimum detectable effect is {effect(max(detectable))}" if detectable else ""
    return f"no effect of {_either(factors)} on {what} is established on average{least}"


def _either(names: Sequence[str]) -> str:
    return listed(names) if len(names) < 2 else f"{', '.join(names[:-1])} or {names[-1]}"


def _interactions(interactions: Sequence[tuple[Scalar, ...]], more_count: int) -> str:
    """A sentence with a blank before it: on what effects depend; nothing where no interaction is established."""
    if not interactions:
        return ""
    by_effect: dict[str, list[str]] = {}
    for factor, value, base, other, *at in interactions:
        by_effect.setdefault(f"{factor} {value} instead of {base}", []).append(_depends(other, at))
    told = [f"the effect of {label} depends on {listed(found)}" for label, found in by_effect.items()]
    more = (
        f"; {counted(more_count, 'more interaction')} {'is' if more_count == 1 else 'are'} established"
        if more_count
        else ""
    )
    text = "; ".join(told)
    return f" {text[0].upper()}{text[1:]}{more}."


def _depends(other: Scalar, at: Sequence[Scalar]) -> str:
    """On what an effect depends, and how large it is where."""
    base, at_base, value, at_value = at
    changes = [change_words(Estimate(value=float(ratio or 0))) for ratio in (at_base, at_value)]
    if other is None:
        levels = [Level(connections=int(one or 0)).label() for one in (base, value)]
        return f"the level ({changes[0]} at {levels[0]}, {changes[1]} at {levels[1]})"
    return f"{other} ({changes[0]} with {base}, {changes[1]} with {value})"
