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
def test_a_replica_follows_stops_at_an_error_and_is_promoted(flavour: str, start_servers: StartServers) -> None:
    servers = start_servers(flavour, 3)
    account = ReplicationAccount()
    with ExitStack() as stack:
        source, first, second = controls(stack, servers)
        source.rows("CREATE TABLE t (a INT PRIMARY KEY) ENGINE=InnoDB")
        for replica in (first, second):
            start_replica(replica, source, place_of(servers[0].target), account, limit_s=LIMIT_S)
        source.rows("INSERT INTO t VALUES (1), (2)")
        for replica in (first, second):
            wait_until_applied(source, replica, LIMIT_S)
            assert replica.rows("SELECT a FROM t ORDER BY a") == [(1,), (2,)]
            status = replica_status(replica)
            assert status is not None
            assert (status.is_running, status.uses_gtids, status.fault) == (True, True, None)
        assert replica_status(source) is None

        # A row that only the replica has: the source's row of the same key cannot be applied (error 1062).
        for statement in ("SET GLOBAL read_only = OFF", "SET SESSION sql_log_bin = 0", "INSERT INTO t VALUES (3)"):
            first.rows(statement)
        source.rows("INSERT INTO t VALUES (3)")
        with pytest.raises(TargetError, match=r"its applier stopped: error 1062: .*Duplicate entry '3'") as stopped:
            wait_until_applied(source, first, LIMIT_S)
        assert stopped.value.code == 1062
        wait_until_applied(source, second, LIMIT_S)
        first.rows("DELETE FROM t WHERE a = 3")
        disconnect(first)
        start_replica(first, source, place_of(servers[0].target), account, limit_s=LIMIT_S)
        wait_until_applied(source, first, LIMIT_S)

        # The first falls behind, so the second is promoted and the first follows it.
        disconnect(first)
        start_replica(first, source, place_of(servers[0].target), account, limit_s=LIMIT_S)
        first.rows("STOP SLAVE" if flavour == "mariadb" else "STOP REPLICA")
        source.rows("INSERT INTO t VALUES (4)")
        wait_until_applied(source, second, LIMIT_S)
        assert most_advanced([first, second]) == 1
        servers[0].kill()
        promote(second, LIMIT_S)
        second.rows("INSERT INTO t VALUES (5)")
        start_replica(first, second, place_of(servers[2].target), account, limit_s=LIMIT_S)
        wait_until_applied(second, first, LIMIT_S)
        assert first.rows("SELECT a FROM t ORDER BY a") == [(1,), (2,), (3,), (4,), (5,)]
        disconnect(first)
    servers[1].stop()
    servers[2].stop()
    assert not any(is_password_below(server.directory.path, account.password.get_secret_value()) for server in servers)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_commits_wait_for_replicas_that_acknowledge(flavour: str, start_servers: StartServers) -> None:
    servers = start_servers(flavour, 2, is_semisync=True)
    with ExitStack() as stack:
        source, replica = controls(stack, servers)
        source.rows("CREATE TABLE t (a INT PRIMARY KEY) ENGINE=InnoDB")
        with pytest.raises(TargetError, match="0 of 1 replicas acknowledge"):
            use_semisync(source, 1, 0)
        start_replica(replica, source, place_of(servers[0].target), ReplicationAccount(), is_semisync=True)
        use_semisync(source, 1, LIMIT_S)
        counter = "rpl_semi_sync_master_yes_tx" if flavour == "mariadb" else "rpl_semi_sync_source_yes_tx"
        before = int(source.status()[counter])
        source.rows("INSERT INTO t VALUES (1)")
        assert int(source.status()[counter]) == before + 1


def test_what_was_received_is_applied_before_a_promotion(start_servers: StartServers) -> None:
    servers = start_servers("mysql", 2)
    with ExitStack() as stack:
        source, replica = controls(stack, servers)
        source.rows("CREATE TABLE t (a INT PRIMARY KEY) ENGINE=InnoDB")
        start_replica(replica, source, place_of(servers[0].target), ReplicationAccount(), limit_s=LIMIT_S)
        wait_until_applied(source, replica, LIMIT_S)
        (before,) = received(replica)
        with connect(servers[1].target) as other:
            other.rows("LOCK INSTANCE FOR BACKUP")
            source.rows("CREATE TABLE u (a INT)")
            source.rows("INSERT INTO t VALUES (1)")
            assert until(lambda: received(replica) == (before + 2,))
            with pytest.raises(TargetError, match="has not applied what it received after 1 s"):
                promote(replica, 1)
        promote(replica, LIMIT_S)
        assert replica.value("SELECT COUNT(*) FROM t") == 1
