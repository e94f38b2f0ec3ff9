"""Whether the columns of a unique key can have different values in all rows of a table.

Told is what follows from `each` and `cycle`: too few combinations, or sequences that begin again together. Whether
other values happen to meet is not foreseen; the server tells that when the rows are loaded.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from plimsoll.spec.generator_plan import generator_plan, values_count
from plimsoll.spec.references import Tables, referred_keys
from plimsoll.spec.workload_tables import ColumnSpec, TableSpec


def unique_faults(table: TableSpec, tables: Tables) -> Iterator[str]:
    """Unique keys that rows of a table without other faults must break, each line behind the key's path."""
    columns = {column.name: column for column in table.column}
    keys = [("primary_key", table.key)] if table.key else []
    keys += [
        (f"index[{i}].columns", one.columns) for i, one in enumerate(table.index) if one.unique and not any(one.lengths)
    ]
    for place, names in keys:
        reason = _repetition([columns[name] for name in names], table.rows, tables)
        if reason is not None:
            yield f"{place}: {', '.join(names)} {reason}, so {table.rows} rows cannot all be different"


def _repetition(columns: Sequence[ColumnSpec], rows: int, tables: Tables) -> str | None:
    """Why two of so many rows have the same values in all of these columns; None when that is not known."""
    if not any(column.each or column.cycle for column in columns):
        return None
    counts = [_different(column, rows, tables) for column in columns]
    combinations = math.prod(count if count is not None else rows for count in counts)
    if combinations < rows:
        return f"have at most {combinations} combinations of values"
    if any(column.generate != "sequence" for column in columns):
        return None
    if rows > 1 and all((column.each or 1) > 1 for column in columns):
        return "have the same values in the first two rows (each)"
    periods = [(column.each or 1) * column.cycle for column in columns if column.cycle is not None]
    period = math.lcm(*periods) if len(periods) == len(columns) else rows
    return f"begin again after {period} rows (cycle)" if period < rows else None


def _different(column: ColumnSpec, rows: int, tables: Tables) -> int | None:
    """How many different values a column has at most; None when they may be as many as rows, as NULLs are."""
    keys = referred_keys(column, tables)
    if column.null_ratio > 0 or column.generate == "null" or (column.generate == "reference" and keys is None):
        return None
    plan = generator_plan(column, keys)
    match plan["kind"]:
        case "sequence":
            return values_count(plan, rows)
        case "integer" | "decimal" | "timestamp":
            return int(plan["count"])
        case "choice":
            return len(set(plan["values"]))
        case _:
            return None
