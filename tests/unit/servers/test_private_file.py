"""Files that only their owner may read or change."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from plimsoll.errors import HostError
from plimsoll.servers.private_file import private_fault, write_private


@pytest.mark.parametrize("umask", [0, 0o002, 0o077, 0o777])
def test_the_mode_does_not_hang_on_the_umask(umask: int, tmp_path: Path) -> None:
    path = tmp_path / "my.cnf"
    path.write_text("old and longer")
    path.chmod(0o666)
    before = os.umask(umask)
    try:
        write_private(path, "new")
    finally:
        os.umask(before)
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", 0o600)


def test_a_link_in_its_place_is_replaced_and_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept")
    (tmp_path / "my.cnf").symlink_to(precious)
    write_private(tmp_path / "my.cnf", "new")
    assert precious.read_text() == "kept"
    assert not (tmp_path / "my.cnf").is_symlink()


def test_a_file_system_without_modes_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fchmod", lambda descriptor, mode: None)
    before = os.umask(0o277)
    try:
        with pytest.raises(HostError, match="has mode 0400, and its file system does not support 0600"):
            write_private(tmp_path / "accounts.sql", "secret")
    finally:
        os.umask(before)
    assert (tmp_path / "accounts.sql").read_bytes() == b""


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="cannot be written: No such file or directory"):
        write_private(tmp_path / "absent" / "my.cnf", "x")


def test_a_folder_whose_file_system_keeps_no_modes_is_known_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert private_fault(tmp_path, "data_dir") is None
    assert private_fault(tmp_path / "absent", "data_dir") is None
    monkeypatch.setattr(os, "fchmod", lambda descriptor, mode: None)
    before = os.umask(0o277)
    try:
        said = private_fault(tmp_path, "data_dir")
    finally:
        os.umask(before)
    assert said is not None
    assert said.startswith(f"data_dir: {tmp_path}: a file there has mode 0400, and its file system does not support")

    def refuse(descriptor: int, mode: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fchmod", refuse)
    assert "a file there cannot have mode 0600: Operation not permitted" in str(private_fault(tmp_path, "data_dir"))
    assert list(tmp_path.iterdir()) == []
