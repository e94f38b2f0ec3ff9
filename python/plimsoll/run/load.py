"""The load of a trial: an engine that is launched, watched and followed to its end, in a study or alone.

Deliberately not here: which intervals count and when the load ends (`trial`, `single`), and turns (`duet`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from plimsoll.drive.engine import Driver, TrialRun
from plimsoll.drive.protocol import Done, EngineWarning, Interval
from plimsoll.run.spool import Spool
from plimsoll.run.survey import driven_from
from plimsoll.run.trial_progress import TrialProgress, warning_of

Watching = Callable[[int | None], AbstractContextManager[None]]
"""Watches for the time of the load, with the engine's process on this machine, if there is one."""


@contextmanager
def launched(
    driver: Driver, plan: dict[str, Any], progressing: TrialProgress, spool: Spool, watched: Watching
) -> Iterator[TrialRun]:
    """An engine whose connections are open and whose load has not begun; it is ended at the end.

    Args:
        driver: Launches it.
        plan: What it is to do.
        progressing: Takes in how the connections came about, its doubts, and who drove.
        spool: Is told who drives.
        watched: Watches host and servers meanwhile.

    Raises:
        SpecError, TargetError, HostError, EngineBugError: It cannot be launched, or cannot connect.
    """
    with driver.launch_trial(plan) as run:
        progressing.ready = run.ready(lambda warning: progressing.warnings.append(warning_of(warning)))
        spool.driver = driven_from(run)
        with watched(run.local_pid):
            try:
                yield run
            finally:
                progressing.drivers = run.drivers


def follow(run: TrialRun, progressing: TrialProgress, take: Callable[[Interval], None]) -> None:
    """Takes in what the engine says of a load that has begun, until its account.

    Args:
        run: The engine.
        progressing: Takes in its doubts and its account.
        take: Is given each interval.

    Raises:
        TargetError, HostError, InvalidTrialError, EngineBugError: The load ended otherwise.
    """
    for message in run.messages():
        match message:
            case Interval():
                take(message)
            case EngineWarning():
                progressing.warnings.append(warning_of(message))
            case Done():
                progressing.done = message
