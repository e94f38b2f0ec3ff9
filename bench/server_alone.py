"""The limit of loading: what the server itself takes for the same rows, read from files of its own by LOAD DATA INFILE.

No client makes rows and none sends them: this is what the server's own work takes. A client can only be faster by
asking for less work, as ours does where columns that begin equal are defaults while a table is loaded. Tables have
their primary key while they are filled, as ours have. Needs an account with the privilege FILE.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.clients import LOADERS
from plimsoll.servers.control import ControlConnection, connect
from plimsoll.spec.target import Target


@dataclass(frozen=True, slots=True)
class _Part:
    """Rows of a table in a file that the server wrote."""

    table: str
    file: Path


class ServerAlone:
    """Loads copies of tables that are there, as often as wanted."""

    def __init__(
        self,
        target: Target,
        folder: Path,
        copies: str,
        *,
        indexed: bool,
        loaders: int = LOADERS,
        parts: int = LOADERS,
    ) -> None:
        """Writes the rows of all tables into files.

        Args:
            target: The database that holds the tables, as a user who may write files.
            folder: Where the files go; the server must be able to write there.
            copies: Name of the database for the copies.
            indexed: Make secondary indexes and ANALYZE as well, as a part of what is timed.
            loaders: So many connections load at the same time.
            parts: Each table is in so many files, which can be loaded at the same time.
        """
        self._loaders, self._parts_count = loaders, parts
        self._target, self._source, self._copies, self._indexed = target, target.database, copies, indexed
        with connect(self._target) as control:
            tables = control.rows(
                "SELECT table_name FROM information_schema.tables WHERE table_schema = %s AND table_type = 'BASE TABLE'"
                " ORDER BY data_length DESC",
                self._source,
            )
            self._tables = [str(name) for (name,) in tables]
            self._parts = [part for table in self._tables for part in self._written(control, table, folder)]

    def load(self) -> float:
        """Loads all of it in the place of what an earlier call loaded; gives the seconds that it took."""
        with connect(self._target) as control:
            control.rows(f"DROP DATABASE IF EXISTS {self._copies}")
            control.rows(f"CREATE DATABASE {self._copies}")
            began_s = time.monotonic()
            indexes = {table: self._create(control, table) for table in self._tables}
        with ThreadPoolExecutor(self._loaders) as pool:
            list(pool.map(self._load, self._parts))
            if self._indexed:
                list(pool.map(self._finish, indexes, indexes.values()))
        return time.monotonic() - began_s

    def drop(self) -> None:
        """Removes the copies; the files go with their folder."""
        with connect(self._target) as control:
            control.rows(f"DROP DATABASE IF EXISTS {self._copies}")

    def _written(self, control: ControlConnection, table: str, folder: Path) -> list[_Part]:
        """The rows of a table in files, by equal parts of the range of the primary key's first column."""
        key = control.value(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = %s AND table_name = %s"
            " ORDER BY column_key = 'PRI' DESC, column_name LIKE '%%w_id' DESC, ordinal_position LIMIT 1",
            self._source,
            table,
        )
        first, last = control.rows(f"SELECT MIN({key}), MAX({key}) FROM {self._source}.{table}", columns=2)[0]
        count = self._parts_count if first != last else 1
        parts = []
        for index in range(count):
            low, high = (first + (last - first + 1) * edge // count for edge in (index, index + 1))
            part = _Part(table, folder / f"{self._copies}-{table}-{index}.csv")
            control.rows(
                f"SELECT * FROM {self._source}.{table} WHERE {key} >= {low} AND {key} < {high}"
                f" INTO OUTFILE '{part.file}' FIELDS TERMINATED BY ','"
            )
            parts.append(part)
        return parts

    def _create(self, control: ControlConnection, table: str) -> list[str]:
        """Makes an empty copy without secondary indexes; gives what would add them."""
        copy = f"{self._copies}.{table}"
        control.rows(f"CREATE TABLE {copy} LIKE {self._source}.{table}")
        found = control.rows(
            "SELECT index_name, GROUP_CONCAT(column_name ORDER BY seq_in_index) FROM information_schema.statistics"
            " WHERE table_schema = %s AND table_name = %s AND index_name <> 'PRIMARY' GROUP BY index_name",
            self._copies,
            table,
            columns=2,
        )
        for name, _ in found:
            control.rows(f"ALTER TABLE {copy} DROP INDEX {name}")
        return [f"ADD INDEX {name} ({columns})" for name, columns in found]

    def _load(self, part: _Part) -> None:
        with connect(self._target, read_limit_s=600) as control:
            control.rows(
                f"LOAD DATA INFILE '{part.file}' INTO TABLE {self._copies}.{part.table} FIELDS TERMINATED BY ','"
            )

    def _finish(self, table: str, indexes: list[str]) -> None:
        with connect(self._target, read_limit_s=600) as control:
            if indexes:
                control.rows(f"ALTER TABLE {self._copies}.{table} {', '.join(indexes)}")
            control.rows(f"ANALYZE TABLE {self._copies}.{table}")
