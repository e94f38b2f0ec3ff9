"""Standard output that fits: broken between words on a terminal, without blanks at the ends of lines in a file.

Deliberately not here: what is said.
"""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.console import RenderableType

_LABELLED = re.compile(r"\s*\S+(?: \S+)*\s{2,}(?=\S)")
_UNIT = re.compile(r"(?<=\d) (?=(?:ms|s|us|min|h|%|tps|MB)\b|%)")
"""A number and its unit stay together."""

_INDENT_MAX = 30


def show(*parts: RenderableType) -> None:
    """Prints what Rich can print. Where nobody watches it has no blanks at the ends of lines."""
    from rich.console import Console

    console = Console()
    if console.is_terminal:
        console.print(*parts, sep="\n")
        return
    with console.capture() as captured:
        console.print(*parts, sep="\n")
    typer.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def echo_fitted(text: str, *, is_text: bool = True) -> None:
    """Prints lines; on a terminal those of a text that are too long go on below their own beginning."""
    if is_text and sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
        text = "\n".join(fitted(line, width) for line in text.splitlines())
    typer.echo(text)


def fitted(line: str, width: int) -> str:
    """A line in as many as it needs, broken between words only. What follows a label and two blanks stays below itself.

    >>> print(fitted("failed            0, retries 12 of 3", 28))
    failed            0, retries
                      12 of 3
    """
    if len(line) <= width:
        return line
    label = _LABELLED.match(line)
    blanks = len(line) - len(line.lstrip())
    indent = label.end() if label and label.end() <= min(_INDENT_MAX, width // 2) else blanks + 2
    kept = _UNIT.sub("\u00a0", line)
    broken = textwrap.fill(kept, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)
    return broken.replace("\u00a0", " ")
