"""What a user should know beside the trials, as lines of a running study.

Deliberately not here: where they are shown (`progress`).
"""

from __future__ import annotations

from plimsoll.cli.storage_lines import measured_line
from plimsoll.prose.phrases import counted
from plimsoll.run.answer_events import AnswerProgressed
from plimsoll.run.data_events import DeviceShared, HostLost
from plimsoll.run.events import EnvironmentChanged, MachineMeasured, ReadinessJudged
from plimsoll.run.hook_events import EnvironmentTurn, HookEnded
from plimsoll.run.status_text import answer_lines
from plimsoll.run.storage_events import StorageMeasured
from plimsoll.units import format_duration

Notice = (
    AnswerProgressed
    | DeviceShared
    | EnvironmentChanged
    | HostLost
    | MachineMeasured
    | ReadinessJudged
    | StorageMeasured
    | HookEnded
    | EnvironmentTurn
)


def notice(event: Notice) -> str:
    """What a user should know beside the trials; empty for nothing."""
    if isinstance(event, StorageMeasured | HookEnded | HostLost | EnvironmentTurn):
        return _before_trials(event)
    if event.type == "readiness_judged":
        where = "" if event.host is None else f"{event.host}: "
        return "\n".join(f"warning: {one.code}: {where}{one.evidence}. {one.advice}" for one in event.findings)
    if event.type == "answer_progressed":
        return "\n  ".join(answer_lines(event)) if event.text else ""
    if event.type == "machine_measured":
        return measured_again_line(event.folder, event.reason)
    if event.type == "device_shared":
        return f"warning: paths-on-one-device: {' and '.join(event.paths)} are on one device, {event.device}."
    return (
        f"warning: environment-changed: {event.system} has changed since {event.trial_id}: {event.changes}. Guides list"
        " what is measured from now on as a separate system."
    )


def _before_trials(event: StorageMeasured | HookEnded | HostLost | EnvironmentTurn) -> str:
    if event.type == "storage_measured":
        return measured_line(event)
    if event.type == "host_lost":
        return (
            f"{event.system}: its host was lost: {event.reason}; waiting up to {format_duration(event.limit_s)} for it"
        )
    if event.type == "environment_turn":
        work = counted(event.trial_count, "trial") if event.trial_count else "nothing"
        return f"environment {event.environment!r}: {work} to measure"
    return "" if event.message is None else _failed_hook(event, event.message)


def _failed_hook(event: HookEnded, message: str) -> str:
    """What is wrong, and the end of its output, indented."""
    message = message.partition(". Its output ends with: ")[0]
    return "\n  | ".join((message, *event.output.splitlines()))


def measured_again_line(folder: str, reason: str) -> str:
    """That what servers are sized to was measured again, and why."""
    return f"{folder}: storage measured again, because {reason}; servers may get other settings than before"
