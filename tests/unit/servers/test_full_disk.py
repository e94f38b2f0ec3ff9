"""A full disk is seen by what is free, and where little is free by what the server's error log says."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from plimsoll.errors import TargetError
from plimsoll.servers import server_process
from plimsoll.servers import server_process as module
from plimsoll.servers.directory import InstanceDirectory
from plimsoll.servers.server_process import LITTLE_BYTES, NOTHING_BYTES, full_disk

WAITS = [
    "[ERROR] mariadbd: Disk is full writing './binlog.000001' (Errcode: 28 \"No space left on device\"). Waiting for",
    "[ERROR] [MY-000035] [Server] Disk is full writing './binlog.000001' (OS errno 28 - No space left on device).",
    "[ERROR] InnoDB: preallocating 67108864 bytes for file ./a/b.ibd failed with error 28",
]


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Free bytes of a folder by its name; 1 GiB elsewhere."""
    found: dict[str, int] = {}
    real = os.statvfs

    def statvfs(path: Path) -> os.statvfs_result:
        fields = list(real(path))
        fields[1] = 1
        fields[2:5] = [2**31, found.get(path.name, 2**30), found.get(path.name, 2**30)]
        return os.statvfs_result(fields)

    monkeypatch.setattr(module.os, "statvfs", statvfs)
    return found


@pytest.fixture
def directory(tmp_path: Path) -> InstanceDirectory:
    apart = {"redo": tmp_path / "fast", "tmp": tmp_path / "scratch"}
    return InstanceDirectory.create(tmp_path / "base", "one", allow_tmpfs=True, role_bases=apart)  # type: ignore[arg-type]


def test_a_disk_with_room_is_not_full_whatever_the_log_says(directory: InstanceDirectory, free: dict[str, int]) -> None:
    assert full_disk(directory.data) is None
    directory.error_log.write_text(WAITS[0])
    free["data"] = LITTLE_BYTES
    assert full_disk(directory.data) is None
    assert full_disk(directory.path / "gone/data") is None


def test_nothing_free_is_full(directory: InstanceDirectory, free: dict[str, int]) -> None:
    free["data"] = NOTHING_BYTES // 2
    assert full_disk(directory.data) == (
        f"the disk of {directory.data} is full: 512 KiB of 2.00 GiB are free; free some space there, choose another"
        " data_dir, or load fewer rows"
    )


@pytest.mark.parametrize("line", WAITS)
def test_little_is_full_where_the_log_says_so(directory: InstanceDirectory, free: dict[str, int], line: str) -> None:
    free["data"] = LITTLE_BYTES - 1
    assert full_disk(directory.data) is None
    directory.error_log.write_text(f"[Note] ready\n{line}\n")
    assert "and the server's error log says so" in str(full_disk(directory.data))


def test_a_server_that_waits_for_space_at_its_start_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    guard = SimpleNamespace(wait=lambda _limit_s: None)
    monkeypatch.setattr(server_process, "_LOOK_AT_DISKS_S", 0.0)
    monkeypatch.setattr(server_process, "answers", lambda _target, _data_dir: False)
    monkeypatch.setattr(server_process, "full_disk", lambda _data_dir: "the disk of /d is full")
    process = server_process.ServerProcess("a", cast(Any, guard), Path("/d/error.log"), memory_limit_bytes=None)
    with pytest.raises(TargetError, match="server a: does not start: the disk of /d is full"):
        process.wait_until_answers(cast(Any, None), Path("/d/data"), limit_s=30)


@pytest.mark.parametrize("role", ["redo", "tmp"])
def test_the_path_that_is_full_is_named_with_its_key(
    directory: InstanceDirectory, free: dict[str, int], role: str
) -> None:
    free[directory.roles[role].name] = 0  # type: ignore[index]
    said = str(full_disk(directory.data))
    assert said.startswith("the disk of ")
    assert f"choose another {role}_dir" in said or role == "tmp"
