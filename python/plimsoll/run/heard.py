"""What the events of a study say, up to the last one: what runs, what is known of the answer, how it ended.

Deliberately not here: what its recordings say (`status`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.prose.phrases import repeat_noun
from plimsoll.record.document import Document
from plimsoll.record.level import Level
from plimsoll.record.model import State, Verdict
from plimsoll.run.answer_events import AnswerProgressed, DuetProgressed
from plimsoll.run.events import (
    DataProgressed,
    Event,
    IntervalEnded,
    StateBegan,
    StudyBegan,
    StudyEnded,
    SystemBegan,
    TrialBegan,
    TrialEnded,
    read_events,
)
from plimsoll.run.folder import EVENTS_FILE
from plimsoll.run.hook_events import HookBegan
from plimsoll.run.search_events import RampsCompared
from plimsoll.units import format_ms, format_rate


class CurrentTrial(Document):
    """A trial under way, as the last events tell it.

    Attributes:
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


@dataclass(slots=True)
class Heard:
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
                self.duets = {key: one for key, one in self.duets.items() if one.pair_count is None}
            case AnswerProgressed():
                self.answer, self.complete_since = event, 0
            case DuetProgressed(pair_count=count):
                self.duets[event.workload, event.connections, event.base, event.system, count is None] = event
            case TrialEnded(verdict=Verdict.COMPLETE):
                self.complete_since += 1

    def duets_known(self, *, is_running: bool) -> tuple[DuetProgressed, ...]:
        """The comparisons that count: turns of a round that was cut short do not."""
        is_in_round = is_running and self.trial is not None
        return tuple(one for one in self.duets.values() if is_in_round or one.pair_count is None)

    def left(self, missing_count: int) -> int:
        """How many of the planned trials that are missing are expected to run: what the answer needs."""
        if self.answer is None or self.answer.trials_left is None:
            return missing_count
        return min(max(self.answer.trials_left - self.complete_since, 0), missing_count)


def what_was_heard(folder: Path) -> Heard:
    """Everything that the events of a study say."""
    heard = Heard()
    for stamped in read_events(folder / EVENTS_FILE):
        heard.last_unix_s, heard.ended = stamped.unix_s, None
        heard.note_answer(stamped.event)
        match stamped.event:
            case SystemBegan():
                heard.trial, heard.doing = None, _doing(stamped.event)
            case (DataProgressed() | HookBegan()) as event if heard.trial is None:
                heard.doing = _doing(event)
            case TrialBegan() as began:
                kept = began.model_dump(exclude={"type", "remaining_s"})
                heard.trial = CurrentTrial(**kept, began_unix_s=stamped.unix_s)
                heard.remaining_s, heard.doing = began.remaining_s, None
            case StateBegan(state=state) if heard.trial is not None:
                heard.trial = heard.trial.model_copy(update={"state": state})
            case IntervalEnded() as interval if heard.trial is not None:
                update = interval.model_dump(include={"state", "throughput_tps", "response_ms_p99", "in_flight_ms_max"})
                heard.trial = heard.trial.model_copy(update=update)
            case TrialEnded():
                heard.trial = None
            case StudyEnded() as ended:
                heard.ended = ended
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
