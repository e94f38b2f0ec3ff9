"""Words of a ratio: how much it is, its interval, what it decides and what would decide it, for whoever shows one."""

from __future__ import annotations

from plimsoll.analyse.study.cell_model import VAGUE_FACTOR, Bounds, Estimate
from plimsoll.analyse.study.ratio_model import Ratio, RatioVerdict
from plimsoll.prose.phrases import confidence, plain_percent, vague_words
from plimsoll.units import format_number, format_percent
from plimsoll.wording import counted

_AS_FACTOR_FROM = 2.0
"""From this ratio on "2.4 times" is easier to grasp than "+140 %"."""


def higher(ratio: float) -> str:
    """A ratio of at least 1: `12.0 % higher than that of` or `2.35 times that of`."""
    if ratio < _AS_FACTOR_FROM:
        return f"{format_percent(ratio - 1)} higher than that of"
    return f"{format_number(ratio)} times that of"


def ratio_interval(estimate: Estimate) -> str:
    """The interval of such a ratio: `95 % CI +2.0 % to +5.0 %`; empty where there is none.

    In percent only where the ratio itself is and its upper end is not far away.
    """
    bounds = estimate.bounds
    if bounds is None:
        return ""
    if bounds.is_vague_ratio:
        return vague_words(bounds)
    if estimate.value < _AS_FACTOR_FROM and bounds.high < _AS_FACTOR_FROM:
        return f"{confidence(bounds)} CI {changes_span(bounds)}"
    return f"{confidence(bounds)} CI {format_number(bounds.low)} to {format_number(bounds.high)} times"


def effect(ratio: float) -> str:
    """The size of a difference, from a ratio above 1: `9.0 %`, `a factor of 2.71` or `more than a factor of 3`."""
    if ratio > VAGUE_FACTOR:
        return f"more than a factor of {VAGUE_FACTOR:.0f}"
    return format_percent(ratio - 1) if ratio < _AS_FACTOR_FROM else f"a factor of {format_number(ratio)}"


def changes_span(bounds: Bounds) -> str:
    """The interval of a ratio as changes, such as `-8.9 % to -3.5 %`."""
    return f"{format_percent(bounds.low - 1, signed=True)} to {format_percent(bounds.high - 1, signed=True)}"


def verdict_word(verdict: RatioVerdict, more: str = "faster", less: str = "slower", equal: str = "equal") -> str:
    """A verdict in a few words; those of a ratio above 1, below 1 and of about 1 are the caller's."""
    return {
        RatioVerdict.FASTER: more,
        RatioVerdict.SLOWER: less,
        RatioVerdict.EQUAL: equal,
        RatioVerdict.UNRESOLVED: "not resolved",
        RatioVerdict.UNTESTABLE: "not testable",
        RatioVerdict.DISTURBED: "disturbed",
    }[verdict]


def verdict_words(
    ratio: Ratio, more: str, less: str, *, untestable: str = "no confidence interval", unit: str = "repetition"
) -> str:
    """A verdict for a table, with its reason or with what would decide.

    Args:
        ratio: What is judged.
        more: What a ratio above 1 means.
        less: What one below 1 means.
        untestable: Why no test can be made, where none can.
        unit: What is repeated.
    """
    reasons = {
        RatioVerdict.UNTESTABLE: f": {untestable}",
        RatioVerdict.DISTURBED: ": the machine was not equally fast",
        RatioVerdict.UNRESOLVED: further_words(ratio.repetitions_needed, unit),
    }
    word = verdict_word(ratio.verdict, more, less, f"equal within {plain_percent(ratio.equal_within)}")
    return f"{word}{reasons.get(ratio.verdict, '')}"


def further_words(needed: int | None, unit: str = "repetition") -> str:
    """How many more repetitions would decide, behind a semicolon; empty where that is not known."""
    return f"; about {counted(needed, f'more {unit}')} would decide" if needed else ""
