"""What runs of an instance that nobody guards: found by what it alone has, ended, and nothing else."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.servers.directory import InstanceDirectory
from plimsoll.servers.marked_directory import INSTANCE_VARIABLE, end_processes, is_process_of
from support.servers import missing


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[InstanceDirectory]:
    made = InstanceDirectory.create(tmp_path, "x", allow_tmpfs=True)
    yield made
    made.close_lock()


SLEEPER = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"


def sleeper(place: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """As a guardian of that directory starts a program; it ignores SIGTERM."""
    words, env = [sys.executable, "-c", SLEEPER, *arguments], {**os.environ, INSTANCE_VARIABLE: str(place)}
    process = subprocess.Popen(words, stdout=subprocess.PIPE, env=env)
    assert process.stdout is not None
    process.stdout.readline()
    return process


@pytest.mark.parametrize("grace_s", [0.0, 0.1])
def test_left_processes_are_ended_even_when_they_ignore_sigterm(instance: InstanceDirectory, grace_s: float) -> None:
    with sleeper(instance.path) as one, sleeper(instance.path) as stopped:
        os.kill(stopped.pid, signal.SIGSTOP)
        assert end_processes(instance.path, grace_s=grace_s)
        assert (one.wait(300), stopped.wait(300)) == (-9, -9)
    assert not end_processes(instance.path)


def test_processes_of_another_instance_are_left_alone(instance: InstanceDirectory) -> None:
    """Also one of this user's that names our files."""
    other = instance.path.with_name(f"{instance.path.name}0")
    with sleeper(other, f"--defaults-file={instance.option_file}") as process:
        assert not end_processes(instance.path)
        assert is_process_of(other, Path(f"/proc/{process.pid}"))
        process.kill()


def test_no_directory_is_removed_with_a_process_of_it_alive(instance: InstanceDirectory) -> None:
    with sleeper(instance.path) as process:
        instance.remove()
        assert process.wait(300) == -9
    assert not instance.path.exists()


def test_a_program_with_file_capabilities_is_found_by_its_arguments(
    instance: InstanceDirectory, tmp_path: Path
) -> None:
    """The kernel hides its environment from its own user, who may still end it. Nothing reads it in vain as root."""
    if os.geteuid() != 0:
        missing("giving a program capabilities, and becoming an ordinary user, needs root")
    tmp_path.chmod(0o755)
    program = Path(shutil.copy("/bin/sh", tmp_path / "server"))
    can_net_raw = struct.pack("<5I", 0x02000001, 1 << 13, 0, 0, 0)  # VFS_CAP_REVISION_2, effective: see capability.h
    os.setxattr(program, "security.capability", can_net_raw)
    words = [str(program), "-c", "echo; read line", f"--defaults-file={instance.option_file}"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, user="nobody", cwd="/", env={}) as process:
        assert process.stdout is not None
        process.stdout.readline()
        if (finder := os.fork()) == 0:
            os._exit(1 if ended_by_its_user(process.pid, instance.path) else 2)
        assert os.waitstatus_to_exitcode(os.waitpid(finder, 0)[1]) == 1
        assert process.wait(300) == -signal.SIGKILL


def ended_by_its_user(pid: int, place: Path) -> bool:
    """In a process that becomes that user: whether only the right instance's search finds and ends it."""
    os.setresuid(*[pwd.getpwnam("nobody").pw_uid] * 3)
    try:
        Path(f"/proc/{pid}/environ").read_bytes()
    except PermissionError:
        return not is_process_of(place.parent, Path(f"/proc/{pid}")) and end_processes(place)
    return False
