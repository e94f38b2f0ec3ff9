"""`[factors]` of a study file as users write it: which keys of a server, or parameters of hooks, take which values.

A factor is named by the path of its key, such as `server.options.innodb_thread_concurrency`. Its values are a list, or
a table that gives each a name. What a value means is checked later, in the system that has it (`matrix`), so any key of
a server can be a factor. Deliberately not here: the systems that follow (`matrix`).
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.spec.fields import name_fault
from plimsoll.spec.reads import Reads

COMBINATIONS = "combinations"
"""The key of `[factors]` that is no factor."""

ROOTS = ("server", "parameters", "reads")
"""Tables of a system whose keys can be factors; `reads` can be one itself."""

_EXAMPLE = '"server.options.innodb_thread_concurrency" = [0, 64]'
_NAMED_EXAMPLE = '"server.scheduling" = { normal = "other", realtime = "fifo:10" }'


@dataclass(frozen=True, slots=True)
class FactorValue:
    """One value of a factor.

    Attributes:
        label: As people read it.
        written: As it stands in the file.
        is_named: The user gave it a name.
        place: Where it stands in the file.
    """

    label: str
    written: object
    is_named: bool
    place: str

    def is_same(self, written: object) -> bool:
        """Whether this is what a combination means by `written`. TOML's `true` is not 1."""
        if self.is_named and written == self.label:
            return True
        return type(written) is type(self.written) and written == self.written


@dataclass(frozen=True, slots=True)
class Factor:
    """A key of a server that takes several values.

    Attributes:
        name: The end of its path, as much of it as tells it from other factors.
        path: Of its key within a system.
        values: At least two.
    """

    name: str
    path: tuple[str, ...]
    values: tuple[FactorValue, ...]

    @property
    def key(self) -> str:
        """Its path as text."""
        return ".".join(self.path)

    @property
    def place(self) -> str:
        """Where it stands in the file."""
        return f"factors.{self.key}"

    def words(self, value: FactorValue) -> str:
        """A value as part of a system's name: a name of the user's stands for itself."""
        return value.label if value.is_named else f"{self.name} {value.label}"


Combination = tuple[FactorValue, ...]
"""A value of each factor, in their order."""


def read_factors(table: object) -> tuple[tuple[Factor, ...], list[str]]:
    """The factors of a study and what is wrong with them, one line each; a wrong one is left out.

    Args:
        table: `[factors]` as TOML was read.
    """
    if not isinstance(table, dict):
        return (), [f"factors: must be a table such as {_EXAMPLE}"]
    found, faults = [], []
    for path, values in _entries({key: value for key, value in table.items() if key != COMBINATIONS}):
        own = list(_faults(path, values))
        faults += own
        if not own:
            found.append((path, _values(path, values)))
    if not found and not faults:
        faults.append(f"factors: must name at least one, such as {_EXAMPLE}")
    for path, count in Counter(path for path, _ in found).items():
        if count > 1:
            faults.append(f"factors.{'.'.join(path)}: is there {count} times; keep one")
    names = _names([path for path, _ in found])
    return tuple(Factor(names[path], path, values) for path, values in found), faults


def read_combinations(listed: object, factors: Iterable[Factor]) -> tuple[list[tuple[str, Combination]], list[str]]:
    """The listed combinations, each with its place, and what is wrong with them.

    A combination that leaves a factor out stands for all values of it.

    Args:
        listed: `combinations` as TOML was read.
        factors: All of the study.
    """
    factors = tuple(factors)
    if not isinstance(listed, list) or not listed:
        return [], [f"factors.{COMBINATIONS}: must be a list of tables, such as [{{ {_shortest(factors)} }}]"]
    found: list[tuple[str, Combination]] = []
    faults: list[str] = []
    for index, item in enumerate(listed):
        place = f"factors.{COMBINATIONS}[{index}]"
        if not isinstance(item, dict):
            faults.append(f"{place}: must be a table such as {{ {_shortest(factors)} }}, is {item!r}")
            continue
        chosen, own = _chosen(place, dict(_leaves(item)), factors)
        faults += own
        found += [(place, one) for one in products([chosen.get(factor.name, factor.values) for factor in factors])]
    return found, faults


def products(choices: Iterable[tuple[FactorValue, ...]]) -> list[Combination]:
    """Every combination, the first factor changing slowest."""
    found: list[Combination] = [()]
    for values in choices:
        found = [(*before, value) for before in found for value in values]
    return found


def _entries(table: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Each factor's path and values: `"server.scheduling" = […]` and `server.scheduling = […]` are the same."""
    for key, value in table.items():
        parts = (*path, *key.split("."))
        if isinstance(value, dict) and "." not in key and _is_nested(parts, value):
            yield from _entries(value, parts)
        else:
            yield parts, value


def _is_nested(path: tuple[str, ...], table: Mapping[str, object]) -> bool:
    """Whether a table holds further keys of a path, and not named values."""
    if len(path) < 2:
        return path[0] != "reads" or set(table) <= set(Reads.model_fields)
    return path in (("server", "options"), ("parameters",)) or all(
        isinstance(value, list | dict) for value in table.values()
    )


def _leaves(table: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, object]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value


def _faults(path: tuple[str, ...], values: object) -> Iterator[str]:
    place = f"factors.{'.'.join(path)}"
    if path[0] not in ROOTS or (len(path) < 2 and path[0] != "reads") or not all(path):
        yield f"{place}: must be the path of a key of server, reads or parameters, such as {_EXAMPLE}"
    elif not isinstance(values, list | dict):
        yield (
            f"{place}: must be a list of values such as [0, 64], is {values!r}; values with names need the path in"
            f" quotes, such as {_NAMED_EXAMPLE}"
        )
    elif len(values) < 2:
        yield f"{place}: must have at least two values, has {len(values)}; a single one belongs into server"
    else:
        for name in values if isinstance(values, dict) else ():
            if fault := name_fault(name):
                yield f"{place}: the name of a value {fault}"
        for label, count in Counter(value.label for value in _values(path, values)).items():
            if count > 1:
                yield f"{place}: has the value {label!r} {count} times; keep one"


def _values(path: tuple[str, ...], values: object) -> tuple[FactorValue, ...]:
    place = f"factors.{'.'.join(path)}"
    if isinstance(values, dict):
        return tuple(FactorValue(name, value, True, f"{place}.{name}") for name, value in values.items())
    assert isinstance(values, list), "other values are faults"
    return tuple(FactorValue(_label(value), value, False, f"{place}[{index}]") for index, value in enumerate(values))


def _label(value: object) -> str:
    """A value as people read it.

    >>> _label(True), _label(64), _label({"read_iops": 500})
    ('on', '64', 'read_iops 500')
    """
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_label(part)}" for key, part in value.items())
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _names(paths: list[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """For each path as much of its end as no other one has."""
    names = {}
    for path in paths:
        others = [other for other in paths if other != path]
        length = next((n for n in range(1, len(path)) if all(other[-n:] != path[-n:] for other in others)), len(path))
        names[path] = ".".join(path[-length:])
    return names


def _chosen(
    place: str, item: Mapping[str, object], factors: tuple[Factor, ...]
) -> tuple[dict[str, tuple[FactorValue, ...]], list[str]]:
    """By factor the one value that a combination has of it."""
    chosen: dict[str, tuple[FactorValue, ...]] = {}
    faults = []
    known = {key: factor for factor in factors for key in (factor.name, factor.key)}
    for key, written in item.items():
        factor = known.get(key)
        if factor is None:
            near = difflib.get_close_matches(key, known, n=1)
            cure = f"did you mean {near[0]}?" if near else f"known are {', '.join(one.name for one in factors)}"
            faults.append(f"{place}.{key}: is not a factor; {cure}")
            continue
        found = tuple(value for value in factor.values if value.is_same(written))
        if not found:
            known_values = ", ".join(value.label for value in factor.values)
            faults.append(f"{place}.{key}: is {written!r}, but the values of this factor are {known_values}")
        elif factor.name in chosen:
            faults.append(f"{place}.{key}: is said twice; keep one")
        else:
            chosen[factor.name] = found
    return chosen, faults


def _shortest(factors: tuple[Factor, ...]) -> str:
    """An example of a combination of these factors."""
    return ", ".join(f'{factor.name} = "{factor.values[0].label}"' for factor in factors[:2]) or "scheduling = 'other'"
