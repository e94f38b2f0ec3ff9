"""Command lines that pages show, as a shell divides them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from support.repository import ROOT, blocks, files

PAGES = [path for path in files(".md") if path.parent == ROOT or path.is_relative_to(ROOT / "docs")]
PAGES += files(".md", below="examples")

_SHELL = {"", "sh", "bash", "console"}
_END_OF_COMMAND = {"&&", "||", "|", ";", ">", ">>", "<", "&", ")", "2>", "2>&1"}


def command_lines(path: Path) -> Iterator[tuple[str, str]]:
    """Whole command lines in shell blocks, with their places."""
    for block in blocks(path):
        if block.language not in _SHELL:
            continue
        for line in block.text.replace("\\\n", " ").splitlines():
            found = re.match(r"\s*(?:\$ )?(?:\S*/bin/)?(plimsoll \S.*)", line)
            if found:
                yield block.place, found[1]


def is_synopsis(line: str) -> bool:
    """Whether a line says with [brackets] what may be left out, and is nothing to type."""
    return "[-" in line


def arguments_of(line: str) -> Iterator[list[str]]:
    """The arguments of every plimsoll in a line, without comments and what its output goes to.

    A variable has the value 1.
    """
    lexer = shlex.shlex(re.sub(r"\$[a-z]+\b", "1", line), posix=True, punctuation_chars=True)
    lexer.commenters = "#"
    lexer.wordchars += ":@,%+"
    words: list[str] = []
    for token in [*lexer, ";"]:
        if token in _END_OF_COMMAND:
            if words and words[0].endswith("plimsoll"):
                yield words[1:]
            words = []
        else:
            words.append(token)
