"""Names of imported systems, and the place of imported trials in a study that has trials already.

Names are as short as can be, and never one name for two systems. A trial that no plan foresaw gets the names, the
position and the repetition that it has in the study. Deliberately not here: which rows belong to a system (`table`),
and writing trials (`trials`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from plimsoll.importers.columns import UNKNOWN
from plimsoll.record.level import Level
from plimsoll.record.model import TrialRecord
from plimsoll.record.store import Recording

Factors = tuple[tuple[str, str], ...]
"""Name and value of each factor, in the order of the columns."""

SystemKey = tuple[str, Factors]
"""What makes a system: the table's name for it, and its factors."""


def name_systems(systems: Iterable[SystemKey]) -> dict[SystemKey, str]:
    """Gives each system its table's name and as few of its factors as tell it from the others of that name.

    >>> names = name_systems([("a", (("storage", "SAN"), ("flush", "1"))), ("a", (("storage", "SAS"), ("flush", "2")))])
    >>> list(names.values())
    ['a, SAN', 'a, SAS']
    """
    groups: dict[str, list[Factors]] = {}
    for system, factors in systems:
        groups.setdefault(system, []).append(factors)
    names: dict[SystemKey, str] = {}
    for system, members in groups.items():
        telling = _telling(members)
        for labelled in (False, True):
            rendered = [
                _render(system, [pair for pair in factors if pair[0] in telling], labelled) for factors in members
            ]
            if len(set(rendered)) == len(members):
                break
        names |= {(system, factors): name for factors, name in zip(members, rendered, strict=True)}
    return _numbered(names)


def name_of_factors(system: str, factors: Mapping[str, str]) -> str:
    """The name of a system that is told from others by all of its factors, whatever else there is.

    >>> name_of_factors("", {"vendor": "a", "gb": "64"}), name_of_factors("db1", {"storage": "SAN"})
    ('a, gb=64', 'db1, SAN')
    """
    return _render(system, factors.items(), labelled=False)


def name_beside(name: str, factors: Mapping[str, str], existing: Mapping[str, Mapping[str, str]]) -> str:
    """The name of a system that joins a study.

    Args:
        name: What its table alone would call it.
        factors: Its factors.
        existing: Factors of each system that is in the study, by name.

    Returns:
        The name of the system that it is; or a new one with what tells it from the system that has its name.

    >>> name_beside("a", {"storage": "SAN"}, {"a": {}})
    'a, SAN'
    """
    taken = existing.get(name)
    if taken is None or taken == factors:
        return name
    differing = [(key, factors.get(key, UNKNOWN)) for key in [*factors, *taken] if factors.get(key) != taken.get(key)]
    longer = name
    for key, value in dict(differing).items():
        longer = f"{longer}, {key} {UNKNOWN}" if value == UNKNOWN else _render(longer, [(key, value)], labelled=False)
        if existing.get(longer, factors) == factors:
            return longer
    number = 2
    while existing.get(f"{longer} ({number})", factors) != factors:
        number += 1
    return f"{longer} ({number})"


def _telling(members: list[Factors]) -> list[str]:
    """Factors, in their order, that each part the members further than those before; together they part them all."""
    telling: list[str] = []
    parted = 1
    for key in dict(members[0]):
        count = len({tuple(dict(factors)[name] for name in [*telling, key]) for factors in members})
        if count > parted:
            telling.append(key)
            parted = count
    return telling


def _render(system: str, pairs: Iterable[tuple[str, str]], labelled: bool) -> str:
    """A number says nothing without its name; an unknown value is not part of a name."""
    words = [
        f"{key}={value}" if labelled or re.fullmatch(r"[\d.,+-]+|on|off|yes|no", value, re.IGNORECASE) else value
        for key, value in pairs
        if value != UNKNOWN
    ]
    return ", ".join([system, *words] if system else words)


def _numbered(names: dict[SystemKey, str]) -> dict[SystemKey, str]:
    """The names, those that occur again with a number behind."""
    seen: dict[str, int] = {}
    unique = {}
    for system, name in names.items():
        seen[name] = seen.get(name, 0) + 1
        unique[system] = name if seen[name] == 1 else f"{name} ({seen[name]})"
    return unique


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
