"""Small programs in control groups of this machine: limits bite, no thread escapes, no group is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.errors import HostError
from plimsoll.servers import placing
from plimsoll.servers.directory import InstanceDirectory, sweep
from plimsoll.servers.guardian_pipe import Guard
from plimsoll.servers.placement import InstancePlacement, placement_facts, refused, set_up
from plimsoll.spec.placement import Share
from support.placing import classes, cpu_s, cpus_allowed, needs_controllers, needs_two_cpus, nices, own_groups
from support.vanishing import control_groups
from support.waiting import until

BUSY = """
import threading, time
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
print("up", flush=True)
while True:
    pass
"""
NOBODY = 65_534


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[InstanceDirectory]:
    made = InstanceDirectory.create(tmp_path / "base", "x", allow_tmpfs=True)
    yield made
    made.remove()


@pytest.fixture
def guard(directory: InstanceDirectory) -> Iterator[Guard]:
    made = Guard(directory)
    yield made
    made.close()


def started(guard: Guard, directory: InstanceDirectory, placement: InstancePlacement) -> int:
    pid = guard.start([sys.executable, "-c", BUSY], directory.error_log, set_up(placement, directory.path))
    assert until(lambda: "up" in directory.error_log.read_text())
    return pid


def test_a_twentieth_of_a_cpu_is_a_twentieth(guard: Guard, directory: InstanceDirectory) -> None:
    """A busy loop alone would take a whole one, and on a busy machine still more than that.

    Over ten throttled periods it takes a twentieth, and a tick at each end.
    """
    needs_controllers("cpu")
    pid = started(guard, directory, InstancePlacement(share=Share(cpu_quota=0.05)))
    (group,) = own_groups(pid)

    def throttled_count() -> int:
        counts = dict(line.split() for line in (group / "cpu.stat").read_text().splitlines())
        return int(counts["nr_throttled"])

    began_s, used_s, before = time.monotonic(), cpu_s(pid), throttled_count()
    assert until(lambda: throttled_count() >= before + 10), "the kernel holds it back"
    assert (cpu_s(pid) - used_s) / (time.monotonic() - began_s) < 0.1
    facts = placement_facts(pid)
    assert facts is not None
    assert facts.cpu_quota == 0.05


def test_cpus_class_and_nice_hold_for_every_thread(guard: Guard, directory: InstanceDirectory) -> None:
    needs_two_cpus()
    if os.geteuid() != 0:
        pytest.skip("SKIPPED LOUDLY: only root may give nice -5")
    pid = started(guard, directory, InstancePlacement(cpus=(1,), scheduling="batch", nice=-5))
    assert len(list(Path(f"/proc/{pid}/task").iterdir())) == 2
    assert (cpus_allowed(pid), classes(pid), nices(pid)) == ({"1"}, {"SCHED_BATCH 0"}, {-5})


def test_memory_is_limited(guard: Guard, directory: InstanceDirectory) -> None:
    """64 MiB of room for a program that wants 256 MiB: the kernel ends it, and nothing else."""
    needs_controllers("memory")
    how = set_up(InstancePlacement(share=Share(memory_limit_bytes=64 * 2**20)), directory.path)
    guard.start([sys.executable, "-c", "x = b'1' * (256 * 2**20)"], directory.error_log, how)
    assert guard.wait(300) == -signal.SIGKILL


def test_groups_go_with_the_instance(guard: Guard, directory: InstanceDirectory) -> None:
    needs_controllers("cpu", "memory")
    share = Share(cpu_quota=1.0, memory_limit_bytes=2**28)
    groups = own_groups(started(guard, directory, InstancePlacement(share=share)))
    assert {group.name for group in groups} == {directory.path.name}
    guard.close()
    assert not any(group.exists() for group in groups)


def test_the_sweep_removes_what_a_killed_guardian_left(tmp_path: Path) -> None:
    needs_controllers("cpu")
    directory = InstanceDirectory.create(tmp_path / "base", "x", allow_tmpfs=True)
    guard = Guard(directory)
    pid = started(guard, directory, InstancePlacement(share=Share(cpu_quota=1.0)))
    (group,) = own_groups(pid)
    os.kill(guard.pid, signal.SIGKILL)
    with pytest.raises(HostError, match="the guardian process ended with -9"):
        guard.wait(300)
    directory.close_lock()
    assert group.exists()
    assert sweep(directory.path.parent) == (directory.path,)
    assert not group.exists()


def test_a_group_that_is_in_use_stays_and_so_does_its_note(directory: InstanceDirectory) -> None:
    needs_controllers("cpu")
    how = set_up(InstancePlacement(share=Share(cpu_quota=1.0)), directory.path)
    with subprocess.Popen(["/bin/sleep", "60"]) as other:
        Path(how["groups"][0], "cgroup.procs").write_text(str(other.pid))
        with pytest.raises(OSError, match="busy"):
            placing.remove_groups(directory.path)
        other.kill()
    placing.remove_groups(directory.path)
    assert not Path(how["groups"][0]).exists()


def test_a_start_that_is_refused_says_which_key(guard: Guard, directory: InstanceDirectory) -> None:
    with pytest.raises(HostError, match=r"/bin/true: cannot be started: cpus: Invalid argument"):
        guard.start(["/bin/true"], directory.error_log, {"cpus": [65_000]})
    guard.start(["/bin/true"], directory.error_log)
    assert guard.wait(300) == 0


def test_what_the_kernel_refuses_is_told_beforehand(tmp_path: Path) -> None:
    needs_controllers("cpu")
    (fault,) = refused(InstancePlacement(share=Share(cpu_quota=1e12)), tmp_path)
    assert fault.startswith("cpu_quota: the kernel refuses ")
    assert list(refused(InstancePlacement(share=Share(cpu_quota=0.5)), tmp_path)) == []
    assert not [group for group in control_groups(placing.OWN_FOLDER) if group.name == f"check-{placing.owner_here()}"]


def test_what_a_killed_try_left_is_removed_by_the_next(directory: InstanceDirectory) -> None:
    """That of another namespace of processes stays: whether that process is there cannot be seen from here."""
    needs_controllers("cpu")
    placement = InstancePlacement(share=Share(cpu_quota=0.5))
    (group,) = set_up(placement, directory.path)["groups"]
    with subprocess.Popen(["/bin/true"]) as ended:
        ended.wait()
    namespace, _, _ = placing.owner_here().partition("-")
    left, elsewhere = (Path(group).parent / f"check-{where}-{ended.pid}" for where in (namespace, f"{namespace}0"))
    left.mkdir()
    elsewhere.mkdir()
    assert list(refused(placement, directory.path)) == []
    assert (left.exists(), elsewhere.exists()) == (False, True)
    elsewhere.rmdir()
    assert Path(group).exists(), "that of a server stays"


def test_a_real_time_class_without_the_right_to_it() -> None:
    if os.geteuid() != 0:
        pytest.skip("SKIPPED LOUDLY: only root may become somebody without rights")
    said, say = os.pipe()
    if (child := os.fork()) == 0:
        os.setuid(NOBODY)
        try:
            placing.place_here({"scheduling": "fifo:10"})
        except OSError as error:
            os.write(say, str(error.strerror).encode())
        finally:
            os._exit(0)
    os.close(say)
    assert os.read(said, 1000) == b"scheduling: Operation not permitted"
    os.waitpid(child, 0)
    os.close(said)
