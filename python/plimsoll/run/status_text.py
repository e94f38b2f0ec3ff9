"""How far a study is, in words for people."""

from __future__ import annotations

from pathlib import Path

from plimsoll.run.events import IntervalEnded
from plimsoll.run.folder import UNPLANNED
from plimsoll.run.status import RunState, StudyStatus, interval_figures, study_status
from plimsoll.units import format_duration


def status_lines(folder: Path) -> list[str]:
    """What a person wants to know about a study, as lines; raises as `study_status`."""
    return lines_of(study_status(folder))


def lines_of(status: StudyStatus) -> list[str]:
    """A status as lines for people."""
    return [*how_far(status), *_run_lines(status)]


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
    trials = "trial" if status.trials.left == 1 else "trials"
    left = f"{status.trials.left} {trials} left, about {format_duration(status.remaining_s)}"
    doing = status.doing or "between two trials"
    match status.state:
        case RunState.RUNNING:
            return [f"running; last event {ago or 'not yet'}", f"  now: {doing}", f"  {left}"]
        case RunState.KILLED:
            lines = [f"killed {ago}: no process runs it, and it did not say that it ended", f"  then: {doing}"]
        case RunState.STOPPED:
            lines = [f"stopped {ago}{f': {status.reason}' if status.reason else ''}"]
        case RunState.FINISHED:
            return [f"finished {ago}"]
        case RunState.NOT_BEGUN:
            return ["not begun", f"  {left}"]
    kept = [f"  kept of it: {format_duration(one.load_s)} of load ({one.folder})" for one in status.kept]
    return [*lines, *kept, f"  {left}; run the same command again to go on"]


def interval_words(event: IntervalEnded) -> str:
    """What the running trial saw in its last interval."""
    errors = f", {event.error_count} errors" if event.error_count else ""
    missing = f", {event.missing_count:,} connections missing" if event.missing_count else ""
    figures = interval_figures(event.throughput_tps, event.response_ms_p99, event.in_flight_ms_max)
    return f"{figures}{errors}{missing}"
