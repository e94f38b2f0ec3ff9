"""The plan of a study, and how much of it its folder holds already.

Deliberately not here: running it (`study`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.errors import SpecError
from plimsoll.plan.build import build_plan
from plimsoll.plan.model import Plan
from plimsoll.record.model import Verdict
from plimsoll.record.store import verdicts
from plimsoll.run.folder import holds_study, known_former_ids
from plimsoll.spec.study import StudySpec
from plimsoll.units import format_duration


@dataclass(frozen=True, slots=True)
class PlannedStudy:
    """A plan, and the recordings that there are.

    Attributes:
        recorded: Verdicts of all recordings of the folder that can be read.
    """

    plan: Plan
    recorded: Mapping[str, Verdict] = field(default_factory=dict)

    @property
    def finished(self) -> set[str]:
        """Ids of the planned trials that need not run again."""
        planned = {trial.trial_id for trial in self.plan.trials}
        return {trial for trial, verdict in self.recorded.items() if verdict is Verdict.COMPLETE} & planned

    @property
    def unplanned_count(self) -> int:
        """How many recordings are of no planned trial."""
        return len(self.recorded.keys() - {trial.trial_id for trial in self.plan.trials})


def plan_study(spec: StudySpec, folder: Path | None = None) -> PlannedStudy:
    """The plan of a study, held against its budget.

    Args:
        spec: What the user wrote.
        folder: Where it is kept; None, or one that holds no study yet, for nothing recorded.

    Raises:
        SpecError: It would take longer than its budget.
        NewerFormatError: A newer Plimsoll wrote something in the folder.
    """
    recorded, former = dict[str, Verdict](), dict[str, str]()
    if folder is not None and holds_study(folder, spec.study.name):
        found = verdicts(folder)
        recorded = {trial: verdict for trial, verdict in found.items() if verdict is not None}
        former = known_former_ids(folder, found)
    plan = build_plan(spec, former)
    if spec.study.budget is not None and plan.estimates.total_s > spec.study.budget:
        raise SpecError(
            f"study.budget: the plan takes about {format_duration(plan.estimates.total_s)}, more than"
            f" {format_duration(spec.study.budget)}; take fewer levels or repetitions, a shorter duration, or raise it"
        )
    return PlannedStudy(plan, recorded)
