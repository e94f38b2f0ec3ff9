"""Published tables of results become recordings, so that they take the same road as measured ones.

Rows of several instances add up, rows of one cell are repetitions. No arithmetic on percentiles gives the percentile of
the whole, so percentiles of several instances are left out. Nothing is guessed: what a table leaves open is said in the
report, as lines that the command prints, and what could be read in two ways is a fault with its cure. Deliberately not
here: columns and single rows (`columns`), reading CSV (`text_files`), and any statistic.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from plimsoll.importers.columns import (
    HOST_ROLES,
    UNKNOWN,
    Column,
    Point,
    Role,
    RowReader,
    TableOptions,
    map_option,
    understand,
)
from plimsoll.importers.systems import Factors, SystemKey, name_systems
from plimsoll.importers.text_files import CsvTable, raise_faults, read_csv
from plimsoll.importers.trials import ImportedTrial, ImportResult
from plimsoll.record.environment import Environment, HostFacts, InstanceFacts
from plimsoll.record.level import Level
from plimsoll.record.model import Origin, Outcome, ReportedResult, SystemRecord, TrialRecord, Verdict, WorkloadRecord
from plimsoll.spec.published import PublishedSpec, StatedSystem


def import_table(
    csv_path: Path,
    *,
    study_name: str,
    options: TableOptions | None = None,
    published: PublishedSpec | None = None,
) -> ImportResult:
    """Reads a table of published results: a CSV file whose first line names the columns.

    Args:
        csv_path: The file: UTF-8; comma, semicolon or tab.
        study_name: The study that the recordings will belong to.
        options: What the table does not say itself.
        published: What its authors say beside it.

    Raises:
        SpecError: All faults at once, each with line, value and cure.
    """
    options, published = options or TableOptions(), published or PublishedSpec()
    table = read_csv(csv_path)
    columns, faults = understand(table.columns, options)
    _raise(csv_path, faults)
    reader = RowReader(table, columns, options, workload=csv_path.stem)
    points = [reader.read(row) for row in table.rows]
    _raise(csv_path, reader.faults + _equal_rows(table) + _split_faults(columns, points))
    groups, faults = group_points(points)
    _raise(csv_path, faults)
    names = name_systems(dict.fromkeys(group.system for group in groups))
    workloads = dict.fromkeys(group.first.workload for group in groups)
    _raise(csv_path.with_suffix(".toml"), [str(fault) for fault in published.name_faults(names.values(), workloads)])
    builder = _Builder(study_name, csv_path.name, columns, names, published)
    trials = tuple(builder.build(position, group) for position, group in enumerate(groups))
    return ImportResult(trials, report_lines(csv_path, columns, options, groups, names))


def _raise(path: Path, faults: list[str]) -> None:
    raise_faults([f"{path}: {fault}" for fault in faults])


def _equal_rows(table: CsvTable) -> list[str]:
    lines: dict[tuple[str, ...], int] = {}
    return [
        f"line {row.line}: is the same as line {lines[row.cells]}. Remove it; if both were measured, add a column "
        "repetition with 1, 2, …"
        for row in table.rows
        if lines.setdefault(row.cells, row.line) != row.line
    ]


def _split_faults(columns: tuple[Column, ...], points: list[Point]) -> list[str]:
    guessed = {column.key: column.name for column in columns if column.role is Role.FACTOR and not column.is_told}
    return [
        f"column {guessed[key]}: changes from level to level, so no system would have a curve. Say what it is "
        f"(such as {map_option(guessed[key], 'response_ms_p95')}), leave it out with "
        f"{map_option(guessed[key], Role.IGNORED)}, or insist on it with {map_option(guessed[key], Role.FACTOR)}"
        for key in splitting_columns(points, guessed)
    ]


class _Builder:
    """Turns groups of rows into the documents of a recording."""

    def __init__(
        self,
        study: str,
        file_name: str,
        columns: tuple[Column, ...],
        names: Mapping[SystemKey, str],
        published: PublishedSpec,
    ) -> None:
        self._published = published
        self._study = study
        self._file_name = file_name
        self._names = names
        self._rate_unit = next(column.means.unit for column in columns if column.role is Role.THROUGHPUT)

    def build(self, position: int, group: Group) -> ImportedTrial:
        trial = TrialRecord(
            trial_id=_trial_id(group),
            study=self._study,
            system=self._system(group),
            workload=WorkloadRecord(
                name=group.first.workload,
                rate_unit=self._rate_unit,
                reported=self._published.of_workload(group.first.workload),
            ),
            level=Level(connections=group.connections, connections_per_instance=group.first.level_per_instance),
            repetition=group.repetition,
            position=position,
            origin=Origin(kind="imported-table", detail=f"{self._file_name}, {_show_lines(group.lines)}"),
        )
        outcome = Outcome(verdict=Verdict.COMPLETE, reported=merge_rows(group))
        environment = _environment(group, self._published.of_system(self._names[group.system]))
        return ImportedTrial(trial, environment, outcome)

    def _system(self, group: Group) -> SystemRecord:
        factors = dict(group.first.factors)
        for key, _ in group.first.instance_factors:
            factors[key] = ", ".join(dict.fromkeys(dict(point.instance_factors)[key] for point in group.points))
        costs = [point.cost_per_month for point in group.points if point.cost_per_month is not None]
        return SystemRecord(
            name=self._names[group.system],
            factors=factors,
            instances=group.instances,
            cost_per_month=costs[0] if costs else None,
        )


def _show_lines(lines: tuple[int, ...]) -> str:
    first, last = lines[0], lines[-1]
    if len(lines) == 1:
        return f"line {first}"
    together = lines == tuple(range(first, last + 1))
    return f"lines {first} to {last}" if together else f"lines {', '.join(map(str, lines))}"


def _trial_id(group: Group) -> str:
    """Hash of everything the rows say, so that the same rows always are the same trial, whatever the file's name."""
    rows = [
        (point.instance, point.instance_factors, point.throughput_tps, point.response_ms, point.host_cpu)
        for point in group.points
    ]
    first = group.first
    level = (first.level, first.level_per_instance)
    inputs = ("imported-table", group.system, group.instances, first.workload, level, group.repetition, rows)
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()[:32]


def _environment(group: Group, stated: StatedSystem) -> Environment:
    first = group.first
    facts = {
        "cpu": first.cpu_model,
        "cores": first.cores,
        "memory_gib": first.memory_bytes and first.memory_bytes / 2**30,
    }
    return Environment(
        host=HostFacts(cpu_model=first.cpu_model, cpu_cores=first.cores, memory_bytes=first.memory_bytes),
        instances=tuple(InstanceFacts(name=point.instance) for point in group.points if point.instance),
        reported={
            name: f"{value:g}" if isinstance(value, float) else str(value) for name, value in facts.items() if value
        }
        | stated.environment,
        reported_options=stated.option_texts,
        reported_notes=stated.notes,
    )


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


def merge_rows(group: Group) -> ReportedResult:
    """Throughputs add up; mean response times are weighted by throughput; the largest maximum is the maximum.

    Processor time of the host counts once, and only if all rows state the same.
    """
    points = group.points
    if len(points) == 1:
        only = points[0]
        return ReportedResult(
            throughput_tps=only.throughput_tps,
            throughput_tps_by_instance={only.instance: only.throughput_tps} if only.instance else {},
            response_ms=only.response_ms,
            host_cpu=only.host_cpu,
        )
    return ReportedResult(
        throughput_tps=sum(point.throughput_tps for point in points),
        throughput_tps_by_instance={point.instance: point.throughput_tps for point in points},
        response_ms=_response_ms(group),
        host_cpu={mode: share for mode, share in points[0].host_cpu.items() if _all_state(group, mode, share)},
    )


def lost_statistics(group: Group) -> tuple[str, ...]:
    """What the rows state and the merged result cannot: names of percentiles, and of modes of the processor."""
    merged = merge_rows(group)
    stated = {name for point in group.points for name in (*point.response_ms, *point.host_cpu)}
    return tuple(sorted(stated - merged.response_ms.keys() - merged.host_cpu.keys()))


def _all_state(group: Group, mode: str, share: float) -> bool:
    return all(point.host_cpu.get(mode) == share for point in group.points)


def _response_ms(group: Group) -> dict[str, float]:
    merged = {}
    throughput_tps = sum(point.throughput_tps for point in group.points)
    if throughput_tps > 0 and all("mean" in point.response_ms for point in group.points):
        weighted = sum(point.response_ms["mean"] * point.throughput_tps for point in group.points)
        merged["mean"] = weighted / throughput_tps
    if all("max" in point.response_ms for point in group.points):
        merged["max"] = max(point.response_ms["max"] for point in group.points)
    return merged


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
    yield _listed_names(
        "response times", [f"{column.name} ({column.means.part})" for column in columns if column.role is Role.RESPONSE]
    )
    yield _listed_names(
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


def _listed_names(what: str, names: list[str]) -> str:
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
    by_system: dict[SystemKey, list[Group]] = {}
    for group in groups:
        by_system.setdefault(group.system, []).append(group)
    return by_system


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
