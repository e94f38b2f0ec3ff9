"""Headings, sentences and tables on a terminal, as Rich prints them. Nothing is parsed as Rich's mark-up.

Deliberately not here: what is said, how a table finds room (`terminal_table`), and printing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from plimsoll.guide.tables import Table
from plimsoll.guide.terminal_table import show_table
from plimsoll.guide.words import clean


def section_blocks(
    title: str, sentences: Iterable[str], tables: Iterable[Table] = (), notes: Iterable[str] = ()
) -> Iterator[RenderableType]:
    """A section with its sentences, tables and notes; nothing where it has none."""
    shown = [show_table(table) for table in tables]
    yield from section(title, [*sentence_blocks(sentences), *shown, *sentence_blocks(notes, mark="")])


def table_blocks(table: Table | None) -> list[RenderableType]:
    """The table, if there is one."""
    return [] if table is None else [show_table(table)]


def section(title: str, body: Iterable[RenderableType]) -> Iterator[RenderableType]:
    """A heading and what stands below it; nothing where that is nothing."""
    parts = list(body)
    if parts:
        yield from heading(title)
        yield from parts


def heading(title: str) -> Iterator[RenderableType]:
    """A title in bold, with a line before it."""
    yield Text()
    yield Text(title, style="bold")


def sentence_blocks(sentences: Iterable[str], mark: str = "-") -> Iterator[RenderableType]:
    """Each sentence behind its mark, or as a paragraph without one; names in it are cleaned."""
    for sentence in filter(None, sentences):
        yield hanging(mark, Text(clean(sentence))) if mark else Text(clean(sentence))


def hanging(mark: str, text: Text) -> RenderableType:
    """Text whose lines all begin to the right of its mark."""
    grid = RichTable.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text(mark), text)
    return grid
