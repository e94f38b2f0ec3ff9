"""Managed servers with real MariaDB and MySQL 9: a whole life, each profile in force, and every bad start."""

from __future__ import annotations

import os
import signal
import socket
import stat
from functools import partial
from pathlib import Path

import pytest
from pydantic import SecretStr

from plimsoll.analyse.explain.durability import durability_of
from plimsoll.analyse.explain.equivalence_model import Durability, DurabilityKind
from plimsoll.errors import HostError, SpecError, TargetError
from plimsoll.servers.control import connect
from plimsoll.servers.facts import instance_facts
from plimsoll.servers.managed_server import ManagedServer, ManagedSpec
from plimsoll.servers.option_file import FlavourName, Profile
from plimsoll.servers.settle import settle
from plimsoll.telemetry.device import busy_ratio, device_busy_ms
from support.servers import (
    FLAVOURS,
    MYSQL_IN_ENDURE,
    StartServer,
    bare_spec,
    running_server,
    server_base,
    server_command,
    start_server,
)
from support.waiting import until

__all__ = ["running_server", "server_base", "start_server"]
pytestmark = pytest.mark.e2e


def query(server: ManagedServer, statement: str) -> list[tuple[object, ...]]:
    with connect(server.target) as control:
        return control.rows(statement)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_whole_life(flavour: str, server_base: Path) -> None:
    """Of a production server: it is initialised, runs with its options, is killed, copied, set back and removed."""
    production = bare_spec(flavour, profile=Profile.PRODUCTION, options={"innodb_lock_wait_timeout": 7})
    server = ManagedServer.create(name="The durable one", spec=production, base_dir=server_base)
    place = server.directory.path
    assert place.parent == server_base
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    server.start()
    check_that_production_is_in_force(server)
    query(server, "CREATE TABLE t (a INT PRIMARY KEY) ENGINE=InnoDB")
    query(server, "INSERT INTO t VALUES (1)")
    first_pid = server.pid
    kill_while_it_runs(server)
    server.start()
    assert server.pid != first_pid
    assert query(server, "SELECT COUNT(*) FROM t") == [(1,)], "it recovers after it was killed"
    server.stop()
    server.save_data()
    server.start()
    query(server, "INSERT INTO t VALUES (2)")
    assert query(server, "SELECT COUNT(*) FROM t") == [(2,)]
    server.stop()
    server.restore_data()
    server.start()
    assert query(server, "SELECT COUNT(*) FROM t") == [(1,)], "the data are those that were saved"
    pid = server.pid
    server.remove()
    server.remove()
    assert not place.exists()
    assert not Path(f"/proc/{pid}").exists()


def check_that_production_is_in_force(server: ManagedServer) -> None:
    with connect(server.target) as control:
        said = control.variables()
    assert said["innodb_lock_wait_timeout"] == "7", "the option of the user"
    assert (said["innodb_flush_log_at_trx_commit"], said["sync_binlog"], said["log_bin"]) == ("1", "1", "ON")
    assert durability_of(said) == Durability(kind=DurabilityKind.DURABLE)
    assert (said["innodb_doublewrite"], said["innodb_flush_method"]) == ("ON", "O_DIRECT")
    is_mariadb = server.flavour.name is FlavourName.MARIADB
    assert said["innodb_log_file_size" if is_mariadb else "innodb_redo_log_capacity"] == str(256 * 2**20)


def kill_while_it_runs(server: ManagedServer) -> None:
    server.check()
    os.kill(server.pid, signal.SIGKILL)
    with pytest.raises(TargetError, match="was killed by SIGKILL") as caught:
        until(partial(is_checked, server))
    assert "ready for connections" in str(caught.value), "the tail of the log"
    assert not server.is_running


def is_checked(server: ManagedServer) -> bool:
    """Never true: to be asked until the check fails."""
    server.check()
    return False


def test_only_our_account_may_log_in(running_server: ManagedServer) -> None:
    users = {user for (user,) in query(running_server, "SELECT DISTINCT user FROM mysql.user")}
    assert "plimsoll" in users
    assert not {"", "root"} & users
    for target in (running_server.target, running_server.socket_target):
        with pytest.raises(TargetError) as caught:
            connect(target.with_password("wrong"))
        assert (caught.value.code, caught.value.sqlstate) == (1045, "28000")
    with pytest.raises(TargetError):
        connect(running_server.socket_target.with_password(""))


def test_the_password_is_nowhere_to_be_seen(running_server: ManagedServer) -> None:
    secret = running_server.target.password.get_secret_value()
    assert secret not in repr(running_server.target)
    assert secret not in running_server.option_file.text
    assert secret.encode() not in Path(f"/proc/{running_server.pid}/cmdline").read_bytes()
    assert secret.encode() not in Path(f"/proc/{running_server.pid}/environ").read_bytes()
    files = [path for path in running_server.directory.path.iterdir() if path.is_file()]
    assert not [path.name for path in files if secret.encode() in path.read_bytes()]


def test_it_listens_on_this_machine_only(running_server: ManagedServer) -> None:
    port = running_server.target.port
    listening = [
        line.split()[1]
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]
        if line.split()[3] == "0A" and int(line.split()[1].rpartition(":")[2], 16) == port
    ]
    assert listening == [f"0100007F:{port:04X}"]


def test_facts(running_server: ManagedServer) -> None:
    query(running_server, "CREATE TABLE IF NOT EXISTS facts1 (a INT PRIMARY KEY) ENGINE=InnoDB")
    with connect(running_server.target) as control:
        facts = instance_facts(control, name="a", tables=["facts1"], storage=running_server.storage)
        with pytest.raises(TargetError) as caught:
            instance_facts(control, name="a", tables=["absent"])
    assert caught.value.code == 1146
    assert facts.flavour == running_server.flavour.name
    assert facts.version is not None
    assert facts.version.startswith(".".join(map(str, running_server.flavour.version)))
    assert facts.variables["innodb_buffer_pool_size"] == str(64 * 2**20)
    assert facts.variables["datadir"] == f"{running_server.directory.data}/"
    assert facts.tables["facts1"].startswith("CREATE TABLE `facts1`")
    assert facts.data_bytes is not None
    assert facts.data_bytes >= 16384
    assert facts.storage is not None
    assert facts.storage.flush_ms_median is not None


def test_settles_and_sets_its_limits_back(running_server: ManagedServer) -> None:
    query(running_server, "CREATE TABLE IF NOT EXISTS s (a INT PRIMARY KEY AUTO_INCREMENT, b CHAR(200)) ENGINE=InnoDB")
    query(running_server, "INSERT INTO s (b) SELECT 'x' FROM information_schema.columns, (SELECT 1 UNION SELECT 2) t")
    with connect(running_server.target) as control:
        before = control.variables()
        device = running_server.storage.device
        settled = settle(
            control,
            limit_s=300,
            may_set_variables=True,
            device_busy_ratio=busy_ratio(lambda: device_busy_ms(device)) if device else None,
        )
        assert settled.dirty_pages is not None
        assert settled.dirty_pages <= 100
        assert settled.history_length is not None
        changed = {name for name, value in control.variables().items() if before[name] != value}
    assert not {name for name in changed if "dirty" in name}


def test_the_bare_profile_is_in_force(running_server: ManagedServer) -> None:
    with connect(running_server.target) as control:
        said = control.variables()
    assert (said["innodb_flush_log_at_trx_commit"], said["log_bin"]) == ("2", "OFF")
    causes = (("innodb_doublewrite", "OFF"), ("innodb_flush_log_at_trx_commit", "2"))
    assert durability_of(said) == Durability(kind=DurabilityKind.DAMAGED, causes=causes)
    assert (said["innodb_doublewrite"], said["performance_schema"]) == ("OFF", "OFF")


@pytest.mark.parametrize("flavour", MYSQL_IN_ENDURE)
def test_the_defaults_of_the_server_are_in_force(flavour: str, start_server: StartServer) -> None:
    options = {"innodb_lock_wait_timeout": 7}
    server = start_server(flavour, profile=Profile.SERVER_DEFAULTS, buffer_pool_bytes=None, options=options)
    with connect(server.target) as control:
        said = control.variables()
    assert said["innodb_lock_wait_timeout"] == "7"
    assert said["innodb_buffer_pool_size"] == str(128 * 2**20)
    assert said["max_connections"] == "151"


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_an_unknown_option_is_named(flavour: str, server_base: Path) -> None:
    with pytest.raises(TargetError, match="does not know the option innodb_nonsense") as caught:
        ManagedServer.create(
            name="x", spec=bare_spec(flavour, options={"innodb_nonsense": 1}), base_dir=server_base
        ).start()
    assert "The end of its error log:" in str(caught.value)
    assert list(server_base.iterdir()) == [], "nothing is left of it"


def test_an_option_with_a_wrong_value_is_named(server_base: Path) -> None:
    spec = bare_spec("mariadb", options={"binlog_format": "quick"})
    with pytest.raises(TargetError, match="value of the option binlog_format is wrong"):
        ManagedServer.create(name="x", spec=spec, base_dir=server_base).start()


def test_refused_before_anything_is_made(server_base: Path) -> None:
    with pytest.raises(SpecError, match=r"options\.datadir"):
        ManagedServer.create(name="x", spec=ManagedSpec(options={"datadir": "x"}), base_dir=server_base)
    with pytest.raises(SpecError, match="must be one of production, server-defaults, bare, is 'fast'"):
        ManagedServer.create(name="x", spec=ManagedSpec(profile="fast"), base_dir=server_base)
    assert list(server_base.iterdir()) == []


def test_two_servers_at_once_one_of_which_meets_trouble(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No space for a copy, its port taken, and no answer to its end."""
    servers = [start_server("mariadb", name=name) for name in ("one", "two")]
    ports = [query(server, "SELECT @@port, @@datadir") for server in servers]
    assert ports[0] != ports[1]
    assert servers[0].directory.path != servers[1].directory.path
    servers[0].remove()
    server = servers[1]
    assert query(server, "SELECT 1") == [(1,)], "the end of one ends no other"
    server.stop()
    check_that_a_copy_needs_space(server, monkeypatch)
    port = server.target.port
    with socket.create_server(("127.0.0.1", port)):
        server.start()
        assert server.target.port != port, "a port that was taken meanwhile is given up"
        assert query(server, "SELECT @@port") == [(server.target.port,)]
    pid = server.pid
    os.kill(pid, signal.SIGSTOP)
    server.stop(grace_s=0.5)
    assert not Path(f"/proc/{pid}").exists(), "a stopped server is ended by force"


def check_that_a_copy_needs_space(server: ManagedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("plimsoll.servers.data_copy.tree_bytes", lambda folder: 2**60)
        patched.setattr(os, "statvfs", lambda _: os.statvfs_result((1,) * 10))
        server.save_data()  # as much would be freed as is needed
        data = server.directory.data
        patched.setattr("plimsoll.servers.data_copy.tree_bytes", lambda folder: 2**60 if folder == data else 0)
        with pytest.raises(HostError, match="a copy of the data needs"):
            server.save_data()


def test_every_server_says_no_in_our_words(running_server: ManagedServer) -> None:
    with connect(running_server.target) as control:
        with pytest.raises(TargetError) as syntax:
            control.rows("SELEC 1")
        with pytest.raises(TargetError) as table:
            control.rows("SELECT * FROM absent")
        assert (syntax.value.code, table.value.code) == (1064, 1146)
        control.rows("CREATE USER IF NOT EXISTS 'poor'@'127.0.0.1' IDENTIFIED BY 'pw'")
        control.rows("CREATE USER IF NOT EXISTS 'poor'@'localhost' IDENTIFIED BY 'pw'")
    target = running_server.target
    poor = type(target)(user="poor", database=target.database, host=target.host, port=target.port)
    with pytest.raises(TargetError) as denied:
        connect(poor.with_password("pw"))
    assert denied.value.code == 1044
    absent = type(target)(
        user=target.user, database="absent", host=target.host, port=target.port, password=SecretStr("")
    ).with_password(target.password.get_secret_value())
    with pytest.raises(TargetError) as unknown:
        connect(absent)
    assert unknown.value.code == 1049


def test_command_of_mysql_is_a_full_command() -> None:
    assert "mysqld" in server_command("mysql")
