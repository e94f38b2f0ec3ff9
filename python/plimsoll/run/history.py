"""What the recordings of a study say to a run that goes on with it.

Each recording's documents are read once and forgotten; of each system only its latest environment is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.analyse.environments import began_unix_s
from plimsoll.record.environment import Environment
from plimsoll.record.model import Verdict
from plimsoll.record.store import each_recording


@dataclass(frozen=True, slots=True)
class LastTrial:
    """The latest complete trial of a system.

    Attributes:
        environment: What it ran on.
        began_unix_s: When.
    """

    trial_id: str
    environment: Environment
    began_unix_s: float


@dataclass(frozen=True, slots=True)
class History:
    """What went before.

    Attributes:
        last: By the system's name.
        next_block: No trial has this number of a block or a higher one.
    """

    last: dict[str, LastTrial] = field(default_factory=dict)
    next_block: int = 0


def read_history(folder: Path, planned: Iterable[str] | None = None) -> History:
    """Reads what went before.

    Args:
        folder: Of the study.
        planned: Ids of its trials; what was recorded before the study was changed is no part of it. None for all.
    """
    ids = None if planned is None else set(planned)
    last, next_block = dict[str, LastTrial](), 0
    for one in each_recording(folder):
        trial = one.trial
        next_block = max(next_block, trial.block + 1)
        if one.outcome.verdict is not Verdict.COMPLETE or (ids is not None and trial.trial_id not in ids):
            continue
        known, began = last.get(trial.system.name), began_unix_s(trial)
        if known is None or began > known.began_unix_s:
            last[trial.system.name] = LastTrial(trial.trial_id, one.environment, began)
    return History(last, next_block)
