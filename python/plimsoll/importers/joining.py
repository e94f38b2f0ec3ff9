"""Trials that no plan foresaw join a study: each gets the names, the position and the repetition that it has there.

Deliberately not here: writing them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from plimsoll.importers.systems import name_beside
from plimsoll.record.level import Level
from plimsoll.record.model import TrialRecord
from plimsoll.record.store import Recording

Cell = tuple[str, str, Level]
"""System, workload and level."""


class Joiner:
    """Finds the place of new trials among the recordings of a study.

    Attributes:
        report: What was changed for it, one line each.
        repeated: Cells that had recordings before, in the order in which new ones came.
    """

    def __init__(self, present: tuple[Recording, ...]) -> None:
        trials = [recording.trial for recording in present]
        self._systems = {trial.system.name: trial.system.factors for trial in trials}
        self._workloads = {trial.workload.name: trial.workload.options for trial in trials}
        self._position = max((trial.position for trial in trials), default=-1) + 1
        self._repetitions: dict[Cell, int] = {}
        for trial in trials:
            self._count(trial)
        self._before = frozenset(self._repetitions)
        self.report: list[str] = []
        self.repeated: list[Cell] = []

    def place(self, trial: TrialRecord) -> TrialRecord:
        """The trial with the names, position and repetition that it has in the study.

        A system or workload with the name of another one, but other factors or options, gets a longer name.
        """
        system = trial.system.model_copy(update={"name": self._system_name(trial)})
        workload = trial.workload.model_copy(update={"name": self._workload_name(trial)})
        cell = (system.name, workload.name, trial.level)
        if cell in self._before and cell not in self.repeated:
            self.repeated.append(cell)
        placed = trial.model_copy(
            update={
                "system": system,
                "workload": workload,
                "position": self._position,
                "repetition": self._repetitions.get(cell, 0),
            }
        )
        self._position += 1
        self._count(placed)
        return placed

    def _system_name(self, trial: TrialRecord) -> str:
        asked, factors = trial.system.name, trial.system.factors
        name = name_beside(asked, factors, self._systems)
        self._systems[name] = factors
        if name != asked:
            self._say(f"system {name}: the study has another system called {asked}")
        return name

    def _workload_name(self, trial: TrialRecord) -> str:
        asked, options = trial.workload.name, trial.workload.options
        differing = {name: known for name, known in self._workloads.items() if not _agree(known, options)}
        keys = tuple(dict.fromkeys([*options, *(key for known in differing.values() for key in known)]))
        others = {name: _texts(known, keys) for name, known in differing.items()}
        name = name_beside(asked, _texts(options, keys), others)
        self._workloads[name] = {**self._workloads.get(name, {}), **options}
        if name != asked:
            self._say(f"workload {name}: the study has another workload called {asked}")
        return name

    def _count(self, trial: TrialRecord) -> None:
        cell = (trial.system.name, trial.workload.name, trial.level)
        self._repetitions[cell] = max(self._repetitions.get(cell, 0), trial.repetition + 1)

    def _say(self, line: str) -> None:
        if line not in self.report:
            self.report.append(line)


def _agree(known: Mapping[str, Any], options: Mapping[str, Any]) -> bool:
    """Whether two workloads of one name can be the same: a source that states no options speaks against nothing."""
    return not known or not options or dict(known) == dict(options)


def _texts(options: Mapping[str, Any], keys: Iterable[str]) -> dict[str, str]:
    """Every option as part of a name; those that were not given have their defaults, whatever these are."""
    return {key: _text(options[key]) if key in options else f"{key} default" for key in keys}


def _text(value: object) -> str:
    """An option as part of a name.

    >>> _text({"kind": "zipfian", "exponent": 0.8}), _text(True), _text(3)
    ('zipfian 0.8', 'on', '3')
    """
    if isinstance(value, bool):
        return "on" if value else "off"
    return " ".join(map(str, value.values())) if isinstance(value, dict) else str(value)
