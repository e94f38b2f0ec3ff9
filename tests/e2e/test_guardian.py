"""Whoever is killed, no server and no directory is left: with real servers, and a process of their own as owner."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from plimsoll.errors import HostError
from plimsoll.servers.command import find_server
from plimsoll.servers.control import connect
from plimsoll.servers.directory import sweep
from plimsoll.servers.freezing import OWN_FOLDER
from plimsoll.servers.managed_server import ManagedServer
from plimsoll.servers.marked_directory import MARKER, environment_of
from support.endure import in_endure
from support.processes import exists
from support.servers import MYSQL_IN_ENDURE, StartServer, bare_spec, server_base, server_command, start_server
from support.vanishing import control_groups, processes, stat, threads, words_of
from support.waiting import until

__all__ = ["server_base", "start_server"]
pytestmark = pytest.mark.e2e

OWNER = """
import sys, time
from pathlib import Path
from plimsoll.servers.managed_server import ManagedServer
from plimsoll.servers.marked_directory import MARKER
from plimsoll.servers.managed_server import ManagedSpec
spec = ManagedSpec(server=sys.argv[2], profile="bare", buffer_pool_bytes=64 * 2**20)
server = ManagedServer.create(name="owned", spec=spec, base_dir=Path(sys.argv[1]))
if sys.argv[3] in ("start", "freeze"):
    server.start()
    if sys.argv[3] == "freeze":
        server.freeze()
    print(server.pid, server._guard.pid, server.directory.path, flush=True)
else:
    print(0, server._guard.pid, server.directory.path, flush=True)
time.sleep(300)
"""


def gone(pid: int) -> bool:
    return pid == 0 or not exists(pid)


@dataclass(frozen=True)
class Owned:
    owner: subprocess.Popen[str]
    pid: int
    guardian_pid: int
    directory: Path

    def nothing_left(self) -> bool:
        return gone(self.pid) and gone(self.guardian_pid) and not self.directory.exists() and not self.groups()

    def groups(self) -> list[Path]:
        """Control groups of its servers."""
        return [group for group in control_groups(OWN_FOLDER) if group.name.startswith(f"{self.directory.name}.")]


@contextmanager
def owned(base: Path, flavour: str, then: str = "start") -> Iterator[Owned]:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(base), server_command(flavour), then],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        start_new_session=True,
    )
    assert owner.stdout is not None
    try:
        pid, guardian_pid, path = owner.stdout.readline().split()
        yield Owned(owner, int(pid), int(guardian_pid), Path(path))
    finally:
        owner.kill()
        owner.wait()
        owner.stdout.close()


@pytest.mark.parametrize("flavour", MYSQL_IN_ENDURE)
def test_plimsoll_killed(flavour: str, server_base: Path) -> None:
    with owned(server_base, flavour) as it:
        assert not it.nothing_left()
        it.owner.kill()
        assert until(it.nothing_left)


def test_plimsoll_killed_while_the_server_is_stopped_by_a_signal(server_base: Path) -> None:
    with owned(server_base, "mariadb") as it:
        os.kill(it.pid, signal.SIGSTOP)
        it.owner.kill()
        assert until(it.nothing_left)


def test_plimsoll_killed_between_two_starts(server_base: Path) -> None:
    with owned(server_base, "mariadb", "rest") as it:
        it.owner.kill()
        assert until(it.nothing_left)


def test_ctrl_c_ends_plimsoll_first(server_base: Path) -> None:
    """The terminal's signal reaches the owner's process group; the server, in another session, is ended through it."""
    with owned(server_base, "mariadb") as it:
        os.killpg(it.owner.pid, signal.SIGINT)
        assert until(it.nothing_left)


def test_guardian_killed(server_base: Path) -> None:
    with owned(server_base, "mariadb") as it:
        os.kill(it.guardian_pid, signal.SIGKILL)
        assert until(lambda: gone(it.pid))
        assert sweep(server_base) == (), "its owner lives"
    assert sweep(server_base) == (it.directory,)


@pytest.mark.parametrize("delay_s", [in_endure(0.0), 0.1, in_endure(0.3), 0.7, in_endure(1.5)])
def test_guardian_terminated_at_any_instant(delay_s: float, server_base: Path) -> None:
    """Also while it starts a server, and while the server's data is made."""
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(server_base), server_command("mariadb"), "start"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        assert until(lambda: bool(guardians(server_base)))
        time.sleep(delay_s)
        for pid in guardians(server_base):
            with contextlib.suppress(ProcessLookupError):  # a child of its that had not begun its own program
                os.kill(pid, signal.SIGTERM)
        assert until(lambda: not list(server_base.iterdir())), list(server_base.rglob("*"))
    finally:
        owner.kill()
        owner.wait()


def guardians(base: Path) -> list[int]:
    lines = ((pid, b" ".join(words_of(pid))) for pid in processes())
    return [pid for pid, words in lines if b"guardian.py" in words and os.fsencode(base) in words]


def test_both_killed(server_base: Path) -> None:
    with owned(server_base, "mariadb") as it:
        os.kill(it.guardian_pid, signal.SIGSTOP)
        it.owner.kill()
        os.kill(it.guardian_pid, signal.SIGKILL)
        assert until(lambda: gone(it.pid))
    assert sweep(server_base) == (it.directory,)


def test_living_instances_are_not_swept(start_server: StartServer, server_base: Path) -> None:
    server = start_server("mariadb")
    assert sweep(server_base) == ()
    server.check()
    server.stop()
    assert sweep(server_base) == ()


@pytest.mark.parametrize("stopped", [False, True])
def test_a_server_that_nobody_guards_any_more_is_swept(server_base: Path, stopped: bool) -> None:
    """As after both were killed and the kernel's help was lost, which a change of user can do."""
    server = ManagedServer.create(name="left", spec=bare_spec("mariadb"), base_dir=server_base)
    place = server.directory
    os.kill(server._guard.pid, signal.SIGKILL)
    words = find_server("mariadb").words(place.option_file)
    with (
        place.error_log.open("ab") as log,
        subprocess.Popen(words, stdout=log, stderr=log, env=environment_of(place.path)) as left,
    ):
        # One that is still starting may not hear SIGTERM.
        assert until(lambda: b"ready for connections" in place.error_log.read_bytes())
        if stopped:
            os.kill(left.pid, signal.SIGSTOP)
        place.close_lock()
        assert sweep(server_base, grace_s=300) == (place.path,)
        assert left.wait(300) == 0, "a stopped one goes on, and ends by itself"


def test_foreign_directories_are_untouched(server_base: Path) -> None:
    foreign = server_base / "foreign"
    (foreign / "data").mkdir(parents=True)
    other = server_base / "other"
    other.mkdir()
    (other / MARKER).write_text('{"made_by": "somebody else"}')
    assert sweep(server_base) == ()
    assert (foreign / "data").exists()
    for path in (foreign / "data", foreign, other / MARKER):
        path.unlink() if path.is_file() else path.rmdir()
    other.rmdir()


def is_frozen(pid: int) -> bool:
    """Whether the kernel says that the control group of a process is frozen, or that each of its threads is stopped."""
    membership = next(line for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines() if line.startswith("0::"))
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    for root in (Path(mount[1]) for mount in mounts if mount[2] == "cgroup2"):
        events = root / membership[3:].lstrip("/") / "cgroup.events"
        if events.exists() and "frozen 1" in events.read_text():
            return True
    return {"".join(stat(task)[:1]) for task in threads(pid)} == {"T"}  # a thread that ends is not stopped


def test_a_frozen_server_stands_still_answers_after_the_thaw_and_stops_cleanly(start_server: StartServer) -> None:
    server = start_server("mariadb")
    with connect(server.target) as control:
        for _ in range(3):
            server.freeze()
            assert is_frozen(server.pid), "all threads, when freezing returns"
            server.thaw()
            assert not is_frozen(server.pid)
            assert control.value("SELECT 1") == 1
        server.thaw()
        server.freeze()
        server.freeze()
    server.stop(grace_s=30)
    assert "Shutdown complete" in server.directory.error_log.read_text()


def test_a_server_that_is_killed_while_frozen_is_told_of(start_server: StartServer) -> None:
    server = start_server("mariadb")
    server.freeze()
    os.kill(server.pid, signal.SIGKILL)

    def is_told() -> bool:
        try:
            server.thaw()  # until the kernel has taken the last thread away it only goes on
        except HostError as error:
            return "ended" in str(error)
        return False

    assert until(is_told)


def test_plimsoll_killed_while_the_server_is_frozen(server_base: Path) -> None:
    """The guardian thaws the server when it asks it to end, so that it begins to do so before it is ended by force."""
    with owned(server_base, "mariadb", "freeze") as it, (it.directory / "error.log").open() as log:
        assert is_frozen(it.pid)
        it.owner.kill()
        assert until(it.nothing_left)
        assert "Normal shutdown" in log.read()
