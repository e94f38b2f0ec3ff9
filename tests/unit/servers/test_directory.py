"""Directories of instances: made, refused, removed, swept."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.errors import HostError, SpecError
from plimsoll.servers import directory as directory_module
from plimsoll.servers import marked_directory
from plimsoll.servers.directory import InstanceDirectory, default_base_dir, sweep
from plimsoll.servers.marked_directory import LOCK, MARKER, read_marker, remove_directory


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[InstanceDirectory]:
    made = InstanceDirectory.create(tmp_path / "base", "The Durable One!", allow_tmpfs=True)
    yield made
    made.close_lock()


def test_made_for_this_user_only(instance: InstanceDirectory) -> None:
    assert instance.path.name.startswith("the-durable-one-")
    assert instance.path.stat().st_mode & 0o777 == 0o700
    assert instance.path.parent.stat().st_mode & 0o777 == 0o700
    assert read_marker(instance.path) == {
        "made_by": "plimsoll",
        "format": 1,
        "name": "The Durable One!",
        "throwaway": True,
    }


def test_default_base(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLIMSOLL_DATA_DIR", raising=False)
    assert default_base_dir() == Path(f"/var/tmp/plimsoll-{os.geteuid()}")
    monkeypatch.setenv("PLIMSOLL_DATA_DIR", "/mnt/x")
    assert default_base_dir() == Path("/mnt/x")


def test_memory_is_refused_unless_told() -> None:
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("no /dev/shm here")
    base = Path(tempfile.mkdtemp(dir="/dev/shm"))
    with pytest.raises(HostError, match="is on tmpfs, which is in memory"):
        InstanceDirectory.create(base, "x")
    InstanceDirectory.create(base, "x", allow_tmpfs=True).remove()
    base.rmdir()


def test_another_servers_data_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ibdata1").touch()
    with pytest.raises(HostError, match="is the data directory of another server"):
        InstanceDirectory.create(tmp_path, "x", allow_tmpfs=True)


def test_a_path_too_long_for_a_socket_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="bytes too long for the path of a socket"):
        InstanceDirectory.create(tmp_path / ("d" * 90), "x", allow_tmpfs=True)


def test_places_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for base in (tmp_path / "file", tmp_path / "file/below"):
        with pytest.raises(HostError, match=r"data_dir: .* choose another"):
            InstanceDirectory.create(base, "x", allow_tmpfs=True)


def test_our_name_made_by_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = tmp_path / "plimsoll-1"
    base.mkdir()
    monkeypatch.setattr(directory_module.os, "geteuid", lambda: 4321)
    with pytest.raises(HostError, match="belongs to another user"):
        InstanceDirectory.create(base, "x", allow_tmpfs=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="SKIPPED: only root may give a link away")
def test_a_link_that_somebody_else_made_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    base = tmp_path / "plimsoll-1"
    base.symlink_to("theirs")
    os.lchown(base, 4321, 4321)
    with pytest.raises(HostError, match="is a link of another user"):
        InstanceDirectory.create(base, "x", allow_tmpfs=True)
    assert list((tmp_path / "theirs").iterdir()) == []


def test_removal_follows_no_link_and_takes_nothing_else(instance: InstanceDirectory, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").touch()
    (instance.data / "link").symlink_to(outside)
    (instance.path / "link").symlink_to(outside)
    neighbour = instance.path.parent / "neighbour"
    neighbour.touch()
    instance.remove()
    instance.remove()
    assert not instance.path.exists()
    assert (outside / "precious").exists()
    assert neighbour.exists()


def test_a_directory_without_marker_or_behind_a_link_is_left_alone(instance: InstanceDirectory, tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    link = tmp_path / "link"
    link.symlink_to(instance.path)
    for path in (foreign, link, tmp_path / "absent"):
        with pytest.raises(OSError, match="not touched"):
            remove_directory(path)
    assert instance.data.exists()


def test_the_marker_goes_last(instance: InstanceDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A removal that is interrupted leaves a directory that the next sweep still knows."""
    monkeypatch.setattr("shutil.rmtree", lambda *_: (_ for _ in ()).throw(OSError("interrupted")))
    with pytest.raises(HostError, match="cannot be removed: interrupted"):
        instance.remove()
    assert read_marker(instance.path) is not None


def test_what_is_written_during_the_removal_is_removed_too(
    instance: InstanceDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that was just killed may still write. Without its marker nobody would ever remove the rest."""
    remove_content, turns = marked_directory._remove_content, iter((True, False))

    def with_a_late_writer(directory: Path) -> None:
        remove_content(directory)
        if next(turns):
            (directory / "late").touch()

    monkeypatch.setattr(marked_directory, "_remove_content", with_a_late_writer)
    remove_directory(instance.path)
    assert not instance.path.exists()


def test_what_cannot_be_removed_keeps_its_marker(instance: InstanceDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marked_directory, "_remove_content", lambda directory: (directory / "late").touch())
    monkeypatch.setattr("time.sleep", lambda _: None)
    with pytest.raises(OSError, match="not empty"):
        remove_directory(instance.path)
    assert read_marker(instance.path) is not None


def test_two_may_remove_it_at_once(instance: InstanceDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    remove_content = marked_directory._remove_content

    def with_another(directory: Path) -> None:
        monkeypatch.setattr(marked_directory, "_remove_content", remove_content)
        remove_directory(directory)
        remove_content(directory)

    monkeypatch.setattr(marked_directory, "_remove_content", with_another)
    remove_directory(instance.path)
    assert not instance.path.exists()


def test_sweep_takes_what_was_interrupted_before_it_had_a_marker(tmp_path: Path) -> None:
    def unmarked(name: str, *entries: str, age_s: float = 3600) -> Path:
        path = tmp_path / name
        path.mkdir()
        for entry in entries:
            (path / entry).touch() if entry in {LOCK, "x"} else (path / entry).mkdir()
        os.utime(path, (time.time() - age_s,) * 2)
        return path

    gone = (unmarked("a-000001"), unmarked("b-000002", LOCK), unmarked("c-000003", LOCK, "data", "tmp"))
    stays = (
        unmarked("d-000004", age_s=5),
        unmarked("e-000005", LOCK, "data", "x"),
        unmarked("f-000006", "others"),
        unmarked("other-name"),
    )
    full = unmarked("g-000007", LOCK)
    (full / "data").mkdir()
    (full / "data" / "ibdata1").touch()
    os.utime(full, (0, 0))
    assert sweep(tmp_path) == gone
    for path in (*stays, full / "data" / "ibdata1"):
        assert path.exists()


def test_sweep_takes_stale_ones_only(tmp_path: Path) -> None:
    base = tmp_path / "base"
    living, stale, kept = (
        InstanceDirectory.create(base, name, allow_tmpfs=True, throwaway=name != "kept")
        for name in ("living", "stale", "kept")
    )
    stale.close_lock()
    kept.close_lock()
    (base / "foreign").mkdir()
    (base / "foreign/data").touch()
    (base / "link").symlink_to(living.path)
    assert sweep(base) == (stale.path,)
    assert living.path.exists()
    assert kept.path.exists()
    assert (base / "foreign/data").exists()
    assert sweep(base) == ()
    assert sweep(tmp_path / "absent") == ()
    living.close_lock()
    assert sweep(base) == (living.path,)


def test_sweep_leaves_other_users_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = InstanceDirectory.create(tmp_path, "x", allow_tmpfs=True)
    made.close_lock()
    monkeypatch.setattr("plimsoll.servers.marked_directory.os.geteuid", lambda: 4321)
    assert sweep(tmp_path) == ()
    assert made.path.exists()


def test_a_base_where_others_may_exchange_what_is_in_it_is_refused(tmp_path: Path) -> None:
    shared, link = tmp_path / "shared", tmp_path / "link"
    shared.mkdir()
    link.symlink_to(shared)
    shared.chmod(0o777)
    for base in (shared, link):
        with pytest.raises(HostError, match=r"shared,? ?(which)? may be written by others \(mode 0777\)"):
            InstanceDirectory.create(base, "x", allow_tmpfs=True)
    shared.chmod(0o1777)
    with pytest.raises(HostError, match=r"link leads to .*/shared, which may be written by others \(mode 1777\)"):
        InstanceDirectory.create(link, "x", allow_tmpfs=True)
    InstanceDirectory.create(shared, "x", allow_tmpfs=True).remove()
    shared.chmod(0o755)
    InstanceDirectory.create(link, "x", allow_tmpfs=True).remove()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"made_by": "somebody"}', "null"])
def test_a_damaged_marker_is_none(instance: InstanceDirectory, text: str) -> None:
    (instance.path / MARKER).write_text(text)
    assert read_marker(instance.path) is None


def test_a_missing_lock_is_a_free_lock(instance: InstanceDirectory) -> None:
    instance.close_lock()
    (instance.path / LOCK).unlink()
    assert sweep(instance.path.parent) == (instance.path,)
