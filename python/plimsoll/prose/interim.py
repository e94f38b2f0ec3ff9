"""What a study knows so far, in words: a line for each question, while it goes on until all are decided."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from plimsoll.analyse.findings.limits import unlike_figures
from plimsoll.analyse.study.sequential import estimate_of
from plimsoll.prose.capacity import slow_words
from plimsoll.prose.ratios import changes_span
from plimsoll.units import format_duration, format_percent, format_rate
from plimsoll.wording import counted, repeat_noun

if TYPE_CHECKING:
    from plimsoll.analyse.study.sequential import AnytimeInterval, Interim, Question
    from plimsoll.analyse.trial.condition_model import UnlikeConditions


def interim_lines(
    interims: Sequence[Interim],
    equal_within: float,
    *,
    is_duet: bool = False,
    disturbed: Mapping[Question, UnlikeConditions] = MappingProxyType({}),
) -> tuple[str, ...]:
    """One line for each question of which something is known; disturbed ones first.

    Args:
        interims: What is known.
        equal_within: Share within which two systems count as equal.
        is_duet: Repetitions are rounds.
        disturbed: Questions whose two systems met unlike conditions so far: no winner is named.
    """
    noun = repeat_noun(is_duet=is_duet)
    known = [interim for interim in interims if interim.interval is not None]
    withheld = (
        _disturbed(interim.question, disturbed[interim.question]) for interim in known if interim.question in disturbed
    )
    rest = [interim for interim in known if interim.question not in disturbed]
    return (
        *withheld,
        *(_line(interim, interim.interval, equal_within, noun) for interim in rest if interim.interval is not None),
    )


def _disturbed(asked: Question, met: UnlikeConditions) -> str:
    assert asked.base is not None, "one system meets no unlike conditions"
    seen = slow_words(unlike_figures(asked.base, asked.system, met))
    return f"{asked.workload}, {asked.level.label()}: disturbed: {seen}"


def over_budget_line(budget_s: float) -> str:
    """Why a study ended with open questions, and what its user can do."""
    return (
        f"the budget of {format_duration(budget_s)} leaves no time for more; to go on, raise it in the study file and"
        " run the study again"
    )


def _line(interim: Interim, interval: AnytimeInterval, equal_within: float, noun: str) -> str:
    asked, bounds = interim.question, estimate_of(interval).bounds
    place = f"{asked.workload}, {asked.level.label()}"
    if asked.base is None:
        figure = format_rate(math.exp(interval.mean))
        is_known = bounds is not None and not bounds.is_vague
        known = f" (within {format_percent(math.expm1(interval.half_width))})" if is_known else ""
        return f"{place}: {asked.system} completes {figure}{known}{_state(interim, interval, noun)}"
    known = ""
    if bounds is not None and not bounds.is_vague_ratio:
        known = f" ({changes_span(bounds)})"
    return f"{place}: {_compared(interim, interval, equal_within)}{known}{_state(interim, interval, noun)}"


def _compared(interim: Interim, interval: AnytimeInterval, equal_within: float) -> str:
    system, base = interim.question.system, interim.question.base
    if interim.is_decided and interval.low <= 0.0 <= interval.high:
        return f"{system} and {base} are equal within {format_percent(equal_within)}"
    faster, ratio = "faster" if interval.mean >= 0 else "slower", math.expm1(interval.mean)
    return f"{system} is {format_percent(abs(ratio))} {faster} than {base}"


def _state(interim: Interim, interval: AnytimeInterval, noun: str) -> str:
    if interim.is_decided:
        return ", decided"
    if interval.deviation is None:
        return " so far"
    if interim.more is None:
        return " so far, no decision in sight"
    return f" so far, about {counted(interim.more, f'more {noun}')} to decide"
