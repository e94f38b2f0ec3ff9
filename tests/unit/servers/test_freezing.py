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
from plimsoll.servers.placing import owner_here
from support.servers import needs_own_mounts
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


APART = """
import sys
from pathlib import Path
from plimsoll.servers.freezing import make_group, remove_group
group = make_group("test", below=Path(sys.argv[1]))
print(group.name, end="")
remove_group(group)
"""


@pytest.fixture
def group() -> Iterator[Path]:
    made = make_group("test")
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
    (proc / "self" / "ns").mkdir(parents=True)
    (proc / "self" / "ns" / "pid").symlink_to("pid:[4026531836]")
    root.mkdir()
    (proc / "mounts").write_text(mounts.format(root=root))
    (proc / "self/cgroup").write_text("6:freezer:/\n0::/\n")
    assert make_group("one", proc=proc) is None
    assert list(root.iterdir()) == []


def test_the_empty_group_of_a_killed_guardian_is_removed_by_the_next_one(group: Path) -> None:
    """Of this namespace of processes: no number says of a process in another that it is gone."""
    namespace, _, _ = owner_here().partition("-")
    names = f"left.{namespace}-999999999", f"living.{namespace}-{os.getppid()}", f"elsewhere.{namespace}0-999999999"
    left, *others = (group.with_name(name) for name in names)
    for made in (left, *others):
        made.mkdir()
    other = make_group("other")
    assert other is not None
    assert (left.exists(), *(stays.exists() for stays in others)) == (False, True, True)
    for stays in others:
        stays.rmdir()
    remove_group(other)


def test_a_guardian_in_a_namespace_of_its_own_leaves_the_groups_of_others(group: Path) -> None:
    """There it does not see their guardians. Its own group is named apart from all others."""
    needs_own_mounts()
    words = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", APART, str(group.parent.parent)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    apart = subprocess.run(words, env=env, capture_output=True, text=True, check=True)
    assert group.exists()
    assert apart.stdout.startswith("test.")
    assert apart.stdout != group.name


def test_no_folder_of_others_is_removed(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    remove_group(tmp_path / "theirs")
    assert (tmp_path / "theirs").exists()
