"""A managed server runs on the data that Plimsoll made and on nothing else, whatever becomes of its option file.

The data directory that is in danger is one of the test's own. Where the loss needs the built-in path of a server,
/var/lib/mysql, that path is the test's own directory in a mount namespace.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from pydantic import SecretStr

from plimsoll.errors import TargetError
from plimsoll.servers.command import find_server
from plimsoll.servers.control import connect
from plimsoll.servers.managed_server import ManagedServer
from plimsoll.spec.target import Target, Tls
from support.servers import FLAVOURS, bare_spec, server_base, server_command
from support.waiting import until

__all__ = ["server_base"]
pytestmark = pytest.mark.e2e

STARTS_A_SERVER = """
import sys, os
from pathlib import Path
from plimsoll.servers import managed_server
from plimsoll.servers.control import connect

def write_so_that_it_is_skipped(path, text):
    path.write_text(text)
    path.chmod(0o666)

def print_what_is_in_force(server):
    server.start()
    with connect(server.target) as control:
        print(control.value("SELECT @@innodb_buffer_pool_size"))
    server.stop()
    print(oct(server.directory.option_file.stat().st_mode & 0o777))

writes_private = managed_server.write_private
managed_server.write_private = write_so_that_it_is_skipped
os.umask(0)
spec = managed_server.ManagedSpec(server=sys.argv[2], profile="bare", buffer_pool_bytes=64 * 2**20)
with managed_server.ManagedServer.create(name="own", spec=spec, base_dir=Path(sys.argv[1])) as server:
    print_what_is_in_force(server)
    print_what_is_in_force(server)
    managed_server.write_private = writes_private
    print_what_is_in_force(server)
"""

AS_ITS_OWNER = """
mount -t tmpfs none /var/lib && mkdir /var/lib/mysql && mount --bind "$1" /var/lib/mysql
mount -t tmpfs none /run && mkdir /run/mysqld
shift
exec unshare --user --map-user=4242 --map-group=4242 "$@"
"""
"""Runs a command as an ordinary user who owns /var/lib/mysql, which is the folder of the first argument."""


Victims = Callable[[str], Path]


def in_danger(flavour: str, folder: Path) -> Path:
    """A stopped data directory of another server, with root and without a password."""
    folder.mkdir()
    if flavour == "mariadb":
        words = ["mariadb-install-db", "--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"]
    else:
        words = [*shlex.split(server_command(flavour)), "--initialize-insecure"]
    made = subprocess.run(
        [*words, f"--datadir={folder}", *as_root()], capture_output=True, text=True, timeout=600, check=False
    )
    assert made.returncode == 0, made.stdout + made.stderr
    return folder


@pytest.fixture(scope="module")
def victims(tmp_path_factory: pytest.TempPathFactory) -> Victims:
    """One for each flavour: no test leaves a trace in it."""
    return cache(lambda flavour: in_danger(flavour, tmp_path_factory.mktemp("other") / "victim"))


def as_root() -> list[str]:
    return ["--user=root"] if os.geteuid() == 0 else []


@contextmanager
def running_on(flavour: str, folder: Path) -> Iterator[Target]:
    """Root of a server on that data directory, as its owner would start it."""
    command = find_server(server_command(flavour))
    socket = folder.parent / "victim.sock"
    extra = ["--loose-mysqlx=OFF", "--skip-networking", f"--socket={socket}", f"--pid-file={folder}/pid", *as_root()]
    words = [*command.program, "--no-defaults", *command.arguments, f"--datadir={folder}", *extra]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        target = Target(user="root", database="mysql", socket=socket, password=SecretStr(""), tls=Tls(mode="disabled"))
        try:
            assert until(lambda: answers(target))
            yield target
        finally:
            process.terminate()
            until(lambda: process.poll() is not None)
            process.kill()


def answers(target: Target) -> bool:
    """Whether the server listens; its socket is there a little earlier."""
    try:
        with connect(target):
            return True
    except TargetError:
        return False


def assert_untouched(flavour: str, folder: Path) -> None:
    with running_on(flavour, folder) as target, connect(target) as control:
        users = {user for (user,) in control.rows("SELECT DISTINCT user FROM mysql.user")}
        assert "root" in users
        assert "plimsoll" not in users
        assert not control.rows("SHOW DATABASES LIKE 'sbtest'")


def start_as_owner_of_the_default(victim: Path, base: Path, flavour: str) -> str:
    """Makes a managed server and starts it three times in the namespace; gives what the script printed."""
    words = [sys.executable, "-c", STARTS_A_SERVER, str(base), server_command(flavour)]
    ran = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-ec", AS_ITS_OWNER, "sh", str(victim), *words],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.fixture
def namespaces() -> None:
    words = ["unshare", "--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/var/lib"]
    try:
        refused = subprocess.run(words, capture_output=True, check=False).returncode
    except FileNotFoundError:
        refused = 1
    if refused:
        pytest.skip("SKIPPED: no user may make a mount namespace here, so nobody tried to lose /var/lib/mysql")


@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_server_that_skips_its_option_file_still_runs_on_its_own_data(
    flavour: str, server_base: Path, victims: Victims
) -> None:
    """When its data is made, when its account is, and later; and with an umask of 0 no server skips what we write."""
    victim = victims(flavour)
    printed = start_as_owner_of_the_default(victim, server_base, flavour).split()
    lost, read = [str(128 * 2**20), "0o666"], [str(64 * 2**20), "0o600"]
    assert printed[:4] == [*lost, *lost], "the options are lost, the place is not"
    assert printed[4:] == read, "whatever the umask, the options are read"
    assert_untouched(flavour, victim)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_command_that_leads_elsewhere_changes_no_account(
    flavour: str, server_base: Path, tmp_path: Path, victims: Victims
) -> None:
    """At the first start with the accounts file, and at any later one."""
    victim = victims(flavour)
    command = find_server(server_command(flavour))
    program = tmp_path / ("mariadbd" if flavour == "mariadb" else "mysqld")
    astray = tmp_path / "astray"
    program.write_text(
        f'#!/bin/sh\n[ -e {astray} ] && set -- "$@" --datadir={victim}\nexec {shlex.join(command.program)} "$@"\n'
    )
    program.chmod(0o700)
    spec = bare_spec(flavour, server=[str(program), *command.arguments])
    with ManagedServer.create(name="astray", spec=spec, base_dir=server_base) as server:
        check_that_it_does_not_start(server, astray)
        server.start()
        server.stop()
        check_that_it_does_not_start(server, astray)
    assert_untouched(flavour, victim)


def check_that_it_does_not_start(server: ManagedServer, astray: Path) -> None:
    """While that file is there, which leads the server to other data."""
    astray.touch()
    with pytest.raises(TargetError, match="does not run on") as caught:
        server.start()
    assert not server.is_running
    assert str(server.directory.data) in str(caught.value)
    astray.unlink()
