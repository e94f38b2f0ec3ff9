"""An agent's directory is its own from the moment that anything is in it, and holds what was sent and nothing more."""

from __future__ import annotations

import fcntl
import io
import os
import tarfile
import tempfile
from pathlib import Path

import pytest

from plimsoll.hosts import bootstrap

PREFIX = "plimsoll-host-"


def test_a_directory_that_another_bootstrap_removed_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one sees it between its making and its locking, twice: before it is opened, and before it is locked."""
    make, lock, removed = tempfile.mkdtemp, fcntl.flock, list[str]()

    def made(**words: str) -> str:
        folder = make(**words)
        if not removed:
            removed.append(folder)
            bootstrap.remove_left(PREFIX, str(tmp_path))
        return folder

    def locked(descriptor: int, how: int) -> None:
        if how == fcntl.LOCK_EX and len(removed) == 1:
            removed.append(str(descriptor))
            bootstrap.remove_left(PREFIX, str(tmp_path))
        lock(descriptor, how)

    monkeypatch.setattr(tempfile, "mkdtemp", made)
    monkeypatch.setattr(fcntl, "flock", locked)
    folder = bootstrap.locked_folder(PREFIX, str(tmp_path))
    assert len(removed) == 2
    assert [str(path) for path in tmp_path.iterdir()] == [folder]
    bootstrap.remove_left(PREFIX, str(tmp_path))
    assert Path(folder).is_dir(), "it is locked"


def test_what_killed_agents_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / f"{PREFIX}left/lib").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    (tmp_path / f"{PREFIX}link").symlink_to(tmp_path / "other")
    (tmp_path / f"{PREFIX}file").touch()
    bootstrap.remove_left(PREFIX, str(tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {"other", f"{PREFIX}link", f"{PREFIX}file"}


def packed(*members: tarfile.TarInfo) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as tar:
        for one in members:
            tar.addfile(one, io.BytesIO(b"x" * one.size))
    return written.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.size = kind, link, int(kind == tarfile.REGTYPE)
    return made


@pytest.mark.parametrize("has_filter", [True, False])
@pytest.mark.parametrize(
    "hostile",
    [member("../out"), member("a/../../out"), member("/out"), member("l", tarfile.SYMTYPE, "/etc/passwd")],
    ids=lambda one: one.name,
)
def test_nothing_is_unpacked_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hostile: tarfile.TarInfo, has_filter: bool
) -> None:
    """With the filter of Python, and with the check of Plimsoll's own on versions that have none."""
    if not has_filter:
        monkeypatch.delattr(tarfile, "data_filter", raising=False)
    elif not hasattr(tarfile, "data_filter"):
        pytest.skip("this Python has no filter: it came with 3.11.4")
    into = tmp_path / "lib"
    bootstrap.unpack(packed(member("good/file")), str(into))
    assert (into / "good/file").read_text() == "x"
    try:
        bootstrap.unpack(packed(hostile), str(into))
    except (SystemExit, getattr(tarfile, "FilterError", SystemExit)):
        pass
    else:
        assert hostile.name == "/out", "the filter takes the slash away"
        assert has_filter
    assert not (tmp_path / "out").exists()
    assert not Path("/out").exists()
    assert not os.path.lexists(into / "l")
