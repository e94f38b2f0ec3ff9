"""What lies in folders."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from support.vanishing import below


def size_of(folder: Path) -> int:
    """What lies in a folder now, bytes; files that vanish meanwhile are left out."""
    return size_of_all(below(folder))


def size_of_all(paths: Iterable[Path]) -> int:
    """The same of some files; folders count nothing."""
    total = 0
    for path in paths:
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue
    return total
