"""Which recordings of a study count. It stands alone because drawing takes long to import, and choosing does not."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.plan.model import Plan
from plimsoll.record.capacity import SearchRecord
from plimsoll.record.store import StudyRecordings


def of_plan(plan: Plan | None, found: StudyRecordings) -> StudyRecordings:
    """The recordings of trials that the study's plan holds; all of them where there is no plan."""
    if plan is None:
        return found
    planned = {trial.trial_id for trial in plan.trials}
    return StudyRecordings(
        tuple(one for one in found.recordings if {one.trial.trial_id, one.trial.repeats} & planned),
        tuple(one for one in found.damaged if one.trial_id in planned),
    )


def searches_of_plan(plan: Plan | None, found: Iterable[SearchRecord]) -> tuple[SearchRecord, ...]:
    """The searches that the study's plan holds, others were made before the study was changed; all without a plan."""
    if plan is None:
        return tuple(found)
    planned = {one.search_id for one in plan.searches}
    return tuple(one for one in found if one.search_id in planned)
