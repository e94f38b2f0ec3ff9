"""Real servers for tests: which there are, and throwaway instances of them.

`PLIMSOLL_TEST_MYSQLD` holds the full command line of a MySQL 9 server. A missing server skips loudly, and fails where
`CI` is set: a test that nobody runs protects nobody. Deliberately not here: any load.
"""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from plimsoll.errors import HostError
from plimsoll.servers.command import find_server
from plimsoll.servers.managed_server import ManagedServer, ManagedSpec
from support.endure import in_endure
from support.initialised_data import created

MYSQL_VARIABLE = "PLIMSOLL_TEST_MYSQLD"
FLAVOURS = ("mariadb", "mysql")
MYSQL_IN_ENDURE = ("mariadb", in_endure("mysql"))
"""For long tests of what hardly depends on the flavour: `make endure` runs them with MySQL too."""

mysql_in_endure = pytest.mark.parametrize("running_server", MYSQL_IN_ENDURE, indirect=True)
"""The same for a test that uses `running_server`."""

StartServer = Callable[..., ManagedServer]


def server_command(flavour: str) -> str:
    """What `ManagedSpec.server` takes for a flavour; skips, or fails in CI, where there is no such server."""
    if flavour == "mysql":
        command = os.environ.get(MYSQL_VARIABLE)
        return command or missing(f"MySQL 9 is not here: set {MYSQL_VARIABLE}=$(tests/tools/get-mysql9 DIR)")
    try:
        find_server("mariadb")
    except HostError as error:
        return missing(str(error))
    return "mariadb"


def missing(reason: str) -> str:
    """Skips the test loudly, or fails it in CI."""
    if os.environ.get("CI", "").lower() in {"1", "true", "yes"}:
        pytest.fail(reason)
    pytest.skip(reason)


def needs_own_mounts() -> None:
    """Skips the test loudly, or fails it in CI, where a program cannot be given mounts of its own.

    That needs root, and a root folder that is a mount, which that of a chroot is not.
    """
    tried = subprocess.run(["unshare", "--mount", "true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        missing(f"no program can be given mounts of its own here: {tried.stderr.strip()}")


def own_address() -> str:
    """A loopback address that nobody else uses, for servers that others find at the same port after they were down.

    Ports of 127.0.0.1 that are free for a moment are taken for other servers, and for other connections' own ends.
    """
    numbers = random.SystemRandom()
    return f"127.{numbers.randrange(1, 255)}.{numbers.randrange(256)}.{numbers.randrange(1, 255)}"


def bare_spec(flavour: str, **changes: object) -> ManagedSpec:
    """A small server that starts fast: for tests of everything but its options."""
    values = {"server": server_command(flavour), "profile": "bare", "buffer_pool_bytes": 64 * 2**20, **changes}
    return ManagedSpec(**values)  # type: ignore[arg-type]


@pytest.fixture
def server_base() -> Iterator[Path]:
    """A folder of its own on a disk for the directories of instances; must be empty at the end of the test."""
    base = Path(f"/var/tmp/plimsoll-test-{os.geteuid()}-{os.getpid()}")
    base.mkdir(mode=0o700, exist_ok=True)
    yield base
    left = [entry.name for entry in base.iterdir()]
    if not left:
        base.rmdir()
    assert not left, f"left behind in {base}: {left}"


@pytest.fixture
def start_server(server_base: Path) -> Iterator[StartServer]:
    """A function that starts a throwaway server, `start_server("mariadb", options={...})`; all end with the test."""
    servers: list[ManagedServer] = []

    def start(flavour: str, *, name: str | None = None, **changes: object) -> ManagedServer:
        server = created(name=name or flavour, spec=bare_spec(flavour, **changes), base_dir=server_base)
        servers.append(server)
        server.start()
        return server

    yield start
    for server in servers:
        server.remove()


@pytest.fixture(scope="module", params=FLAVOURS)
def running_server(request: pytest.FixtureRequest) -> Iterator[ManagedServer]:
    """One running throwaway server of each flavour for all tests of a module, which must not stop it."""
    flavour: str = request.param
    base = Path(f"/var/tmp/plimsoll-test-{os.geteuid()}-{os.getpid()}-shared")
    with created(name=flavour, spec=bare_spec(flavour), base_dir=base) as server:
        server.start()
        yield server
    base.rmdir()
