"""Lines of a log that somebody else wrote, and the account of those that could not be read.

Deliberately not here: what a line means.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from plimsoll.importers.line_prefix import without_prefix
from plimsoll.importers.text_file import read_bounded

FILE_BYTES_MAX = 32 * 2**20
LINE_CHARACTERS_MAX = 2_000
_SHOWN_CHARACTERS_MAX = 80
_KEPT = 1_000


class Unread:
    """What could not be read in one log.

    Attributes:
        lines: One line each, with its place; the first thousand.
        count: How many there are.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self.lines: list[str] = []
        self.count = 0

    def skip(self, number: int, what: str, text: str) -> None:
        """Adds a line of the log, counted from 1."""
        shown = text if len(text) <= _SHOWN_CHARACTERS_MAX else f"{text[:_SHOWN_CHARACTERS_MAX]}…"
        self.count += 1
        if len(self.lines) < _KEPT:
            self.lines.append(f"{self._name}: line {number}: {what}: {shown!r}")


def lines_of(path: Path, unread: Unread, characters_max: int = LINE_CHARACTERS_MAX) -> Iterator[tuple[int, bytes, str]]:
    """Number, bytes and text of each line, without blanks around it and without what others put before it.

    A line that is too long is told, and its text is empty.

    Raises:
        SpecError: The file cannot be read, or is too large.
    """
    for number, line in enumerate(read_bounded(path, FILE_BYTES_MAX).split(b"\n"), start=1):
        text = without_prefix(line[: characters_max + 1].decode("utf-8", errors="replace").strip())
        if len(line) > characters_max:
            unread.skip(number, f"is longer than {characters_max} characters", text)
            text = ""
        yield number, line, text
