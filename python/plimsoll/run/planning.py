"""The plan of a study, and how much of it its folder holds already.

Deliberately not here: running it (`study`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.errors import NewerFormatError, RecordError
from plimsoll.plan.build import build_plan
from plimsoll.plan.model import AGAIN, Plan, PlannedTrial
from plimsoll.record.model import Verdict
from plimsoll.record.store import verdicts
from plimsoll.run.budget import held_to_budget
from plimsoll.run.folder import holds_study, known_former_ids, read_plan
from plimsoll.run.time_left import Budget, ran_s
from plimsoll.spec.study import StudySpec


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
        return [one for one in self.plan.trials if one.search_id is None and one.trial_id not in finished]

    @property
    def unplanned_count(self) -> int:
        """How many recordings are of no planned trial."""
        return unplanned_count(self.plan, self.recorded)


def unplanned_count(plan: Plan, recorded: Iterable[str]) -> int:
    """How many recordings are neither of a planned trial nor of its repeat."""
    planned = {trial.trial_id for trial in plan.trials}
    return sum(one.removesuffix(AGAIN) not in planned for one in recorded)


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
        found = verdicts(folder)
        recorded = {trial: verdict for trial, verdict in found.items() if verdict is not None}
        former = known_former_ids(folder, found)
    plan = build_plan(spec, former).model_copy(update={"fitted": fitting.fitted})
    if plan.searches and folder is not None:
        plan = plan.model_copy(update={"trials": (*plan.trials, *_searched(plan, folder))})
    budget = Budget.of(spec.study.budget, 0.0 if folder is None else ran_s(folder))
    is_over_budget = False
    if spec.study.is_until_decided and folder is not None and recorded:
        from plimsoll.run.deciding import Answering, until

        answering = Answering(spec, folder, plan)
        answering.read(recorded)
        plan = until(plan, answering.end(budget))
        is_over_budget = answering.decided_after is None and answering.is_over_budget(budget)
    return PlannedStudy(spec, plan, recorded, budget, is_over_budget)
