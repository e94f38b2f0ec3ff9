"""How far a study is, read from its folder, from outside, while it runs or afterwards, and in words for people.

Whether it runs is told by its lock, which a process holds as long as it lives; why it does not, by the last event.
Events say what runs, what is known of the answer, and how it ended.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from plimsoll.analyse.findings.missing import missing_groups, never_ran
from plimsoll.analyse.study.cell_model import is_vague_ratio
from plimsoll.errors import RecordError
from plimsoll.plan.model import Plan
from plimsoll.prose.capacity import bracket_words, objective_words, run_words
from plimsoll.prose.phrases import VAGUE_SHORT, group_words, ratio_so_far_words
from plimsoll.record.document import Document
from plimsoll.record.files import partials
from plimsoll.record.level import Level
from plimsoll.record.model import State, Verdict
from plimsoll.record.store import verdicts
from plimsoll.run.events import (
    AnswerProgressed,
    DataProgressed,
    DuetProgressed,
    Event,
    HookBegan,
    IntervalEnded,
    RampsCompared,
    SearchEvent,
    Stamped,
    StateBegan,
    StudyBegan,
    StudyEnded,
    SystemBegan,
    TrialBegan,
    TrialEnded,
    read_events,
)
from plimsoll.run.folder import EVENTS_FILE, PLAN_FILE, UNPLANNED, is_held, read_plan
from plimsoll.run.planning import unplanned_count
from plimsoll.units import format_duration, format_ms, format_rate
from plimsoll.wording import counted, repeat_noun


class CurrentTrial(Document):
    """A trial under way, as the last events tell it.

    Attributes:
        trial_id: Of it; in a duet of the first system's trial.
        system: What it measures.
        workload: Under which load.
        connections: Of all instances together, as is `rate_tps`.
        rate_tps: Transactions per second that are offered; null where each connection goes at its own pace.
        repetition: 0, 1, 2, …
        position: Its place in the study's order, from 1.
        is_duet: Systems take turns, and the repetition is a round.
        began_unix_s: When it began, wall clock.
        state: None before the first one began.
        throughput_tps: Of its last interval; None before the load.
        response_ms_p99: Of its last interval.
        in_flight_ms_max: How long the oldest transaction in flight had lasted at the end of that interval.
    """

    trial_id: str
    system: str
    workload: str
    connections: int
    rate_tps: float | None
    is_duet: bool = False
    repetition: int
    position: int
    began_unix_s: float
    state: State | None = None
    throughput_tps: float | None = None
    response_ms_p99: float | None = None
    in_flight_ms_max: float | None = None


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
        planned: Trials of the plan.
        complete: Those whose recordings count.
        failed: Those that ended with an error.
        invalid: Those that ended and must not be trusted.
        interrupted: Those that somebody ended, or that were killed.
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
    """A trial that was cut short and whose first part lies in the folder, until the study runs again.

    Attributes:
        folder: Where it lies, in the folder of the study.
        load_s: How much load it holds, seconds.
    """

    folder: str
    load_s: float


class StudyStatus(Document):
    """What `study status --json` prints.

    Attributes:
        status_format: Version of this document.
        study: Name of the study.
        state: Whether it runs, and if not, why.
        trials: What became of them.
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
    verdict_by_id, heard, now_s = verdicts(folder), what_was_heard(folder), time.time()
    counts = _counts(plan, verdict_by_id)
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
        not_yet_run=tuple(map(group_words, missing_groups(never_ran(plan.trials, verdict_by_id.keys())))),
        unplanned_count=unplanned_count(plan, verdict_by_id),
        kept=() if is_running else _kept(folder),
    )


def _ended(ramps: RampsCompared | None) -> RampsCompared | None:
    """The last look of a study that has ended: nothing is left to do."""
    return None if ramps is None else ramps.model_copy(update={"remaining_s": 0.0})


def _counts(plan: Plan, verdict_by_id: dict[str, Verdict | None]) -> TrialCounts:
    of_plan = [verdict_by_id[trial.trial_id] for trial in plan.trials if trial.trial_id in verdict_by_id]
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


def _state(heard: EventSummary, counts: TrialCounts, *, is_running: bool, searches: bool) -> RunState:
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


def _remaining_s(plan: Plan, counts: TrialCounts, heard: EventSummary, now_s: float, *, is_running: bool) -> float:
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


@dataclass(slots=True)
class EventSummary:
    """What the events say.

    Attributes:
        last_unix_s: When the last one came, wall clock; None without any.
        trial: The trial under way; None between trials.
        remaining_s: What the study will still take, as said when that trial began.
        doing: What goes on, in a few words.
        ended: How the study ended; None while it did not.
        answer: What was known of its answer at the last look.
        complete_since: How many trials have become complete since that look.
        duets: The last comparison of each two systems and level: after a round, and of turns in the running one.
        ramps: The last comparison by ramps; None without one.
    """

    last_unix_s: float | None = None
    trial: CurrentTrial | None = None
    remaining_s: float | None = None
    doing: str | None = None
    ended: StudyEnded | None = None
    answer: AnswerProgressed | None = None
    complete_since: int = 0
    duets: dict[tuple[str, int, str, str, bool], DuetProgressed] = field(default_factory=dict)
    ramps: RampsCompared | None = None

    def note_answer(self, event: Event) -> None:
        """Takes in what an event says of the answer."""
        match event:
            case StudyBegan(is_until_decided=False):
                self.answer = None  # the study may have been another one before
            case StudyBegan():
                self.duets.clear()
            case RampsCompared():
                self.ramps = event
            case TrialBegan():
                self.duets = {key: duet for key, duet in self.duets.items() if duet.pair_count is None}
            case AnswerProgressed():
                self.answer, self.complete_since = event, 0
            case DuetProgressed(pair_count=count):
                self.duets[event.workload, event.connections, event.base, event.system, count is None] = event
            case TrialEnded(verdict=Verdict.COMPLETE):
                self.complete_since += 1

    def take(self, stamped: Stamped) -> None:
        """Takes in the next event."""
        self.last_unix_s, self.ended = stamped.unix_s, None
        self.note_answer(stamped.event)
        match stamped.event:
            case SystemBegan():
                self.trial, self.doing = None, _doing(stamped.event)
            case (DataProgressed() | HookBegan()) as event if self.trial is None:
                self.doing = _doing(event)
            case TrialBegan() as began:
                kept = began.model_dump(exclude={"type", "remaining_s"})
                self.trial = CurrentTrial(**kept, began_unix_s=stamped.unix_s)
                self.remaining_s, self.doing = began.remaining_s, None
            case StateBegan(state=state) if self.trial is not None:
                self.trial = self.trial.model_copy(update={"state": state})
            case IntervalEnded() as interval if self.trial is not None:
                update = interval.model_dump(include={"state", "throughput_tps", "response_ms_p99", "in_flight_ms_max"})
                self.trial = self.trial.model_copy(update=update)
            case TrialEnded():
                self.trial = None
            case StudyEnded() as ended:
                self.ended = ended

    def duets_known(self, *, is_running: bool) -> tuple[DuetProgressed, ...]:
        """The comparisons that count: turns of a round that was cut short do not."""
        is_in_round = is_running and self.trial is not None
        return tuple(duet for duet in self.duets.values() if is_in_round or duet.pair_count is None)

    def left(self, missing_count: int) -> int:
        """How many of the planned trials that are missing are expected to run: what the answer needs."""
        if self.answer is None or self.answer.trials_left is None:
            return missing_count
        return min(max(self.answer.trials_left - self.complete_since, 0), missing_count)


def what_was_heard(folder: Path) -> EventSummary:
    """Everything that the events of a study say."""
    heard = EventSummary()
    for stamped in read_events(folder / EVENTS_FILE):
        heard.take(stamped)
    if heard.trial is not None:
        heard.doing = _trial_words(heard.trial)
    return heard


def _doing(event: SystemBegan | DataProgressed | HookBegan) -> str:
    """What goes on between trials."""
    match event:
        case SystemBegan(system=system):
            return f"starting {system}"
        case HookBegan(hook=hook, system=system):
            return f"hook {hook}" if system is None else f"{system}: hook {hook}"
    return f"{event.system}: {event.phase} {event.done_count:,} of {event.total_count:,}"


def _trial_words(trial: CurrentTrial) -> str:
    words = f"{trial.system}, {trial.workload}, {Level(connections=trial.connections, rate_tps=trial.rate_tps).label()}"
    words += f", {repeat_noun(is_duet=trial.is_duet)} {trial.repetition + 1}"
    if trial.state is not None:
        words += f", {trial.state}"
    if trial.throughput_tps is None:
        return words
    return f"{words}: {interval_figures(trial.throughput_tps, trial.response_ms_p99, trial.in_flight_ms_max)}"


def interval_figures(throughput_tps: float, response_ms_p99: float | None, in_flight_ms_max: float | None) -> str:
    """What a trial saw in an interval; where nothing completed, how long that has lasted."""
    times = "" if response_ms_p99 is None else f", response p99 {format_ms(response_ms_p99)}"
    if response_ms_p99 is None and in_flight_ms_max is not None:
        times = f", the oldest in flight for {format_ms(in_flight_ms_max)}"
    return f"{format_rate(throughput_tps)}{times}"


def lines_of(status: StudyStatus) -> list[str]:
    """A status as lines for people."""
    return [*how_far(status), *_known_lines(status), *_run_lines(status)]


def _known_lines(status: StudyStatus) -> list[str]:
    """What is known of the answer so far."""
    lines = [duet_words(duet) for duet in status.duets]
    if status.ramps is not None:
        lines.append(search_line(status.ramps))
    if status.answer is not None:
        first, *others = answer_lines(status.answer)
        lines += [first, *(f"  {other}" for other in others)]
    return lines


def how_far(status: StudyStatus) -> list[str]:
    """How many trials are done, and which have not run."""
    trials = status.trials
    more = {"interrupted": trials.interrupted, "damaged (their bytes changed)": trials.damaged}
    others = "".join(f", {count} {what}" for what, count in more.items() if count)
    lines = [
        f"{status.study}: {trials.complete} of {trials.planned} trials complete,"
        f" {trials.failed + trials.invalid} failed or invalid{others}, {trials.not_run} not yet run"
    ]
    lines += [f"  not yet run: {words}" for words in status.not_yet_run]
    if status.unplanned_count:
        lines.append(f"{status.unplanned_count} more recordings: {UNPLANNED}")
    return lines


def _run_lines(status: StudyStatus) -> list[str]:
    ago = "" if status.since_last_event_s is None else f"{format_duration(status.since_last_event_s)} ago"
    about = "about " if status.left < status.trials.left else ""
    left = f"{about}{counted(status.left, 'trial')} left, about {format_duration(status.remaining_s)}"
    doing = status.doing or "between two trials"
    match status.state:
        case RunState.RUNNING:
            return [f"running; last event {ago or 'not yet'}", f"  now: {doing}", f"  {left}"]
        case RunState.KILLED:
            lines = [f"killed {ago}: it has no process and did not end by itself", f"  then: {doing}"]
        case RunState.STOPPED:
            lines = [f"stopped {ago}{f': {status.reason}' if status.reason else ''}"]
        case RunState.FINISHED:
            return [f"finished {ago}"]
        case RunState.NOT_BEGUN:
            return ["not begun", f"  {left}"]
    kept = [f"  kept of it: {format_duration(part.load_s)} of load ({part.folder})" for part in status.kept]
    return [*lines, *kept, f"  {left}; run the same command again to continue"]


def answer_lines(event: AnswerProgressed) -> list[str]:
    """What a study that goes on until its answer is decided knows of its questions."""
    return [f"after {counted(event.repetitions, repeat_noun(is_duet=event.is_duet))}:", *event.text]


def duet_words(event: DuetProgressed) -> str:
    """How two systems of a duet compare so far."""
    cell = f"{event.workload}, {Level(connections=event.connections).label()}"
    bounds = ""
    if event.low is not None and event.high is not None:
        is_vague = is_vague_ratio(event.low, event.high)
        bounds = f" ({VAGUE_SHORT if is_vague else f'{_change(event.low)} to {_change(event.high)}'})"
    ratio = f"{event.system} {_change(event.ratio)}{bounds} against {event.base}"
    of = "" if event.rounds_planned is None else f" of {event.rounds_planned}"
    if event.pair_count is not None:
        pairs = f"pair {event.pair_count} of {event.pairs_planned}"
        return f"round {event.rounds_count + 1}{of}, {pairs}: {ratio} so far"
    return f"{cell}: {ratio}, after {event.rounds_count}{of} rounds"


def _change(ratio: float) -> str:
    """A ratio as a change.

    >>> _change(1.0712), _change(0.95)
    ('+7.1 %', '-5.0 %')
    """
    return f"{(ratio - 1) * 100:+.1f} %"


def interval_words(event: IntervalEnded) -> str:
    """What the running trial saw in its last interval."""
    errors = f", {event.error_count} errors" if event.error_count else ""
    missing = f", {event.missing_count:,} connections missing" if event.missing_count else ""
    figures = interval_figures(event.throughput_tps, event.response_ms_p99, event.in_flight_ms_max)
    return f"{figures}{errors}{missing}"


def ramps_words(event: RampsCompared) -> list[str]:
    """How every two systems compare by their ramps so far."""
    return [
        ("disturbed: " if ratio.is_disturbed else "")
        + ratio_so_far_words(
            ratio.base,
            ratio.system,
            ratio.ratio,
            None if ratio.low is None or ratio.high is None else (ratio.low, ratio.high),
        )
        for ratio in event.ratios
    ]


def search_line(event: SearchEvent) -> str:
    """What a search found out, one line."""
    if event.type == "ramps_compared":
        ratios = "; ".join(ramps_words(event))
        left = f" so far; at most about {format_duration(event.remaining_s)} left" if event.remaining_s else ""
        return f"{event.workload}, {counted(event.pair_count, 'pair')} of ramps: {ratios}{left}"
    place = f"{event.system}, {event.workload}, repetition {event.repetition + 1}"
    match event.type:
        case "search_began":
            return f"{place}: searching for the capacity"
        case "search_stopped":
            return f"{place}: the search stopped without an answer: {event.reason}"
        case "search_ended":
            answer = "no rate holds" if event.capacity_tps is None else format_rate(event.capacity_tps)
            if event.is_given_up:
                answer = "not known: the machine was disturbed in most runs"
            if event.held_tps is not None:
                return f"{place}: held {format_rate(event.held_tps)} with {objective_words(event.objective)}"
            return f"{place}: capacity with {objective_words(event.objective)}: {answer}"
    high_tps = math.inf if event.high_tps is None else event.high_tps
    left = f"; about {format_duration(event.remaining_s)} left" if event.remaining_s else ""
    return f"{place}: {run_words(event.run)}{bracket_words(event.low_tps, high_tps)}{left}"
