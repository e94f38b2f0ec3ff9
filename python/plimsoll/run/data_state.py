"""What a trial's data was before and after it, while the trial runs: noted in `Progressing.data`.

Deliberately not here: how data is put back (`systems`), and what follows from a drift (`analyse.data_drift`).
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.record.environment import InstanceFacts
from plimsoll.run.instance import Instance
from plimsoll.run.progressing import Progressing, TrialTask
from plimsoll.servers.control import connect
from plimsoll.servers.table_sizes import tables_bytes
from plimsoll.units import parse_whole

RowCounts = dict[tuple[str, str], int]
"""Rows at the end of the last trial, by system and workload."""


def note_reset(task: TrialTask, progressing: Progressing, counted: RowCounts) -> None:
    """Notes how data was put back, and how many rows there are: as prepared, or as the last trial counted them."""
    reset = task.system.data_reset
    is_prepared = reset is not None and reset.way != "left" and not reset.is_aged
    rows = task.workload.rows_count if is_prepared else counted.get((task.planned.system, task.workload.name))
    progressing.data = progressing.data.model_copy(update={"reset": reset, "rows_before": rows or None})


def note_before(task: TrialTask, progressing: Progressing) -> None:
    """Notes the sizes of tables and redo logs of the instances that are about to be measured."""
    sizes = [_redo_capacity_bytes(one) for one in progressing.environment.instances]
    known = [size for size in sizes if size is not None]
    progressing.data = progressing.data.model_copy(
        update={
            "bytes_before": _bytes_of(task.system.instances),
            "redo_capacity_bytes": sum(known) if known and len(known) == len(sizes) else None,
        }
    )


def note_warm(progressing: Progressing, written_bytes: int | None) -> None:
    """Notes how much redo was written while the servers warmed up."""
    progressing.data = progressing.data.model_copy(update={"redo_warm_bytes": written_bytes})


def note_after(task: TrialTask, progressing: Progressing, rows_count: int, counted: RowCounts) -> None:
    """Notes what the load left; `counted` remembers the rows for the next trial."""
    counted[task.planned.system, task.workload.name] = rows_count
    bytes_after = _bytes_of(task.system.instances)
    progressing.data = progressing.data.model_copy(update={"rows_after": rows_count, "bytes_after": bytes_after})


def _bytes_of(instances: Sequence[Instance]) -> int | None:
    """Size of the files of all tables, of all instances together; None where one does not say."""
    total = 0
    for instance in instances:
        with connect(instance.target) as control:
            size = tables_bytes(control)
        if size is None:
            return None
        total += size
    return total


def _redo_capacity_bytes(instance: InstanceFacts) -> int | None:
    """Size of a server's redo log by its variables: one for the whole in MySQL from 8.0.30 on, else one for a file."""
    whole = parse_whole(instance.variables.get("innodb_redo_log_capacity", ""))
    if whole is not None:
        return whole
    each = parse_whole(instance.variables.get("innodb_log_file_size", ""))
    files = parse_whole(instance.variables.get("innodb_log_files_in_group", "1"))
    return None if each is None else each * (files or 1)
