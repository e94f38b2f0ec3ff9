"""Whether a disk of a managed server is full: by the free space where it writes, and by its error log.

A server that cannot write binary logs or temporary files waits for space and says so in its log only. Its clients see
that nothing is answered. Deliberately not here: when to look (`run.full_disks`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from plimsoll.servers.directory import DATA, TEMPORARY
from plimsoll.servers.error_log import read_tail
from plimsoll.servers.marked_directory import ELSEWHERE, read_marker
from plimsoll.spec.paths import Role
from plimsoll.units import format_bytes

NOTHING_BYTES = 2**20
"""With less than this free, nothing can be written: servers extend their files by that much or more."""

LITTLE_BYTES = 64 * 2**20
"""With less than this free, a disk is full where the log says so: a file that grows in larger steps did not fit."""

_SAYS_FULL = re.compile(r"disk is full|No space left on device|errno:? 28\b|error(?: number)? 28\b", re.IGNORECASE)
_LOG_LINES = 200


def full_disk(data_dir: Path) -> str | None:
    """What is full of a server that Plimsoll started here, how much is free, and what to do; None where nothing is.

    Args:
        data_dir: Its data directory.
    """
    found = [(*space, key, folder) for key, folder in _folders(data_dir) if (space := _space(folder)) is not None]
    if not found:
        return None
    free, total, key, folder = min(found)
    says_full = _SAYS_FULL.search(read_tail(data_dir.parent / "error.log", lines=_LOG_LINES)) is not None
    if free >= (LITTLE_BYTES if says_full else NOTHING_BYTES):
        return None
    said = ", and the server's error log says so" if says_full else ""
    return (
        f"the disk of {folder} is full: {format_bytes(free)} of {format_bytes(total)} are free{said}; free some space"
        f" there, choose another {key}, or load fewer rows"
    )


def _folders(data_dir: Path) -> Iterator[tuple[str, Path]]:
    """Where the server writes, each with the key of the study file that says where."""
    directory = data_dir.parent
    yield "data_dir", directory / DATA
    yield "data_dir", directory / TEMPORARY
    for elsewhere in map(Path, (read_marker(directory) or {}).get(ELSEWHERE, ())):
        yield from ((f"{role}_dir", elsewhere / role) for role in get_args(Role))


def _space(folder: Path) -> tuple[int, int] | None:
    """Bytes that this user, and so the server, can still write, and bytes in all; None where there is no folder."""
    try:
        usage = os.statvfs(folder)
    except OSError:
        return None
    free = usage.f_bfree if os.geteuid() == 0 else usage.f_bavail
    return free * usage.f_frsize, usage.f_blocks * usage.f_frsize
