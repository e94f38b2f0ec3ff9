"""Studies of a source and a replica that run already: measured as they are, refused where they are not what is said."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from plimsoll.errors import InvalidTrialError
from plimsoll.record.model import Verdict
from plimsoll.record.store import read_study
from plimsoll.run.instance import Instance
from plimsoll.run.replicas import refuse_different_replicas, unfit_roles
from plimsoll.servers.control import ControlConnection
from plimsoll.servers.managed_server import ManagedServer
from plimsoll.servers.replication.links import disconnect, replica_status, start_replica, wait_until_applied
from plimsoll.servers.replication.model import ReplicationAccount, place_of
from plimsoll.spec.study import parse_study
from plimsoll.spec.target import Target
from support.command import plimsoll
from support.replication import StartServers, controls, start_servers
from support.servers import StartServer, server_base, start_server

__all__ = ["server_base", "start_server", "start_servers"]
pytestmark = pytest.mark.e2e
LIMIT_S = 300.0
PASSWORD, VARIABLE = "of-both", "PLIMSOLL_TEST_ROLES"

STUDY = """
[study]
name = "theirs"
levels = {{ connections = [2] }}
warm_up = "1s"
settle_limit = "1s"
clients = {{ think_time = "20ms" }}
duration = "2s"
repetitions = 1
reset = "per_system"

[[workload]]
name = "rw"
kind = "oltp_read_write"
table_size = 1000

[[system]]
name = "pair"
password_env = "PLIMSOLL_TEST_ROLES"
targets = [{{ role = "source", url = "{source}" }}, {{ role = "replica", url = "{replica}" }}]
"""


def url(server: ManagedServer, host: str = "127.0.0.1") -> str:
    return f"mysql://bench@{host}:{server.target.port}/{server.target.database}"


def run(folder: Path, text: str) -> tuple[int, str]:
    (folder / "s.toml").write_text(text)
    done = plimsoll("study", "run", folder / "s.toml", "--to", folder / "out", env={VARIABLE: PASSWORD})
    return done.returncode, done.stderr


def faults_of(source: str, replica: str) -> str:
    """What is said before anything is loaded."""
    spec = parse_study(STUDY.format(source=source, replica=replica))
    return "\n".join(unfit_roles(spec, spec.system))


def make_bench(server: ControlConnection) -> None:
    server.rows("CREATE USER bench@'127.0.0.1' IDENTIFIED BY %s", PASSWORD)
    server.rows("GRANT ALL PRIVILEGES ON *.* TO bench@'127.0.0.1'")


def instance(name: str, role: str, target: Target) -> Instance:
    return Instance(name=name, role=role, target=target)  # type: ignore[arg-type]


def test_a_pair_is_measured_as_it_is_and_what_is_no_pair_is_refused(
    start_servers: StartServers, start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, PASSWORD)
    servers, other = start_servers("mariadb", 2), start_server("mysql", options={"gtid_mode": "OFF"})
    first, second, third = url(servers[0]), url(servers[1]), url(other)
    with ExitStack() as stack:
        source, replica, of_other = controls(stack, [*servers, other])
        make_bench(source)
        make_bench(of_other)
        assert "1045" in faults_of(first, second)  # the account is not there yet
        start_replica(replica, source, place_of(servers[0].target), ReplicationAccount(), limit_s=LIMIT_S)
        wait_until_applied(source, replica, LIMIT_S)
        assert faults_of(first, second) == ""
        assert "is no replica: it has no source" in faults_of(second, first)
        assert "is MySQL, and the source is MariaDB" in faults_of(first, third)
        assert "GTIDs are off: gtid_mode is OFF on the source" in faults_of(third, url(other, "127.0.0.001"))

        code, said = run(tmp_path, STUDY.format(source=first, replica=second))
        assert code == 0, said
        (recording,) = read_study(tmp_path / "out").recordings
        assert recording.outcome.verdict is Verdict.COMPLETE
        assert [one.role for one in recording.environment.instances] == ["source", "replica"]
        assert "equal rows by CHECKSUM TABLE" in (recording.trial.states[-1].note or "")
        status = replica_status(replica)
        assert status is not None
        assert status.is_running

        check_that_other_rows_are_refused(servers, source, replica)
        disconnect(replica)
        ran = plimsoll("cleanup", "--target", first, "--password-env", VARIABLE, env={VARIABLE: PASSWORD})
        assert ran.returncode == 0, ran.stderr
        assert source.rows("SHOW TABLES") == [], "the heartbeat that the engine made is gone too"


def check_that_other_rows_are_refused(
    servers: list[ManagedServer], source: ControlConnection, replica: ControlConnection
) -> None:
    """A row that is not there on the replica, and the applier that stops where the source deletes that row."""
    first, second = map(url, servers)
    for statement in ("SET GLOBAL read_only = OFF", "SET SESSION sql_log_bin = 0", "DELETE FROM sbtest1 LIMIT 1"):
        replica.rows(statement)
    assert "holds other rows than the source in sbtest1" in faults_of(first, second)
    pair = [instance("pair/0", "source", servers[0].target), instance("pair/1", "replica", servers[1].target)]
    with pytest.raises(InvalidTrialError, match=r"pair/1: the replica holds other rows than its source in sbtest1"):
        refuse_different_replicas(pair, ["sbtest1"])
    source.rows("DELETE FROM sbtest1")
    with pytest.raises(InvalidTrialError, match=r"replicas: pair/1: .* its applier stopped: error 1032"):
        refuse_different_replicas(pair, ["sbtest1"])
    assert "does not replicate: its applier stopped: error 1032" in faults_of(first, second)
