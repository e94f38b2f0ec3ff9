"""Directories of one instance on several paths: made, marked, removed and swept together, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plimsoll.errors import HostError
from plimsoll.servers.data_copy import Copied, restore, save
from plimsoll.servers.directory import InstanceDirectory, sweep
from plimsoll.spec.paths import Role


def made(tmp_path: Path, *roles: Role, name: str = "x", base: str = "base") -> InstanceDirectory:
    bases = {role: tmp_path / f"{role}-disk" for role in roles}
    return InstanceDirectory.create(tmp_path / base, name, allow_tmpfs=True, role_bases=bases)


def left(tmp_path: Path) -> list[str]:
    return sorted(str(path.relative_to(tmp_path)) for path in tmp_path.glob("*-disk/*"))


def test_each_path_has_a_directory_of_our_own(tmp_path: Path) -> None:
    one = made(tmp_path, "redo", "tmp")
    assert left(tmp_path) == [f"redo-disk/{one.path.name}", f"tmp-disk/{one.path.name}"]
    marker = json.loads((tmp_path / "redo-disk" / one.path.name / "plimsoll-instance.json").read_text())
    assert marker["part_of"] == str(one.path)
    paths = one.paths(3306)
    assert paths.redo_dir == tmp_path / "redo-disk" / one.path.name / "redo"
    assert paths.temporary_dir == tmp_path / "tmp-disk" / one.path.name / "tmp"
    assert (paths.undo_dir, paths.binlog_dir) == (None, None)
    assert list(one.kept_folders) == ["data", "redo"], "temporary files are no part of the state"
    (tmp_path / "redo-disk/others").mkdir()
    one.remove()
    assert left(tmp_path) == ["redo-disk/others"]


def test_two_roles_on_one_path_share_a_directory(tmp_path: Path) -> None:
    bases: dict[Role, Path] = {"redo": tmp_path / "fast", "undo": tmp_path / "fast", "binlog": tmp_path / "base"}
    one = InstanceDirectory.create(tmp_path / "base", "x", allow_tmpfs=True, role_bases=bases)
    assert [path.name for path in (tmp_path / "fast").iterdir()] == [one.path.name]
    assert one.paths(1).binlog_dir is None, "it lies with the data anyway"
    one.remove()


def test_state_is_saved_and_restored_on_all_paths(tmp_path: Path) -> None:
    one = made(tmp_path, "redo", "undo")
    live = {role: one.roles[role] / "file" for role in ("redo", "undo")} | {"data": one.data / "file"}
    for role, file in live.items():
        file.write_text(role)
    assert save(one).size_bytes == len("redoundodata")
    for file in live.values():
        file.write_text("changed")
    assert isinstance(restore(one), Copied)
    assert {file.read_text() for file in live.values()} == {"redo", "undo", "data"}
    one.remove()
    assert left(tmp_path) == []


def test_a_path_that_cannot_be_used_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "undo-disk").write_text("a file")
    with pytest.raises(HostError, match=r"undo_dir: .* cannot be created"):
        made(tmp_path, "redo", "undo")
    assert left(tmp_path) == []
    (tmp_path / "undo-disk").unlink()
    (tmp_path / "undo-disk").mkdir()
    (tmp_path / "undo-disk/ibdata1").touch()
    with pytest.raises(HostError, match=r"undo_dir: .* is the data directory of another server"):
        made(tmp_path, "redo", "undo")
    assert not list((tmp_path / "base").glob("*"))


def test_sweep_takes_parts_of_stale_instances_only(tmp_path: Path) -> None:
    living, stale = made(tmp_path, "redo", name="living"), made(tmp_path, "redo", name="stale")
    stale.close_lock()
    (tmp_path / "redo-disk/foreign").mkdir()
    assert sweep(tmp_path / "redo-disk") == stale.elsewhere
    assert sweep(tmp_path / "base") == (stale.path,)
    assert sorted(left(tmp_path)) == sorted(["redo-disk/foreign", f"redo-disk/{living.path.name}"])
    living.remove()


def test_sweep_takes_parts_whose_instance_is_gone(tmp_path: Path) -> None:
    one = made(tmp_path, "redo")
    one.close_lock()
    marker = one.path / "plimsoll-instance.json"
    content = json.loads(marker.read_text())
    marker.write_text(json.dumps({**content, "elsewhere": []}))  # as if removed when the disk was not mounted
    one.remove()
    assert left(tmp_path) == [f"redo-disk/{one.path.name}"]
    assert sweep(tmp_path / "redo-disk") == one.elsewhere
    assert left(tmp_path) == []


def test_a_directory_that_names_another_instance_is_not_removed(tmp_path: Path) -> None:
    one, other = made(tmp_path, "redo", name="one"), made(tmp_path, "redo", name="other")
    marker = one.path / "plimsoll-instance.json"
    content = json.loads(marker.read_text())
    marker.write_text(json.dumps({**content, "elsewhere": [str(other.elsewhere[0])]}))
    one.remove()
    assert other.elsewhere[0].exists()
    other.remove()
