"""Trials that are recorded interval by interval without an engine, as a running trial is."""

from __future__ import annotations

from pathlib import Path

from plimsoll.record.environment import Environment
from plimsoll.record.model import EngineAccount, Outcome, TrialRecord, Verdict, Window
from plimsoll.record.partial import PartialRecording
from plimsoll.run.rows import IntervalRows
from plimsoll.run.spool import Spool
from plimsoll.run.watch import Watch


def begun(folder: Path, trial: TrialRecord) -> Spool:
    """A trial of which nothing is measured yet."""
    partial = PartialRecording.begin(folder, trial.trial_id)
    partial.draft(trial, Environment(), Outcome(verdict=Verdict.INTERRUPTED))
    return Spool(partial, IntervalRows(driver="d", host="h"), Watch())


def committed(spool: Spool, trial: TrialRecord, *, began_unix_s: float, window: Window) -> Path:
    """The recording that it becomes, complete."""
    spool.flush()
    account = EngineAccount(
        started_unix_s=began_unix_s,
        duration_s=window.last + 1,
        offered_count=0,
        unfinished_count=0,
        client_user_s=1.0,
        client_system_s=1.0,
        client_memory_bytes_max=1,
    )
    outcome = Outcome(verdict=Verdict.COMPLETE, window=window, account=account)
    return spool.partial.commit(trial, Environment(), outcome)
