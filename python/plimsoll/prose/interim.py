"""What a study knows so far, in words: a line for each question, while it goes on until all are decided."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from plimsoll.analyse.cell_model import VAGUE_FACTOR
from plimsoll.prose.phrases import counted, repeat_noun
from plimsoll.units import format_duration, format_percent, format_rate

if TYPE_CHECKING:
    from plimsoll.analyse.deciding import Interim
    from plimsoll.analyse.sequential import AnytimeInterval


def interim_lines(found: Sequence[Interim], equal_within: float, *, is_duet: bool = False) -> tuple[str, ...]:
    """One line for each question of which something is known.

    Args:
        found: What is known.
        equal_within: Share within which two systems count as equal.
        is_duet: Repetitions are rounds.
    """
    noun = repeat_noun(is_duet=is_duet)
    return tuple(_line(one, one.interval, equal_within, noun) for one in found if one.interval is not None)


def over_budget_line(budget_s: float) -> str:
    """Why a study ended with open questions, and what its user can do."""
    return (
        f"the budget of {format_duration(budget_s)} leaves no time for more; to go on, raise it in the study file and"
        " run the study again"
    )


def _line(one: Interim, interval: AnytimeInterval, equal_within: float, noun: str) -> str:
    asked = one.question
    place = f"{asked.workload}, {asked.level.label()}"
    if asked.base is None:
        figure = format_rate(math.exp(interval.mean))
        known = f" (within {format_percent(math.expm1(interval.half_width))})" if _is_known(interval) else ""
        return f"{place}: {asked.system} sustains {figure}{known}{_state(one, interval, noun)}"
    known = ""
    if _is_known(interval):
        low, high = (format_percent(math.expm1(edge), signed=True) for edge in (interval.low, interval.high))
        known = f" ({low} to {high})"
    return f"{place}: {_compared(one, interval, equal_within)}{known}{_state(one, interval, noun)}"


def _compared(one: Interim, interval: AnytimeInterval, equal_within: float) -> str:
    system, base = one.question.system, one.question.base
    if one.is_decided and interval.low <= 0.0 <= interval.high:
        return f"{system} and {base} are equal within {format_percent(equal_within)}"
    faster, ratio = "faster" if interval.mean >= 0 else "slower", math.expm1(interval.mean)
    return f"{system} is {format_percent(abs(ratio))} {faster} than {base}"


def _state(one: Interim, interval: AnytimeInterval, noun: str) -> str:
    if one.is_decided:
        return ", decided"
    if interval.deviation is None:
        return " so far"
    if one.more is None:
        return " so far, no decision in sight"
    return f" so far, about {counted(one.more, f'more {noun}')} to decide"


def _is_known(interval: AnytimeInterval) -> bool:
    """Not where its figures would be as vague as those that guides leave out (`Bounds.is_vague`)."""
    return interval.high - interval.low <= math.log(VAGUE_FACTOR)
