"""Published tables of results become recordings, so that they take the same road as measured ones.

Deliberately not here: what columns mean (`columns`), reading them (`csv_table`, `rows`), and any statistic. Nothing is
guessed: what a table leaves open is said in the report, and what could be read in two ways is a fault with its cure.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from plimsoll.importers.columns import Column, Role, TableOptions, map_option, understand
from plimsoll.importers.csv_table import CsvTable, raise_faults, read_csv
from plimsoll.importers.grouping import Group, group_points, splitting_columns
from plimsoll.importers.merge import merge_rows
from plimsoll.importers.report import report_lines
from plimsoll.importers.rows import Point, RowReader
from plimsoll.importers.systems import SystemKey, name_systems
from plimsoll.importers.trials import ImportedTrial, ImportResult
from plimsoll.record.environment import Environment, HostFacts, InstanceFacts
from plimsoll.record.level import Level
from plimsoll.record.model import Outcome, SystemRecord, TrialRecord, Verdict, WorkloadRecord
from plimsoll.record.origin import Origin


def import_table(csv_path: Path, *, study_name: str, options: TableOptions | None = None) -> ImportResult:
    """Reads a table of published results: a CSV file whose first line names the columns.

    Args:
        csv_path: The file: UTF-8; comma, semicolon or tab.
        study_name: The study that the recordings will belong to.
        options: What the table does not say itself.

    Raises:
        SpecError: All faults at once, each with line, value and cure.
    """
    options = options or TableOptions()
    table = read_csv(csv_path)
    columns, faults = understand(table.columns, options)
    _raise(csv_path, faults)
    reader = RowReader(table, columns, options, workload=csv_path.stem)
    points = [reader.read(row) for row in table.rows]
    _raise(csv_path, reader.faults + _equal_rows(table) + _split_faults(columns, points))
    groups, faults = group_points(points)
    _raise(csv_path, faults)
    names = name_systems(dict.fromkeys(group.system for group in groups))
    builder = _Builder(study_name, csv_path.name, columns, names)
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

    def __init__(self, study: str, file_name: str, columns: tuple[Column, ...], names: Mapping[SystemKey, str]) -> None:
        self._study = study
        self._file_name = file_name
        self._names = names
        self._rate_unit = next(column.means.unit for column in columns if column.role is Role.THROUGHPUT)

    def build(self, position: int, group: Group) -> ImportedTrial:
        trial = TrialRecord(
            trial_id=_trial_id(group),
            study=self._study,
            system=self._system(group),
            workload=WorkloadRecord(name=group.first.workload, rate_unit=self._rate_unit),
            level=Level(connections=group.connections, connections_per_instance=group.first.level_per_instance),
            repetition=group.repetition,
            position=position,
            origin=Origin(kind="imported-table", detail=f"{self._file_name}, {_show_lines(group.lines)}"),
        )
        outcome = Outcome(verdict=Verdict.COMPLETE, reported=merge_rows(group))
        return ImportedTrial(trial, _environment(group), outcome)

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


def _environment(group: Group) -> Environment:
    first = group.first
    told = {
        "cpu": first.cpu_model,
        "cores": first.cores,
        "memory_gib": first.memory_bytes and first.memory_bytes / 2**30,
    }
    return Environment(
        host=HostFacts(cpu_model=first.cpu_model, cpu_cores=first.cores, memory_bytes=first.memory_bytes),
        instances=tuple(InstanceFacts(name=point.instance) for point in group.points if point.instance),
        reported={
            name: f"{value:g}" if isinstance(value, float) else str(value) for name, value in told.items() if value
        },
    )
