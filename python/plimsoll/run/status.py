"""How far a study is, read from its folder: from outside, while it runs or afterwards.

Whether it runs is told by its lock, which a process holds as long as it lives; why it does not, by the last event.
"""

from __future__ import annotations

import time
from collections import Counter
from enum import StrEnum
from pathlib import Path

from plimsoll.analyse.missing import missing_groups, never_ran
from plimsoll.errors import RecordError
from plimsoll.plan.model import Plan
from plimsoll.prose.phrases import group_words
from plimsoll.record.document import Document
from plimsoll.record.folders import partials
from plimsoll.record.model import Verdict
from plimsoll.record.store import verdicts
from plimsoll.run.answer_events import AnswerProgressed, DuetProgressed
from plimsoll.run.folder import PLAN_FILE, read_plan
from plimsoll.run.heard import CurrentTrial, Heard, what_was_heard
from plimsoll.run.held import is_held
from plimsoll.run.planning import unplanned_count
from plimsoll.run.search_events import RampsCompared

STATUS_FORMAT = 1
"""Version of what `study status --json` prints."""


class RunState(StrEnum):
    """Whether a study runs, and if not, why."""

    NOT_BEGUN = "not begun"
    RUNNING = "running"
    KILLED = "killed"
    STOPPED = "stopped"
    FINISHED = "finished"


class TrialCounts(Document):
    """What became of the planned trials.

    Attributes:
        damaged: Recordings that changed since they were written; their trials run again.
        not_run: Those without a recording.
    """

    planned: int
    complete: int
    failed: int
    invalid: int
    interrupted: int
    damaged: int
    not_run: int

    @property
    def left(self) -> int:
        """Those that the next run of the study would do."""
        return self.planned - self.complete


class KeptPart(Document):
    """A trial that was cut short and whose first part lies in the folder, until the study runs again."""

    folder: str
    load_s: float


class StudyStatus(Document):
    """What `study status --json` prints.

    Attributes:
        reason: What stopped it; None while it runs and when nothing did.
        last_event_unix_s: When it was last heard of, wall clock; None when it never was.
        since_last_event_s: How long ago that is.
        now: The trial that runs; None where none does.
        was: Of a study that was killed, the trial that ran then.
        doing: The same in a few words, also between trials.
        answer: What a study that goes on until its answer is decided knew after its last complete repetition.
        duets: What a duet of a fixed number of rounds knew after its last one, for each two systems and level; and what
            the running round shows.
        ramps: How systems compared by their ramps, at the last look; None without any.
        left: How many trials the next run, or the rest of this one, is expected to do: with an answer by what it needs.
        remaining_s: About how long those will take.
        not_yet_run: Planned trials without a recording, in as few lines as name each of them.
        unplanned_count: Recordings that are no part of the plan.
        kept: Trials that were cut short.
    """

    status_format: int = STATUS_FORMAT
    study: str
    state: RunState
    reason: str | None = None
    last_event_unix_s: float | None = None
    since_last_event_s: float | None = None
    trials: TrialCounts
    now: CurrentTrial | None = None
    was: CurrentTrial | None = None
    doing: str | None = None
    answer: AnswerProgressed | None = None
    duets: tuple[DuetProgressed, ...] = ()
    ramps: RampsCompared | None = None
    left: int
    remaining_s: float
    not_yet_run: tuple[str, ...] = ()
    unplanned_count: int
    kept: tuple[KeptPart, ...] = ()


def study_status(folder: Path) -> StudyStatus:
    """How far a study is.

    Raises:
        RecordError: There is no study.
        NewerFormatError: A newer Plimsoll wrote it.
    """
    is_running = is_held(folder)  # first: what ends while we read has said its last word by then
    plan = read_plan(folder)
    if plan is None:
        raise RecordError(f"{folder}: no study here (no {PLAN_FILE}); name the folder of a study")
    found, heard, now_s = verdicts(folder), what_was_heard(folder), time.time()
    counts = _counts(plan, found)
    state = _state(heard, counts, is_running=is_running, searches=bool(plan.searches))
    since_s = None if heard.last_unix_s is None else max(now_s - heard.last_unix_s, 0.0)
    is_cut = state in (RunState.RUNNING, RunState.KILLED)
    return StudyStatus(
        study=plan.study,
        state=state,
        reason=heard.ended.reason if heard.ended and state is RunState.STOPPED else None,
        last_event_unix_s=heard.last_unix_s,
        since_last_event_s=since_s,
        trials=counts,
        now=heard.trial if is_running else None,
        was=heard.trial if state is RunState.KILLED else None,
        doing=heard.doing if is_cut else None,
        answer=heard.answer,
        duets=heard.duets_known(is_running=is_running),
        ramps=_ended(heard.ramps) if state is RunState.FINISHED else heard.ramps,
        left=heard.left(counts.left),
        remaining_s=_remaining_s(plan, counts, heard, now_s, is_running=is_running),
        not_yet_run=tuple(map(group_words, missing_groups(never_ran(plan.trials, found.keys())))),
        unplanned_count=unplanned_count(plan, found),
        kept=() if is_running else _kept(folder),
    )


def _ended(ramps: RampsCompared | None) -> RampsCompared | None:
    """The last look of a study that has ended: nothing is left to do."""
    return None if ramps is None else ramps.model_copy(update={"remaining_s": 0.0})


def _counts(plan: Plan, found: dict[str, Verdict | None]) -> TrialCounts:
    of_plan = [found[trial.trial_id] for trial in plan.trials if trial.trial_id in found]
    counts = Counter(of_plan)
    return TrialCounts(
        planned=len(plan.trials),
        complete=counts[Verdict.COMPLETE],
        failed=counts[Verdict.FAILED],
        invalid=counts[Verdict.INVALID],
        interrupted=counts[Verdict.INTERRUPTED],
        damaged=counts[None],
        not_run=len(plan.trials) - len(of_plan),
    )


def _state(heard: Heard, counts: TrialCounts, *, is_running: bool, searches: bool) -> RunState:
    if is_running:
        return RunState.RUNNING
    if heard.last_unix_s is None:
        return RunState.NOT_BEGUN
    if heard.ended is None:
        return RunState.KILLED
    is_left = heard.left(counts.left) or (
        searches and heard.ended.missing_count
    )  # trials of searches are not known before
    return RunState.STOPPED if is_left else RunState.FINISHED


def _remaining_s(plan: Plan, counts: TrialCounts, heard: Heard, now_s: float, *, is_running: bool) -> float:
    """As the running trial's begin said, less the time since; otherwise the plan's guess for what is left."""
    if is_running and heard.remaining_s is not None and heard.trial is not None:
        return max(heard.remaining_s - (now_s - heard.trial.began_unix_s), 0.0)
    return plan.estimates.total_s * heard.left(counts.left) / max(counts.planned, 1)


def _kept(folder: Path) -> tuple[KeptPart, ...]:
    if not (unfinished := partials(folder)):
        return ()
    from plimsoll.record.partial import load_kept_s

    seen = ((path, load_kept_s(path)) for path in unfinished)
    return tuple(KeptPart(folder=path.name, load_s=load_s) for path, load_s in seen if load_s is not None)
