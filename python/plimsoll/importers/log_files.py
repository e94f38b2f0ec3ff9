"""From what a user names to files: those in a folder and in all folders below it, by name.

Hidden files and folders are left out, and links to folders are not followed. Deliberately not here: what is in them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

FILES_MAX = 100_000


@dataclass(frozen=True, slots=True)
class LogFiles:
    """What was found.

    Attributes:
        paths: The files, in the order of the arguments, those of a folder by their names.
        named: Those that the user named: if one of them cannot be read, the user must know before anything is imported.
        faults: What is wrong with folders: one line each.
    """

    paths: tuple[Path, ...]
    named: frozenset[Path]
    faults: tuple[str, ...]


def log_files(arguments: Iterable[Path]) -> LogFiles:
    """The files that the arguments mean."""
    found: list[Path] = []
    named: set[Path] = set()
    faults: list[str] = []
    for argument in arguments:
        if not argument.is_dir():
            found.append(argument)
            named.add(argument)
            continue
        below = sorted(_below(argument, faults))
        if not 0 < len(below) <= FILES_MAX:
            faults.append(f"{argument}: holds {len(below):,} files, must be 1 to {FILES_MAX:,}. Name a folder of logs")
        else:
            found += below
    return LogFiles(tuple(dict.fromkeys(found)), frozenset(named), tuple(faults))


def _below(folder: Path, faults: list[str]) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        faults.append(f"{error.filename}: cannot be read: {error.strerror}. Check the rights")

    for place, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (path for name in names if not name.startswith(".") and (path := Path(place) / name).is_file())
