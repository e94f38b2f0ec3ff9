"""Folders of kept data: whose they are, who uses them, what fits, and what an interruption leaves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.errors import HostError
from plimsoll.servers import data_copy
from plimsoll.servers.data_copy import KeptFolder
from plimsoll.servers.directory import InstanceDirectory

IDENTITY = {"server": "mariadb 10.11", "tables": [{"rows": 5}]}


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[InstanceDirectory]:
    bases = {"redo": tmp_path / "redo-disk", "binlog": tmp_path / "binlog-disk"}
    made = InstanceDirectory.create(tmp_path / "base", "x", allow_tmpfs=True, role_bases=bases)  # type: ignore[arg-type]
    (made.data / "t.ibd").write_text("young")
    (made.roles["redo"] / "ib_logfile0").write_text("young redo")
    yield made
    made.remove()


def test_there_and_back(tmp_path: Path, instance: InstanceDirectory) -> None:
    kept = KeptFolder(tmp_path / "kept", "keep_data")
    kept.hold(may_make=True)
    kept.keep(0, instance, IDENTITY)
    (instance.data / "t.ibd").write_text("old")
    kept.keep(0, instance, IDENTITY)
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["0", "lock"]
    assert sorted(path.name for path in (tmp_path / "kept/0").iterdir()) == ["data", data_copy.MARKER, "redo"]
    for file in (instance.data / "t.ibd", instance.roles["redo"] / "ib_logfile0"):
        file.write_text("changed")
    kept.take(0, instance, IDENTITY)
    assert (instance.data / "t.ibd").read_text() == "old"
    assert (instance.roles["redo"] / "ib_logfile0").read_text() == "young redo"
    kept.release()


def test_other_data_is_neither_taken_nor_replaced(tmp_path: Path, instance: InstanceDirectory) -> None:
    kept = KeptFolder(tmp_path / "kept", "aged_data")
    kept.hold(may_make=True)
    kept.keep(0, instance, IDENTITY)
    other = {**IDENTITY, "tables": [{"rows": 6}]}
    for action in (kept.take, kept.keep):
        with pytest.raises(HostError, match=r"is other data: tables is .*5.* there and .*6.* in this study"):
            action(0, instance, other)
    with pytest.raises(HostError, match="holds no data of instance 1"):
        kept.take(1, instance, IDENTITY)
    kept.release()


def test_one_study_at_a_time(tmp_path: Path) -> None:
    first, second = (KeptFolder(tmp_path / "kept", "keep_data") for _ in range(2))
    first.hold(may_make=True)
    with pytest.raises(HostError, match=r"keep_data: .*kept is in use by another study; wait until it has ended"):
        second.hold(may_make=True)
    first.release()
    second.hold(may_make=True)
    second.release()


def test_folders_of_others_are_not_touched(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    with pytest.raises(HostError, match="is not there; keep data with keep_data first"):
        KeptFolder(folder, "aged_data").hold(may_make=False)
    (folder / "0").mkdir(parents=True)
    with pytest.raises(HostError, match="holds 0, which Plimsoll did not make"):
        KeptFolder(folder, "keep_data").hold(may_make=True)
    assert [path.name for path in folder.iterdir()] == ["0"]


def test_a_failed_copy_leaves_what_was_kept(
    tmp_path: Path, instance: InstanceDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = KeptFolder(tmp_path / "kept", "keep_data")
    kept.hold(may_make=True)
    kept.keep(0, instance, IDENTITY)
    monkeypatch.setattr("plimsoll.servers.data_copy.tree_bytes", lambda _: 2**60)
    monkeypatch.setattr("plimsoll.servers.data_copy._check_space", _no_space)
    with pytest.raises(HostError, match="no space"):
        kept.keep(0, instance, IDENTITY)
    assert (tmp_path / "kept/0/data/t.ibd").read_text() == "young"
    monkeypatch.undo()
    kept.keep(0, instance, IDENTITY)
    assert not (tmp_path / "kept/0.new").exists()
    kept.release()


def _no_space(*_: object) -> None:
    raise HostError("no space")
