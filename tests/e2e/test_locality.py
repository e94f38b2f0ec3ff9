"""Where real servers run is found from real connections: over TCP and sockets, through a tunnel, into a namespace."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.record.store import read_study
from plimsoll.servers.control import connect
from plimsoll.servers.locality import FarEnd, Locality, Where, far_end_of, locate
from plimsoll.servers.managed_server import ManagedServer
from plimsoll.spec.target import Target, Tls
from support.command import plimsoll
from support.forwarder import forwarder
from support.servers import mysql_in_endure, running_server
from support.warned import codes_of

__all__ = ["running_server"]
pytestmark = pytest.mark.e2e

STUDY = """
[study]
name = "here"
levels = {{ connections = [2] }}
warm_up = "1s"
settle_limit = "1s"
clients = {{ think_time = "20ms" }}
duration = "3s"
repetitions = 1
reset = "never"
[[workload]]
name = "ro"
kind = "oltp_read_only"
table_size = 1000
{systems}
"""


def located(target: Target) -> Locality:
    with connect(target) as control:
        return locate(control, control.variables())


def test_a_server_on_this_machine_is_found_with_its_process_and_its_data(running_server: ManagedServer) -> None:
    for target in (running_server.target, running_server.socket_target):
        found = located(target)
        assert (found.is_here, found.pid, found.unwatched) == (True, running_server.pid, None), found.reason
        assert found.data_dir == running_server.directory.data


def test_a_tunnel_on_the_loopback_address_makes_it_unknown(running_server: ManagedServer) -> None:
    with forwarder(running_server.target.port) as port:
        found = located(replace(running_server.target, port=port))
    assert (found.is_here, found.pid, found.data_dir) == (None, None, None)
    assert "may forward the connection" in found.reason


@pytest.mark.skipif(os.geteuid() != 0, reason="SKIPPED, needs root to become another user")
def test_a_server_of_another_user_is_here_and_may_not_be_watched(running_server: ManagedServer) -> None:
    tls = Tls(mode="disabled", get_server_public_key=True)  # another user may not read the server's key
    found = _as_nobody(replace(running_server.target, tls=tls))
    assert found.get("is_here") is True, found
    assert found["pid"] == running_server.pid or (found["pid"] is None and "another user" in found["unwatched"])


@pytest.mark.skipif(os.geteuid() != 0, reason="SKIPPED, needs root to make a network namespace")
def test_an_address_behind_a_virtual_interface_is_neither_here_nor_elsewhere() -> None:
    with _namespace() as (name, interface, address):
        script = "import socket; s = socket.create_server(('', 7000)); print('up', flush=True); s.accept()[0].recv(1)"
        command = ["ip", "netns", "exec", name, "python3", "-c", script]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as listening:
            assert listening.stdout is not None
            listening.stdout.readline()
            with socket.create_connection((address, 7000), timeout=300) as connection:
                found = far_end_of(connection)
    assert found == FarEnd(Where.BEYOND_VIRTUAL, address, interface=interface)


@mysql_in_endure
def test_targets_on_this_machine_are_watched_as_managed_servers_are(
    running_server: ManagedServer, tmp_path: Path
) -> None:
    with forwarder(running_server.target.port) as port:
        systems = "".join(
            f'[[system]]\nname = "{name}"\ntarget = "{_url(running_server, at)}"\npassword_env = "PW"\n'
            for name, at in (("direct", running_server.target.port), ("tunnel", port))
        )
        (tmp_path / "s.toml").write_text(STUDY.format(systems=systems))
        secret = {"PW": running_server.target.password.get_secret_value()}
        ran = plimsoll("study", "run", tmp_path / "s.toml", "--to", tmp_path / "out", env=secret)
    assert ran.returncode == 0, ran.stderr
    direct, tunnel = (
        next(recording for recording in read_study(tmp_path / "out").recordings if recording.trial.system.name == name)
        for name in ("direct", "tunnel")
    )
    assert direct.environment.client.on_server_host is True
    assert direct.environment.host.name
    (instance,) = direct.environment.instances
    assert instance.storage is not None
    assert (instance.storage.path, instance.storage.flush_ms_median) == (str(running_server.directory.data), None)
    assert _watched(direct) == {"server_cpu_ratio", "server_memory_bytes", "write_bytes_per_s"}

    assert tunnel.environment.client.on_server_host is None
    assert tunnel.environment.host.name is None
    assert tunnel.environment.instances[0].storage is None
    assert _watched(tunnel) == set()

    analysis = json.loads(plimsoll("guide", tmp_path / "out", "--json").stdout)
    cpu = {curve["system"]: curve["cells"][0]["cpu"] for curve in analysis["curves"]}
    assert cpu["direct"]["server"] > 0
    assert cpu["direct"]["idle"] is not None
    assert cpu["tunnel"]["server"] is cpu["tunnel"]["idle"] is None
    assert cpu["tunnel"]["client"] > 0
    places = {one["code"]: one["systems"] for one in analysis["warnings"]}
    assert "tunnel" not in places.get("client-on-server-host", ())
    assert places["server-place-unknown"] == ["tunnel"]
    assert "telemetry-missing" not in codes_of(analysis["warnings"])


def _url(server: ManagedServer, port: int) -> str:
    return f"mysql://{server.target.user}@127.0.0.1:{port}/{server.target.database}"


def _watched(recording: object) -> set[str]:
    telemetry = recording.telemetry()  # type: ignore[attr-defined]
    own = telemetry.filter(telemetry["instance"] != "")
    return {"server_cpu_ratio", "server_memory_bytes", "write_bytes_per_s"} & set(own["metric"])


def _as_nobody(target: Target) -> dict[str, object]:
    """What a process that may not see the server's finds out."""
    located(target)  # imports what it needs: another user may not read our modules
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            found = located(target)
            said = {"is_here": found.is_here, "pid": found.pid, "unwatched": found.unwatched, "reason": found.reason}
            os.write(writing, json.dumps(said).encode())
        except BaseException as error:
            os.write(writing, json.dumps({"failed": repr(error)}).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return dict(json.loads(text))


@contextmanager
def _namespace() -> Iterator[tuple[str, str, str]]:
    """A network namespace at the other end of a virtual cable: its name, our interface, its address."""
    name, ours, theirs = (f"pl{os.getpid()}{end}" for end in ("", "a", "b"))
    address = "10.213.7.2"
    commands = (
        f"ip netns add {name}",
        f"ip link add {ours} type veth peer name {theirs} netns {name}",
        f"ip addr add 10.213.7.1/30 dev {ours}",
        f"ip link set {ours} up",
        f"ip -n {name} addr add {address}/30 dev {theirs}",
        f"ip -n {name} link set {theirs} up",
    )
    try:
        for command in commands:
            if subprocess.run(command.split(), check=False).returncode != 0:
                pytest.skip(f"SKIPPED: no network namespace can be made: {command}")
        yield name, ours, address
    finally:
        subprocess.run(["ip", "netns", "del", name], check=False)
