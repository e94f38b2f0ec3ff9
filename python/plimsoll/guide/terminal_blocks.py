"""Headings, sentences and tables on a terminal, as Rich prints them. Nothing is parsed as Rich's mark-up.

A table is as wide as the terminal allows, readable without colour, and nothing of it is cut off. No chart is imported
here: that takes long. Deliberately not here: what stands in tables (`tables`), and printing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table as RichTable
from rich.text import Text

from plimsoll.guide.tables import Column, Entry, Table, text_column
from plimsoll.guide.words import clean

LONG_WORD, SHORT_WORD = 24, 10
"""Words up to this length are broken only where there is no room for them; shorter ones never."""

_WORDS, _PARTS = re.compile(r"\S+\s*"), re.compile(r"[^_/.,:-]*[_/.,:-]+|[^_/.,:-]+")
"""What may stand on a line of its own, of a text that is too long for its column, and of a word that is."""

_INDENT, _INDENT_OF = 2, 8
"""Blanks before what continues a text, so that it is no row of its own; at most an eighth of the column."""

GAP = 2
"""Between columns: the padding and the separator of the box."""


def answer_blocks(sentences: Sequence[str], table: Table) -> Group:
    """An answer whose first sentence says all, the table that it rests on, and what to know."""
    first, *others = sentences
    return Group(
        Text(clean(first), style="bold"),
        Text(),
        show_table(table),
        *(Text(clean(note)) for note in table.notes),
        Text(),
        *(Text(clean(line)) for line in others),
    )


def show_table(table: Table) -> RenderableType:
    """A table as wide as the terminal allows; where its figures do not fit side by side, one line for each."""
    return _RichTable(table)


@dataclass(frozen=True, slots=True)
class _RichTable:
    """A table that finds its shape when the terminal's width is known. Nothing is ever cut off."""

    table: Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns = _with_bounds(self.table)
        rows = [_row(row, self.table) for row in self.table.rows]
        widths = _widths(columns, rows, options.max_width)
        if widths is None:
            yield from _as_lines(columns, rows)
            return
        shown = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="")
        for column, width in zip(columns, widths, strict=True):
            justify: Literal["right", "left"] = "right" if column.numeric else "left"
            shown.add_column(Text(column.heading), justify=justify, width=width, overflow="fold")
        for row in rows:
            shown.add_row(*(Text(_wrapped(text, width)) for text, width in zip(row, widths, strict=True)))
        yield shown


def _with_bounds(table: Table) -> list[Column]:
    columns = list(table.columns)
    for index in reversed(_detailed(table)):
        columns.insert(index + 1, Column(heading=columns[index].detail if columns[index].numeric else ""))
    if _is_marked(table):
        columns.append(text_column(""))
    return columns


def _row(row: tuple[Entry, ...], table: Table) -> list[str]:
    texts = [clean(entry.text) for entry in row]
    for index in reversed(_detailed(table)):
        texts.insert(index + 1, clean(row[index].detail or ""))
    if _is_marked(table):
        texts.append(next((entry.mark for entry in row if entry.mark), ""))
    return texts


def _widths(columns: list[Column], rows: list[list[str]], room: int) -> list[int] | None:
    """How wide each column is, so that headings and words share what figures leave; None when figures need more."""
    texts = [[row[index] for row in rows] for index in range(len(columns))]
    for word_max in (LONG_WORD, SHORT_WORD):
        widths = [_needed(column, texts[index], word_max) for index, column in enumerate(columns)]
        spare = room - sum(widths) - GAP * (len(widths) - 1)
        if spare >= 0:
            break
    else:
        return None
    _share(spare, widths, [max(map(cell_len, text), default=0) for text in texts])
    spare = room - sum(widths) - GAP * (len(widths) - 1)
    _share(spare, widths, [cell_len(column.heading) for column in columns])
    return widths


def _wrapped(text: str, width: int) -> str:
    """A text in lines of a column: broken between words, else behind a sign within one; later lines are indented."""
    if cell_len(text) <= width:
        return text
    lines, indent = [""], " " * min(_INDENT, width // _INDENT_OF)
    for word in _WORDS.findall(text):
        is_short = cell_len(word.rstrip()) + len(indent) <= width
        for part in [word] if is_short else _PARTS.findall(word):
            if lines[-1].strip() and cell_len(lines[-1]) + cell_len(part.rstrip()) > width:
                lines.append(indent)
            lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def _share(spare: int, widths: list[int], whole: Sequence[int]) -> None:
    """Widens columns towards their whole texts: short ones first, then the one that is broken into most lines."""
    for index in (index for index, width in enumerate(whole) if width <= LONG_WORD):
        grown = max(min(whole[index] - widths[index], spare), 0)
        widths[index] += grown
        spare -= grown
    for _ in range(spare):
        index = max(range(len(whole)), key=lambda column: whole[column] / widths[column])
        widths[index] += whole[index] > widths[index]


def _needed(column: Column, texts: list[str], word_max: int) -> int:
    """Figures and marks need all their room, texts that of their longest word; headings break between words.

    Args:
        column: Which.
        texts: What stands in it.
        word_max: Of texts, words that are longer may be broken.
    """
    room = max(map(cell_len, texts), default=1)
    if not column.numeric and column.heading:
        room = min(max((cell_len(word) for text in texts for word in text.split()), default=1), word_max)
    return max(room, *(cell_len(word) for word in column.heading.split()), 1)


def _as_lines(columns: list[Column], rows: list[list[str]]) -> Iterator[RenderableType]:
    for first, *others in rows:
        yield Text(f"{columns[0].heading} {first}")
        for column, text in zip(columns[1:], others, strict=True):
            if text:
                yield Text(f"  {column.heading} {text}")


def _detailed(table: Table) -> list[int]:
    """The first column of each kind of detail: only these get room of their own."""
    index_by_detail = {
        column.detail: index
        for index, column in reversed(list(enumerate(table.columns)))
        if any(row[index].detail for row in table.rows)
    }
    return sorted(index_by_detail.values())


def _is_marked(table: Table) -> bool:
    return any(entry.mark for row in table.rows for entry in row)


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
