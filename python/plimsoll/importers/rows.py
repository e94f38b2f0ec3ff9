"""One row of a published table, understood: numbers in the units used inside, faults with line, value and cure.

Deliberately not here: what several rows make together (`table`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from plimsoll.importers.columns import HOST_ROLES, Column, Role, TableOptions
from plimsoll.importers.csv_table import CsvTable, Row

UNKNOWN = "unknown"
"""The value of a factor that the table leaves empty."""

_LEVEL_MAX = 10_000_000
_NUMBER_MAX = 1e12


@dataclass(frozen=True, slots=True)
class Point:
    """What one row says.

    Attributes:
        line: Where it stands in the file.
        system: As the table or the user calls it, without the factors.
        factors: Name and value as text of everything that tells systems apart, in the order of the columns.
        instance_factors: The same for sizes of one instance, which may differ within a system.
        level: Connections in total; None when only those of each instance are stated.
        level_per_instance: Connections of each instance; None when only the total is stated.
        instance: Which of several instances the row is about; empty when it is about the whole system.
        instances: How many servers the system has, where the table says it.
        repetition: As the table calls it; empty when it does not.
        throughput_tps: Transactions per second.
        response_ms: Milliseconds by statistic.
        host_cpu: 0..1 by mode.
    """

    line: int
    system: str
    workload: str
    factors: tuple[tuple[str, str], ...] = ()
    instance_factors: tuple[tuple[str, str], ...] = ()
    level: int | None = None
    level_per_instance: int | None = None
    instance: str = ""
    instances: int | None = None
    repetition: str = ""
    throughput_tps: float = 0.0
    response_ms: dict[str, float] = field(default_factory=dict)
    host_cpu: dict[str, float] = field(default_factory=dict)
    cpu_model: str | None = None
    cores: int | None = None
    memory_bytes: int | None = None
    cost_per_month: float | None = None


class RowReader:
    """Reads the rows of one table and keeps the faults of all of them.

    Attributes:
        faults: One line each, in the order of the rows.
    """

    def __init__(self, table: CsvTable, columns: tuple[Column, ...], options: TableOptions, workload: str) -> None:
        self._points_may_part_thousands = table.delimiter != ","
        self._columns = columns
        self._system = options.system or ""
        self._workload = options.workload or workload
        self._per_instance = any(column.role is Role.INSTANCE for column in columns)
        self.faults: list[str] = []

    def read(self, row: Row) -> Point:
        """What the row says. Where it has a fault, the fault is noted and the value left out."""
        return Point(
            line=row.line,
            system=self._text(row, Role.SYSTEM) or self._system,
            workload=self._text(row, Role.WORKLOAD) or self._workload,
            factors=self._factors(row, of_instance=False),
            instance_factors=self._factors(row, of_instance=True),
            level=self._whole(row, Role.LEVEL, required=True),
            level_per_instance=self._whole(row, Role.LEVEL_PER_INSTANCE, required=True),
            instance=self._text(row, Role.INSTANCE) or "",
            instances=self._whole(row, Role.INSTANCES),
            repetition=self._text(row, Role.REPETITION) or "",
            throughput_tps=self._parts(row, Role.THROUGHPUT, required=True).get("", 0.0),
            response_ms=self._parts(row, Role.RESPONSE),
            host_cpu=self._shares(row),
            cpu_model=self._text(row, Role.CPU_MODEL, required=False),
            cores=self._whole(row, Role.CORES),
            memory_bytes=self._memory_bytes(row),
            cost_per_month=self._parts(row, Role.COST).get(""),
        )

    def _of(self, role: Role) -> list[Column]:
        return [column for column in self._columns if column.role is role]

    def _fault(self, row: Row, column: Column, text: str) -> None:
        self.faults.append(f"line {row.line}: {column.name}: {text}, is {row.cells[column.index]!r}")

    def _text(self, row: Row, role: Role, *, required: bool = True) -> str | None:
        for column in self._of(role):
            if row.cells[column.index]:
                return row.cells[column.index]
            if required:
                self._fault(row, column, "must not be empty")
        return None

    def _number(self, row: Row, column: Column, *, required: bool) -> float | None:
        text = row.cells[column.index]
        if not text and not required:
            return None
        if not re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", text, re.ASCII):
            self._fault(row, column, "must be a number such as 1234.5 (no thousands separator, decimal point)")
            return None
        if abs(float(text)) > _NUMBER_MAX:
            self._fault(row, column, f"must be at most {_NUMBER_MAX:g}")
            return None
        if self._points_may_part_thousands and re.fullmatch(r"[1-9]\d{0,2}\.\d{3}", text, re.ASCII):
            self._fault(row, column, f"may be {text}0 or {text.replace('.', '')}: write it so")
            return None
        if float(text) < 0:
            self._fault(row, column, "must not be negative")
            return None
        return float(text)

    def _parts(self, row: Row, role: Role, *, required: bool = False) -> dict[str, float]:
        """The numbers of all columns of a role, by part, in the unit used inside."""
        numbers = [(column.means, self._number(row, column, required=required)) for column in self._of(role)]
        return {means.part: number * means.scale for means, number in numbers if number is not None}

    def _shares(self, row: Row) -> dict[str, float]:
        shares = self._parts(row, Role.HOST_CPU)
        for column in self._of(Role.HOST_CPU):
            if shares.get(column.means.part, 0.0) > 1.0:
                self._fault(row, column, "must be at most 100 percent (a ratio: at most 1)")
        return shares

    def _whole(self, row: Row, role: Role, *, required: bool = False) -> int | None:
        for column in self._of(role):
            number = self._number(row, column, required=required)
            if number is None:
                return None
            if number == int(number) and 1 <= number <= _LEVEL_MAX:
                return int(number)
            self._fault(row, column, f"must be a whole number, 1 to {_LEVEL_MAX}")
        return None

    def _memory_bytes(self, row: Row) -> int | None:
        gib = self._parts(row, Role.MEMORY).get("")
        return None if gib is None else int(gib * 2**30)

    def _factors(self, row: Row, *, of_instance: bool) -> tuple[tuple[str, str], ...]:
        """Factors in the order of the columns, facts about the host last."""

        def belongs(column: Column) -> bool:
            return (self._per_instance and column.key.endswith("_per_instance")) == of_instance

        told = [column for column in self._of(Role.FACTOR) if belongs(column)]
        hosts = [column for column in self._columns if column.role in HOST_ROLES | {Role.INSTANCES}]
        shown = told if of_instance else told + hosts
        return tuple((column.key, row.cells[column.index] or UNKNOWN) for column in shown)
