"""Values that follow the keys of a table as it grows: the next one, the newest ones."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plimsoll.spec.generator_plan import sql_type
from plimsoll.spec.generators import GeneratorSpec
from plimsoll.spec.references import Tables
from plimsoll.spec.sql_text import SqlText
from plimsoll.spec.workload_file import WorkloadFile
from plimsoll.spec.workload_tables import ColumnSpec, TableSpec

_WHOLE = re.compile(r"(TINY|SMALL|MEDIUM|BIG)?INT(EGER)?\b", re.IGNORECASE)
_INSERT = re.compile(
    r"\s*(?:INSERT|REPLACE)\s+(?:(?:LOW_PRIORITY|DELAYED|HIGH_PRIORITY|IGNORE|INTO)\s+)*(`(?:[^`]|``)*`|[\w$]+)(?!\s*\.)",
    re.IGNORECASE,
)


def counted_faults(spec: GeneratorSpec, tables: Tables) -> Iterator[str]:
    """What is wrong with a value that follows the keys of a table, each line behind the name of its key.

    Keys are counted in a column of integers; of tables that the file does not describe nothing is known.
    """
    if spec.generate not in ("next", "recent"):
        return
    table = tables.get(spec.table or "")
    if table is None and tables:
        yield f"table: there is no table {spec.table!r}; known are {', '.join(tables)}"
    elif table is None and spec.column is None:
        yield f"column: is missing; the file does not describe the table {spec.table!r}"
    elif table is not None and counted_column(spec, table) is None:
        yield (
            f"column: must be an integer column of {spec.table!r}, is {spec.column!r}"
            if spec.column is not None
            else f"column: is missing; {spec.table!r} has no integer column as its primary key"
        )


def counted_column(spec: GeneratorSpec, table: TableSpec) -> ColumnSpec | None:
    """The column whose keys are counted; None where it is none of integers."""
    names = (spec.column,) if spec.column is not None else table.key
    found = next((column for column in table.column if (column.name,) == names), None)
    is_whole = found is not None and _WHOLE.match(found.type or sql_type(found, None))
    return found if is_whole else None


def counters_of(file: WorkloadFile) -> list[tuple[str, str]]:
    """Tables and columns whose keys are counted, in the order in which a file without faults names them."""
    values = [one for each in file.transaction for one in each.values.values()]
    values += [one for each in file.transaction for st in each.statement for one in st.values.values()]
    found = (counter_of(one, file) for one in values if one.generate in ("next", "recent"))
    return [*dict.fromkeys(found)]


def counter_of(spec: GeneratorSpec, file: WorkloadFile) -> tuple[str, str]:
    """The table and the column of a value without faults."""
    table = next((one for one in file.table if one.name == spec.table), None)
    column = counted_column(spec, table) if table is not None else None
    return spec.table or "", column.name if column is not None else spec.column or ""


def given_to(sql: SqlText, file: WorkloadFile) -> tuple[str, str] | None:
    """The counter that follows the AUTO_INCREMENT values that a statement is given."""
    found = _INSERT.match(sql.sql)
    if found is None:
        return None
    name = found[1].strip("`").replace("``", "`").lower()
    numbered = {(table.name, one.name) for table in file.table for one in table.column if one.auto_increment}
    fitting = (one for one in counters_of(file) if one[0].lower() == name and (one in numbered or not file.table))
    return next(fitting, None)
