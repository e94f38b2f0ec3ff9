"""The server that everything runs on: a throwaway MariaDB with as little of its own work as possible.

Deliberately not here: durability, binary log and instrumentation; this bench compares clients, not servers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.clients import Engine, Sysbench, front_door
from plimsoll.servers.control import connect
from plimsoll.servers.directory import sweep
from plimsoll.servers.managed_server import ManagedServer, ManagedSpec
from plimsoll.spec.oltp import OltpKind, WorkloadSpec
from plimsoll.spec.target import Target

GIB = 2**30
BASE = Path(f"/var/tmp/plimsoll-bench-{os.geteuid()}")
OPTIONS = {"innodb_log_file_size": GIB, "max_connections": 4352, "max_prepared_stmt_count": 1_048_576}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """A running server with one filled table.

    Attributes:
        table_size: Its rows.
        sysbench: None where sysbench is not installed.
        front_door: Plimsoll in its place.
    """

    server: ManagedServer
    engine: Engine
    sysbench: Sysbench | None
    front_door: Sysbench
    table_size: int

    def workload(self, kind: OltpKind) -> WorkloadSpec:
        """A workload on that table."""
        return WorkloadSpec(name=kind, kind=kind, tables=1, table_size=self.table_size)

    @property
    def version(self) -> str:
        """Of the server."""
        with connect(self.server.socket_target) as control:
            return str(control.value("SELECT VERSION()"))

    def execute(self, target: Target, statement: str) -> None:
        """Runs one statement."""
        with connect(target) as control:
            control.rows(statement)


@contextmanager
def ground(table_size: int) -> Iterator[Ground]:
    """Starts the server and fills the table; all of it is gone afterwards.

    Raises:
        HostError, TargetError: There is no MariaDB here, or it would not start.
    """
    sweep(BASE)
    spec = ManagedSpec(server="mariadb", profile="bare", buffer_pool_bytes=GIB, options=OPTIONS)
    with ManagedServer.create(name="bench", spec=spec, base_dir=BASE) as server:
        server.start()
        engine = Engine(server.target)
        sysbench = Sysbench(server.target, server.directory.path) if Sysbench.version() else None
        door = Sysbench(server.target, server.directory.path, front_door())
        made = Ground(server=server, engine=engine, sysbench=sysbench, front_door=door, table_size=table_size)
        engine.prepare(made.workload("oltp_read_write"))
        yield made
