"""What must hold between the parts of a workload file: names that are used exist, values come before their use."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.spec.table_checks import repeated, table_faults
from plimsoll.spec.transaction_checks import TransactionCheck
from plimsoll.spec.workload_file import TABLES_MAX, WorkloadFile


def contradictions(file: WorkloadFile) -> Iterator[str]:
    """All faults, each with its path, value and cure."""
    tables = file.tables
    if len(file.table) > TABLES_MAX:
        yield f"table: must be at most {TABLES_MAX}, are {len(file.table)}"
    yield from repeated("table", (table.name for table in file.table))
    yield from repeated("transaction", (one.name for one in file.transaction))
    for index, table in enumerate(file.table):
        yield from (f"table[{index}].{fault}" for fault in table_faults(table, tables))
    for index, transaction in enumerate(file.transaction):
        yield from (f"transaction[{index}].{fault}" for fault in TransactionCheck(transaction, tables).faults())
