"""Names of systems that came from published tables: as short as can be, and never one name for two systems.

Deliberately not here: which rows belong to a system (`table`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from plimsoll.importers.rows import UNKNOWN

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
