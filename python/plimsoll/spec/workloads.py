"""The `[[workload]]`s of a study file that name workload files: read, checked, and in the form of the engine.

Shipped files are named without path and ending, others by their path from the study file. What is kept and compared is
what a file says, not where it lies, with what a `[[workload]]` changes in it. Workloads are held against each other,
and transactions and generated values become what the engine reads (`TransactionPlan` of its protocol).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from plimsoll.errors import Fault, Loc, SpecError
from plimsoll.regular_file import read_regular, text_regular
from plimsoll.spec.fields import Name, Written
from plimsoll.spec.generator_plan import generator_plan, null_ratio
from plimsoll.spec.generators import CountedKey, DistributionSpec, Generator, NextKey
from plimsoll.spec.oltp import WorkloadSpec
from plimsoll.spec.tpcc import TPCC, TpccSpec
from plimsoll.spec.transactions import (
    Group,
    Lists,
    SqlText,
    StatementSpec,
    Times,
    TransactionSpec,
    Values,
    ValueSpec,
    group_of,
    lists_of,
    read_sql,
    variants,
)
from plimsoll.spec.workload_file import WorkloadFile, counter_of, counters_of, given_to, parse_workload
from plimsoll.spec.workload_tables import TableSpec, column_type, foreign_key_plans, referred_keys


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
        busy = tuple(transaction.model_copy(update={"think_time": None}) for transaction in file.transaction)
        workload = self.model_copy()
        workload.__dict__["definition"] = file.model_copy(update={"transaction": busy})  # where cached_property looks
        return workload

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
        return [
            read_sql(text)
            for each in self.definition.transaction
            for statement in each.statement
            for text in statement.texts
        ]

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
        fields = self.definition.model_dump(mode="json", exclude=exclude, by_alias=True)
        return {"name": self.name, "prepared": self.is_prepared, **fields}

    def options(self) -> dict[str, Any]:
        """What recordings keep of it, the whole file included."""
        file = self.definition
        think_times = {
            transaction.name: transaction.pause for transaction in file.transaction if transaction.pause is not None
        }
        return {
            "file": Path(self.file).name,
            "rows": {table.name: table.rows for table in file.table},
            "weights": {transaction.name: transaction.weight for transaction in file.transaction},
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
            "transactions": [transaction_line(transaction, file) for transaction in file.transaction],
            "prepared": self.is_prepared,
        }

    def data_line(self) -> dict[str, Any]:
        """As the load engine reads it, to make its rows; without the seed."""
        file = self.definition
        return {"kind": self.kind, "tables": [_table(table, file) for table in file.table]}


WORKLOADS_FILE = "workload-files.json"
"""The workload files of a study, within its folder."""


def _keys(written: object) -> Collection[str]:
    return written if isinstance(written, dict) else type(written).model_fields if isinstance(written, Written) else ()


def _tag(written: object) -> str:
    if "file" in _keys(written):
        return "(file)"
    kind = written.get("kind") if isinstance(written, dict) else getattr(written, "kind", None)
    return "(tpcc)" if kind == TPCC else "(built in)"


WrittenWorkload = Annotated[
    Annotated[WorkloadSpec, Tag("(built in)")]
    | Annotated[StatementsSpec, Tag("(file)")]
    | Annotated[TpccSpec, Tag("(tpcc)")],
    Discriminator(_tag),
]
"""One `[[workload]]`: from a file if it names one."""


def kept_files(folder: Path) -> dict[str, str]:
    """Texts of the workload files that a study's folder keeps, by the name that its study file uses.

    Raises:
        SpecError: They are damaged.
    """
    path = folder / WORKLOADS_FILE
    try:
        kept = json.loads(read_regular(path))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError):
        raise SpecError(f"{path}: cannot be read; run the study from its own file, not from its folder") from None
    return {str(name): str(text) for name, text in kept.items()} if isinstance(kept, dict) else {}


def read_workloads(written: dict[str, Any], read_file: ReadFile) -> Iterator[Fault]:
    """Puts the text of each workload file beside its name; tells which cannot be read."""
    listed = written.get("workload")
    for index, workload in enumerate(listed if isinstance(listed, list) else ()):
        if not isinstance(workload, dict) or not isinstance(workload.get("file"), str):
            continue
        if "text" in workload:
            yield Fault(("workload", index, "text"), "is not a known key")
        if "kind" in workload:
            yield Fault(("workload", index, "kind"), "does not go with file; leave one of them out")
            del workload["kind"]
        try:
            workload["text"] = read_file(workload["file"])
        except SpecError as error:
            workload["text"] = ""
            yield Fault(("workload", index, "file"), str(error))


def definition_faults(place: Loc, workload: StatementsSpec) -> Iterator[Fault]:
    """What is wrong in a workload file; nothing about one that could not be read."""
    if not workload.text:
        return
    try:
        _ = workload.definition
    except SpecError as error:
        yield from (Fault((*place, "file"), f"{workload.file}: {fault}") for fault in error.faults)


def different_rows(workloads: Iterable[Workload]) -> Iterator[Fault]:
    """The OLTP workloads of a study have the same rows."""
    built_in = [
        (index, workload.data_line()) for index, workload in enumerate(workloads) if isinstance(workload, WorkloadSpec)
    ]
    for index, line in built_in[1:]:
        base, wanted = built_in[0]
        for key, value in line.items():
            if value != wanted[key]:
                written = _ROW_KEYS.get(key, key)
                yield Fault(
                    ("workload", index, written),
                    f"is {_value_words(key, value)}, but {_value_words(key, wanted[key])} in"
                    f" workload[{base}]; the workloads of a study share their tables, so make them equal or write two"
                    " studies",
                )


_ROW_KEYS = {"layout": "kind", "empty": "kind", "distribution": "k_distribution"}
"""What users write, by the name that it has where rows are made."""


def _value_words(key: str, value: object) -> str:
    """What rows are made by, as people read it."""
    if key == "empty":
        return "for tables without rows" if value else "for tables with rows"
    return f"for tables of {value}" if key == "layout" else str(value)


def shared_table_faults(workloads: Iterable[Workload]) -> Iterator[Fault]:
    """Tables of one name must be described alike by all workloads that have them."""
    seen: dict[str, tuple[int, object]] = {}
    for index, workload in enumerate(workloads):
        if not is_sound(workload):
            continue
        for name, shape in _tables(workload):
            first, known = seen.setdefault(name.lower(), (index, shape))
            if known != shape:
                yield Fault(
                    ("workload", index),
                    f"describes the table {name!r} otherwise than workload[{first}] does; the"
                    " workloads of a study share their tables, so make them equal, or give the table another name",
                )


def is_sound(workload: Workload) -> bool:
    """Whether it can be asked what it does; a file that is wrong cannot."""
    return not isinstance(workload, StatementsSpec) or (workload.text != "" and not [*definition_faults((), workload)])


def _tables(workload: Workload) -> Iterator[tuple[str, object]]:
    if isinstance(workload, StatementsSpec):
        yield from ((table["name"], table) for table in workload.data_line()["tables"])
    elif isinstance(workload, TpccSpec):
        yield from ((name, workload.tables_line()) for name in workload.table_names)
    else:
        yield from ((name, "of OLTP workloads") for name in workload.table_names)


FILE_BYTES_MAX = 1_000_000

ReadFile = Callable[[str], str]
"""Gives the text of a workload file by the name that a user wrote."""

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
            **generated(column.generator, file),
        }
        for column in table.column
    ]
    indexes = [
        {
            "name": name,
            "columns": list(index.columns),
            "unique": index.unique,
            **({"lengths": list(index.lengths)} if any(index.lengths) else {}),
        }
        for name, index in zip(table.index_names, table.index, strict=True)
    ]
    made = {"name": table.name, "rows": table.rows, "primary_key": list(table.key)}
    keys = foreign_key_plans(table, file.tables)
    return {**made, "columns": columns, "indexes": indexes, **({"foreign_keys": keys} if keys else {})}


def generated(spec: Generator, file: WorkloadFile) -> dict[str, Any]:
    """A generator without faults, and how many of its values are NULL."""
    plan = generator_plan(spec, referred_keys(spec, file.tables))
    return {"generator": plan, "null_ratio": null_ratio(spec)}


def transaction_line(spec: TransactionSpec, file: WorkloadFile) -> dict[str, Any]:
    """A transaction without faults."""
    think = spec.think_time
    lists = lists_of(spec.values)
    statements = []
    for statement in spec.statement:
        for name, value in statement.values.items():
            lists = lists.after(name, value)
        statements.append(_statement(statement, file, lists))
    return {
        "name": spec.name,
        "weight": spec.weight,
        "begin": spec.begin,
        "on_source": spec.on_source,
        "isolation": spec.isolation or "server_default",
        "values": _values(spec.values, file),
        "statements": statements,
        "loops": [*_loops(spec)],
        "rollback_ratio": spec.rollback_ratio,
        "think_time": None if think is None else {"min_ms": think[0] * 1000, "max_ms": think[1] * 1000},
    }


def _loops(spec: TransactionSpec) -> Iterator[dict[str, Any]]:
    first = 0
    for name, group in groupby(spec.statement, key=lambda statement: statement.loop):
        count = len([*group])
        if name is not None:
            yield {"first": first, "count": count, "repeat": spec.loops[name].line()}
        first += count


def _statement(spec: StatementSpec, file: WorkloadFile, lists: Lists) -> dict[str, Any]:
    texts = [read_sql(text) for text in spec.texts]
    sql, each = texts[0], [variants(spec, text, lists) for text in texts]
    if spec.by is not None:
        each = [alternatives or [text.sql] for alternatives, text in zip(each, texts, strict=True)]
    given = given_to(sql, file) if spec.by is None else None
    group = group_of(sql) if spec.rows is not None else None
    return {
        "sql": sql.sql,
        "parameters": list(sql.names),
        "values": _values(spec.values, file),
        "keep": [{"column": column, "name": name} for name, column in spec.keep.items()],
        "keep_insert_id": spec.keep_insert_id,
        "given": None if given is None else counters_of(file).index(given),
        "no_row": spec.when_no_row,
        "repeat": spec.repeat.line(),
        "rows": _rows(spec.rows, group),
        "variants": [text for alternatives in each for text in alternatives],
        "by": None if spec.by is None else {"value": spec.by, "choices": len(texts)},
    }


def _rows(rows: Times | None, group: Group | None) -> dict[str, Any] | None:
    if rows is None or group is None:
        return None
    return {"first": group.first, "count": group.count, "rows": rows.line()}


def _values(values: Values, file: WorkloadFile) -> list[dict[str, Any]]:
    return [_value(name, value, file) for name, value in values.items()]


def _value(name: str, value: ValueSpec, file: WorkloadFile) -> dict[str, Any]:
    items: dict[str, Any] = {} if value.items is None else {"items": value.items.line()}
    items |= {key: True for key in ("sorted", "distinct") if getattr(value, key)}
    same = {} if value.same_as is None else {"same": {"value": value.same_as, "ratio": value.same_ratio}}
    return {"name": name, "source": _source(value, file), **same, **items}


def _source(value: ValueSpec, file: WorkloadFile) -> dict[str, Any]:
    if value.row_number:
        return {"row_number": {}}
    if value.item_of is not None:
        return {"item_of": {"list": value.item_of}}
    if value.sum_of is not None:
        return {"sum": {"value": value.sum_of, "add": value.add or 0}}
    way = value.generator
    assert way is not None, "a value without faults is generated"
    if not isinstance(way, CountedKey):
        return {"drawn": generated(way, file)}
    counter = counters_of(file).index(counter_of(way, file))
    if isinstance(way, NextKey):
        return {"next": {"counter": counter}}
    distribution = (way.distribution or DistributionSpec()).line()
    ordered = {"scattered": False} if "scattered" in distribution else {}
    return {"recent": {"counter": counter, "within": way.within, "distribution": {**distribution, **ordered}}}
