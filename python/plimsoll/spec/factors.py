"""`[factors]` of a study file, and the systems that follow: one for each base system and combination of values.

A factor is named by the path of its key, such as `server.options.innodb_thread_concurrency`: a key of a server or a
parameter of hooks. Its values are a list, or a table that gives each a name. What a value means is checked later, in
the system that has it, so any key of a server can be a factor.

The systems are made of the file as TOML was read, before it is checked. So systems of a matrix are checked like those
that are written out, and faults are told afterwards with the place where the user wrote what is wrong.
"""

from __future__ import annotations

import copy
import difflib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plimsoll.errors import Fault, Loc, SpecError, path_text, within
from plimsoll.spec.fields import name_fault
from plimsoll.spec.replicas import Reads
from plimsoll.spec.server_options import switch_spelling
from plimsoll.units import parse_size_bytes

if TYPE_CHECKING:
    from plimsoll.spec.study import StudySpec
    from plimsoll.spec.system import SystemSpec

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
    place: Loc

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
    def place(self) -> Loc:
        """Where it stands in the file."""
        return ("factors", *self.path)

    def words(self, value: FactorValue) -> str:
        """A value as part of a system's name: a name of the user's stands for itself."""
        return value.label if value.is_named else f"{self.name} {value.label}"


Combination = tuple[FactorValue, ...]
"""A value of each factor, in their order."""


def read_factors(table: object) -> tuple[tuple[Factor, ...], list[Fault]]:
    """The factors of a study and what is wrong with them; a wrong one is left out.

    Args:
        table: `[factors]` as TOML was read.
    """
    if not isinstance(table, dict):
        return (), [Fault(("factors",), f"must be a table such as {_EXAMPLE}")]
    entries, faults = [], list[Fault]()
    for path, values in _entries({key: value for key, value in table.items() if key != COMBINATIONS}):
        entry_faults = list(_faults(path, values))
        faults += entry_faults
        if not entry_faults:
            entries.append((path, _values(path, values)))
    if not entries and not faults:
        faults.append(Fault(("factors",), f"must name at least one, such as {_EXAMPLE}"))
    for path, count in Counter(path for path, _ in entries).items():
        if count > 1:
            faults.append(Fault(("factors", *path), f"is there {count} times; keep one"))
    names = _names([path for path, _ in entries])
    return tuple(Factor(names[path], path, values) for path, values in entries), faults


def read_combinations(listed: object, factors: Iterable[Factor]) -> tuple[list[tuple[Loc, Combination]], list[Fault]]:
    """The listed combinations, each with its place, and what is wrong with them.

    A combination that leaves a factor out stands for all values of it.

    Args:
        listed: `combinations` as TOML was read.
        factors: All of the study.
    """
    factors = tuple(factors)
    if not isinstance(listed, list) or not listed:
        cure = f"must be a list of tables, such as [{{ {_shortest(factors)} }}]"
        return [], [Fault(("factors", COMBINATIONS), cure)]
    combinations: list[tuple[Loc, Combination]] = []
    faults: list[Fault] = []
    for index, item in enumerate(listed):
        place = ("factors", COMBINATIONS, index)
        if not isinstance(item, dict):
            faults.append(Fault(place, f"must be a table such as {{ {_shortest(factors)} }}, is {item!r}"))
            continue
        chosen, item_faults = _chosen(place, dict(_leaves(item)), factors)
        faults += item_faults
        combinations += [
            (place, product) for product in products([chosen.get(factor.name, factor.values) for factor in factors])
        ]
    return combinations, faults


def products(choices: Iterable[tuple[FactorValue, ...]]) -> list[Combination]:
    """Every combination, the first factor changing slowest."""
    combinations: list[Combination] = [()]
    for values in choices:
        combinations = [(*before, value) for before in combinations for value in values]
    return combinations


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


def _faults(path: tuple[str, ...], values: object) -> Iterator[Fault]:
    place = ("factors", *path)
    if path[0] not in ROOTS or (len(path) < 2 and path[0] != "reads") or not all(path):
        yield Fault(place, f"must be the path of a key of server, reads or parameters, such as {_EXAMPLE}")
    elif not isinstance(values, list | dict):
        yield Fault(
            place,
            f"must be a list of values such as [0, 64], is {values!r}; values with names need the path in"
            f" quotes, such as {_NAMED_EXAMPLE}",
        )
    elif len(values) < 2:
        yield Fault(place, f"must have at least two values, has {len(values)}; a single one belongs into server")
    else:
        for name in values if isinstance(values, dict) else ():
            if fault := name_fault(name):
                yield Fault(place, f"the name of a value {fault}")
        for label, count in Counter(value.label for value in _values(path, values)).items():
            if count > 1:
                yield Fault(place, f"has the value {label!r} {count} times; keep one")


def _values(path: tuple[str, ...], values: object) -> tuple[FactorValue, ...]:
    place = ("factors", *path)
    if isinstance(values, dict):
        return tuple(FactorValue(name, value, True, (*place, name)) for name, value in values.items())
    assert isinstance(values, list), "other values are faults"
    return tuple(FactorValue(_label(value), value, False, (*place, index)) for index, value in enumerate(values))


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
    place: Loc, item: Mapping[str, object], factors: tuple[Factor, ...]
) -> tuple[dict[str, tuple[FactorValue, ...]], list[Fault]]:
    """By factor the one value that a combination has of it."""
    chosen: dict[str, tuple[FactorValue, ...]] = {}
    faults = list[Fault]()
    known = {key: factor for factor in factors for key in (factor.name, factor.key)}
    for key, written in item.items():
        factor = known.get(key)
        if factor is None:
            near = difflib.get_close_matches(key, known, n=1)
            cure = f"did you mean {near[0]}?" if near else f"known are {', '.join(factor.name for factor in factors)}"
            faults.append(Fault((*place, key), f"is not a factor; {cure}"))
            continue
        matching = tuple(value for value in factor.values if value.is_same(written))
        if not matching:
            known_values = ", ".join(value.label for value in factor.values)
            faults.append(Fault((*place, key), f"is {written!r}, but the values of this factor are {known_values}"))
        elif factor.name in chosen:
            faults.append(Fault((*place, key), "is said twice; keep one"))
        else:
            chosen[factor.name] = matching
    return chosen, faults


def _shortest(factors: tuple[Factor, ...]) -> str:
    """An example of a combination of these factors."""
    return ", ".join(f'{factor.name} = "{factor.values[0].label}"' for factor in factors[:2]) or "scheduling = 'other'"


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
    faults: tuple[Fault, ...] = ()

    def placed(self, faults: Iterable[Fault]) -> tuple[Fault, ...]:
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
        Fault(("system", index, _ORIGIN), "is not a known key")
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


def equal_systems(systems: Iterable[SystemSpec]) -> Iterator[Fault]:
    """Systems of a matrix that would measure the same thing. Two that are written out may be equal on purpose."""
    known: dict[str, str] = {}
    for system in systems:
        if not system.factor_values or system.server is None:
            continue  # parameters of a target differ in their values
        fields = system.model_dump(mode="json", exclude={"name", "cost", "cost_per_month"})
        try:
            options = {name: _spelled(value) for name, value in system.server.server_options.items()}
        except SpecError:
            continue  # what is wrong with them is told where they stand
        settings = json.dumps({**fields, "server": {**fields["server"], "options": options}}, sort_keys=True)
        if settings in known:
            yield Fault(
                ("factors",),
                f"the systems {known[settings]!r} and {system.name!r} have equal settings; remove one of the"
                " values that mean the same",
            )
        known.setdefault(settings, system.name)


def varied(spec: StudySpec) -> dict[str, tuple[str, ...]]:
    """The values of each factor of a study, in the order of its file; nothing where systems are written out."""
    values_by_factor: dict[str, dict[str, None]] = {}
    for system in spec.system:
        for factor, value in system.factor_values.items():
            values_by_factor.setdefault(factor, {})[value] = None
    return {factor: tuple(values) for factor, values in values_by_factor.items()}


def _combinations(
    table: Mapping[str, object], factors: tuple[Factor, ...], base_count: int
) -> tuple[list[Combination], list[Fault]]:
    if COMBINATIONS not in table:
        count = base_count * math.prod(len(factor.values) for factor in factors)
        if count > SYSTEMS_MAX:
            return [], [_too_many(count)]
        return products([factor.values for factor in factors]), []
    combinations, faults = read_combinations(table[COMBINATIONS], factors)
    if not faults and base_count * len(combinations) > SYSTEMS_MAX:
        faults.append(_too_many(base_count * len(combinations)))
    if faults:
        return [], faults
    first: dict[Combination, Loc] = {}
    for place, combination in combinations:
        if combination in first:
            what = ", ".join(factor.words(value) for factor, value in zip(factors, combination, strict=True))
            faults.append(Fault(place, f"{what} is in {path_text(first[combination])} as well; keep one"))
        first.setdefault(combination, place)
    used = {value.place for combination in first for value in combination}
    faults += [
        Fault(value.place, f"no combination has the value {value.label}; add one or remove the value")
        for factor in factors
        for value in factor.values
        if value.place not in used
    ]
    return list(first), faults


def _too_many(count: int) -> Fault:
    return Fault(
        ("factors",),
        f"{count} systems follow from them, at most {SYSTEMS_MAX} can be compared; take fewer values, or list"
        f" those that matter in {COMBINATIONS}",
    )


def _base_faults(bases: list[dict[str, Any]], factors: tuple[Factor, ...]) -> Iterator[Fault]:
    names = [base.get("name") for base in bases]
    for name in dict.fromkeys(name for name in names if isinstance(name, str) and names.count(name) > 1):
        yield Fault(("system",), f"the name {name!r} is used {names.count(name)} times; give each its own")
    for index, base in enumerate(bases):
        if any(factor.path[0] == "server" for factor in factors) and not isinstance(base.get("server"), dict):
            yield Fault(("system", index), "has no server that Plimsoll starts; factors of a target are its parameters")
            continue
        for factor in factors:
            if _states(base, factor.path):
                yield Fault(("system", index, *factor.path), "is a factor; remove it here")


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


def _name_faults(systems: list[dict[str, Any]]) -> Iterator[Fault]:
    """The longest name that is too long; the others are so for the same reason."""
    longest = max((str(system.get("name", "")) for system in systems), key=len)
    if len(longest) > NAME_LENGTH_MAX:
        yield Fault(
            ("factors",),
            f"the name of a system would be {longest!r}, {len(longest)} characters of at most"
            f' {NAME_LENGTH_MAX}; give values short names, such as "server.scheduling" = {{ realtime = "fifo:10" }}',
        )


def _spelled(value: object) -> str:
    """A value of an option in one spelling: servers take ON, true and 1 for the same, and 1G for 1073741824."""
    text = switch_spelling(str(value)).lower()
    try:
        return str(parse_size_bytes(text.upper()))
    except SpecError:
        return text


BASE_FACTOR = "system"
"""The factor that base systems are, where there are several."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What a system of a matrix came from.

    Attributes:
        base: Index of the base system in the file.
        factors: All of the study.
        combination: Its value of each.
        base_name: Name of the base system, where there are several.
    """

    base: int
    factors: tuple[Factor, ...]
    combination: Combination
    base_name: str | None = None

    @property
    def chosen(self) -> tuple[tuple[Factor, FactorValue], ...]:
        """Each factor with its value."""
        return tuple(zip(self.factors, self.combination, strict=True))

    @property
    def values(self) -> dict[str, str]:
        """Its value of each factor as people read it, by the factor's name."""
        base = {} if self.base_name is None else {BASE_FACTOR: self.base_name}
        return {**base, **{factor.name: value.label for factor, value in self.chosen}}


def placed(faults: Iterable[Fault], origins: Sequence[Origin | None]) -> tuple[Fault, ...]:
    """Faults of systems with their places in the file, each once.

    A value is wrong in each system that has it. What is wrong whatever the value is told of the factor.

    Args:
        faults: Of the study; the path of a system has its index there.
        origins: Of all systems of the study; None for one that was written out.
    """
    placed_faults = dict.fromkeys(_placed(fault, origins) for fault in faults)
    whose = {
        value.place: factor
        for origin in origins
        if origin is not None
        for factor in origin.factors
        for value in factor.values
    }
    return tuple(dict.fromkeys(_of_factors(placed_faults, whose)))


def _placed(fault: Fault, origins: Sequence[Origin | None]) -> tuple[Loc, Fault]:
    """The place of a fault, and the fault within that."""
    match fault.path:
        case ("system", int(index), *rest) if index < len(origins) and (origin := origins[index]) is not None:
            for factor, value in origin.chosen:
                if tuple(rest[: len(factor.path)]) == factor.path:
                    return value.place, Fault(tuple(rest[len(factor.path) :]), fault.reason)
            return ("system", origin.base), Fault(tuple(rest), fault.reason)
    return (), fault


def _of_factors(placed_faults: Mapping[tuple[Loc, Fault], None], whose: Mapping[Loc, Factor]) -> Iterator[Fault]:
    for place, fault in placed_faults:
        factor = whose.get(place)
        is_of_all = factor is not None and all((value.place, fault) in placed_faults for value in factor.values)
        yield from within(factor.place if factor is not None and is_of_all else place, [fault])
