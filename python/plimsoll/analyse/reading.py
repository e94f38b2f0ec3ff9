"""The trials of a study from its recordings, and those that are missing.

Each recording's tables are read once, reduced, and forgotten: at a time there are those of one for each processor.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from plimsoll.analyse.doubts import Doubt
from plimsoll.analyse.environments import apart
from plimsoll.analyse.missing import PlannedLike, missing_trial, never_ran
from plimsoll.analyse.missing_model import MissingTrial
from plimsoll.analyse.replaced import counting
from plimsoll.analyse.series import points_max
from plimsoll.analyse.trial_summary import RecordingLike, TrialSummary, summarise
from plimsoll.errors import RecordError
from plimsoll.record.model import Verdict

REPLACED = "the machine was slower than around the other trials; measured again as"
"""Why a trial counts nowhere that was measured again; the other trial's id follows."""


class DamagedLike(Protocol):
    """A recording that cannot be read: `plimsoll.record.store.Damaged` is one."""

    @property
    def trial_id(self) -> str: ...  # noqa: D102

    @property
    def path(self) -> Path: ...  # noqa: D102

    @property
    def reason(self) -> str: ...  # noqa: D102


def read_trials(
    recordings: Sequence[RecordingLike], damaged: Iterable[DamagedLike], planned: Iterable[PlannedLike]
) -> tuple[list[TrialSummary], list[MissingTrial], list[Doubt]]:
    """All complete trials, systems that changed their environment apart; what is missing; and doubts about the changes.

    Args:
        recordings: In the order in which systems are to be shown.
        damaged: Recordings that could not be read.
        planned: All trials of the study's plan; nothing where there is none.
    """
    recordings, replaced = counting(recordings)
    trials, missing = _reduce(recordings)
    missing += [_missing(one, f"{REPLACED} {by}").model_copy(update={"replaced_by": by}) for one, by in replaced]
    trials, environments = apart(trials)
    missing += _damaged(damaged, planned)
    missing += never_ran(planned, {one.trial.trial_id for one in recordings} | {one.trial_id for one in missing})
    return trials, missing, list(environments)


def _reduce(recordings: Iterable[RecordingLike]) -> tuple[list[TrialSummary], list[MissingTrial]]:
    """Sums all of them up, side by side: reading and merging tables does not hold the interpreter."""
    trials: list[TrialSummary] = []
    missing: list[MissingTrial] = []
    recordings = list(recordings)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        points = points_max(len(recordings))
        summaries = pool.map(lambda one: _summary_or_reason(one, points), recordings)
    for recording, summary in zip(recordings, summaries, strict=True):
        if isinstance(summary, str):
            missing.append(_missing(recording, summary))
        else:
            trials.append(summary)
    return trials, missing


def _summary_or_reason(recording: RecordingLike, points: int) -> TrialSummary | str:
    outcome = recording.outcome
    if outcome.verdict is not Verdict.COMPLETE:
        return f"{outcome.verdict.value}: {outcome.reason or 'no reason was recorded'}"
    try:
        return summarise(recording, points=points) or "nothing was measured: no interval lies in its window"
    except RecordError as error:
        return str(error)


def _damaged(damaged: Iterable[DamagedLike], planned: Iterable[PlannedLike]) -> Iterator[MissingTrial]:
    """What a damaged recording is of, the plan may still say."""
    known = {one.trial_id: one for one in planned}
    for one in damaged:
        if one.trial_id in known:
            yield missing_trial(known[one.trial_id], one.reason)
        else:
            yield MissingTrial(trial_id=one.trial_id, system="", workload="", reason=one.reason)


def _missing(recording: RecordingLike, reason: str) -> MissingTrial:
    trial = recording.trial
    return MissingTrial(
        trial_id=trial.trial_id,
        system=trial.system.name,
        workload=trial.workload.name,
        level=trial.level,
        repetition=trial.repetition,
        reason=reason,
    )
