"""From base systems and factors to the systems of a study: one for each base and each combination of values.

This happens to the file as TOML was read, before it is checked. So systems of a matrix are checked like those that are
written out, and faults are told afterwards with the place where the user wrote what is wrong.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plimsoll.errors import SpecError
from plimsoll.spec.factors import COMBINATIONS, Combination, Factor, products, read_combinations, read_factors
from plimsoll.spec.origin import Origin, placed
from plimsoll.spec.switches import switch_spelling
from plimsoll.units import parse_size_bytes

if TYPE_CHECKING:
    from plimsoll.spec.study import StudySpec
    from plimsoll.spec.system import SystemSpec

SYSTEMS_MAX = 200
"""More systems than anybody compares."""

NAME_LENGTH_MAX = 100

_ORIGIN = "origin"
"""The key of a system that says where it comes from; users do not write it."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """How the systems of a study came about.

    Attributes:
        origins: Of each system, in their order; empty where systems are written out.
        faults: What is wrong with `[factors]`.
    """

    origins: tuple[Origin, ...] = ()
    faults: tuple[str, ...] = ()

    def placed(self, faults: Iterable[str]) -> tuple[str, ...]:
        """The faults of systems at their places in the file."""
        return placed(faults, self.origins)


def expand(written: dict[str, Any]) -> Matrix:
    """Replaces the base systems of a study file by those of its matrix, and takes `factors` out of it.

    Args:
        written: The whole file as TOML was read; it is changed.
    """
    bases = written.get("system")
    is_list = isinstance(bases, list) and all(isinstance(base, dict) for base in bases)
    faults = [
        f"system[{index}].{_ORIGIN}: is not a known key"
        for index, base in enumerate(bases if is_list and isinstance(bases, list) else ())
        if base.pop(_ORIGIN, None) is not None
    ]
    if "factors" not in written:
        return Matrix(faults=tuple(faults))
    table = written.pop("factors")
    factors, of_factors = read_factors(table)
    faults += of_factors
    if of_factors or not is_list or not isinstance(bases, list) or not bases:
        return Matrix(faults=tuple(faults))
    combinations, of_combinations = _combinations(table, factors, len(bases))
    faults += [*of_combinations, *_base_faults(bases, factors)]
    if faults:
        return Matrix(faults=tuple(faults))
    names = [str(base.get("name")) for base in bases] if len(bases) > 1 else [None]
    origins = tuple(
        Origin(base, factors, combination, name) for base, name in enumerate(names) for combination in combinations
    )
    systems = [_system(bases[origin.base], origin) for origin in origins]
    if too_long := tuple(_name_faults(systems)):
        return Matrix(faults=too_long)
    written["system"] = systems
    return Matrix(origins)


def equal_systems(systems: Iterable[SystemSpec]) -> Iterator[str]:
    """Systems of a matrix that would measure the same thing. Two that are written out may be equal on purpose."""
    known: dict[str, str] = {}
    for system in systems:
        if not system.factor_values or system.server is None:
            continue  # parameters of a target differ in their values
        said = system.model_dump(mode="json", exclude={"name", "cost", "cost_per_month"})
        options = {name.lower().replace("-", "_"): _spelled(value) for name, value in system.server.options.items()}
        settings = json.dumps({**said, "server": {**said["server"], "options": options}}, sort_keys=True)
        if settings in known:
            yield (
                f"factors: the systems {known[settings]!r} and {system.name!r} have equal settings; remove one of the"
                " values that mean the same"
            )
        known.setdefault(settings, system.name)


def varied(spec: StudySpec) -> dict[str, tuple[str, ...]]:
    """The values of each factor of a study, in the order of its file; nothing where systems are written out."""
    found: dict[str, dict[str, None]] = {}
    for system in spec.system:
        for factor, value in system.factor_values.items():
            found.setdefault(factor, {})[value] = None
    return {factor: tuple(values) for factor, values in found.items()}


def _combinations(
    table: Mapping[str, object], factors: tuple[Factor, ...], base_count: int
) -> tuple[list[Combination], list[str]]:
    if COMBINATIONS not in table:
        count = base_count * math.prod(len(factor.values) for factor in factors)
        if count > SYSTEMS_MAX:
            return [], [_too_many(count)]
        return products([factor.values for factor in factors]), []
    found, faults = read_combinations(table[COMBINATIONS], factors)
    if not faults and base_count * len(found) > SYSTEMS_MAX:
        faults.append(_too_many(base_count * len(found)))
    if faults:
        return [], faults
    first: dict[Combination, str] = {}
    for place, combination in found:
        if combination in first:
            what = ", ".join(factor.words(value) for factor, value in zip(factors, combination, strict=True))
            faults.append(f"{place}: {what} is in {first[combination]} as well; keep one")
        first.setdefault(combination, place)
    used = {value.place for combination in first for value in combination}
    faults += [
        f"{value.place}: no combination has the value {value.label}; add one or remove the value"
        for factor in factors
        for value in factor.values
        if value.place not in used
    ]
    return list(first), faults


def _too_many(count: int) -> str:
    return (
        f"factors: {count} systems follow from them, at most {SYSTEMS_MAX} can be compared; take fewer values, or list"
        f" those that matter in {COMBINATIONS}"
    )


def _base_faults(bases: list[dict[str, Any]], factors: tuple[Factor, ...]) -> Iterator[str]:
    names = [base.get("name") for base in bases]
    for name in dict.fromkeys(name for name in names if isinstance(name, str) and names.count(name) > 1):
        yield f"system: the name {name!r} is used {names.count(name)} times; give each its own"
    for index, base in enumerate(bases):
        if any(factor.path[0] == "server" for factor in factors) and not isinstance(base.get("server"), dict):
            yield f"system[{index}]: has no server that Plimsoll starts; factors of a target are its parameters"
            continue
        for factor in factors:
            if _states(base, factor.path):
                yield f"system[{index}].{factor.key}: is a factor; remove it here"


def _states(table: object, path: tuple[str, ...]) -> bool:
    """Whether a table says anything at a path, or something at its beginning that is no table."""
    for part in path:
        if not isinstance(table, dict):
            return True
        same = [key for key in table if key.lower().replace("-", "_") == part.lower().replace("-", "_")]
        if not same:
            return False
        table = table[same[0]]
    return True


def _system(base: Mapping[str, Any], origin: Origin) -> dict[str, Any]:
    """A base system with one combination of values."""
    system = copy.deepcopy(dict(base))
    for factor, value in origin.chosen:
        table = system
        for part in factor.path[:-1]:
            table = table.setdefault(part, {})
        table[factor.path[-1]] = copy.deepcopy(value.written)
    if isinstance(name := system.get("name"), str):
        system["name"] = ", ".join([name, *(factor.words(value) for factor, value in origin.chosen)])
    return {**system, _ORIGIN: origin}


def _name_faults(systems: list[dict[str, Any]]) -> Iterator[str]:
    """The longest name that is too long; the others are so for the same reason."""
    longest = max((str(system.get("name", "")) for system in systems), key=len)
    if len(longest) > NAME_LENGTH_MAX:
        yield (
            f"factors: the name of a system would be {longest!r}, {len(longest)} characters of at most"
            f' {NAME_LENGTH_MAX}; give values short names, such as "server.scheduling" = {{ realtime = "fifo:10" }}'
        )


def _spelled(value: object) -> str:
    """A value of an option in one spelling: servers take ON, true and 1 for the same, and 1G for 1073741824."""
    text = switch_spelling(str(value)).lower()
    try:
        return str(parse_size_bytes(text.upper()))
    except SpecError:
        return text
