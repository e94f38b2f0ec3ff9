"""Arguments for the load engine that may hold a password: on a descriptor, since every user can read argument lists.

Deliberately not here: which arguments do, and erasing those of this process (`cli.wipe`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence


def arguments_file(words: Sequence[str]) -> int:
    """A descriptor of a file in memory that holds the words, for the engine to read from its beginning.

    It is closed by whoever asked, and passed to the engine as `arguments_option` says.
    """
    file = os.memfd_create("plimsoll-arguments")
    with os.fdopen(os.dup(file), "wb") as writing:
        writing.write(b"".join(os.fsencode(word) + b"\0" for word in words))
    os.lseek(file, 0, os.SEEK_SET)
    return file


def arguments_option(file: int) -> str:
    """The first argument of an engine that inherits the descriptor; it replaces all that follow."""
    return f"--arguments-fd={file}"
