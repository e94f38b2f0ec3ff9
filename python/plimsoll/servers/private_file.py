"""Writing a file that only its owner may read or change, whatever the umask.

MariaDB and MySQL skip an option file that anybody may write to, with no more than a line in the log. Deliberately not
here: what is written.
"""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path
from typing import BinaryIO

from plimsoll.errors import HostError

_OWNER_ONLY = 0o600


def write_private(path: Path, text: str, *, cure: str = "choose another data_dir") -> None:
    """Writes a new file with mode 0600 in the place of an old one.

    Args:
        path: The file.
        text: All of it.
        cure: What to do where it cannot be written.

    Raises:
        HostError: It cannot be written, or its file system does not keep modes.
    """
    try:
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, _OWNER_ONLY)
        with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123  (a descriptor)
            os.fchmod(descriptor, _OWNER_ONLY)
            _check_mode(path, stat.S_IMODE(os.fstat(descriptor).st_mode))
            file.write(text)
    except OSError as error:
        raise HostError(f"{path}: cannot be written: {error.strerror}; {cure}") from None


def private_fault(folder: Path, key: str) -> str | None:
    """Why a folder could not hold private files: its file system keeps no modes. None where it could, or is not ours.

    Looked at with a file that has no name, or loses it at once.

    Args:
        folder: Is there.
        key: Of the study file, for messages.
    """
    try:
        file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - what fails later has another meaning
    except OSError:
        return None
    with file:
        try:
            os.fchmod(file.fileno(), _OWNER_ONLY)
            _check_mode(folder, stat.S_IMODE(os.fstat(file.fileno()).st_mode), "a file there has")
        except OSError as error:
            return f"{key}: {folder}: a file there cannot have mode 0600: {error.strerror}; choose another {key}"
        except HostError as error:
            return f"{key}: {error}"
    return None


def open_private(path: Path) -> BinaryIO:
    """Opens a file for adding to it, which only its owner may read from the beginning. Raises OSError."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, _OWNER_ONLY), "ab")


def _check_mode(path: Path, mode: int, has: str = "has") -> None:
    """Refuses what a file system without modes makes of a file."""
    if mode != _OWNER_ONLY:
        raise HostError(
            f"{path}: {has} mode {mode:04o}, and its file system does not support 0600; servers skip option"
            " files that others may write to. Choose a data_dir on another file system"
        )
