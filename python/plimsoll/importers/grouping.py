"""Rows of a published table put together to trials: rows of several instances add up, rows of one cell are repetitions.

Deliberately not here: reading rows (`rows`) and writing recordings (`table`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from plimsoll.importers.rows import Point
from plimsoll.importers.systems import Factors, SystemKey

_Cell = tuple[str, Factors, str, int | None, int | None]


@dataclass(frozen=True, slots=True)
class Group:
    """The rows that together state the result of one trial.

    Attributes:
        points: One for each instance, or one alone.
        repetition: 0, 1, 2, … among the trials of the same system, workload and level, by occurrence.
    """

    points: tuple[Point, ...]
    repetition: int

    @property
    def first(self) -> Point:
        """The first row: for all that the rows have in common."""
        return self.points[0]

    @property
    def system(self) -> SystemKey:
        """What makes the system: the table's name for it, and its factors."""
        return self.first.system, self.first.factors

    @property
    def instances(self) -> int:
        """How many servers carried the load."""
        return self.first.instances or len(self.points)

    @property
    def connections(self) -> int:
        """Connections of all instances together."""
        return self.first.level or (self.first.level_per_instance or 0) * self.instances

    @property
    def lines(self) -> tuple[int, ...]:
        """Where the rows stand in the file."""
        return tuple(point.line for point in self.points)


def group_points(points: Iterable[Point]) -> tuple[tuple[Group, ...], list[str]]:
    """Puts rows together, in the order of their first row.

    Returns:
        The trials, and the faults: rows that repeat a repetition, instances that are missing, costs and levels that
        contradict each other.
    """
    cells: dict[_Cell, dict[str, dict[str, Point]]] = {}
    counts: dict[tuple[_Cell, str], int] = {}
    faults = []
    for point in points:
        cell = (point.system, point.factors, point.workload, point.level, point.level_per_instance)
        counts[cell, point.instance] = counts.get((cell, point.instance), 0) + 1
        label = point.repetition or str(counts[cell, point.instance])
        instances = cells.setdefault(cell, {}).setdefault(label, {})
        earlier = instances.setdefault(point.instance, point)
        if earlier is not point:
            faults.append(f"line {point.line}: repetition {label!r} of this level is in line {earlier.line} already")
    groups = tuple(
        Group(tuple(instances.values()), repetition)
        for repetitions in cells.values()
        for repetition, instances in enumerate(repetitions.values())
    )
    return groups, faults + _missing_instances(groups) + _contradictions(groups)


def _missing_instances(groups: tuple[Group, ...]) -> list[str]:
    """A sum over fewer instances than the system has would be too low without anyone seeing it."""
    known: dict[SystemKey, dict[str, None]] = {}
    for group in groups:
        known.setdefault(group.system, {}).update({point.instance: None for point in group.points})
    faults = []
    for group in groups:
        missing = known[group.system].keys() - {point.instance for point in group.points}
        if missing:
            faults.append(
                f"line {group.first.line}: no row for instance {', '.join(sorted(missing))} at this level "
                f"(repetition {group.repetition + 1}); the sum would be too low. Add the row, or remove the level"
            )
    return faults


def _contradictions(groups: tuple[Group, ...]) -> list[str]:
    faults = []
    costs: dict[SystemKey, float] = {}
    for group in groups:
        first = group.first
        if first.level and first.level_per_instance and first.level != first.level_per_instance * group.instances:
            faults.append(
                f"line {first.line}: {first.level} connections in total are not {first.level_per_instance} "
                f"for each of {group.instances} instances. Leave one column out with --map ignore=COLUMN"
            )
        for point in group.points:
            cost = point.cost_per_month
            if cost is not None and costs.setdefault(group.system, cost) != cost:
                faults.append(
                    f"line {point.line}: cost_per_month: is {cost:g}, {costs[group.system]:g} in an earlier row"
                )
    return faults


def splitting_columns(points: Iterable[Point], guessed: Iterable[str]) -> list[str]:
    """Factors that change from level to level: more likely measurements than what tells systems apart.

    Args:
        points: All rows.
        guessed: Names of the factors that nobody called factors.

    Returns:
        Those that leave every value less than half of its system's levels.
    """
    points = tuple(points)
    return [name for name in guessed if _splits(points, name)]


def _splits(points: tuple[Point, ...], name: str) -> bool:
    levels: dict[tuple[str, str], set[int | None]] = {}
    by_value: dict[tuple[str, str, str], set[int | None]] = {}
    for point in points:
        value = dict(point.factors).get(name, "")
        level = point.level or point.level_per_instance
        levels.setdefault((point.system, point.workload), set()).add(level)
        by_value.setdefault((point.system, point.workload, value), set()).add(level)
    most: dict[tuple[str, str], int] = {}
    for (system, workload, _), some in by_value.items():
        most[system, workload] = max(most.get((system, workload), 0), len(some))
    return any(most[curve] * 2 < len(some) for curve, some in levels.items())
