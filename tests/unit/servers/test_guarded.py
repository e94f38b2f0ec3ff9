"""The guardian with small programs in the server's place: its protocol, and every way in which somebody dies."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.errors import HostError
from plimsoll.servers.directory import InstanceDirectory, sweep
from plimsoll.servers.guardian_pipe import Guard
from plimsoll.servers.marked_directory import MARKER, SERVER_NOTE
from support.processes import exists
from support.waiting import until

IGNORES_TERM = [
    sys.executable,
    "-c",
    "import signal,time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(99)",
]


def gone(pid: int) -> bool:
    return not exists(pid)


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[InstanceDirectory]:
    made = InstanceDirectory.create(tmp_path / "base", "x", allow_tmpfs=True)
    yield made
    made.close_lock()


@pytest.fixture
def guard(directory: InstanceDirectory) -> Iterator[Guard]:
    made = Guard(directory)
    yield made
    made.close()


def test_runs_one_program_after_the_other(guard: Guard, directory: InstanceDirectory) -> None:
    log = directory.error_log
    guard.start(["/bin/sh", "-c", "echo said; exit 3"], log)
    assert guard.wait(300) == 3
    assert guard.wait(0) == 3
    pid = guard.start(["/bin/sleep", "60"], log)
    assert guard.wait(0.1) is None
    assert guard.stop(300) == -signal.SIGTERM
    assert gone(pid)
    assert log.read_text() == "said\n"


def test_killing_waits_for_all_of_the_group(guard: Guard, directory: InstanceDirectory) -> None:
    """The program's child is no child of the guardian before the program is gone, and ignores SIGTERM."""
    words = shlex.join(IGNORES_TERM)
    guard.start(["/bin/sh", "-c", f"{words} & echo $!; wait"], directory.error_log)
    assert until(lambda: len(directory.error_log.read_text().split()) == 2)
    (child,) = (int(word) for word in directory.error_log.read_text().split() if word != "up")  # in whichever order
    guard.kill()
    assert gone(child)
    assert guard.wait(0) == -signal.SIGKILL


def test_what_cannot_be_started(guard: Guard, directory: InstanceDirectory) -> None:
    with pytest.raises(HostError, match=r"/nonexistent: cannot be started: .*No such file"):
        guard.start(["/nonexistent"], directory.error_log)
    guard.start(["/bin/true"], directory.error_log)
    assert guard.wait(300) == 0


def test_force_after_the_grace(guard: Guard, directory: InstanceDirectory) -> None:
    guard.start(IGNORES_TERM, directory.error_log)
    assert until(lambda: directory.error_log.read_text() == "up\n")
    assert guard.stop(0.2) == -signal.SIGKILL


def test_stopped_programs_are_ended_too(guard: Guard, directory: InstanceDirectory) -> None:
    pid = guard.start(IGNORES_TERM, directory.error_log)
    assert until(lambda: directory.error_log.read_text() == "up\n")
    os.kill(pid, signal.SIGSTOP)
    assert guard.stop(0.2) == -signal.SIGKILL
    assert gone(pid)


def test_grandchildren_end_with_the_program(guard: Guard, directory: InstanceDirectory) -> None:
    guard.start(["/bin/sh", "-c", "sleep 60 & echo $!"], directory.error_log)
    assert guard.wait(300) == 0
    grandchild = int(directory.error_log.read_text())
    assert until(lambda: gone(grandchild))


def test_closing_ends_the_program_and_removes_the_directory(guard: Guard, directory: InstanceDirectory) -> None:
    pid = guard.start(["/bin/sleep", "60"], directory.error_log)
    guard.close()
    assert gone(pid)
    assert not directory.path.exists()


def test_what_is_not_throwaway_stays(tmp_path: Path) -> None:
    directory = InstanceDirectory.create(tmp_path, "x", throwaway=False, allow_tmpfs=True)
    Guard(directory).close()
    assert directory.path.exists()
    directory.remove()


def test_guardian_killed(guard: Guard, directory: InstanceDirectory) -> None:
    """The kernel ends the server; we are told; the lock is free once we let go, so that the sweep takes the rest."""
    pid = guard.start(IGNORES_TERM, directory.error_log)
    os.kill(guard.pid, signal.SIGKILL)
    assert until(lambda: gone(pid))
    with pytest.raises(HostError, match="the guardian process ended with -9, and its server with it"):
        guard.wait(300)
    assert sweep(directory.path.parent) == (), "this process still holds the lock"
    directory.close_lock()
    assert sweep(directory.path.parent) == (directory.path,)


def test_the_lock_is_held_by_the_guardian_but_not_by_its_program(guard: Guard, directory: InstanceDirectory) -> None:
    pid = guard.start(IGNORES_TERM, directory.error_log)
    assert until(lambda: directory.error_log.read_text() == "up\n"), "what it opens to start is closed again"
    opened = {str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()}
    assert str(directory.path / "lock") not in opened
    directory.close_lock()
    assert sweep(directory.path.parent) == (), "the guardian holds it"


def test_terminated_guardian_cleans_up(guard: Guard, directory: InstanceDirectory) -> None:
    pid = guard.start(["/bin/sleep", "60"], directory.error_log)
    os.kill(guard.pid, signal.SIGINT)
    os.kill(guard.pid, signal.SIGHUP)
    assert guard.wait(0.3) is None, "Ctrl-C and a closed terminal do not concern it"
    os.kill(guard.pid, signal.SIGTERM)
    assert until(lambda: gone(pid) and not directory.path.exists())


def test_the_terminals_signals_do_not_reach_it(guard: Guard) -> None:
    assert os.getsid(guard.pid) == guard.pid


def test_passwords_in_the_environment_stay_here(directory: InstanceDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYSQL_PWD", "secret")
    guard = Guard(directory)
    guard.start(["/usr/bin/env"], directory.error_log)
    guard.wait(300)
    assert "PATH=" in directory.error_log.read_text()
    assert "secret" not in directory.error_log.read_text()
    guard.close()


OWNER = """
import sys, time
from pathlib import Path
from plimsoll.servers.directory import InstanceDirectory
from plimsoll.servers.guardian_pipe import Guard
from plimsoll.servers.marked_directory import MARKER, SERVER_NOTE
directory = InstanceDirectory.create(Path(sys.argv[1]), "x", allow_tmpfs=True)
guard = Guard(directory)
pid = guard.start([sys.executable, "-c", sys.argv[2]], directory.error_log)
while "up" not in directory.error_log.read_text():
    time.sleep(0.01)
print(pid, guard.pid, directory.path, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("stopped", [False, True])
def test_owner_killed(tmp_path: Path, stopped: bool) -> None:
    """SIGKILL to the owner: no program and no directory after 10 s, though it ignores SIGTERM or is stopped."""
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path / "base"), IGNORES_TERM[2]],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert owner.stdout is not None
    pid, guardian_pid, path = owner.stdout.readline().split()
    if stopped:
        os.kill(int(pid), signal.SIGSTOP)
    owner.kill()
    owner.wait()
    assert until(lambda: gone(int(pid)) and gone(int(guardian_pid)) and not Path(path).exists())
    owner.stdout.close()


def test_files_of_an_instance_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        directory = InstanceDirectory.create(tmp_path, "x", allow_tmpfs=True)
        guard = Guard(directory)
    finally:
        os.umask(before)
    guard.start(["/bin/sleep", "60"], directory.error_log)
    modes = {file.name: file.lstat().st_mode & 0o077 for file in directory.path.rglob("*")}
    guard.close()
    directory.close_lock()
    assert {"server.json", "error.log", "guardian.log", MARKER, "data"} <= set(modes)
    assert {name: mode for name, mode in modes.items() if mode} == {}


def test_a_group_that_cannot_be_frozen_is_told_and_its_program_goes_on(
    guard: Guard, directory: InstanceDirectory, tmp_path: Path
) -> None:
    """The group's folder, taken away, stands for a kernel that refuses."""
    pid = guard.start(IGNORES_TERM, directory.error_log)
    group = json.loads((directory.path / SERVER_NOTE).read_text())["group"]
    if not group:
        pytest.skip("this user may make no control group of version 2 here")
    assert until(lambda: directory.error_log.read_text() == "up\n")
    (Path(group).parent.parent / "cgroup.procs").write_text(str(pid))
    Path(group).rmdir()
    for _ in range(2):
        with pytest.raises(HostError, match=r"the server could not freeze: .*cgroup.freeze: No such file"):
            guard.freeze()
        with pytest.raises(HostError, match=r"the server could not thaw: .*cgroup.freeze: No such file"):
            guard.thaw()
    assert exists(pid)
    assert guard.wait(0) is None
    assert guard.stop(0.2) == -signal.SIGKILL


def test_what_a_shell_started_is_ended_by_the_next_run(tmp_path: Path) -> None:
    """The kernel kills the shell with its guardian; what it started lives on, as what MariaDB's initialiser starts."""
    directory = InstanceDirectory.create(tmp_path, "x", allow_tmpfs=True)
    guard = Guard(directory)
    shell = guard.start(["/bin/sh", "-c", "setsid sleep 60 & echo $!; wait"], directory.error_log)
    assert until(lambda: directory.error_log.read_text().endswith("\n"))
    child = int(directory.error_log.read_text())
    os.kill(guard.pid, signal.SIGKILL)
    directory.close_lock()
    assert until(lambda: gone(shell))
    assert exists(child)
    assert sweep(tmp_path) == (directory.path,)
    assert gone(child)
    guard.close()
