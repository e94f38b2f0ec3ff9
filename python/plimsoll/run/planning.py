"""The plan of a study, held against its budget, and how much of it its folder holds already.

A plan over its budget is refused, or made to fit by fewer repetitions. Fewer repetitions leave every system, workload
and level in the study. There are never fewer than can decide anything. What is left of the budget is by one clock for
all runs of the study. Deliberately not here: running it (`study`), and when a study stops by itself (`stopping_rule`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.errors import NewerFormatError, RecordError, SpecError
from plimsoll.plan.build import build_plan
from plimsoll.plan.model import AGAIN, Plan, PlannedTrial
from plimsoll.record.level import REPETITIONS_MIN, FittedBudget
from plimsoll.record.model import Verdict
from plimsoll.record.store import verdicts
from plimsoll.run.events import (
    DeviceShared,
    EnvironmentChanged,
    HookBegan,
    HookEnded,
    MachineMeasured,
    ReadinessJudged,
    StudyBegan,
    read_events,
)
from plimsoll.run.folder import EVENTS_FILE, holds_study, known_former_ids, read_plan
from plimsoll.spec.study import StudySpec
from plimsoll.units import format_duration
from plimsoll.wording import repeat_noun


@dataclass(frozen=True, slots=True)
class PlannedStudy:
    """A plan, and the recordings that there are.

    Attributes:
        spec: What it follows from: the study file, with fewer repetitions where they were made to fit the budget.
        recorded: Verdicts of all recordings of the folder that can be read.
        budget: What is left of it.
        is_over_budget: Its answer is open, but another repetition would exceed its budget: nothing more is measured.
    """

    spec: StudySpec
    plan: Plan
    recorded: Mapping[str, Verdict] = field(default_factory=dict)
    budget: Budget = field(default_factory=lambda: Budget.of(None))
    is_over_budget: bool = False

    @property
    def finished(self) -> set[str]:
        """Ids of the planned trials that need not run again."""
        planned = {trial.trial_id for trial in self.plan.trials}
        return {trial for trial, verdict in self.recorded.items() if verdict is Verdict.COMPLETE} & planned

    @property
    def missing(self) -> list[PlannedTrial]:
        """The planned trials that are still to run, in order, without those of searches."""
        if self.is_over_budget:
            return []
        finished = self.finished
        return [trial for trial in self.plan.trials if trial.search_id is None and trial.trial_id not in finished]

    @property
    def unplanned_count(self) -> int:
        """How many recordings are of no planned trial."""
        return unplanned_count(self.plan, self.recorded)


def unplanned_count(plan: Plan, recorded: Iterable[str]) -> int:
    """How many recordings are neither of a planned trial nor of its repeat."""
    planned = {trial.trial_id for trial in plan.trials}
    return sum(trial_id.removesuffix(AGAIN) not in planned for trial_id in recorded)


def was_fitted(spec: StudySpec, folder: Path) -> bool:
    """Whether the study of a folder was begun with repetitions reduced to its budget: it goes on so."""
    return spec.study.budget is not None and (plan := _known_plan(folder)) is not None and plan.fitted is not None


def _known_plan(folder: Path) -> Plan | None:
    """The plan that a folder holds; None where it cannot be read, since it is written again."""
    try:
        return read_plan(folder)
    except NewerFormatError:
        raise
    except RecordError:
        return None


def _searched(plan: Plan, folder: Path) -> tuple[PlannedTrial, ...]:
    """The trials of the plan's searches that a folder's plan knows already."""
    known = _known_plan(folder)
    ids = {search.search_id for search in plan.searches}
    return () if known is None else tuple(trial for trial in known.trials if trial.search_id in ids)


def plan_study(spec: StudySpec, folder: Path | None = None, *, fit_budget: bool = False) -> PlannedStudy:
    """The plan of a study, held against its budget.

    Args:
        spec: What the user wrote.
        folder: Where it is kept; None, or one that holds no study yet, for nothing recorded.
        fit_budget: Whether repetitions are reduced where it would take longer than its budget; they are as well where
            the folder's study was begun so.

    Raises:
        SpecError: It would take longer than its budget.
        NewerFormatError: A newer Plimsoll wrote something in the folder.
    """
    fitting = held_to_budget(spec, fit=fit_budget or (folder is not None and was_fitted(spec, folder)))
    spec = fitting.spec
    recorded, former = dict[str, Verdict](), dict[str, str]()
    if folder is not None and holds_study(folder, spec.study.name):
        verdict_by_id = verdicts(folder)
        recorded = {trial: verdict for trial, verdict in verdict_by_id.items() if verdict is not None}
        former = known_former_ids(folder, verdict_by_id)
    plan = build_plan(spec, former).model_copy(update={"fitted": fitting.fitted})
    if plan.searches and folder is not None:
        plan = plan.model_copy(update={"trials": (*plan.trials, *_searched(plan, folder))})
    budget = Budget.of(spec.study.budget, 0.0 if folder is None else ran_s(folder))
    is_over_budget = False
    if spec.study.is_until_decided and folder is not None and recorded:
        from plimsoll.run.stopping_rule import Answering, until

        answering = Answering(spec, folder, plan)
        answering.read(recorded)
        plan = until(plan, answering.end(budget))
        is_over_budget = answering.decided_after is None and answering.is_over_budget(budget)
    return PlannedStudy(spec, plan, recorded, budget, is_over_budget)


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


_SAID_BEFORE = (DeviceShared, EnvironmentChanged, HookBegan, HookEnded, MachineMeasured, ReadinessJudged)
"""Events that come before a run begins as well."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Time that a study may take, all its runs together.

    Attributes:
        budget_s: In all; None without a budget.
        began_s: On the clock: when it would have begun if it had run without a break.
    """

    budget_s: float | None
    began_s: float
    clock: Callable[[], float] = time.monotonic

    @classmethod
    def of(cls, budget_s: float | None, ran_s: float = 0.0, clock: Callable[[], float] = time.monotonic) -> Budget:
        """The budget of a study whose earlier runs took `ran_s` seconds and that goes on now."""
        return cls(budget_s, clock() - ran_s, clock)

    @property
    def used_s(self) -> float:
        """Seconds that the study has run, with or without a budget."""
        return self.clock() - self.began_s

    @property
    def left_s(self) -> float | None:
        """Seconds; None without a budget."""
        return None if self.budget_s is None else self.budget_s - self.used_s

    def part(self, count: int) -> Budget:
        """Its share of what is left, of so many that come one after the other."""
        left_s = self.left_s
        return self if left_s is None else Budget(self.used_s + left_s / count, self.began_s, self.clock)

    def has_room_for(self, seconds: float) -> bool:
        """Whether so much more fits."""
        return self.left_s is None or seconds <= self.left_s

    def at_most(self, seconds: float) -> float:
        """How long something takes that ends with the budget, seconds."""
        return seconds if self.left_s is None else min(seconds, max(self.left_s, 0.0))

    def share_s(self, trials_count: int, other_s: float) -> float:
        """What each of the trials that are left may measure, seconds; infinite without a budget.

        Args:
            trials_count: That are left, the next one included.
            other_s: What each takes besides being measured.
        """
        left_s = self.left_s
        return math.inf if left_s is None else max(left_s / max(trials_count, 1) - other_s, 0.0)


def ran_s(folder: Path) -> float:
    """How long a study has run, all its runs together, seconds.

    A run lasts from its begin to its last event. What the next run says before it begins, after a break of any length,
    is no part of it.
    """
    began, last, total = None, 0.0, 0.0
    for stamped in read_events(folder / EVENTS_FILE):
        if isinstance(stamped.event, StudyBegan):
            total += last - began if began is not None else 0.0
            began = last = stamped.unix_s
        elif not isinstance(stamped.event, _SAID_BEFORE):
            last = stamped.unix_s
    return total + (last - began if began is not None else 0.0)
