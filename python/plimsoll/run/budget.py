"""A plan held against the budget of its study: refused, or made to fit by fewer repetitions.

Fewer repetitions leave every system, workload and level in the study. There are never fewer than can decide anything.
Deliberately not here: what is done with time that is left (`repeats`), and when a study stops by itself (`deciding`).
"""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.errors import SpecError
from plimsoll.plan.build import build_plan
from plimsoll.prose.phrases import repeat_noun
from plimsoll.record.fitted import REPETITIONS_MIN, FittedBudget
from plimsoll.spec.study import StudySpec
from plimsoll.units import format_duration

OPTION = "--fit-budget"


@dataclass(frozen=True, slots=True)
class Fitting:
    """A study whose plan fits its budget.

    Attributes:
        spec: With the repetitions that are planned.
        fitted: None where they are those that were asked for.
    """

    spec: StudySpec
    fitted: FittedBudget | None = None


def held_to_budget(spec: StudySpec, *, fit: bool) -> Fitting:
    """The study as it will be planned.

    Args:
        spec: What the user wrote.
        fit: Whether repetitions may be reduced.

    Raises:
        SpecError: The plan would take longer than the budget and may not be reduced, or not enough; or there is no
            budget to fit.
    """
    budget_s = spec.study.budget
    if budget_s is None:
        if fit:
            raise SpecError(f'study.budget: {OPTION} needs a budget; add one such as budget = "3h"')
        return Fitting(spec)
    asked = spec.study.repetition_count
    noun = repeat_noun(is_duet=spec.study.is_duet)
    least = min(REPETITIONS_MIN, asked)
    asked_s = total_s(spec)
    if asked_s <= budget_s:
        return Fitting(spec)
    least_s = total_s(with_repetitions(spec, least))
    if least_s > budget_s:
        few = "" if least == asked else f" even with {least} {noun}s, the fewest that can decide anything,"
        raise SpecError(
            f"study.budget: the plan takes{few} about {format_duration(least_s)},"
            f" {format_duration(least_s - budget_s)} more than {format_duration(budget_s)}; reduce levels, systems or"
            " duration, or raise the budget"
        )
    if spec.study.is_until_decided:
        return Fitting(spec)  # it stops when its budget is used up
    count = fitting_count(spec, least, asked)
    if not fit:
        raise SpecError(
            f"study.budget: the plan takes about {format_duration(asked_s)}, {format_duration(asked_s - budget_s)} more"
            f" than {format_duration(budget_s)}; reduce levels, {noun}s or duration, raise the budget, or use"
            f" {OPTION}, which plans {count} {noun}s instead of {asked}"
        )
    fitted = FittedBudget(budget_s=budget_s, repetitions_asked=asked, repetitions=count, asked_s=asked_s)
    return Fitting(with_repetitions(spec, count), fitted)


def fitting_count(spec: StudySpec, least: int, asked: int) -> int:
    """The most repetitions that the budget allows; `least` are known to fit, `asked` not to."""
    assert spec.study.budget is not None, "nothing is fitted without a budget"
    fits, does_not = least, asked
    while does_not - fits > 1:
        middle = (fits + does_not) // 2
        if total_s(with_repetitions(spec, middle)) <= spec.study.budget:
            fits = middle
        else:
            does_not = middle
    return fits


def total_s(spec: StudySpec) -> float:
    """What the plan of a study is expected to take, seconds."""
    return build_plan(spec).estimates.total_s


def with_repetitions(spec: StudySpec, count: int) -> StudySpec:
    """The same study with so many repetitions, in a duet rounds."""
    key = "rounds" if spec.study.is_duet else "repetitions"
    return spec.model_copy(update={"study": spec.study.model_copy(update={key: count})})
