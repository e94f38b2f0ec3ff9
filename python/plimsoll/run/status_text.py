"""How far a study is, in words for people."""

from __future__ import annotations

import math

from plimsoll.analyse.cell_model import VAGUE_FACTOR
from plimsoll.prose.capacity import bracket_words, objective_words, run_words
from plimsoll.prose.phrases import counted, repeat_noun
from plimsoll.prose.sides import ratio_so_far_words
from plimsoll.record.level import Level
from plimsoll.run.answer_events import AnswerProgressed, DuetProgressed
from plimsoll.run.events import IntervalEnded
from plimsoll.run.folder import UNPLANNED
from plimsoll.run.heard import interval_figures
from plimsoll.run.search_events import RampsCompared, SearchEvent
from plimsoll.run.status import RunState, StudyStatus
from plimsoll.units import format_duration, format_rate


def lines_of(status: StudyStatus) -> list[str]:
    """A status as lines for people."""
    return [*how_far(status), *_known_lines(status), *_run_lines(status)]


def _known_lines(status: StudyStatus) -> list[str]:
    """What is known of the answer so far."""
    lines = [duet_words(one) for one in status.duets]
    if status.ramps is not None:
        lines.append(search_line(status.ramps))
    if status.answer is not None:
        first, *others = answer_lines(status.answer)
        lines += [first, *(f"  {one}" for one in others)]
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
    kept = [f"  kept of it: {format_duration(one.load_s)} of load ({one.folder})" for one in status.kept]
    return [*lines, *kept, f"  {left}; run the same command again to continue"]


def answer_lines(event: AnswerProgressed) -> list[str]:
    """What a study that goes on until its answer is decided knows of its questions."""
    return [f"after {counted(event.repetitions, repeat_noun(is_duet=event.is_duet))}:", *event.text]


def duet_words(event: DuetProgressed) -> str:
    """How two systems of a duet compare so far."""
    cell = f"{event.workload}, {Level(connections=event.connections).label()}"
    bounds = ""
    if event.low is not None and event.high is not None:
        is_vague = event.high > VAGUE_FACTOR * event.low
        wide = f"not known within a factor of {VAGUE_FACTOR:.0f}"
        bounds = f" ({wide if is_vague else f'{_change(event.low)} to {_change(event.high)}'})"
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
        ("disturbed: " if one.is_disturbed else "")
        + ratio_so_far_words(
            one.base, one.system, one.ratio, None if one.low is None or one.high is None else (one.low, one.high)
        )
        for one in event.ratios
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
            found = "no rate holds" if event.capacity_tps is None else format_rate(event.capacity_tps)
            if event.held_tps is not None:
                return f"{place}: held {format_rate(event.held_tps)} with {objective_words(event.objective)}"
            return f"{place}: capacity with {objective_words(event.objective)}: {found}"
    high_tps = math.inf if event.high_tps is None else event.high_tps
    left = f"; about {format_duration(event.remaining_s)} left" if event.remaining_s else ""
    return f"{place}: {run_words(event.run)}{bracket_words(event.low_tps, high_tps)}{left}"
