"""Copies on a file system that shares blocks, and on one that fills up: real ones, on loop devices."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.errors import HostError
from plimsoll.servers import data_copy
from plimsoll.servers.data_copy import replace_tree
from support.loop_mount import mounted

MIB = 2**20


@pytest.fixture(params=["xfs", "btrfs"])
def sharing(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path / "disk", request.param, 400) as place:
        yield place


def used_bytes(place: Path) -> int:
    os.sync()
    usage = os.statvfs(place)
    return (usage.f_blocks - usage.f_bfree) * usage.f_frsize


def test_tables_share_their_blocks_and_the_redo_log_does_not(sharing: Path) -> None:
    (sharing / "data/#innodb_redo").mkdir(parents=True)
    (sharing / "data/t.ibd").write_bytes(os.urandom(60 * MIB))
    for name in ("data/ib_logfile0", "data/#innodb_redo/#ib_redo1"):
        (sharing / name).write_bytes(os.urandom(10 * MIB))
    before = used_bytes(sharing)
    copied = replace_tree(sharing / "data", sharing / "pristine")
    assert (copied.size_bytes, copied.cloned_bytes) == (80 * MIB, 60 * MIB)
    assert 20 * MIB <= used_bytes(sharing) - before < 30 * MIB
    assert (sharing / "pristine/t.ibd").read_bytes() == (sharing / "data/t.ibd").read_bytes()
    (sharing / "data/t.ibd").write_bytes(b"changed")
    assert (sharing / "pristine/t.ibd").stat().st_size == 60 * MIB


def test_a_disk_that_fills_while_copying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_copy, "_check_space", lambda *_: None)  # somebody else takes the space after the look
    with mounted(tmp_path / "disk", "ext4", 64) as place:
        (place / "data").mkdir()
        (place / "data/t.ibd").write_bytes(os.urandom(20 * MIB))
        (place / "other").write_bytes(bytes(30 * MIB))
        os.sync()  # blocks of what was just written are given on the way to the disk
        free = os.statvfs(place).f_bfree
        with pytest.raises(HostError, match=r"No space left on device.*free some space there"):
            replace_tree(place / "data", place / "pristine")
        assert not (place / "pristine").exists()
        os.sync()
        assert os.statvfs(place).f_bfree == free, "what was copied does not stay behind"
        (place / "other").unlink()
        assert replace_tree(place / "data", place / "pristine").size_bytes == 20 * MIB
