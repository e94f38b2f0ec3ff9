"""Reading what must be a file: a pipe, a socket or a device in its place would keep a reader waiting, or never end.

Faults are `OSError`, whose `strerror` says what is wrong in words for people: each caller knows who must act.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

_KINDS = {
    stat.S_IFIFO: "is a pipe and not a file; save what comes out of it to a file first",
    stat.S_IFSOCK: "is a socket and not a file",
    stat.S_IFCHR: "is a device and not a file",
    stat.S_IFBLK: "is a device and not a file",
}


def open_regular(path: Path) -> BinaryIO:
    """Opens a file for reading.

    Raises:
        OSError: It cannot be opened, or is no file.
    """
    try:
        _refuse_others(path, path.stat().st_mode)  # some devices do something when they are opened
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except ValueError:
        raise OSError(errno.EINVAL, "its name holds a NUL character", str(path)) from None
    try:
        _refuse_others(path, os.fstat(descriptor).st_mode)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: Path, bytes_max: int | None = None) -> bytes:
    """All bytes of a file.

    Args:
        path: The file.
        bytes_max: A larger one is refused.

    Raises:
        OSError: It cannot be read, is no file, or is too large.
    """
    with open_regular(path) as file:
        content = file.read() if bytes_max is None else file.read(bytes_max + 1)
    if bytes_max is not None and len(content) > bytes_max:
        raise OSError(errno.EFBIG, f"is larger than {bytes_max:,} bytes", str(path))
    return content


def text_regular(path: Path, bytes_max: int | None = None) -> str:
    """All text of a file in UTF-8, with line feeds at the ends of lines and without a byte order mark.

    Raises:
        OSError: As `read_regular`.
        UnicodeDecodeError: It is no such text.
    """
    text = read_regular(path, bytes_max).decode("utf-8-sig")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _refuse_others(path: Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, _KINDS.get(stat.S_IFMT(mode), "is no file"), str(path))
