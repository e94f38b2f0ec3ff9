"""Files of a recording that are neither documents nor tables: output of hooks, and what the hook `collect` left.

What a hook leaves may be anything. Only regular files that can be read are kept, and only so many bytes: the digest of
every file is checked whenever a study is run or looked at. Deliberately not here: when they are written (`partial`).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

OUTPUT_FOLDER = "hooks"
COLLECTED_FOLDER = "collected"
FOLDERS = (OUTPUT_FOLDER, COLLECTED_FOLDER)

COLLECTED_BYTES_MAX = 256 * 2**20
COLLECTED_FILES_MAX = 1000


@dataclass(frozen=True, slots=True)
class Dropped:
    """What was not kept of what a hook left.

    Attributes:
        unfit: Names of what is no regular file that can be read.
        beyond: Names of files that are too large together, or too many.
    """

    unfit: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()


def is_attached(name: str) -> bool:
    """Whether a name that a recording lists is that of a file in these folders, and leads nowhere else."""
    folder, *rest = name.split("/")
    return folder in FOLDERS and bool(rest) and not {"", ".", ".."} & set(rest)


def attached_files(recording: Path) -> list[str]:
    """Names of all files in these folders, relative to the recording, in order."""
    return sorted(name for folder in FOLDERS for name, _ in _entries(recording, recording / folder))


def drop_unfit(recording: Path, bytes_max: int = COLLECTED_BYTES_MAX, files_max: int = COLLECTED_FILES_MAX) -> Dropped:
    """Removes what cannot be kept of the collected files; smaller files are kept first.

    Raises:
        OSError: The disk refused it.
    """
    unfit: list[str] = []
    sizes: list[tuple[int, str]] = []
    for name, status in list(_entries(recording, recording / COLLECTED_FOLDER)):
        if stat.S_ISREG(status.st_mode) and _is_text(name) and os.access(recording / name, os.R_OK):
            sizes.append((status.st_size, name))
        else:
            (recording / name).unlink()
            unfit.append(ascii(name)[1:-1])
    beyond, total = [], 0
    for count, (size, name) in enumerate(sorted(sizes), start=1):
        total += size
        if total > bytes_max or count > files_max:
            (recording / name).unlink()
            beyond.append(name)
    return Dropped(tuple(unfit), tuple(beyond))


def _entries(recording: Path, folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Everything in a folder and those below it that is no folder itself; a link is an entry, wherever it leads."""
    for place, folders, files in os.walk(folder):
        links = [name for name in folders if Path(place, name).is_symlink()]
        for path in (Path(place, name) for name in (*files, *links)):
            yield str(path.relative_to(recording)), path.lstat()


def _is_text(name: str) -> bool:
    """Whether a name can stand in a document: those that are no UTF-8 cannot."""
    return not any("\ud800" <= one <= "\udfff" for one in name)
