"""A workload file as users write it: tables, transactions and parameters; all faults at once.

Parameters are put in first: `"$name"` stands for a value, `"$name * 10"` for ten times it. So that all faults are told
at once, what is wrong in itself is taken out or replaced by something harmless, and what does not hold between the
other parts is then found in what is left. Names that are used must exist, values come before their use, loops are of
one piece, and items of lists rise or are all different where it is said. Some values follow the keys of a table as it
grows: the next one, the newest ones.

Deliberately not here: its tables (`workload_tables`), what transactions do (`transactions`), `[learned]` (`learned`),
and where files lie (`workloads`).
"""

from __future__ import annotations

import contextlib
import copy
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, reduce
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError

from plimsoll.errors import Fault, Loc, SpecError, within
from plimsoll.spec.fields import GENERATOR, ValueName, Written, a_list, faults_of, parse_toml, sound_path
from plimsoll.spec.generator_plan import generator_plan, reach_faults, sql_type
from plimsoll.spec.generators import GENERATOR_KEYS, CountedKey, Decimal, Generator
from plimsoll.spec.learned_section import CheckedKind, LearnedCheck, LearnedSpec
from plimsoll.spec.transactions import (
    PARAMETERS_MAX,
    ItemsOf,
    Lists,
    SqlText,
    StatementSpec,
    Times,
    TransactionSpec,
    Values,
    ValueSpec,
    read_sql,
    variant_faults,
)
from plimsoll.spec.workload_tables import (
    ColumnSpec,
    ForeignKeySpec,
    IndexSpec,
    Tables,
    TableSpec,
    reference_faults,
    referred_keys,
    repeated,
    table_faults,
)

TABLES_MAX = 10_000


class WorkloadFile(Written):
    """A whole workload file, its parameters put in.

    Attributes:
        description: What it is for; shown nowhere but in the file.
        prepared: Statements are prepared once for each connection; otherwise they are sent as text.
        parameters: Names for values: `"$name"` anywhere else stands for one, `"$name * 10"` for ten times it.
        learned: The log that it was learned from; changes nothing that runs.
    """

    description: str | None = None
    prepared: bool = True
    parameters: dict[ValueName, Any] = Field(default_factory=dict)
    table: Annotated[tuple[TableSpec, ...], BeforeValidator(a_list)] = ()
    transaction: Annotated[tuple[TransactionSpec, ...], BeforeValidator(a_list), Field(min_length=1)]
    learned: LearnedSpec | None = None

    @cached_property
    def tables(self) -> dict[str, TableSpec]:
        """By name."""
        return {table.name: table for table in self.table}


_KNOWN = {
    "": tuple(WorkloadFile.model_fields),
    "table": tuple(TableSpec.model_fields),
    GENERATOR: GENERATOR_KEYS,
    "table.column": ("name", "type", "auto_increment", "nullable", *GENERATOR_KEYS),
    "table.index": tuple(IndexSpec.model_fields),
    "table.foreign_key": tuple(ForeignKeySpec.model_fields),
    "transaction": tuple(TransactionSpec.model_fields),
    "transaction.statement": tuple(StatementSpec.model_fields),
    "learned": tuple(field.alias or name for name, field in LearnedSpec.model_fields.items()),
    "learned.check": tuple(LearnedCheck.model_fields),
    "learned.check.figures": tuple(CheckedKind.model_fields),
}


def parse_workload(
    text: str, *, rows: Mapping[str, int] | None = None, parameters: Mapping[str, Any] | None = None
) -> WorkloadFile:
    """Checks the text of a workload file.

    Args:
        text: All of it.
        rows: By table, another number of rows than the file has.
        parameters: By name, other values than the file has.

    Raises:
        SpecError: All faults at once, one line each.
    """
    written = parse_toml(text, "workload file")
    faults = [*overridden(written, rows or {}, parameters or {})]
    written, unknown = filled(written)
    faults += unknown
    try:
        file = WorkloadFile.model_validate(written)
    except ValidationError as error:
        explained = {fault.path for fault in faults}
        faults += (fault for fault in faults_of(error, known=_KNOWN) if fault.path not in explained)
        faults += _between_sound_parts(written, [detail["loc"] for detail in error.errors()])
        raise SpecError(*faults) from None
    faults += contradictions(file)
    if faults:
        raise SpecError(*faults)
    return file


def _between_sound_parts(written: dict[str, Any], locs: list[Loc]) -> Iterator[Fault]:
    """What else does not hold in a file that is wrong at these places."""
    try:
        file = WorkloadFile.model_validate(without(written, locs))
    except ValidationError:
        return
    yield from untouched(contradictions(file), written, locs)


def overridden(written: dict[str, Any], rows: Mapping[str, int], parameters: Mapping[str, Any]) -> Iterator[Fault]:
    """Puts other numbers of rows and other parameters in; tells which there are none of."""
    listed = written.get("table")
    tables = [table for table in listed if isinstance(table, dict)] if isinstance(listed, list) else []
    for name, count in rows.items():
        matching = [table for table in tables if table.get("name") == name]
        if not matching:
            known = ", ".join(str(table.get("name")) for table in tables)
            yield Fault(("rows", name), f"there is no such table; the file has {known or 'none'}")
        for table in matching:
            table["rows"] = count
    stated = written.get("parameters")
    known_parameters = stated if isinstance(stated, dict) else {}
    for name, value in parameters.items():
        if name in known_parameters:
            known_parameters[name] = value
        else:
            known = ", ".join(known_parameters)
            yield Fault(("parameters", name), f"there is no such parameter; the file has {known or 'none'}")


_REFERENCE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)(?: ?\* ?(\d{1,18}|\d{1,3}(?:_\d{3}){1,5}))?")


def filled(written: dict[str, Any]) -> tuple[dict[str, Any], list[Fault]]:
    """The file with the values of its parameters in place of `"$name"`, and the names that are no parameters."""
    stated = written.get("parameters")
    values = stated if isinstance(stated, dict) else {}
    faults: list[Fault] = []

    def fill(value: Any, path: Loc) -> Any:
        if isinstance(value, dict):
            return {key: fill(item, (*path, key)) for key, item in value.items()}
        if isinstance(value, list):
            return [fill(item, (*path, index)) for index, item in enumerate(value)]
        if not isinstance(value, str) or not value.startswith("$"):
            return value
        if value.startswith("$$"):
            return value[1:]
        try:
            return _parameter(value, values)
        except ValueError as error:
            faults.append(Fault(path, str(error)))
            return value

    whole = {key: section if key == "parameters" else fill(section, (key,)) for key, section in written.items()}
    return whole, faults


def _parameter(written: str, values: Mapping[str, Any]) -> Any:
    """The value of `$name`, or of `$name * 10`."""
    match = _REFERENCE.fullmatch(written)
    if match is None or match[1] not in values:
        known = ", ".join(f"${name}" for name in values)
        raise ValueError(f"{written!r} is no parameter; known are {known or 'none'}; write $$ for a $ itself")
    value, factor = values[match[1]], match[2]
    if factor is None:
        return value
    if type(value) is not int:
        raise ValueError(f"${match[1]} must be a whole number to be multiplied, is {value!r:.80}")
    return value * int(factor)


_NAMING = frozenset(
    {
        *("values", "keep", "keep_insert_id", "sql", "loops", "loop"),
        *("name", "column", "primary_key", "columns", "foreign_key", "generate", "table"),
    }
)
"""Keys by which the parts of a table or a transaction know each other."""

_HARMLESS = {"name": "_", "rows": 1, "sql": "DO 0", "generate": "null", "type": "INT"}
"""For what must be there."""


def without(written: dict[str, Any], locs: Iterable[Loc]) -> dict[str, Any]:
    """A copy of the document without what is wrong at these places."""
    sound = copy.deepcopy(written)
    for number, loc in enumerate(locs):
        _mend(sound, loc, number)
    return sound


def untouched(faults: Iterable[Fault], written: dict[str, Any], locs: Iterable[Loc]) -> Iterator[Fault]:
    """Those of the faults of the sound part that what is wrong elsewhere has not brought about.

    Args:
        faults: Of the sound part.
        written: The whole document.
        locs: Where it is wrong in itself.
    """
    locs = [*locs]
    wrong = [sound_path(loc) for loc in locs]
    beside = {*wrong, *map(_beside_fault, locs)}
    tables = {repr(name) for loc in wrong if loc[:1] == ("table",) and (name := _name(written, loc)) is not None}
    for fault in faults:
        is_beside = any(fault.path[: len(path)] == path for path in beside)
        if not is_beside and not any(name in fault.reason for name in tables):
            yield fault


def _beside_fault(loc: Loc) -> Loc:
    """The part of the document in which nothing is told besides a fault there."""
    if GENERATOR in loc:
        return loc[: loc.index(GENERATOR)]
    return loc[:2] if len(loc) < 3 or _NAMING.intersection(map(str, loc[2:])) else sound_path(loc)


def _mend(document: Any, loc: Loc, number: int) -> None:
    """Takes out what is at a place, as far as the document goes there; what must be there gets a harmless value."""
    if GENERATOR in loc:
        made = reduce(_below, loc[: loc.index(GENERATOR)], document)
        if isinstance(made, dict):
            for key in (*GENERATOR_KEYS, loc[-1]):
                made.pop(key, None)
            made["generate"] = "null"
        return
    place, last = document, loc[0]
    for part in loc[1:]:
        below = _below(place, last)
        if not isinstance(below, dict | list) or (isinstance(below, list) and not isinstance(part, int)):
            break
        place, last = below, part
    if isinstance(place, list):
        return
    if last in _HARMLESS:
        value = _HARMLESS[str(last)]
        place[last] = f"{value}{number}" if last == "name" else value
    elif isinstance(place, dict):
        place.pop(last, None)


def _below(place: Any, part: str | int) -> Any:
    if isinstance(place, dict):
        return place.get(part)
    return place[part] if isinstance(part, int) and part < len(place) else None


def _name(written: dict[str, Any], loc: Loc) -> object:
    tables = written.get("table")
    unit = _below(tables, loc[1]) if isinstance(tables, list) and len(loc) > 1 else None
    return unit.get("name") if isinstance(unit, dict) else None


def contradictions(file: WorkloadFile) -> Iterator[Fault]:
    """All faults, each with its path, value and cure."""
    tables = file.tables
    if len(file.table) > TABLES_MAX:
        yield Fault(("table",), f"must be at most {TABLES_MAX}, are {len(file.table)}")
    yield from repeated(("table",), (table.name for table in file.table))
    yield from repeated(("transaction",), (transaction.name for transaction in file.transaction))
    for index, table in enumerate(file.table):
        yield from within(("table", index), table_faults(table, tables))
    for index, transaction in enumerate(file.transaction):
        yield from within(("transaction", index), TransactionCheck(transaction, tables).faults())


CHOICES_MAX = 1_000
"""Most statements of which a value chooses one."""


class TransactionCheck:
    """One transaction: values are known from where they are made on."""

    def __init__(self, transaction: TransactionSpec, tables: Tables) -> None:
        self._transaction, self._tables = transaction, tables
        self._known: set[str] = set()
        self._used: set[str] = set()
        self._lists = Lists()

    def faults(self) -> Iterator[Fault]:
        """All of them; what is made and never used comes last."""
        transaction = self._transaction
        if transaction.isolation is not None and not transaction.begin:
            yield Fault(("isolation",), "belongs to a transaction with begin = true")
        if transaction.rollback_ratio is not None and not transaction.begin:
            yield Fault(("rollback_ratio",), "belongs to a transaction with begin = true")
        yield from self._loops()
        yield from self._values(("values",), transaction.values, is_first=True)
        for name, times in transaction.loops.items():
            yield from self._times(("loops", name), times)
        for index, statement in enumerate(transaction.statement):
            yield from self._statement(("statement", index), statement)
        yield from (Fault(path, "is used by no statement") for path, name in self._made() if name not in self._used)

    def _loops(self) -> Iterator[Fault]:
        """Statements of one loop stand together."""
        loops = self._transaction.loops
        names = [statement.loop for statement in self._transaction.statement]
        for index, name in enumerate(names):
            if name is None:
                continue
            if name not in loops:
                yield Fault(
                    ("statement", index, "loop"), f"there is no loop {name!r}; known are {', '.join(loops) or 'none'}"
                )
            if name in names[:index] and names[index - 1] != name:
                yield Fault(
                    ("statement", index, "loop"), f"the statements of loop {name!r} must stand one after the other"
                )
        yield from (Fault(("loops", name), "is used by no statement") for name in loops if name not in names)

    def _made(self) -> Iterator[tuple[Loc, str]]:
        yield from ((("values", name), name) for name in self._transaction.values)
        for index, statement in enumerate(self._transaction.statement):
            place = ("statement", index)
            yield from (((*place, "values", name), name) for name in statement.values)
            yield from (((*place, "keep", name), name) for name in statement.keep)
            if statement.keep_insert_id:
                yield (*place, "keep_insert_id"), statement.keep_insert_id

    def _statement(self, place: Loc, statement: StatementSpec) -> Iterator[Fault]:
        yield from self._values((*place, "values"), statement.values, is_several=statement.is_several)
        if statement.rows is None:
            numbered = [name for name, value in statement.values.items() if value.row_number]
            values_place = (*place, "values")
            yield from (
                Fault((*values_place, name, "row_number"), "belongs to a statement with rows") for name in numbered
            )
        yield from self._times((*place, "repeat"), statement.repeat)
        yield from self._times((*place, "rows"), statement.rows)
        yield from within(place, self._choice(statement))
        for index, text in enumerate(statement.texts):
            path = (*place, "sql") if isinstance(statement.sql, str) else (*place, "sql", index)
            try:
                sql = read_sql(text)
            except ValueError as error:
                yield Fault(path, f"{error}, is {text[:60]!r}")
            else:
                yield from self._sql(path, sql)
                yield from within(place, variant_faults(statement, sql, self._lists))
        if statement.rows is not None:
            self._known -= statement.values.keys()
        self._known |= statement.keep.keys()
        if statement.keep_insert_id:
            self._known.add(statement.keep_insert_id)

    def _times(self, path: Loc, times: Times | None) -> Iterator[Fault]:
        """What runs as often as a list has items."""
        if isinstance(times, ItemsOf):
            yield from (Fault(path, fault) for fault in self._list(times.items_of))

    def _list(self, name: str) -> Iterator[str]:
        """A list whose items are counted, or taken one by one."""
        self._used.add(name)
        if name not in self._lists.of_transaction:
            known = ", ".join(self._lists.of_transaction) or "none"
            yield f"there is no list {name!r} among the values of the transaction; known are {known}"

    def _item(self, value: ValueSpec, *, is_several: bool) -> Iterator[Fault]:
        yield from (Fault((key,), "does not belong to item_of") for key in _beside(value, "item_of"))
        if not is_several:
            yield Fault(("item_of",), "belongs to a statement of a loop, with repeat or with rows")
        else:
            yield from (Fault(("item_of",), fault) for fault in self._list(value.item_of or ""))

    def _choice(self, statement: StatementSpec) -> Iterator[Fault]:
        """Several statements, and the value that says which of them runs."""
        if (statement.by is None) != isinstance(statement.sql, str):
            yield Fault(("by",), "belongs to a list of statements in sql, and such a list needs it")
        if statement.by is None:
            return
        self._used.add(statement.by)
        if statement.by not in self._known:
            yield Fault(("by",), f"there is no value {statement.by!r} before it")
        if not 1 <= len(statement.texts) <= CHOICES_MAX:
            yield Fault(("sql",), f"must be 1 to {CHOICES_MAX} statements, are {len(statement.texts)}")
        with contextlib.suppress(ValueError):  # told where the text stands
            if len({read_sql(text).names for text in statement.texts}) > 1:
                yield Fault(("sql",), "must all have the same values in the same order")

    def _sql(self, place: Loc, sql: SqlText) -> Iterator[Fault]:
        self._used.update(sql.names)
        for name in dict.fromkeys(sql.names):
            if name not in self._known:
                known = ", ".join(f":{known_name}" for known_name in sorted(self._known))
                yield Fault(place, f"there is no value :{name} before it; known are {known or 'none'}")
        if len(sql.names) > PARAMETERS_MAX:
            yield Fault(place, f"must have at most {PARAMETERS_MAX} values, has {len(sql.names)}")

    def _values(
        self, place: Loc, values: Values, *, is_first: bool = False, is_several: bool = False
    ) -> Iterator[Fault]:
        for name, value in values.items():
            faults = self._value(value) if value.item_of is None else self._item(value, is_several=is_several)
            yield from within((*place, name), faults)
            yield from self._times((*place, name, "list"), value.items)
            self._known.add(name)
            self._lists = self._lists.after(name, value, is_first=is_first)

    def _value(self, value: ValueSpec) -> Iterator[Fault]:
        if value.row_number:
            yield from (Fault((key,), "does not belong to row_number") for key in _beside(value, "row_number"))
            return
        if value.sum_of is None:
            if value.add is not None:
                yield Fault(("add",), "belongs to sum_of")
            assert value.generator is not None, "what is nothing else is generated"
            way, known = value.generator, self._tables
            faults = list(way.faults(in_rows=False))
            faults = faults or [*reference_faults(way, known), *counted_faults(way, known), *reach_faults(way, None)]
            yield from faults or list_faults(value, way, self._lists, known)
            yield from self._same(value)
            return
        self._used.add(value.sum_of)
        if value.sum_of not in self._known:
            yield Fault(("sum_of",), f"there is no value {value.sum_of!r} before it")
        elif value.sum_of in self._lists.known:
            yield Fault(("sum_of",), f"{value.sum_of!r} is a list; draw the list from other numbers instead")
        yield from (Fault((key,), "does not belong to sum_of") for key in _beside(value, "sum_of", "add"))

    def _same(self, value: ValueSpec) -> Iterator[Fault]:
        """An earlier value that this one often is."""
        if (value.same_as is None) != (value.same_ratio is None):
            yield Fault(("same_as",), "needs same_ratio, and that needs same_as")
        if value.same_as is None:
            return
        self._used.add(value.same_as)
        if value.items is not None:
            yield from (Fault(("same_as",), fault) for fault in self._list(value.same_as))
            item_counts, others = self._lists.counts(value.items), self._lists.of_transaction.get(value.same_as)
            if item_counts and others and (lacking := sorted(set(others.numbers) - set(item_counts.numbers))):
                counts = ", ".join(map(str, lacking))
                yield Fault(("list",), f"must be able to have as many items as {value.same_as!r}; add {counts}")
        elif value.same_as not in self._known:
            yield Fault(("same_as",), f"there is no value {value.same_as!r} before it")
        elif value.same_as in self._lists.known:
            yield Fault(("same_as",), f"{value.same_as!r} is a list; take its items with item_of")


def _beside(value: ValueSpec, *keys: str) -> list[str]:
    """What else was written of a value than some keys, as users write them."""
    written = value.model_fields_set - {*keys, "misplaced"}
    return sorted({*value.misplaced, *(ValueSpec.model_fields[field].alias or field for field in written)})


def list_faults(value: ValueSpec, way: Generator, lists: Lists, tables: Tables) -> Iterator[Fault]:
    """What is wrong, each line behind the name of its key.

    Args:
        value: Without other faults.
        way: How its items are made.
        lists: Those that are known before it.
        tables: Those of the file.
    """
    if value.items is None:
        yield from (Fault((key,), "belongs to list") for key in ("sorted", "distinct") if getattr(value, key))
        return
    if value.sorted and isinstance(way, Decimal):
        yield Fault(("sorted",), "does not belong to 'decimal': items are numbers without a point, or texts")
    if not value.distinct or isinstance(way, CountedKey):
        return
    counts = lists.counts(value.items)
    count = _values_count(generator_plan(way, referred_keys(way, tables)))
    if count is not None and counts is not None and count < counts.high:
        yield Fault(("distinct",), f"there are only {count} values for a list of up to {counts.high}")


def _values_count(plan: dict[str, Any]) -> int | None:
    """How many different values a generator of the engine's protocol makes; None where that does not matter."""
    if plan["kind"] == "choice":
        return len({value for value, weight in zip(plan["values"], plan["weights"], strict=True) if weight > 0})
    if plan["kind"] == "template":
        inside = [part["generated"] for part in plan["parts"] if "generated" in part]
        return _values_count(inside[0]) if len(inside) == 1 else None
    count: int | None = plan.get("count")
    return count


_WHOLE = re.compile(r"(TINY|SMALL|MEDIUM|BIG)?INT(EGER)?\b", re.IGNORECASE)
_INSERT = re.compile(
    r"\s*(?:INSERT|REPLACE)\s+(?:(?:LOW_PRIORITY|DELAYED|HIGH_PRIORITY|IGNORE|INTO)\s+)*(`(?:[^`]|``)*`|[\w$]+)(?!\s*\.)",
    re.IGNORECASE,
)


def counted_faults(spec: Generator, tables: Tables) -> Iterator[Fault]:
    """What is wrong with a value that follows the keys of a table, each line behind the name of its key.

    Keys are counted in a column of integers; of tables that the file does not describe nothing is known.
    """
    if not isinstance(spec, CountedKey):
        return
    table = tables.get(spec.table)
    if table is None and tables:
        yield Fault(("table",), f"there is no table {spec.table!r}; known are {', '.join(tables)}")
    elif table is None and spec.column is None:
        yield Fault(("column",), f"is missing; the file does not describe the table {spec.table!r}")
    elif table is not None and counted_column(spec, table) is None:
        yield Fault(
            ("column",),
            f"must be an integer column of {spec.table!r}, is {spec.column!r}"
            if spec.column is not None
            else f"is missing; {spec.table!r} has no integer column as its primary key",
        )


def counted_column(spec: CountedKey, table: TableSpec) -> ColumnSpec | None:
    """The column whose keys are counted; None where it is none of integers."""
    names = (spec.column,) if spec.column is not None else table.key
    key_column = next((column for column in table.column if (column.name,) == names), None)
    is_whole = key_column is not None and _WHOLE.match(key_column.type or sql_type(key_column.generator, None))
    return key_column if is_whole else None


def counters_of(file: WorkloadFile) -> list[tuple[str, str]]:
    """Tables and columns whose keys are counted, in the order in which a file without faults names them."""
    values = [value for each in file.transaction for value in each.values.values()]
    values += [value for each in file.transaction for st in each.statement for value in st.values.values()]
    ways = [value.generator for value in values]
    counters = (counter_of(way, file) for way in ways if isinstance(way, CountedKey))
    return [*dict.fromkeys(counters)]


def counter_of(spec: CountedKey, file: WorkloadFile) -> tuple[str, str]:
    """The table and the column of a value without faults."""
    table = next((table for table in file.table if table.name == spec.table), None)
    column = counted_column(spec, table) if table is not None else None
    return spec.table, column.name if column is not None else spec.column or ""


def given_to(sql: SqlText, file: WorkloadFile) -> tuple[str, str] | None:
    """The counter that follows the AUTO_INCREMENT values that a statement is given."""
    match = _INSERT.match(sql.sql)
    if match is None:
        return None
    name = match[1].strip("`").replace("``", "`").lower()
    numbered = {(table.name, column.name) for table in file.table for column in table.column if column.auto_increment}
    fitting = (
        counter
        for counter in counters_of(file)
        if counter[0].lower() == name and (counter in numbered or not file.table)
    )
    return next(fitting, None)
