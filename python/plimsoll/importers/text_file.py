"""Reads a file that somebody else wrote, never more of it than a bound.

Deliberately not here: what is in it.
"""

from __future__ import annotations

from pathlib import Path

from plimsoll.errors import SpecError
from plimsoll.regular_file import open_regular


def read_bounded(path: Path, bytes_max: int) -> bytes:
    """All bytes of a file.

    Raises:
        SpecError: It cannot be read, or has more than `bytes_max` bytes.
    """
    try:
        with open_regular(path) as file:
            content = file.read(bytes_max + 1)
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}. Check the path and the rights.") from error
    if len(content) > bytes_max:
        raise SpecError(f"{path}: is larger than {bytes_max // 2**20} MiB. Cut the file into several.")
    return content
