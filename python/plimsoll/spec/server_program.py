"""Which word of a server's full command is the server itself: a loader and its options may stand before it.

It imports nothing heavy: commands say first which server they start.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath


def server_word(words: Sequence[str]) -> str | None:
    """The path of the server among the words of its command; None where none looks like one.

    >>> server_word(["numactl", "-N", "0", "/opt/mysql/bin/mysqld", "--no-defaults"])
    '/opt/mysql/bin/mysqld'
    """
    return next((word for word in words if PurePath(word).name.startswith(("mysqld", "mariadbd"))), None)
