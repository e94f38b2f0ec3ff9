"""What is said about the factors of a study: the effect of each, and how they interact; part of the analysis."""

from __future__ import annotations

from enum import StrEnum

from plimsoll.analyse.cell_model import Estimate
from plimsoll.record.document import Document
from plimsoll.record.level import Level


class EffectMeasure(StrEnum):
    """What a factor has an effect on."""

    THROUGHPUT = "throughput"
    CAPACITY = "capacity"


class EffectAtLevel(Document):
    """The effect of a factor at one level.

    Attributes:
        level: Which.
        ratio: As that of the effect, at this level alone.
    """

    level: Level
    ratio: Estimate


class FactorEffect(Document):
    """What one value of a factor changes, compared with the factor's first value.

    Attributes:
        workload: Under which.
        measure: Of what it is the ratio.
        factor: Which.
        base: The factor's first value.
        value: The value that is compared with it.
        ratio: Throughput, or capacity, with `value` over that with `base`: the geometric mean over the combinations of
            the other factors that have both, and over all levels. Its bounds stand for it alone.
        verdict: Whether `value` is faster or slower than `base` or equal to it within `equal_within`, corrected for all
            effects and interactions of the study (Holm); `disturbed` where the machine made over 5 % of it.
        smallest_effect: The smallest ratio above 1 that trials as many and as noisy as these find four times out of
            five, by the corrected test; null when untestable.
        equal_within: The share within which two values count as equal, from the study.
        repetitions_needed: How many further repetitions would decide four times out of five, if the ratio stays; 0
            where it is decided; null when untestable, or where more than 100 are needed.
        over: Names of the other factors.
        contexts_count: Over how many combinations of them the ratio is a mean; 0 where `is_additive`.
        is_additive: No two systems differ in this factor alone; the ratio is right only where factors do not interact.
        levels: The ratio at each level alone; empty where there is only one level, and for capacities.
    """

    workload: str
    measure: EffectMeasure = EffectMeasure.THROUGHPUT
    factor: str
    base: str
    value: str
    ratio: Estimate
    verdict: str
    smallest_effect: float | None = None
    equal_within: float = 0.05
    repetitions_needed: int | None = None
    over: tuple[str, ...] = ()
    contexts_count: int = 1
    is_additive: bool = False
    levels: tuple[EffectAtLevel, ...] = ()


class Interaction(Document):
    """How the effect of a factor depends on another factor, or on the level.

    Attributes:
        workload: Under which.
        measure: Of what the ratios are.
        factor: The factor whose effect it is.
        base: Its first value.
        value: The value that is compared with it.
        other: The factor on which the effect depends; null for the level.
        other_base: The first value of `other`; null for the level.
        other_value: The value of `other` that is compared with it; null for the level.
        base_level: The lowest level; null where `other` is a factor.
        level: The level that is compared with it; null where `other` is a factor.
        ratio: The effect at `other_value` or `level` over the effect at `other_base` or `base_level`: 1 where it does
            not depend on it. Its bounds stand for it alone.
        effect_at_base: The effect of `value` at `other_base`, or at `base_level`.
        effect_at_value: The effect of `value` at `other_value`, or at `level`.
        verdict: `faster` or `slower` where the ratio is established to be above or below 1, as that of an effect.
        smallest_effect: As that of an effect.
    """

    workload: str
    measure: EffectMeasure = EffectMeasure.THROUGHPUT
    factor: str
    base: str
    value: str
    other: str | None = None
    other_base: str | None = None
    other_value: str | None = None
    base_level: Level | None = None
    level: Level | None = None
    ratio: Estimate
    effect_at_base: Estimate
    effect_at_value: Estimate
    verdict: str
    smallest_effect: float | None = None


class Effects(Document):
    """What the factors of a study do; all empty where systems were written out.

    Attributes:
        factors: What each factor changes, over the others.
        interactions: How effects depend on other factors and on the level, also where that is not established.
    """

    factors: tuple[FactorEffect, ...] = ()
    interactions: tuple[Interaction, ...] = ()
