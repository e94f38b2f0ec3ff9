"""Where a server runs follows from where its connection ends, and not from its address."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from plimsoll.servers.locality import (
    Evidence,
    FarEnd,
    Locality,
    Where,
    _data_dir,
    _pid_in_file,
    far_end_of,
    has_card,
    is_server,
    judge,
    locate,
)

HERE = "box"
SAYS = {"hostname": HERE, "port": "3306", "datadir": "/nowhere/at/all/", "pid_file": "/nowhere.pid"}


def judged(where: Where, *, pid: int | None = None, **changes: object) -> Locality:
    values = {"port": 3306, "variables": SAYS, "host_name": HERE, **changes}
    return judge(Evidence(far_end=FarEnd(where, "192.0.2.7", pid, "eth9"), **values))  # type: ignore[arg-type]


ONE: dict[str, Any] = {"servers_here": {43: 998.7}, "began_unix_s": 1000}
TWO: dict[str, Any] = {"servers_here": {43: 998.7, 44: 999.1}, "began_unix_s": 1000}


@pytest.mark.parametrize("name", ["mysqld", "mariadbd", "mysqld-debug"])
def test_a_connection_that_ends_in_a_servers_process_ends_here(name: str) -> None:
    found = judged(Where.PROCESS, pid=42, process_name=name, variables=SAYS | {"hostname": "another"})
    assert (found.is_here, found.pid, found.unwatched) == (True, 42, None)
    assert name in found.reason


def test_the_pid_file_tells_a_server_whatever_its_process_is_called() -> None:
    assert judged(Where.PROCESS, pid=42, process_name="ld-linux-x86-64", pid_in_file=42).is_here is True
    assert judged(Where.PROCESS, pid=42, process_name="ld-linux-x86-64", pid_in_file=43).is_here is None


@pytest.mark.parametrize("name", ["ssh", "docker-proxy", "haproxy", "mysqlrouter", "python3", None])
def test_a_process_that_may_pass_the_connection_on_makes_it_unknown(name: str | None) -> None:
    """Also when the machine behind has the same name, as clones of one image do."""
    found = judged(Where.PROCESS, pid=42, process_name=name, **ONE)
    assert (found.is_here, found.pid, found.data_dir) == (None, None, None)
    assert "may forward the connection" in found.reason


def test_a_process_that_is_not_shown_needs_the_name_and_port_of_the_server() -> None:
    found = judged(Where.HIDDEN, **ONE)
    assert (found.is_here, found.pid, found.unwatched) == (True, 43, None)
    container = judged(Where.HIDDEN, **ONE, variables=SAYS | {"hostname": "3f2a9c"})
    assert (container.is_here, container.pid) == (None, None)
    assert "'3f2a9c'" in container.reason
    tunnel = judged(Where.HIDDEN, **ONE, port=13306)
    assert (tunnel.is_here, tunnel.pid) == (None, None)
    assert "13306" in tunnel.reason
    assert judged(Where.HIDDEN, port=3307, variables=SAYS | {"extra_port": "3307"}).is_here is True
    assert judged(Where.HIDDEN, port=None).is_here is True, "a unix socket has no port"


def test_of_several_servers_that_are_not_shown_the_pid_file_tells_which() -> None:
    several = judged(Where.HIDDEN, **TWO)
    assert (several.is_here, several.pid) == (True, None)
    assert several.unwatched is not None
    assert judged(Where.HIDDEN, **TWO, pid_in_file=44).pid == 44
    assert judged(Where.HIDDEN, **TWO, pid_in_file=45).pid is None, "that of another machine"


def test_a_server_may_run_by_a_loader_or_a_wrapper() -> None:
    assert is_server("mysqld", None)
    assert is_server("ld-linux-x86-64", ["/lib64/ld-linux-x86-64.so.2", "/opt/bin/mysqld", "--port=1"])
    assert not is_server("vim", ["vim", "/etc/mysqld.cnf"])


def test_a_process_that_began_at_another_time_is_another_server() -> None:
    """The server itself may be called otherwise, as in a container of another kind."""
    for began_s in (1200, 900, None):
        found = judged(Where.HIDDEN, servers_here={43: 998.7}, began_unix_s=began_s)
        assert (found.is_here, found.pid, found.unwatched is None) == (True, None, False)
    assert judged(Where.HIDDEN, servers_here={43: 998.7, 44: 50.0}, began_unix_s=1000).pid == 43


def test_systemd_may_have_opened_the_socket_for_the_server() -> None:
    found = judged(Where.PROCESS, pid=1, process_name="systemd", port=None, **ONE)
    assert (found.is_here, found.pid) == (True, 43)


@pytest.mark.parametrize(
    ("where", "is_here", "words"),
    [
        (Where.FORWARDED, None, "nothing on this machine answers"),
        (Where.BEYOND_VIRTUAL, None, "eth9"),
        (Where.BEYOND_CARD, False, "not an address of this machine"),
    ],
)
def test_other_addresses(where: Where, is_here: bool | None, words: str) -> None:
    found = judged(where, **ONE)
    assert (found.is_here, found.pid, found.data_dir) == (is_here, None, None)
    assert words in found.reason


def test_a_data_directory_must_mean_the_same_here(tmp_path: Path) -> None:
    """Ours is that of a process that we see; of one that we do not see, the name of the host decides."""
    own, ours = os.getpid(), socket.gethostname()
    for said, pid, host, expected in (
        (f"{tmp_path}/", own, "another", tmp_path),
        (f"{tmp_path}/gone", own, ours, None),
        (f"{tmp_path}/", None, ours, tmp_path),
        (f"{tmp_path}/", None, "another", None),
        ("./", own, ours, None),
        ("", own, ours, None),
        ("/a\0b", None, ours, None),
    ):
        assert _data_dir({"datadir": said, "hostname": host}, pid) == expected, (said, pid, host)


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_a_connection_over_tcp_leads_to_the_process_that_accepted_it(family: socket.AddressFamily) -> None:
    with socket.create_server(("", 0), family=family, dualstack_ipv6=family == socket.AF_INET6) as listening:
        address = ("127.0.0.1", listening.getsockname()[1])  # by IPv4 also to a socket of both
        with socket.create_connection(address) as connection, listening.accept()[0]:
            found = far_end_of(connection)
    assert found == FarEnd(Where.PROCESS, "127.0.0.1", os.getpid())


def test_an_address_of_ours_without_an_end_here_is_forwarded(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a rule of the kernel's packet filter sends into a container has no end in our table of connections."""
    monkeypatch.setattr(psutil, "net_connections", lambda kind: [])
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.create_connection(listening.getsockname()) as connection,
    ):
        assert far_end_of(connection).where is Where.FORWARDED


def test_a_unix_socket_names_the_process_that_listens(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX) as connection:
        listening.bind(str(tmp_path / "s"))
        listening.listen()
        connection.connect(str(tmp_path / "s"))
        assert far_end_of(connection) == FarEnd(Where.PROCESS, "a unix socket", os.getpid())


def test_an_interface_has_a_card_by_itself_or_by_what_it_is_made_of(tmp_path: Path) -> None:
    folder = tmp_path / "class/net"
    for path in ("eth0/device", "br0/lower_bond0", "bond0/lower_eth0", "docker0/bridge", "veth1"):
        (folder / path).mkdir(parents=True)
    has = {name: has_card(name, tmp_path) for name in ("eth0", "bond0", "br0", "docker0", "veth1", "gone0")}
    assert has == {"eth0": True, "bond0": True, "br0": True, "docker0": False, "veth1": False, "gone0": False}


def test_a_connection_that_is_closed_makes_it_unknown_and_fails_nothing() -> None:
    closed = socket.socket()
    closed.close()
    control = SimpleNamespace(socket=closed, target=SimpleNamespace(socket=None, port=3306))
    found = locate(control, SAYS)  # type: ignore[arg-type]
    assert found.is_here is None
    assert "does not show" in found.reason


@pytest.mark.timeout(20)
@pytest.mark.parametrize("content", ["", "17", "17\n", "no number", "9" * 40])
def test_what_a_server_calls_its_pid_file_is_read_only_if_it_is_small_and_plain(tmp_path: Path, content: str) -> None:
    file = tmp_path / "pid"
    file.write_text(content)
    os.mkfifo(tmp_path / "pipe")
    assert _pid_in_file(str(file)) == (17 if content.strip() == "17" else None)
    assert [_pid_in_file(path) for path in (str(tmp_path / "pipe"), "/dev/zero", "", "relative", "a\0b")] == [None] * 5
