"""Only files are read as files: nothing here may wait for ever."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from plimsoll.regular_file import open_regular, read_regular, text_regular


def fault(path: Path) -> str:
    try:
        read_regular(path, 100)
    except OSError as error:
        return str(error.strerror)
    return pytest.fail(f"{path} was read")


def test_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("f")
    assert read_regular(tmp_path / "link", 3) == b"abc"
    assert read_regular(tmp_path / "f") == b"abc"
    with open_regular(tmp_path / "f") as file:
        assert file.readline() == b"abc"


def test_text_is_read_as_editors_write_it(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"\xef\xbb\xbfa\r\nb\n")
    assert text_regular(tmp_path / "f") == "a\nb\n"
    (tmp_path / "f").write_bytes(b"\xff\xfe")
    with pytest.raises(UnicodeDecodeError):
        text_regular(tmp_path / "f")


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        assert "is a socket" in fault(tmp_path / "socket")
    assert "is a pipe" in fault(tmp_path / "fifo")
    assert "is a device" in fault(Path("/dev/zero"))
    assert "directory" in fault(tmp_path)
    assert "No such file" in fault(tmp_path / "absent")
    assert "NUL" in fault(Path("a\0b"))


def test_one_that_is_too_large(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"a" * 101)
    assert fault(tmp_path / "f") == "is larger than 100 bytes"
    (tmp_path / "f").write_bytes(b"a" * 100)
    assert len(read_regular(tmp_path / "f", 100)) == 100


def test_a_loop_of_links(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("a")
    assert "symbolic links" in fault(tmp_path / "a")
