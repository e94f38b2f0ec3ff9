"""Refusing a trial whose server was gone or silent when its load ended."""

from __future__ import annotations

from plimsoll.errors import TargetError
from plimsoll.run.progressing import Progressing, TrialTask, trial_record
from plimsoll.run.spool import Spool
from plimsoll.run.spooled import measured_until_the_end


def refuse_unanswered(task: TrialTask, progressing: Progressing, spool: Spool) -> None:
    """Sums the measured window up, and refuses it where the server was gone or silent when the load ended.

    Raises:
        TargetError: It was.
    """
    trial, environment = trial_record(task, progressing), progressing.environment
    progressing.summary, reason = measured_until_the_end(progressing, spool, trial, environment)
    if reason is not None:
        raise TargetError(reason)
