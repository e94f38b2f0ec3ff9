"""Frozen means that nothing of a server runs; both ways of freezing, on processes that count."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from plimsoll.servers.freezing import ServerFreezer, join_group, make_group, remove_group
from support.waiting import until

COUNTER = """
import os, sys, time
if os.fork() == 0 and sys.argv[2] == "leave":
    os.setsid()
path = f"{sys.argv[1]}/{os.getpid()}"
while True:
    with open(path, "a") as out:
        out.write(".")
    time.sleep(0.001)
"""


@pytest.fixture
def group() -> Iterator[Path]:
    made = make_group(f"test.{os.getpid()}")
    if made is None:
        pytest.skip("this user may make no control group of version 2 here")
    yield made
    remove_group(made)
    assert not made.exists()


def begin(stack: ExitStack, folder: Path, group: Path | None, how: str) -> subprocess.Popen[bytes]:
    """Two processes, parent and child, which both count into files of their own."""
    process = subprocess.Popen(
        [sys.executable, "-c", COUNTER, str(folder), how],
        process_group=0,
        preexec_fn=lambda: join_group(group),  # noqa: PLW1509  (this process has one thread)
    )
    stack.callback(lambda: (os.killpg(process.pid, signal.SIGKILL), process.wait()))
    assert until(lambda: len(list(folder.iterdir())) == 2)
    return process


def counts(folder: Path) -> dict[str, int]:
    return {file.name: file.stat().st_size for file in folder.iterdir()}


def all_go_on(folder: Path) -> bool:
    before = counts(folder)
    return until(lambda: all(counts(folder)[name] > count for name, count in before.items()))


def check_freezes(freezer: ServerFreezer, folder: Path) -> None:
    for _ in range(3):
        assert freezer.freeze(60)
        before = counts(folder)
        assert freezer.freeze(60), "once more changes nothing"
        time.sleep(0.1)
        assert counts(folder) == before
        freezer.thaw()
        assert all_go_on(folder)
    freezer.thaw()


def test_a_process_group_is_frozen_by_signals(tmp_path: Path) -> None:
    with ExitStack() as stack:
        process = begin(stack, tmp_path, None, "stay")
        freezer = ServerFreezer(process.pid, None)
        check_freezes(freezer, tmp_path)
        assert freezer.group is None


def test_a_control_group_is_frozen_with_what_left_the_process_group_and_killed_at_the_end(
    tmp_path: Path, group: Path
) -> None:
    with ExitStack() as stack:
        process = begin(stack, tmp_path, group, "leave")
        freezer = ServerFreezer(process.pid, group)
        assert freezer.group == group
        check_freezes(freezer, tmp_path)
        assert freezer.freeze(60)
        os.kill(process.pid, signal.SIGKILL)
        assert until(lambda: freezer.freeze(60) is None), "a frozen member dies, and that is told"
        freezer.close()
        assert not group.exists(), "nothing is left in it, frozen or not"


def test_a_server_that_could_not_join_is_frozen_by_signals(tmp_path: Path, group: Path) -> None:
    with ExitStack() as stack:
        process = begin(stack, tmp_path, None, "stay")
        freezer = ServerFreezer(process.pid, group)
        assert freezer.group is None
        assert not group.exists()
        check_freezes(freezer, tmp_path)


@pytest.mark.parametrize("mounts", ["", "tmpfs / tmpfs rw 0 0\n", "cgroup2 {root} cgroup2 rw 0 0\n"])
def test_without_a_freezer_there_is_no_group_and_nothing_is_left(tmp_path: Path, mounts: str) -> None:
    """No version 2 mounted, or one without a freezer: Linux before 5.2."""
    proc, root = tmp_path / "proc", tmp_path / "cgroup"
    (proc / "self").mkdir(parents=True)
    root.mkdir()
    (proc / "mounts").write_text(mounts.format(root=root))
    (proc / "self/cgroup").write_text("6:freezer:/\n0::/\n")
    assert make_group("one", proc=proc) is None
    assert list(root.iterdir()) == []


def test_the_empty_group_of_a_killed_guardian_is_removed_by_the_next_one(group: Path) -> None:
    left, living = group.with_name("left.999999999"), group.with_name(f"living.{os.getppid()}")
    left.mkdir()
    living.mkdir()
    other = make_group(f"other.{os.getpid()}")
    assert other is not None
    assert (left.exists(), living.exists()) == (False, True)
    living.rmdir()
    remove_group(other)


def test_no_folder_of_others_is_removed(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    remove_group(tmp_path / "theirs")
    assert (tmp_path / "theirs").exists()
