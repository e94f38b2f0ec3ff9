"""A Ray cluster of several nodes on this machine."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from support.drivers import ancestors, own_engines
from support.servers import missing
from support.vanishing import processes
from support.waiting import until

SCRIPT = Path(__file__).with_name("ray_nodes.py")
START_LIMIT_S = 120
CLIENT_START_LIMIT = "RAY_CLIENT_SERVER_CHECK_CHANNEL_TIMEOUT_S"
"""How long Ray waits for its own server of one client: 30 s are too few on a busy machine."""


@dataclass(frozen=True, slots=True)
class RayNodes:
    """A running cluster.

    Attributes:
        address: Of its state, `host:port`.
        client: As `ray://host:port`.
        pids: Processes of each node, the head first.
    """

    address: str
    client: str
    pids: tuple[tuple[int, ...], ...]

    def kill(self, node: int) -> None:
        """Kills all processes of a node that are Ray's; engines are not."""
        started = [pid for pid in processes() if set(self.pids[node]) & set(ancestors(pid))]
        for pid in {*self.pids[node], *started} - own_engines():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def node_of(self, pid: int) -> int:
        """The node that a process was started by, in the end."""
        for ancestor in ancestors(pid):
            for node, pids in enumerate(self.pids):
                if ancestor in pids:
                    return node
        raise AssertionError("it belongs to no node")


@contextmanager
def ray_nodes(count: int, **variables: str) -> Iterator[RayNodes]:
    """A cluster of so many nodes with one CPU each; `variables` are added to the environment of all of it."""
    if find_spec("ray") is None:
        missing("Ray is not here: pip install 'plimsoll[ray]'")
    folder = Path(tempfile.mkdtemp(prefix="plimsoll-ray-", dir="/var/tmp"))  # short: Ray puts sockets there
    (folder / "ray").mkdir()
    environment = {**os.environ, **loopback(folder), CLIENT_START_LIMIT: str(START_LIMIT_S), **variables}
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(
            [sys.executable, str(SCRIPT), str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=environment,
            start_new_session=True,
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            assert line, (folder / "log").read_text()[-3000:]
            told = json.loads(line)
            assert until(lambda: answers(told["client_port"])), "the client server does not listen"
            client = f"ray://127.0.0.1:{told['client_port']}"
            yield RayNodes(told["address"], client, tuple(tuple(one) for one in told["pids"]))
        finally:
            process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=30)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            shutil.rmtree(folder, ignore_errors=True)


def loopback(folder: Path) -> dict[str, str]:
    """What keeps Ray on the loopback address, its files in a folder, and its figures to itself.

    Ray takes the address of the machine's network in place of a loopback address, except where it believes that there
    can be no cluster.
    """
    return {
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        "RAY_TMPDIR": str(folder),
        "RAY_USAGE_STATS_ENABLED": "0",
    }


@contextmanager
def connected_to(nodes: RayNodes) -> Iterator[None]:
    """Lets "auto" be that cluster."""
    kept = {name: os.environ.get(name) for name in ("RAY_ADDRESS", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER")}
    os.environ.update({"RAY_ADDRESS": nodes.address, "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"})
    try:
        yield
    finally:
        for name, value in kept.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def answers(port: int) -> bool:
    """Whether something listens."""
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0
