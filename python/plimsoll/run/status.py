"""How far a study is, read from its folder: from outside, while it runs or afterwards."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from plimsoll.analyse.missing import group_words, missing_groups, never_ran
from plimsoll.errors import RecordError
from plimsoll.record.model import Verdict
from plimsoll.record.store import finished_ids
from plimsoll.run.events import IntervalEnded, StudyEnded, TrialBegan, read_events
from plimsoll.run.folder import EVENTS_FILE, PLAN_FILE, UNPLANNED, read_plan
from plimsoll.units import format_duration, format_level, format_ms, format_rate


def status_lines(folder: Path) -> list[str]:
    """What a person wants to know about a study, as lines.

    Raises:
        RecordError: There is no study.
    """
    return how_far(folder) + _running(folder)


def how_far(folder: Path) -> list[str]:
    """How many trials are done, and which have not run; raises as `status_lines`."""
    plan = read_plan(folder)
    if plan is None:
        raise RecordError(f"{folder}: there is no study here (no {PLAN_FILE}); name the folder of a study")
    verdicts = finished_ids(folder)
    counts = Counter(verdicts.get(trial.trial_id) for trial in plan.trials)
    lines = [
        f"{plan.study}: {counts[Verdict.COMPLETE]} of {len(plan.trials)} trials complete,"
        f" {counts[Verdict.FAILED] + counts[Verdict.INVALID]} failed or invalid, {counts[None]} not yet run"
    ]
    unrun = never_ran(plan.trials, verdicts.keys())
    lines += [f"  not yet run: {group_words(group)}" for group in missing_groups(unrun)]
    unplanned_count = len(verdicts.keys() - {trial.trial_id for trial in plan.trials})
    if unplanned_count:
        lines.append(f"{unplanned_count} more recordings: {UNPLANNED}")
    return lines


def _running(folder: Path) -> list[str]:
    """What the last events say, when the study has not ended."""
    trial: TrialBegan | None = None
    interval: IntervalEnded | None = None
    for stamped in read_events(folder / EVENTS_FILE):
        match stamped.event:
            case TrialBegan():
                trial, interval = stamped.event, None
            case IntervalEnded():
                interval = stamped.event
            case StudyEnded():
                trial = None
    if trial is None:
        return []
    lines = [
        f"last heard of: {trial.system}, {trial.workload}, {format_level(trial.connections, trial.rate_tps)},"
        f" repetition {trial.repetition + 1}, about {format_duration(trial.remaining_s)} left when it began"
    ]
    if interval is not None:
        lines.append(f"  {interval.state}: {interval_words(interval)}")
    return lines


def interval_words(event: IntervalEnded) -> str:
    """What the running trial saw in its last interval; where nothing completed, how long that has lasted."""
    times = "" if event.response_ms_p99 is None else f", response p99 {format_ms(event.response_ms_p99)}"
    if event.response_ms_p99 is None and event.in_flight_ms_max is not None:
        times = f", the oldest in flight for {format_ms(event.in_flight_ms_max)}"
    errors = f", {event.error_count} errors" if event.error_count else ""
    missing = f", {event.missing_count:,} connections missing" if event.missing_count else ""
    return f"{format_rate(event.throughput_tps)}{times}{errors}{missing}"
