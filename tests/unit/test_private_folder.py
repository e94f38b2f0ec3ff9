"""Private folders: the owner is whoever holds the lock; what a dead owner left is removed, and nothing else."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from plimsoll.private_folder import MARKER, PrivateFolder, remove_left
from support.waiting import until

OWNER = """
import sys, time
from pathlib import Path
from plimsoll.private_folder import PrivateFolder
folder = PrivateFolder("ledger", Path(sys.argv[1])).path
(folder / "below").mkdir()
(folder / "below/secret").write_text("a literal")
(folder / "below/link").symlink_to(sys.argv[2])
print(folder, flush=True)
time.sleep(300)
"""


@pytest.fixture(autouse=True)
def other_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies in the machine's own is not looked at here."""
    (tmp_path / "system").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "system"))


def test_it_is_there_while_it_is_owned(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        made = PrivateFolder("trial", tmp_path)
    finally:
        os.umask(before)
    with made as folder:
        assert folder.parent == tmp_path
        assert [file.stat().st_mode & 0o077 for file in (folder, *folder.iterdir())] == [0, 0]
        assert remove_left([tmp_path]) == (), "its owner lives"
        (folder / "kept").write_text("x")
    assert not folder.exists()
    made.close()


def test_what_a_killed_owner_left_is_removed_by_the_next_that_makes_one(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "file").touch()
    owner = subprocess.Popen([sys.executable, "-c", OWNER, str(tmp_path), str(foreign)], stdout=subprocess.PIPE)
    assert owner.stdout is not None
    with owner.stdout:
        left = Path(os.fsdecode(owner.stdout.readline().strip()))
        with PrivateFolder("log", tmp_path):
            assert left.exists(), "its owner lives"
        os.kill(owner.pid, signal.SIGSTOP)
        assert remove_left([tmp_path]) == (), "a stopped owner lives"
        owner.kill()
        owner.wait()
    with PrivateFolder("log", tmp_path):
        assert not left.exists()
    assert (foreign / "file").exists(), "links are not followed"


def left_behind(parent: Path, name: str = "plimsoll-log-abcd_123", *, marked: bool = True) -> Path:
    folder = parent / name
    folder.mkdir(mode=0o700)
    if marked:
        (folder / MARKER).touch()
    return folder


def test_what_is_not_left_by_a_run_of_this_user_is_untouched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    others_may_read = left_behind(tmp_path, "plimsoll-log-00000001")
    others_may_read.chmod(0o750)
    named_otherwise = left_behind(tmp_path, "plimsoll-log-kept-abcd_123")
    unmarked = left_behind(tmp_path, "plimsoll-log-00000002", marked=False)
    (unmarked / "file").touch()
    os.utime(unmarked, (0, 0))
    link = tmp_path / "plimsoll-log-00000003"
    link.symlink_to(left_behind(tmp_path, "target"))
    marked_by_link = left_behind(tmp_path, "plimsoll-log-00000004", marked=False)
    (marked_by_link / MARKER).symlink_to(tmp_path / "target" / MARKER)
    just_made = left_behind(tmp_path, "plimsoll-log-00000005", marked=False)
    there = sorted(tmp_path.rglob("*"))
    assert remove_left([tmp_path, tmp_path / "absent"]) == ()
    assert sorted(tmp_path.rglob("*")) == there
    assert all(one.exists() for one in (others_may_read, named_otherwise, unmarked, link, marked_by_link, just_made))
    left = left_behind(tmp_path)
    monkeypatch.setattr("plimsoll.private_folder.os.geteuid", lambda: 4321)
    assert remove_left([tmp_path]) == (), "another user's"
    monkeypatch.undo()
    assert remove_left([tmp_path]) == (left,)


def test_one_whose_making_was_interrupted_is_removed_when_it_is_old(tmp_path: Path) -> None:
    unfinished = left_behind(tmp_path, marked=False)
    assert remove_left([tmp_path]) == ()
    os.utime(unfinished, (time.time() - 100,) * 2)
    assert remove_left([tmp_path]) == (unfinished,)


def test_an_interrupted_removal_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = left_behind(tmp_path)
    (left / "a").mkdir()

    def refuse(_path: str) -> None:
        raise PermissionError

    monkeypatch.setattr("plimsoll.private_folder.shutil.rmtree", refuse)
    assert remove_left([tmp_path]) == ()
    assert (left / MARKER).exists()
    monkeypatch.undo()
    assert remove_left([tmp_path]) == (left,)


def test_another_run_that_takes_a_new_folder_for_left_gets_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between making and locking it may be removed by another run: then a second one is made."""
    taken: list[Path] = []
    flock = fcntl.flock

    def late(descriptor: int, how: int) -> None:
        if not taken and how == fcntl.LOCK_EX:
            taken.append(Path(f"/proc/self/fd/{descriptor}").readlink())
            taken[0].rmdir()
        flock(descriptor, how)

    monkeypatch.setattr("plimsoll.private_folder.fcntl.flock", late)
    with PrivateFolder("sim", tmp_path) as folder:
        assert taken[0] != folder
        assert folder.exists()


def test_one_that_is_interrupted_while_it_is_made_does_not_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = tempfile.mkdtemp

    def interrupted(prefix: str, dir: Path) -> str:  # noqa: A002 - as it is called
        signal.raise_signal(signal.SIGINT)
        return make(prefix=prefix, dir=dir)

    monkeypatch.setattr("tempfile.mkdtemp", interrupted)
    with pytest.raises(KeyboardInterrupt):
        PrivateFolder("log", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["system"]


def test_its_removal_is_not_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scandir = os.scandir

    def interrupted(path: Path) -> object:
        signal.raise_signal(signal.SIGINT)
        return scandir(path)

    made = PrivateFolder("sim", tmp_path)
    monkeypatch.setattr("plimsoll.private_folder.os.scandir", interrupted)
    with pytest.raises(KeyboardInterrupt):
        made.close()
    assert not made.path.exists()


def test_it_is_made_in_any_thread(tmp_path: Path) -> None:
    made: list[PrivateFolder] = []
    thread = threading.Thread(target=lambda: made.append(PrivateFolder("ssh", tmp_path)))
    thread.start()
    thread.join()
    made[0].close()
    assert until(lambda: not made[0].path.exists())


def test_where_none_can_be_made(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        PrivateFolder("log", tmp_path / "absent")
