"""Replication of real MariaDB and MySQL servers: set up, waited for, broken, turned round, with and without waiting."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from plimsoll.errors import TargetError
from plimsoll.servers.control import ControlConnection, connect
from plimsoll.servers.replication.links import (
    disconnect,
    most_advanced,
    promote,
    replica_status,
    start_replica,
    use_semisync,
    wait_until_applied,
)
from plimsoll.servers.replication.model import ReplicationAccount, place_of
from support.replication import StartServers, controls, start_servers
from support.servers import FLAVOURS, server_base
from support.waiting import until

__all__ = ["server_base", "start_servers"]
pytestmark = pytest.mark.e2e
LIMIT_S = 300.0


def is_password_below(folder: Path, password: str) -> bool:
    return any(password.encode() in file.read_bytes() for file in folder.rglob("*") if file.is_file())


def received(replica: ControlConnection) -> tuple[int, ...]:
    status = replica_status(replica)
    assert status is not None
    return status.received


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_replicas_acknowledge_follow_stop_at_an_error_and_are_promoted(
    flavour: str, start_servers: StartServers
) -> None:
    """One life of a source and two replicas: semi-synchronous commits, a fault, its cure, and a failover."""
    servers = start_servers(flavour, 3, is_semisync=True)
    account = ReplicationAccount()
    with ExitStack() as stack:
        source, first, second = controls(stack, servers)
        of_source = place_of(servers[0].target)
        source.rows("CREATE TABLE t (a INT PRIMARY KEY) ENGINE=InnoDB")
        with pytest.raises(TargetError, match="0 of 1 replicas acknowledge"):
            use_semisync(source, 1, 0)
        for replica in (first, second):
            start_replica(replica, source, of_source, account, is_semisync=True, limit_s=LIMIT_S)
        check_that_commits_wait(flavour, source)
        source.rows("INSERT INTO t VALUES (2)")
        for replica in (first, second):
            check_that_it_follows(source, replica)
        assert replica_status(source) is None, "the source is no replica"

        check_that_a_fault_stops_one_replica(source, first, second)
        first.rows("DELETE FROM t WHERE a = 3")
        disconnect(first)
        start_replica(first, source, of_source, account, limit_s=LIMIT_S)
        wait_until_applied(source, first, LIMIT_S)

        # The first falls behind, so the second is promoted and the first follows it.
        first.rows("STOP SLAVE" if flavour == "mariadb" else "STOP REPLICA")
        source.rows("INSERT INTO t VALUES (4)")
        wait_until_applied(source, second, LIMIT_S)
        assert most_advanced([first, second]) == 1
        with connect(servers[2].target) as other:
            if flavour == "mysql":
                receive_what_cannot_be_applied(source, second, other)
            servers[0].kill()
            if flavour == "mysql":
                with pytest.raises(TargetError, match="has not applied what it received after 1 s"):
                    promote(second, 1)
        promote(second, LIMIT_S)
        second.rows("INSERT INTO t VALUES (6)")
        start_replica(first, second, place_of(servers[2].target), account, limit_s=LIMIT_S)
        wait_until_applied(second, first, LIMIT_S)
        received_last = [(5,)] if flavour == "mysql" else []
        assert first.rows("SELECT a FROM t ORDER BY a") == [(1,), (2,), (3,), (4,), *received_last, (6,)]
        disconnect(first)
    servers[1].stop()
    servers[2].stop()
    assert not any(is_password_below(server.directory.path, account.password.get_secret_value()) for server in servers)


def check_that_commits_wait(flavour: str, source: ControlConnection) -> None:
    """The server counts a commit that a replica acknowledged."""
    use_semisync(source, 1, LIMIT_S)
    counter = "rpl_semi_sync_master_yes_tx" if flavour == "mariadb" else "rpl_semi_sync_source_yes_tx"
    before = int(source.status()[counter])
    source.rows("INSERT INTO t VALUES (1)")
    assert int(source.status()[counter]) == before + 1, "a commit waited for a replica"


def check_that_it_follows(source: ControlConnection, replica: ControlConnection) -> None:
    wait_until_applied(source, replica, LIMIT_S)
    assert replica.rows("SELECT a FROM t ORDER BY a") == [(1,), (2,)]
    status = replica_status(replica)
    assert status is not None
    assert (status.is_running, status.uses_gtids, status.fault) == (True, True, None)


def check_that_a_fault_stops_one_replica(
    source: ControlConnection, first: ControlConnection, second: ControlConnection
) -> None:
    """A row that only the first has: the source's row of the same key cannot be applied there (error 1062)."""
    for statement in ("SET GLOBAL read_only = OFF", "SET SESSION sql_log_bin = 0", "INSERT INTO t VALUES (3)"):
        first.rows(statement)
    source.rows("INSERT INTO t VALUES (3)")
    with pytest.raises(TargetError, match=r"its applier stopped: error 1062: .*Duplicate entry '3'") as stopped:
        wait_until_applied(source, first, LIMIT_S)
    assert stopped.value.code == 1062
    wait_until_applied(source, second, LIMIT_S)


def receive_what_cannot_be_applied(
    source: ControlConnection, replica: ControlConnection, other: ControlConnection
) -> None:
    """While the other connection holds a backup lock, the replica has a table and a row that it cannot make."""
    (before,) = received(replica)
    other.rows("LOCK INSTANCE FOR BACKUP")
    source.rows("CREATE TABLE u (a INT)")
    source.rows("INSERT INTO t VALUES (5)")
    assert until(lambda: received(replica) == (before + 2,)), "the replica received both"
