"""Size of InnoDB's redo log from the variables that state it; their names depend on the version."""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.units import parse_whole


def redo_bytes(variables: Mapping[str, str]) -> int | None:
    """All files of the redo log together, bytes; None where the variables do not say.

    MySQL from 8.0.30 on has one capacity, whatever the older variables say; MariaDB from 10.5 on has one file.

    >>> redo_bytes({"innodb_log_file_size": "5242880", "innodb_log_files_in_group": "2"})
    10485760
    """
    capacity = parse_whole(variables.get("innodb_redo_log_capacity", ""))
    if capacity is not None:
        return capacity
    size = parse_whole(variables.get("innodb_log_file_size", ""))
    files = parse_whole(variables.get("innodb_log_files_in_group", "1")) or 1
    return None if size is None else size * files
