"""Words that the section on effects, the answer and the terminal share.

Deliberately not here: whole sentences (`effects`, `effects_answer`).
"""

from __future__ import annotations

from plimsoll.analyse.cell_model import Estimate
from plimsoll.analyse.effect_model import EffectMeasure, FactorEffect, Interaction
from plimsoll.guide.numbers import show_change
from plimsoll.guide.tables import Entry
from plimsoll.prose.phrases import counted, listed, plain_percent

NAMED = ("faster", "slower")
"""Verdicts of effects and interactions that are established."""

ADDITIVE_NOTE = (
    "* No two systems differ in this factor alone, so the effect is right only if factors do not interact. More"
    " combinations would tell."
)


def effect_label(one: FactorEffect | Interaction) -> str:
    """Which effect it is, such as `threads 64 instead of 0`."""
    return f"{one.factor} {one.value} instead of {one.base}"


def measured_words(measure: EffectMeasure) -> str:
    """On what it is an effect."""
    return "the capacity" if measure is EffectMeasure.CAPACITY else "throughput"


def change_words(ratio: Estimate) -> str:
    """A ratio as a change, such as `+21.3 %`, without its interval."""
    return show_change(ratio).value


def averaged_words(one: FactorEffect) -> str:
    """What an effect is a mean over, with the comma before it; or what it assumes instead."""
    if one.is_additive:
        return ", if factors do not interact"
    averaged = [*one.over, *([counted(len(one.levels), "level")] if one.levels else [])]
    return f", on average over {listed(averaged)}" if averaged else ""


def verdict_words(one: FactorEffect) -> str:
    """The verdict in a table."""
    words = {
        "faster": "higher",
        "slower": "lower",
        "equal": f"equal within {plain_percent(one.equal_within)}",
        "untestable": "not testable: no confidence interval",
        "disturbed": "disturbed: the machine was not equally fast",
    }
    return words.get(one.verdict, f"not resolved{further_words(one)}")


def further_words(one: FactorEffect) -> str:
    """How many repetitions would decide, after a semicolon; nothing where that is not known."""
    if not one.repetitions_needed:
        return ""
    return f"; about {counted(one.repetitions_needed, 'more repetition')} would decide"


def effect_entry(ratio: Estimate, mark: str = "") -> Entry:
    """A ratio as a change with its interval, for a table."""
    shown = show_change(ratio)
    return Entry(f"{shown.value}{mark}", shown.bounds)
