"""The marker of an instance's directory, which says that Plimsoll made it, and the removal of what is so marked.

The standard library only: the guardian, which runs apart, uses this.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import time
from pathlib import Path
from typing import Any

from plimsoll.servers import freezing
from plimsoll.servers.left_processes import end_processes
from plimsoll.servers.placing import remove_groups

MARKER = "plimsoll-instance.json"
PARTIAL_MARKER = f".{MARKER}"
LOCK, SERVER_NOTE = "lock", "server.json"
ELSEWHERE, PART_OF = "elsewhere", "part_of"


def read_marker(directory: Path) -> dict[str, Any] | None:
    """What the marker of an instance's directory says.

    Returns: None when Plimsoll did not make it for this user: no marker, a symbolic link, another owner.
    """
    try:
        place, marker = directory.lstat(), (directory / MARKER).lstat()
        if not (stat.S_ISDIR(place.st_mode) and stat.S_ISREG(marker.st_mode)):
            return None
        if {place.st_uid, marker.st_uid} != {os.geteuid()}:
            return None
        content = json.loads((directory / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) and content.get("made_by") == "plimsoll" else None


def remove_directory(directory: Path) -> None:
    """Removes an instance's directory, and nothing else: symbolic links are removed and never followed.

    Processes of it that are left are killed first. Directories on other paths that it names, and that name it, are
    removed before it. The marker goes last, so that what an interrupted removal leaves is still known as ours. What
    somebody else removes too takes another turn: the marker is restored before it.

    Raises:
        OSError: The directory has no marker of ours, something in it cannot be removed, or a process of it does not
            end.
    """
    if (marker := read_marker(directory)) is None:
        raise OSError(f"{directory} has no marker of Plimsoll; it was not touched")
    for part in map(Path, marker.get(ELSEWHERE, ())):
        if (read_marker(part) or {}).get(PART_OF) == str(directory):
            remove_directory(part)
    end_processes(directory)
    freezing.remove_noted_group(directory / SERVER_NOTE)
    remove_groups(directory)
    for pause_s in (0.05, 0.2, 1.0, None):
        try:
            _remove_content(directory)
            (directory / LOCK).unlink(missing_ok=True)
            (directory / MARKER).unlink(missing_ok=True)
            directory.rmdir()
            return
        except OSError as error:
            if not directory.exists():
                return
            if read_marker(directory) is None:
                write_marker(directory, marker)
            if error.errno not in {errno.ENOTEMPTY, errno.ENOENT} or pause_s is None:
                raise
            time.sleep(pause_s)


def write_marker(directory: Path, content: dict[str, Any]) -> None:
    """Marks a directory as made by Plimsoll, whole or not at all.

    Raises:
        OSError: It cannot be written.
    """
    partial = directory / PARTIAL_MARKER
    partial.unlink(missing_ok=True)
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(content, file)
    partial.rename(directory / MARKER)


def _remove_content(directory: Path) -> None:
    for entry in os.scandir(directory):
        if entry.name in (LOCK, MARKER):
            continue
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            Path(entry.path).unlink(missing_ok=True)
