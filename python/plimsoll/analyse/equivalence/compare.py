"""Compares systems aspect by aspect: what is the same, what differs, what a factor of the study explains.

Estimates of servers are compared as estimates: rows within 20 %, distinct values within a factor of 2 (InnoDB samples
20 pages of an index).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence

from plimsoll.analyse.durability import causing_variables
from plimsoll.analyse.equivalence.data import Stated, stated
from plimsoll.analyse.equivalence.machines import machines_of_environments
from plimsoll.analyse.equivalence.model import Aspect, AspectDifference, Equivalence
from plimsoll.analyse.model import SystemSummary, VariableDifference
from plimsoll.analyse.variables import varied_variables
from plimsoll.units import parse_whole

_ROWS_RATIO = 1.2
_STATISTICS_RATIO = 2.0
_OF_DATA = (Aspect.DEFINITIONS, Aspect.CHARACTER_SETS, Aspect.ROWS, Aspect.STATISTICS, Aspect.PLANS)

_EXPLAINING: Mapping[Aspect, tuple[str, ...]] = {
    Aspect.DEFINITIONS: ("table_options", "row_format", "storage_engine", "innodb_default_row_format", "engine"),
    Aspect.CHARACTER_SETS: ("character_set", "charset", "collation"),
}
"""Parts of names of factors that explain a difference of an aspect."""

Alike = Callable[[str, str], bool]


def equivalence(systems: Sequence[SystemSummary], variables: Sequence[VariableDifference]) -> tuple[Equivalence, ...]:
    """Every aspect of systems that were measured; empty for fewer than two.

    Args:
        systems: Of the study.
        variables: Their variables that differ.
    """
    measured = [one for one in systems if one.environment.instances]
    if len(measured) < 2:
        return ()
    machines = machines_of_environments(measured)
    return (
        *(() if machines is None else (machines,)),
        _of_variables(measured, variables),
        _of_durability(measured),
        *(_of_data(measured, aspect) for aspect in _OF_DATA),
    )


def _of_variables(systems: Sequence[SystemSummary], variables: Sequence[VariableDifference]) -> Equivalence:
    own = {one.name: {name for i in one.environment.instances for name in i.variables} for one in systems}
    known = tuple(name for name, names in own.items() if names)
    return Equivalence(
        aspect=Aspect.VARIABLES,
        systems=known,
        compared_count=len(set().union(*own.values())) if len(known) > 1 else 0,
        differences=tuple(
            AspectDifference(what=one.variable, values=one.values) for one in variables if not one.expected
        ),
        expected=tuple(one.variable for one in variables if one.expected),
        unknown=tuple(name for name, names in own.items() if not names),
    )


def _of_durability(systems: Sequence[SystemSummary]) -> Equivalence:
    known = {one.name: one.durability.name for one in systems if one.durability is not None}
    differs = len(set(known.values())) > 1
    causes = causing_variables(*(one.durability for one in systems if one.durability is not None))
    is_explained = causes <= varied_variables(systems)
    return Equivalence(
        aspect=Aspect.DURABILITY,
        systems=tuple(known),
        compared_count=1 if len(known) > 1 else 0,
        differences=(AspectDifference(what="durability", values=dict(known)),) if differs and not is_explained else (),
        expected=("durability",) if differs and is_explained else (),
        unknown=tuple(one.name for one in systems if one.durability is None),
    )


def _of_data(systems: Sequence[SystemSummary], aspect: Aspect) -> Equivalence:
    own = {one.name: stated(one, aspect) for one in systems}
    known = {name: found for name, found in own.items() if found is not None}
    unknown = tuple(name for name in own if name not in known)
    if len(known) < 2:
        return Equivalence(aspect=aspect, systems=tuple(known), unknown=unknown)
    is_divided = len({one.instances for one in systems if one.name in known}) > 1
    names = _names(known, aspect, is_divided=is_divided)
    differing = [
        AspectDifference(what=name, values={system: found.get(name) for system, found in known.items()})
        for name in names
        if not _all_alike([found.get(name) for found in known.values()], _ALIKE.get(aspect, _is_same))
    ]
    is_explained = _is_explained(aspect, varied_variables(systems))
    return Equivalence(
        aspect=aspect,
        systems=tuple(known),
        compared_count=len(names),
        differences=() if is_explained else tuple(differing),
        expected=tuple(one.what for one in differing) if is_explained else (),
        unknown=unknown,
    )


def _names(known: Mapping[str, Stated], aspect: Aspect, *, is_divided: bool) -> list[str]:
    """What is compared, in the order in which systems state it."""
    every = list(dict.fromkeys(name for found in known.values() for name in found))
    if aspect is Aspect.PLANS or is_divided:  # a statement that a server refuses to explain is unknown
        every = [name for name in every if all(name in found for found in known.values())]
    return [] if is_divided and aspect in (Aspect.ROWS, Aspect.STATISTICS) else every


def _is_explained(aspect: Aspect, varied: Collection[str]) -> bool:
    return any(part in name for name in varied for part in _EXPLAINING.get(aspect, ()))


def _all_alike(values: Sequence[str | None], is_alike: Alike) -> bool:
    first, *others = values
    return all((first is None) is (other is None) and is_alike(first or "", other or "") for other in others)


def _is_same(one: str, other: str) -> bool:
    return one == other


def _are_rows_alike(one: str, other: str) -> bool:
    """Counts must be equal; an estimate is near."""
    if "about" not in one and "about" not in other:
        return one == other
    return _is_within(one, other, _ROWS_RATIO)


def _are_statistics_alike(one: str, other: str) -> bool:
    return _is_within(one, other, _STATISTICS_RATIO)


def _is_within(one: str, other: str, ratio: float) -> bool:
    """Several values of instances are compared as they stand."""
    sizes = [parse_whole(re.sub(r"^about ", "", text)) for text in (one, other)]
    if sizes[0] is None or sizes[1] is None:
        return one == other
    low, high = sorted((sizes[0], sizes[1]))
    return high <= max(low, 1) * ratio


_ALIKE: Mapping[Aspect, Alike] = {Aspect.ROWS: _are_rows_alike, Aspect.STATISTICS: _are_statistics_alike}
