"""How a table was understood, in words for the person who imported it.

Deliberately not here: printing. The lines are values; the command line shows them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from plimsoll.importers.columns import HOST_ROLES, Column, Role, TableOptions, map_option
from plimsoll.importers.grouping import Group
from plimsoll.importers.merge import lost_statistics
from plimsoll.importers.rows import UNKNOWN
from plimsoll.importers.systems import SystemKey

_CPU_SUM_MAX = 1.02
"""Modes that were rounded to whole percents add up to at most this."""

_LINES_SHOWN_MAX = 10


def report_lines(
    path: Path,
    columns: tuple[Column, ...],
    options: TableOptions,
    groups: tuple[Group, ...],
    names: Mapping[SystemKey, str],
) -> tuple[str, ...]:
    """Says what became systems, workloads, levels and figures, what the table leaves open and what looks odd."""
    return (
        *_counts(path, groups),
        *_columns(columns, groups),
        *_workload(path, columns, options),
        *_systems(groups, names),
        *_repetitions(columns, groups),
        *_empty_factors(names),
        *_lost(groups),
        *_odd_cpu(groups),
    )


def _counts(path: Path, groups: tuple[Group, ...]) -> Iterable[str]:
    rows = sum(len(group.points) for group in groups)
    systems = len({group.system for group in groups})
    workloads = len({group.first.workload for group in groups})
    counted = f"{_count(rows, 'row')}, {_count(len(groups), 'trial')}"
    yield f"{path.name}: {counted}, {_count(systems, 'system')}, {_count(workloads, 'workload')}"


def _columns(columns: tuple[Column, ...], groups: tuple[Group, ...]) -> Iterable[str]:
    yield from (f"level: column {name}, {meaning}" for name, meaning in _levels(columns, groups))
    for column in columns:
        if column.role is Role.THROUGHPUT:
            unit = "minute; kept per second" if column.means.unit == "tpm" else "second"
            summed = "; instances are summed" if any(column.role is Role.INSTANCE for column in columns) else ""
            yield f"throughput: column {column.name}, transactions per {unit}{summed}"
    yield _found(
        "response times", [f"{column.name} ({column.means.part})" for column in columns if column.role is Role.RESPONSE]
    )
    yield _found(
        "host CPU", [f"{column.name} ({column.means.part})" for column in columns if column.role is Role.HOST_CPU]
    )
    factors = [column.name for column in columns if column.role in HOST_ROLES | {Role.FACTOR, Role.INSTANCES}]
    yield f"factors: {', '.join(factors) or 'none; systems are told apart by name alone'}"
    ignored = [column.name for column in columns if column.role is Role.IGNORED]
    if ignored:
        yield f"left out: {', '.join(ignored)}"


def _levels(columns: tuple[Column, ...], groups: tuple[Group, ...]) -> Iterable[tuple[str, str]]:
    instances = max(group.instances for group in groups)
    for column in columns:
        if column.role is Role.LEVEL_PER_INSTANCE:
            yield column.name, f"of each instance (at most {instances}); the total is kept as well"
        elif column.role is Role.LEVEL and instances > 1:
            yield (
                column.name,
                "read as the total of all instances; if it is of each instance, "
                f"say {map_option(column.name, Role.LEVEL_PER_INSTANCE)}",
            )
        elif column.role is Role.LEVEL:
            yield column.name, "connections in total"


def _found(what: str, names: list[str]) -> str:
    return f"{what}: {', '.join(names) or 'the table states none'}"


def _workload(path: Path, columns: tuple[Column, ...], options: TableOptions) -> Iterable[str]:
    if not options.workload and all(column.role is not Role.WORKLOAD for column in columns):
        yield f"workload: called {path.stem} after the file; --workload NAME names it, and joins it with other tables"


def _systems(groups: tuple[Group, ...], names: Mapping[SystemKey, str]) -> Iterable[str]:
    by_system = _by_system(groups)
    for system, name in names.items():
        levels = sorted({group.connections for group in by_system[system]})
        instances = max(group.instances for group in by_system[system])
        several = f", {instances} instances" if instances > 1 else ""
        only = ": one level is no curve" if len(levels) == 1 else ""
        yield f"system {name}: connections {', '.join(map(str, levels))}{several}{only}"


def _by_system(groups: tuple[Group, ...]) -> dict[SystemKey, list[Group]]:
    found: dict[SystemKey, list[Group]] = {}
    for group in groups:
        found.setdefault(group.system, []).append(group)
    return found


def _repetitions(columns: tuple[Column, ...], groups: tuple[Group, ...]) -> Iterable[str]:
    """Rows that nothing tells apart may be repetitions, or lack the column that tells them apart."""
    again = [str(group.first.line) for group in groups if group.repetition > 0]
    if not again or any(column.role is Role.REPETITION for column in columns):
        return
    shown = ", ".join(again[:_LINES_SHOWN_MAX]) + (" and more" if len(again) > _LINES_SHOWN_MAX else "")
    lines = f"line {shown} has" if len(again) == 1 else f"lines {shown} have"
    yield (
        f"repetitions: {lines} the same system, workload and level as a line before; taken as measured again. "
        "If something else differed, add a column for it"
    )


def _empty_factors(names: Mapping[SystemKey, str]) -> Iterable[str]:
    """Empty is neither equal nor unequal to any value: such rows stay a system of their own."""
    called = Counter(system[0] for system in names)
    for system, name in names.items():
        empty = [key for key, value in system[1] if value == UNKNOWN]
        if empty:
            apart = ", so they stay apart from the other rows of that system" if called[system[0]] > 1 else ""
            yield f"system {name}: its rows do not say {', '.join(empty)}{apart}; kept as unknown"


def _lost(groups: tuple[Group, ...]) -> Iterable[str]:
    lost = sorted({name for group in groups for name in lost_statistics(group)})
    if lost:
        yield f"{', '.join(lost)}: left out where instances were summed: figures of parts do not give that of the whole"


def _odd_cpu(groups: tuple[Group, ...]) -> Iterable[str]:
    for group in groups:
        total = sum(group.first.host_cpu.values())
        if total > _CPU_SUM_MAX:
            yield f"line {group.first.line}: host CPU adds up to {total * 100:.0f} %; kept as published"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
