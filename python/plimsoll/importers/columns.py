"""Columns of a published table and one of its rows, understood: one schema, and the user's words for other names.

One row is one measurement, or that of one instance; names have their unit. Names are compared without case, and blanks,
hyphens and brackets are underscores. Whatever is not in the schema is a factor that tells systems apart. Numbers get
the units used inside; a fault has line, value and cure. Deliberately not here: what several rows make together
(`table`).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from plimsoll.importers.text_files import CsvTable, Row


class Role(StrEnum):
    """What a column says about its row."""

    SYSTEM = "system"
    WORKLOAD = "workload"
    INSTANCE = "instance"
    INSTANCES = "instances"
    REPETITION = "repetition"
    LEVEL = "connections"
    LEVEL_PER_INSTANCE = "connections_per_instance"
    THROUGHPUT = "throughput"
    RESPONSE = "response"
    HOST_CPU = "host_cpu"
    COST = "cost_per_month"
    CPU_MODEL = "cpu"
    CORES = "cores"
    MEMORY = "memory_gib"
    FACTOR = "factor"
    IGNORED = "ignore"


HOST_ROLES = frozenset({Role.CPU_MODEL, Role.CORES, Role.MEMORY})
"""Facts about the machine: they tell systems apart as factors do, and are kept in the environment as well."""

STATISTICS = ("mean", "p50", "p90", "p95", "p99", "p999", "max")
MODES = ("user", "system", "iowait", "idle")


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a name of the schema says.

    Attributes:
        role: About what.
        part: Statistic of a response time (`p95`), or mode of the processor (`user`); empty otherwise.
        scale: What a number is multiplied by to get the unit used inside: per second, milliseconds, 0..1.
        unit: How a throughput is shown, `tps` or `tpm`; empty for all else.
    """

    role: Role
    part: str = ""
    scale: float = 1.0
    unit: str = ""


SCHEMA = {
    **{role.value: Meaning(role) for role in Role if role not in (Role.THROUGHPUT, Role.RESPONSE, Role.HOST_CPU)},
    "throughput_tps": Meaning(Role.THROUGHPUT, unit="tps"),
    "throughput_tpm": Meaning(Role.THROUGHPUT, scale=1 / 60, unit="tpm"),
    **{
        f"response_{unit}_{part}": Meaning(Role.RESPONSE, part, scale)
        for part in STATISTICS
        for unit, scale in (("ms", 1.0), ("us", 0.001), ("s", 1000.0))
    },
    **{
        f"cpu_{part}_{unit}": Meaning(Role.HOST_CPU, part, scale)
        for part in MODES
        for unit, scale in (("pct", 0.01), ("ratio", 1.0))
    },
}
"""What each name means; `factor` and `ignore` are for maps alone."""

_MAPPED_ONLY = (Role.FACTOR, Role.IGNORED)
_NEEDED = (("connections", "connections_per_instance"), ("throughput_tps", "throughput_tpm"), ("system",))


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """What the user says about a table that the table does not.

    Attributes:
        maps: Pairs of a column and the name of the schema that it stands for, like `("tpmC", "throughput_tpm")`.
        workload: Name of the workload, for a table without such a column.
        system: Name of the system, for a table without such a column.
    """

    maps: tuple[tuple[str, str], ...] = ()
    workload: str | None = None
    system: str | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A column and its meaning.

    Attributes:
        index: Place in the table, from 0.
        name: As the table calls it.
        key: The name as it is compared and kept.
        means: What it says.
        is_told: The user said so.
    """

    index: int
    name: str
    key: str
    means: Meaning
    is_told: bool = False

    @property
    def role(self) -> Role:
        """What it says about its row."""
        return self.means.role


def understand(names: Iterable[str], options: TableOptions) -> tuple[tuple[Column, ...], list[str]]:
    """Finds out what each column means.

    Returns:
        The columns in their order, and the faults: a map that fits nothing, two columns for one thing, a missing one.
    """
    columns = [_by_name(index, name) for index, name in enumerate(names)]
    faults = [fault for theirs, ours in options.maps if (fault := _apply_map(columns, theirs, ours))]
    faults += [*_conflicts(columns), *_missing(columns, options), *_doubly_named(columns, options)]
    return tuple(columns), faults


def _key(name: str) -> str:
    """The name as it is compared.

    >>> _key(" CPU user % "), _key("tpmC"), _key("Response-time p95 (ms)")
    ('cpu_user_pct', 'tpmc', 'response_time_p95_ms')
    """
    return re.sub(r"[\W_]+", "_", name.replace("%", " pct ")).strip("_").lower()


def _by_name(index: int, name: str) -> Column:
    meaning = SCHEMA.get(_key(name), Meaning(Role.FACTOR))
    return Column(index, name, _key(name), Meaning(Role.FACTOR) if meaning.role in _MAPPED_ONLY else meaning)


def _apply_map(columns: list[Column], theirs: str, ours: str) -> str | None:
    """Gives a column the meaning that the user told, in place; returns what is wrong with it."""
    matching = [column for column in columns if column.key == _key(theirs)]
    exact = [column for column in matching if column.name == theirs] or matching
    if len(exact) != 1:
        return f"{map_option(theirs, ours)}: there is no one column {theirs!r}. {_listed(columns)}"
    if _key(ours) not in SCHEMA:
        known = f"{', '.join(role for role in Role if role in SCHEMA)}, throughput_tps (_tpm), response_ms_p95"
        known += f" (_us, _s; {', '.join(STATISTICS)}), cpu_user_pct (_ratio; {', '.join(MODES)})"
        return f"{map_option(theirs, ours)}: {ours!r} is no name of the schema. There are: {known}"
    columns[exact[0].index] = replace(exact[0], means=SCHEMA[_key(ours)], is_told=True)
    return None


def map_option(theirs: str, ours: str) -> str:
    """The option that tells what a column means, as it is typed in a shell.

    >>> map_option("p95 of all", "response_ms_p95")
    "--map 'p95 of all=response_ms_p95'"
    """
    return f"--map {shlex.quote(f'{theirs}={ours}')}"


def _listed(columns: Iterable[Column]) -> str:
    return f"The columns are: {', '.join(column.name for column in columns)}"


def _conflicts(columns: list[Column]) -> Iterator[str]:
    for column in columns:
        later = [other for other in columns if other.index > column.index]
        same = [other for other in later if (other.role, other.means.part) == (column.role, column.means.part)]
        if same and column.role not in _MAPPED_ONLY:
            names = ", ".join(duplicate.name for duplicate in (column, *same))
            meaning = f"{column.role} {column.means.part}".strip()
            yield f"columns {names}: all mean {meaning}. Leave all but one out with --map COLUMN={Role.IGNORED}"
        if any(other.key == column.key for other in later):
            yield f"column {column.name}: another one has the same name but for case and blanks. Rename one."


def _missing(columns: list[Column], options: TableOptions) -> Iterator[str]:
    for names in _NEEDED:
        if {SCHEMA[name].role for name in names} & {column.role for column in columns}:
            continue
        if names == ("system",) and options.system:
            continue
        cure = " or ".join(map_option(_likely(columns, name), name) for name in names)
        option = "--system NAME, or " if names == ("system",) else ""
        yield f"no column is called {' or '.join(names)}. Say {option}{cure}. {_listed(columns)}"


def _likely(columns: list[Column], ours: str) -> str:
    """The column that a map would name: one that shares a word with the name; else a place to fill in."""
    words = set(ours.split("_"))
    names = [column.name for column in columns if column.role is Role.FACTOR and words & set(column.key.split("_"))]
    return names[0] if len(names) == 1 else "COLUMN"


def _doubly_named(columns: list[Column], options: TableOptions) -> Iterator[str]:
    roles = {column.role: column.name for column in columns}
    for role, name in ((Role.SYSTEM, options.system), (Role.WORKLOAD, options.workload)):
        if name and role in roles:
            cure = map_option(roles[role], Role.FACTOR)
            yield f"--{role} {name}: the column {roles[role]} says it. Leave the option out, or say {cure}"


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

        factors = [column for column in self._of(Role.FACTOR) if belongs(column)]
        hosts = [column for column in self._columns if column.role in HOST_ROLES | {Role.INSTANCES}]
        shown = factors if of_instance else factors + hosts
        return tuple((column.key, row.cells[column.index] or UNKNOWN) for column in shown)
