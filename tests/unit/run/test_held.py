"""A folder that is held: by one process at a time, and for as long as it stays where it was."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from plimsoll.errors import HostError, StorageError
from plimsoll.run.folder import HeldFolder, is_held
from support.waiting import until


def test_one_process_at_a_time(tmp_path: Path) -> None:
    with HeldFolder(tmp_path), pytest.raises(HostError, match="another plimsoll process is using this folder"):
        HeldFolder(tmp_path)
    HeldFolder(tmp_path).close()


def test_whether_it_is_held_can_be_told_without_hindering_anybody(tmp_path: Path) -> None:
    assert not is_held(tmp_path)
    with HeldFolder(tmp_path):
        assert is_held(tmp_path)
    assert not is_held(tmp_path)
    stopped, looked = threading.Event(), [0]

    def look() -> None:
        while not stopped.is_set():
            is_held(tmp_path)
            looked[0] += 1

    looking = threading.Thread(target=look)
    looking.start()
    assert until(lambda: looked[0] > 10)
    for _ in range(100):
        HeldFolder(tmp_path).close()
    stopped.set()
    looking.join()


def test_a_folder_that_stays_is_fine_however_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with HeldFolder(Path("out")) as held:
        held.refuse_moved()
        (tmp_path / "link").symlink_to(tmp_path / "out")
    with HeldFolder(Path("link")) as held:
        held.refuse_moved()


def test_a_folder_that_was_moved_is_named(tmp_path: Path) -> None:
    with HeldFolder(tmp_path / "out") as held:
        (tmp_path / "out").rename(tmp_path / "there")
        with pytest.raises(StorageError, match=f"was moved to {tmp_path / 'there'} during"):
            held.refuse_moved()


def test_another_folder_in_its_place_is_another_folder(tmp_path: Path) -> None:
    with HeldFolder(tmp_path / "out") as held:
        (tmp_path / "out").rename(tmp_path / "there")
        (tmp_path / "out").mkdir()
        with pytest.raises(StorageError, match="was moved to"):
            held.refuse_moved()


def test_a_folder_that_was_removed_is_told(tmp_path: Path) -> None:
    with HeldFolder(tmp_path / "out") as held:
        shutil.rmtree(tmp_path / "out")
        with pytest.raises(StorageError, match="was removed during"):
            held.refuse_moved()


def test_a_folder_that_cannot_be_made_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("x")
    with pytest.raises(HostError, match="cannot be written"):
        HeldFolder(tmp_path / "plain" / "out")
