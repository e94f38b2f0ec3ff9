"""How large the tables of a database are on disk, as the server says it.

Sizes of files, which change the moment a file grows; statistics of tables may be as old as a day (MySQL caches them).
"""

from __future__ import annotations

from plimsoll.errors import TargetError
from plimsoll.servers.settle import Asked

_VIEWS = ("innodb_tablespaces", "innodb_sys_tablespaces")
"""Of MySQL from 8.0 on; of MariaDB and older MySQL."""


def tables_bytes(control: Asked) -> int | None:
    """Size of the files of all InnoDB tables of the connection's database, bytes, partitions and indexes included.

    Returns:
        None where the server does not say, or not to this account (PROCESS is needed).
    """
    for view in _VIEWS:
        statement = f"SELECT SUM(file_size) FROM information_schema.{view} WHERE name LIKE CONCAT(DATABASE(), '/%')"  # noqa: S608
        try:
            rows = control.rows(statement)
        except TargetError:
            continue
        if rows and rows[0][0] is not None:
            return int(float(str(rows[0][0])))
    return None
