"""From a study's folder to its guide: read the recordings, analyse them, write the files."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study import analyse
from plimsoll.errors import RecordError
from plimsoll.guide.files import write_guide
from plimsoll.importers.skipped_logs import missing_logs
from plimsoll.plan.model import Plan
from plimsoll.record.store import Recording, StudyRecordings
from plimsoll.record.store import read_study as read_study_recordings
from plimsoll.run.folder import read_plan
from plimsoll.run.users_file import current_spec
from plimsoll.spec.study import StudySpec

_LOG = logging.getLogger(__name__)


def analyse_folder(folder: Path) -> Analysis:
    """Analyses all recordings of a study as it is now.

    A trial that its plan does not hold was made before the study was changed, under other conditions, and would pass
    for one more repetition: it is left out. Planned trials that have not run are listed as missing. Costs are those
    that the study states now.

    Raises:
        RecordError: There is no study, or nothing in it can be read.
    """
    plan = read_plan(folder)
    found = of_plan(plan, read_study_recordings(folder))
    if not found.recordings:
        reason = found.damaged[0].reason if found.damaged else "no trial has been recorded yet; run the study first"
        raise RecordError(f"{folder}: {reason}")
    spec, note = current_spec(folder)
    if note is not None:
        _LOG.warning("%s", note)
    name = found.recordings[0].trial.study
    if spec is None:
        return analyse(name, found.recordings, (*found.damaged, *missing_logs(folder)))
    order = [system.name for system in spec.system]
    objective_s = spec.study.objective.response_p99
    return analyse(
        name,
        sorted(_priced(spec, found.recordings), key=lambda one: _place(order, one.trial.system.name)),
        found.damaged,
        planned=None if plan is None else plan.trials,
        objective_ms_p99=None if objective_s is None else objective_s * 1000,
    )


def _place(order: list[str], name: str) -> int:
    """Systems come in the order in which the user wrote them; those that an edited file lacks come last."""
    return order.index(name) if name in order else len(order)


def of_plan(plan: Plan | None, found: StudyRecordings) -> StudyRecordings:
    """The recordings of trials that the study's plan holds; all of them where there is no plan."""
    if plan is None:
        return found
    planned = {trial.trial_id for trial in plan.trials}
    return StudyRecordings(
        tuple(one for one in found.recordings if one.trial.trial_id in planned),
        tuple(one for one in found.damaged if one.trial_id in planned),
    )


def _priced(spec: StudySpec, recordings: Iterable[Recording]) -> Iterator[Recording]:
    """The recordings with the costs of the study file: a cost is no condition of a trial and may change later."""
    costs = {system.name: system.cost_per_month for system in spec.system}
    for one in recordings:
        system = one.trial.system
        priced = system.model_copy(update={"cost_per_month": costs.get(system.name, system.cost_per_month)})
        yield replace(one, trial=one.trial.model_copy(update={"system": priced}))


def build_guide(folder: Path, to: Path | None = None) -> tuple[Analysis, tuple[Path, ...]]:
    """Analyses a study and writes its guide, the HTML file first.

    Args:
        folder: The study's folder.
        to: Where the files are written; the study's folder when None.

    Raises:
        RecordError: There is no study, or nothing in it can be read.
        HostError: The files cannot be written.
    """
    analysis = analyse_folder(folder)
    return analysis, tuple(write_guide(analysis, to or folder))
