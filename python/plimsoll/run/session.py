"""One running of a study, from its start until it ends: what its trials have in common, and what recordings say before.

The recordings that a study has already are read once and forgotten; of each system only its latest environment is kept.
Deliberately not here: what is compared between sessions (`analyse.study.environments`).
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.analyse.study.environments import began_unix_s, changes
from plimsoll.errors import SpecError
from plimsoll.prose.phrases import words_of_changes
from plimsoll.record.environment import Environment, InstanceFacts
from plimsoll.record.model import Outcome, TrialRecord, Verdict
from plimsoll.record.store import each_recording
from plimsoll.run.events import EnvironmentChanged


class Session:
    """Numbers the blocks of trials: a restart of a server begins a new one, whoever restarted it.

    Attributes:
        session_id: Tells it from all others.
        labels: What the user says of the version that is measured.
    """

    def __init__(self, history: History | None = None, labels: Mapping[str, str] | None = None) -> None:
        """Begins.

        Args:
            history: What went before; None for nothing.
            labels: What the user says of the version that is measured; None for those of before.
        """
        history = history or History()
        self.labels = dict(labels or history.labels or {})
        self.session_id = secrets.token_hex(6)
        self._block = history.next_block - 1
        self._last_start: tuple[int, str | None] | None = None
        self._last_trials = dict(history.last)

    def block_of(self, planned_block: int, server_start_id: str | None) -> int:
        """The number of the block that a trial belongs to, which ran after all those that were asked for before.

        Args:
            planned_block: Its block in the plan: between two of them the system was stopped.
            server_start_id: Which start of the servers it met; None when that is not known.
        """
        if server_start_id is None or (planned_block, server_start_id) != self._last_start:
            self._block += 1
        self._last_start = planned_block, server_start_id
        return self._block

    def changed(self, system: str, environment: Environment) -> EnvironmentChanged | None:
        """What is different for a system since its last complete trial, whenever that was; None for nothing."""
        last = self._last_trials.get(system)
        differences = () if last is None else changes(last.environment, environment)
        if last is None or not differences:
            return None
        return EnvironmentChanged(system=system, trial_id=last.trial_id, changes=words_of_changes(differences))

    def ended(self, trial: TrialRecord, environment: Environment, outcome: Outcome) -> None:
        """Remembers what a complete trial ran on."""
        if outcome.verdict is Verdict.COMPLETE:
            last = LastTrial(trial.trial_id, environment, began_unix_s(trial))
            self._last_trials[trial.system.name] = last


def server_start_id(instances: Sequence[InstanceFacts]) -> str | None:
    """Tells one start of a system's servers from every other; None when a server does not say when it began."""
    if not instances or any(instance.started_unix_s is None for instance in instances):
        return None
    starts = ",".join(f"{instance.name}:{instance.started_unix_s}" for instance in instances)
    return hashlib.sha256(starts.encode(errors="surrogateescape")).hexdigest()[:12]


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
        labels: Those of the latest complete trial; None where there is none.
    """

    last: dict[str, LastTrial] = field(default_factory=dict)
    next_block: int = 0
    labels: Mapping[str, str] | None = None

    def refuse_other_labels(self, labels: Mapping[str, str], folder: Path, option: str = "--to") -> None:
        """Makes sure that a study is of one version: its trials are repetitions of each other.

        Args:
            labels: What the user says now; empty goes on with those of before.
            folder: Of the study.
            option: By which the user chose it.

        Raises:
            SpecError: Its trials have other labels.
        """
        if labels and self.labels is not None and dict(labels) != dict(self.labels):
            known = ", ".join(f"{name}={value}" for name, value in self.labels.items()) or "no label"
            raise SpecError(
                f"--label: the trials in {folder} were measured with {known}, and a study is of one version; choose"
                f" another folder with {option}"
            )


def read_history(folder: Path, planned: Iterable[str] | None = None) -> History:
    """Reads what went before.

    Args:
        folder: Of the study.
        planned: Ids of its trials; what was recorded before the study was changed is no part of it. None for all.
    """
    ids = None if planned is None else set(planned)
    last, next_block = dict[str, LastTrial](), 0
    labels: tuple[float, Mapping[str, str]] | None = None
    for recording in each_recording(folder):
        trial = recording.trial
        next_block = max(next_block, trial.block + 1)
        if recording.outcome.verdict is not Verdict.COMPLETE or (ids is not None and trial.trial_id not in ids):
            continue
        known, began = last.get(trial.system.name), began_unix_s(trial)
        if labels is None or began >= labels[0]:
            labels = began, trial.labels
        if known is None or began > known.began_unix_s:
            last[trial.system.name] = LastTrial(trial.trial_id, recording.environment, began)
    return History(last, next_block, None if labels is None else labels[1])
