"""A `[[workload]]` that names a workload file, with what it changes in it; and what follows from it for the engine.

Shipped files are named without path and ending, others by their path from the study file. What is kept and compared is
what a file says, not where it lies.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from plimsoll.errors import SpecError
from plimsoll.regular_file import text_regular
from plimsoll.spec.fields import Name, Written
from plimsoll.spec.foreign_keys import column_type, foreign_key_plans
from plimsoll.spec.key_counters import counters_of
from plimsoll.spec.sql_text import SqlText, read_sql
from plimsoll.spec.tpcc import TpccSpec
from plimsoll.spec.transaction_plan import generated, transaction_line
from plimsoll.spec.workload import WorkloadSpec
from plimsoll.spec.workload_file import WorkloadFile, parse_workload
from plimsoll.spec.workload_tables import TableSpec

FILE_BYTES_MAX = 1_000_000

ReadFile = Callable[[str], str]
"""Gives the text of a workload file by the name that a user wrote."""


class StatementsSpec(Written):
    """A workload from a file.

    Attributes:
        file: As the user named it.
        rows: By table, another number of rows than the file has.
        parameters: By name, other values than the file has.
        prepared: Statements are prepared; what the file says when not given.
        text: All of the file.
    """

    name: Name
    file: str
    rows: dict[str, int] = Field(default_factory=dict)
    parameters: dict[str, Any] = Field(default_factory=dict)
    prepared: bool | None = None
    text: str

    @property
    def kind(self) -> Literal["statements"]:
        """What the engine calls it."""
        return "statements"

    @cached_property
    def definition(self) -> WorkloadFile:
        """What the file says, with the changes.

        Raises:
            SpecError: Its faults, all at once.
        """
        return parse_workload(self.text, rows=self.rows, parameters=self.parameters)

    def without_pauses(self) -> StatementsSpec:
        """The same, but connections do not think after a transaction."""
        file = self.definition
        busy = tuple(one.model_copy(update={"think_time": None}) for one in file.transaction)
        found = self.model_copy()
        found.__dict__["definition"] = file.model_copy(update={"transaction": busy})  # where cached_property looks
        return found

    @property
    def is_prepared(self) -> bool:
        """Whether statements are prepared."""
        return self.definition.prepared if self.prepared is None else self.prepared

    @property
    def writes(self) -> bool:
        """Whether it may change rows."""
        return any(sql.writes for sql in self._statements)

    @property
    def changes_row_count(self) -> bool:
        """Whether there may be more or fewer rows after it."""
        return any(sql.writes and sql.first_word != "UPDATE" for sql in self._statements)

    @property
    def _statements(self) -> list[SqlText]:
        return [read_sql(text) for each in self.definition.transaction for one in each.statement for text in one.texts]

    @property
    def table_names(self) -> list[str]:
        """Its tables."""
        return [table.name for table in self.definition.table]

    @property
    def rows_count(self) -> int:
        """Rows of all tables together once they are made."""
        return sum(table.rows for table in self.definition.table)

    def identity(self) -> dict[str, Any]:
        """What makes it this workload and no other: not where its file lies, nor comments in it."""
        exclude = {"description", "parameters", "prepared", "learned"}
        said = self.definition.model_dump(mode="json", exclude=exclude, by_alias=True)
        return {"name": self.name, "prepared": self.is_prepared, **said}

    def options(self) -> dict[str, Any]:
        """What recordings keep of it, the whole file included."""
        file = self.definition
        think_times = {one.name: one.pause for one in file.transaction if one.pause is not None}
        return {
            "file": Path(self.file).name,
            "rows": {table.name: table.rows for table in file.table},
            "weights": {one.name: one.weight for one in file.transaction},
            **({"think_time": think_times} if think_times else {}),
            "parameters": {n: v if isinstance(v, int | float) else str(v) for n, v in file.parameters.items()},
            "prepared": self.is_prepared,
            "definition": self.text,
        }

    def line(self) -> dict[str, Any]:
        """As the load engine reads it, to run it."""
        file = self.definition
        return {
            "kind": self.kind,
            "tables": self.table_names,
            "counters": [{"table": table, "column": column} for table, column in counters_of(file)],
            "transactions": [transaction_line(one, file) for one in file.transaction],
            "prepared": self.is_prepared,
        }

    def data_line(self) -> dict[str, Any]:
        """As the load engine reads it, to make its rows; without the seed."""
        file = self.definition
        return {"kind": self.kind, "tables": [_table(one, file) for one in file.table]}


Workload = WorkloadSpec | StatementsSpec | TpccSpec
"""What clients do, whoever wrote it."""


def data_sets(workloads: Iterable[Workload]) -> tuple[Workload, ...]:
    """Of workloads that share their tables, the first; before others one that has procedures made too."""
    chosen: dict[str, Workload] = {}
    for workload in workloads:
        line = workload.tables_line() if isinstance(workload, TpccSpec) else workload.data_line()
        key = json.dumps(line, sort_keys=True)
        if key not in chosen or (isinstance(workload, TpccSpec) and workload.mode == "procedures"):
            chosen[key] = workload
    return tuple(chosen.values())


def shipped() -> dict[str, Path]:
    """Workload files that come with Plimsoll, by name."""
    folder = Path(str(files("plimsoll") / "workloads"))
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def reader(folder: Path, kept: Mapping[str, str] | None = None) -> ReadFile:
    """Reads workload files: those that are kept in a study's folder, those that are shipped, and those below `folder`.

    Args:
        folder: What paths are relative to.
        kept: Texts by the name that the study file uses; they go before all others.
    """

    def read(name: str) -> str:
        if kept is not None and name in kept:
            return kept[name]
        path = shipped().get(name) or folder / name
        try:
            return text_regular(path, FILE_BYTES_MAX)
        except OSError as error:
            known = ", ".join(shipped())
            raise SpecError(f"{path} cannot be read: {error.strerror}; shipped are {known}") from None
        except UnicodeDecodeError:
            raise SpecError(f"{str(path)!r} is no UTF-8 text") from None

    return read


def _table(table: TableSpec, file: WorkloadFile) -> dict[str, Any]:
    columns = [
        {
            "name": column.name,
            "sql_type": column_type(table, column, file.tables),
            "nullable": column.takes_null,
            "auto_increment": column.auto_increment,
            **generated(column, file),
        }
        for column in table.column
    ]
    indexes = [
        {
            "name": name,
            "columns": list(one.columns),
            "unique": one.unique,
            **({"lengths": list(one.lengths)} if any(one.lengths) else {}),
        }
        for name, one in zip(table.index_names, table.index, strict=True)
    ]
    made = {"name": table.name, "rows": table.rows, "primary_key": list(table.key)}
    keys = foreign_key_plans(table, file.tables)
    return {**made, "columns": columns, "indexes": indexes, **({"foreign_keys": keys} if keys else {})}
