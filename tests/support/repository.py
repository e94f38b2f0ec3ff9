"""The files of the repository, for tests that look at all of them."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


def files(*suffixes: str, below: str = "") -> list[Path]:
    """Files of a suffix, whatever .gitignore names left out. Works without git, as in an unpacked archive."""
    lines = (ROOT / ".gitignore").read_text().splitlines()
    ignored = [line.strip("/").rpartition("/")[2] for line in lines if line and not line.startswith("#")]
    found = []
    for folder, names, file_names in os.walk(ROOT / below):
        names[:] = [name for name in names if name != ".git" and not _matches(name, ignored)]
        found += [Path(folder) / name for name in file_names if name != ".git" and not _matches(name, ignored)]
    return sorted(path for path in found if not suffixes or path.suffix in suffixes)


def shown(path: Path) -> str:
    """A path as people write it."""
    return str(path.relative_to(ROOT))


def _matches(name: str, patterns: list[str]) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


@dataclass(frozen=True)
class Block:
    """A fenced block of a Markdown file.

    Attributes:
        place: File and line, for messages.
        language: What follows the opening fence; empty when nothing does.
    """

    place: str
    language: str
    text: str


def blocks(path: Path) -> Iterator[Block]:
    """The fenced blocks of a Markdown file."""
    text = path.read_text(encoding="utf-8")
    for found in re.finditer(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```", text, re.MULTILINE | re.DOTALL):
        line = text.count("\n", 0, found.start()) + 1
        yield Block(f"{shown(path)}:{line}", found[2], found[3])


def prose(path: Path) -> str:
    """A Markdown file without its fenced blocks."""
    text = path.read_text(encoding="utf-8")
    return re.sub(r"^( *)```.*?^\1```", "", text, flags=re.MULTILINE | re.DOTALL)
