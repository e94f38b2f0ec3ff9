"""What every host does, this machine and one over SSH: the same tests for both; then what only SSH can do to us."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.errors import HostError, SpecError
from plimsoll.hosts.host import Host, WatchRequest
from plimsoll.hosts.local import LocalHost
from plimsoll.hosts.ssh import SshHost
from plimsoll.servers.control import connect
from plimsoll.servers.directory import default_base_dir
from plimsoll.servers.facts import host_facts
from plimsoll.servers.locality import boot_id, find_listening
from plimsoll.servers.storage import storage_facts
from plimsoll.telemetry.sampler import Sample
from plimsoll.telemetry.standard import WatchedInstance
from support import ssh_hosts
from support.servers import MYSQL_IN_ENDURE, bare_spec, missing
from support.vanishing import PROC, link, names_in
from support.waiting import until
from support.warned import faults_of

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def namespaces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, ssh_hosts.SshHost]]:
    """`db1` for tests that share a connection, `db2` for those of connections."""
    with ssh_hosts.ssh_hosts(tmp_path_factory.mktemp("ssh"), "db1", "db2") as hosts:
        yield {host.name: host for host in hosts}


@pytest.fixture
def db2(namespaces: dict[str, ssh_hosts.SshHost]) -> ssh_hosts.SshHost:
    return namespaces["db2"]


@pytest.fixture
def disk(request: pytest.FixtureRequest, host: Host) -> Path:
    """The host's folder `ssh_hosts.DISK`, as this machine sees it."""
    if host.is_here:
        ssh_hosts.DISK.mkdir(mode=0o700, exist_ok=True)
        return ssh_hosts.DISK
    found: dict[str, ssh_hosts.SshHost] = request.getfixturevalue("namespaces")
    return found["db1"].disk


@pytest.fixture(scope="module", params=["local", "ssh"])
def host(request: pytest.FixtureRequest) -> Iterator[Host]:
    if request.param == "local":
        made: Host = LocalHost()
    else:
        request.getfixturevalue("namespaces")
        made = SshHost("db1", python=sys.executable)
    yield made
    made.close()


def test_a_function_runs_there(host: Host) -> None:
    facts = host.call(host_facts)
    assert facts.name == (socket.gethostname() if host.is_here else "db1")
    assert facts.cpu_threads == os.cpu_count()
    assert host.call(storage_facts, Path("/dev/shm")).file_system == "tmpfs"


def test_errors_are_those_of_the_function(host: Host) -> None:
    with pytest.raises(SpecError, match="profile"):
        host.create_server(name="x", spec=bare_spec("mariadb", profile="none"))
    with pytest.raises(HostError, match="no-such-server"):
        host.create_server(name="x", spec=bare_spec("mariadb", server=("/no-such-server",)))


@pytest.mark.parametrize("flavour", MYSQL_IN_ENDURE)
def test_a_server_is_started_watched_copied_and_removed(host: Host, flavour: str, disk: Path) -> None:
    server = host.create_server(name="one", spec=bare_spec(flavour, data_dir=ssh_hosts.DISK))
    server.start()
    assert server.target.host == host.address
    found = host.call(find_listening, server.target.port, str(server.data_dir) + "/")
    assert (found.is_here, found.pid, found.data_dir) == (True, server.pid, server.data_dir)
    assert host.call(boot_id) == boot_id(), "a namespace of this machine"
    with connect(server.target) as control:
        control.rows("CREATE TABLE t (a INT PRIMARY KEY) ENGINE=InnoDB")
    server.stop()
    assert server.save_data().size_bytes > 0
    server.start()
    seen: list[tuple[str, str, Sample]] = []
    watched = WatchedInstance(
        name="one/0", target=server.target, is_here=True, pid=server.pid, data_dir=server.data_dir
    )
    collecting = host.collect(
        WatchRequest(instances=[watched], driver="driver", interval_s=0.2, saw=lambda *told: seen.append(told))
    )
    with connect(server.target) as control:
        control.rows("DROP TABLE t")
        assert until(lambda: {"server", "process"} <= {sample.source for *_, sample in seen})
    collecting.stop()
    assert faults_of(collecting.faults) == []
    rows = collecting.take()
    assert set(rows["host"]) == {host.call(host_facts).name}
    assert {"host", "server", "process"} <= set(rows["source"])
    assert abs(rows["unix_s"].max() - time.time()) < 60  # type: ignore[operator]
    server.stop()
    server.restore_data()
    server.start()
    with connect(server.target) as control:
        assert control.rows("SHOW TABLES") == [("t",)]
    server.remove()
    assert list(disk.iterdir()) == []


def _agent_folders(host: ssh_hosts.SshHost) -> set[Path]:
    """What agents there hold locked: other tests have hosts, too, and all have their folders in one place."""
    found, begin = set(), f"/var/tmp/plimsoll-host-{os.geteuid()}-"
    for pid in host.pids():
        for name in names_in(PROC / str(pid) / "fd"):
            opened = Path(link(PROC / str(pid) / "fd" / name))
            found |= {folder for folder in (opened, *opened.parents) if str(folder).startswith(begin)}
    return {folder for folder in found if folder.parent == Path("/var/tmp")}


def test_one_study_uses_a_host_over_a_connection_that_is_cut_comes_back_and_ends(db2: ssh_hosts.SshHost) -> None:
    before = set(db2.pids())
    host = SshHost("db2", python=sys.executable)
    server = host.create_server(name="one", spec=bare_spec("mariadb", data_dir=ssh_hosts.DISK))
    server.start()
    with pytest.raises(HostError, match=rf"db2: another study uses this host \(from .*, process {os.getpid()}\); wait"):
        SshHost("db2", python=sys.executable)
    db2.cut()
    with pytest.raises(HostError, match=r"db2: the connection was lost"):
        host.call(host_facts)
    with pytest.raises(HostError, match=r"db2: the connection was lost"):
        server.start()
    assert until(lambda: list(db2.disk.iterdir()) == []), "the agent there heard nothing, and ended"
    db2.mend()
    number = host.connection_number
    host.reconnect(limit_s=300)
    assert host.connection_number == number + 1
    assert host.call(host_facts).name == "db2"
    server.remove()
    check_that_nothing_stays_when_the_connection_ends(db2, host, before)


def check_that_nothing_stays_when_the_connection_ends(db2: ssh_hosts.SshHost, host: SshHost, before: set[int]) -> None:
    """Of its agent, of a server that runs, and of their folders."""
    host.create_server(name="two", spec=bare_spec("mariadb", data_dir=ssh_hosts.DISK)).start()
    assert len(db2.pids()) > len(before) + 2
    folders = _agent_folders(db2)
    assert folders
    host.close()
    assert until(lambda: set(db2.pids()) <= before), "server and agent end"
    assert list(db2.disk.iterdir()) == []
    assert not [folder for folder in folders if folder.exists()]


def test_a_clock_that_is_wrong_changes_no_time(db2: ssh_hosts.SshHost, tmp_path: Path) -> None:
    """Libfaketime shifts the clock of everything that the host's Python runs."""
    if shutil.which("faketime") is None:
        missing("faketime is not here: tools/install-test-tools installs it")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec faketime -f +300s {sys.executable} "$@"\n')
    python.chmod(0o755)
    host = SshHost("db2", python=str(python))
    clock = host.clock()
    assert abs(clock.ahead_s - 300) <= clock.error_s + 0.01
    collecting = host.collect(WatchRequest(instances=[], driver="driver", interval_s=0.2))
    began_s, times = time.time(), list[float]()
    assert until(lambda: times.extend(collecting.take()["unix_s"]) or len(times) > 0)
    collecting.stop()
    assert began_s - 5 < min(times) <= max(times) < time.time() + 5
    host.close()


@pytest.mark.parametrize(
    ("destination", "python", "message"),
    [
        ("db9.invalid", "python3", r"db9\.invalid: cannot be reached over SSH: .*Try: ssh"),
        ("db2", "python9", r"db2: python9 was not found there; install Python, or name it"),
        ("db2", "false", r"db2: false ended with exit code 1"),
        ("db2", "echo", r"printed .* where its version was expected"),
    ],
)
def test_what_is_missing_is_said_with_the_cure(
    db2: ssh_hosts.SshHost, destination: str, python: str, message: str
) -> None:
    with pytest.raises(HostError, match=message):
        SshHost(destination, python=python)


def test_a_port_that_no_server_serves_says_nothing(host: Host) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        found = host.call(find_listening, listener.getsockname()[1], "/var/lib/mysql")
    assert found.is_here is None
    assert ("may forward" if host.is_here else "no process") in found.reason


def test_clocks_are_compared(host: Host) -> None:
    clock = host.clock()
    assert abs(clock.ahead_s) <= clock.error_s + 0.005, "both have one clock"
    assert clock.error_s < 0.5


def test_the_base_folder_is_that_of_the_account_there(host: Host) -> None:
    assert host.call(default_base_dir).name.startswith("plimsoll")
