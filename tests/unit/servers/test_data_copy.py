"""Copies of a data directory: content, modes, holes, preallocated ranges, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plimsoll.errors import HostError
from plimsoll.servers import data_copy
from plimsoll.servers.data_copy import CopyEndedError, replace_tree, tree_bytes

MIB = 2**20


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    source = tmp_path / "data"
    (source / "sbtest").mkdir(parents=True)
    (source / "sbtest/t.ibd").write_bytes(os.urandom(300_000))
    (source / "empty").touch(mode=0o600)
    (source / "auto.cnf").write_text("[auto]\n")
    return source


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_there_and_back(tree: Path, tmp_path: Path) -> None:
    pristine, before = tmp_path / "pristine", content(tree)
    replace_tree(tree, pristine)
    (tree / "sbtest/t.ibd").write_bytes(b"changed")
    (tree / "new").write_bytes(b"1")
    replace_tree(pristine, tree)
    assert content(tree) == before
    assert (tree / "empty").stat().st_mode & 0o777 == 0o600
    replace_tree(tree, pristine)
    assert tree_bytes(pristine) == sum(map(len, before.values()))


def test_holes_stay_holes(tree: Path, tmp_path: Path) -> None:
    with (tree / "sparse").open("wb") as file:
        file.truncate(64 * MIB)
        file.seek(32 * MIB)
        file.write(b"middle")
    replace_tree(tree, tmp_path / "copy")
    copy = tmp_path / "copy/sparse"
    assert copy.stat().st_size == 64 * MIB
    assert copy.stat().st_blocks * 512 < MIB
    assert copy.read_bytes()[32 * MIB : 32 * MIB + 6] == b"middle"


def test_preallocated_logs_stay_allocated_and_unwritten(tree: Path, tmp_path: Path) -> None:
    with (tree / "redo").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, 64 * MIB)
        file.write(b"head")
    (tree / "redo").read_bytes()  # brings the unwritten rest into the page cache, where it looks like data
    replace_tree(tree, tmp_path / "copy")
    copy = tmp_path / "copy/redo"
    assert copy.stat().st_blocks * 512 >= 64 * MIB
    with copy.open("rb") as file:
        written = sum(end - begin for begin, end in data_copy._data_ranges(file.fileno(), 64 * MIB))
    assert written < MIB


def test_without_copy_file_range(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "copy_file_range", refuse)
    replace_tree(tree, tmp_path / "copy")
    assert content(tmp_path / "copy") == content(tree)


def test_symbolic_links_are_neither_copied_nor_followed(tree: Path, tmp_path: Path) -> None:
    (tree / "link").symlink_to("/etc/passwd")
    with pytest.raises(HostError, match="neither a folder nor a plain file"):
        replace_tree(tree, tmp_path / "copy")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "linked").symlink_to(elsewhere)
    with pytest.raises(HostError, match="is a symbolic link"):
        replace_tree(tree, tmp_path / "linked")
    assert elsewhere.exists()


def test_space_is_checked_first(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_copy, "tree_bytes", lambda folder: 2**44 if folder == tree else 0)
    with pytest.raises(HostError, match=r"needs 16\.0 TiB, .* are free"):
        replace_tree(tree, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_nothing_saved(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="there is no saved data"):
        replace_tree(tmp_path / "pristine", tmp_path / "data")


def test_a_copy_that_is_ended_leaves_nothing(tree: Path, tmp_path: Path) -> None:
    asked = iter([False, True])
    with pytest.raises(CopyEndedError):
        replace_tree(tree, tmp_path / "copy", lambda: next(asked))
    assert not (tmp_path / "copy").exists()
    assert next(asked, None) is None, "no further file was begun"


def test_a_large_file_is_ended_within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_copy, "_CHUNK_BYTES", 4096)
    monkeypatch.setattr(data_copy, "_clone", lambda *_: False)
    (tmp_path / "data").mkdir()
    (tmp_path / "data/t.ibd").write_bytes(os.urandom(10 * 4096))
    asked: list[None] = []

    def is_ended() -> bool:
        asked.append(None)
        return len(asked) == 4

    with pytest.raises(CopyEndedError):
        replace_tree(tmp_path / "data", tmp_path / "copy", is_ended)
    assert len(asked) == 4
    assert not (tmp_path / "copy").exists()
