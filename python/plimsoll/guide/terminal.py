"""The guide and the sizing answer for a terminal: readable without colour and in 80 columns.

Everything returned can be printed by Rich. Nothing is parsed as Rich's mark-up, since names come from files of others.
Deliberately not here: what is said (`content`, `tables`), and printing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table as RichTable
from rich.text import Text

from plimsoll.analyse.missing import group_words, missing_groups
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.size_model import Fit, SizeAnswer, SystemFit
from plimsoll.guide.content import Content, WarningPart, describe
from plimsoll.guide.glance import many_tables
from plimsoll.guide.instances import instance_table
from plimsoll.guide.rates import rate_table
from plimsoll.guide.tables import Column, Entry, Table, size_table, workload_table
from plimsoll.guide.tpcc import notpm_table
from plimsoll.guide.types import type_tables_of
from plimsoll.guide.words import clean

LONG_WORD, SHORT_WORD = 24, 10
"""Words up to this length are broken only where there is no room for them; shorter ones never."""

GAP = 2
"""Between columns: the padding and the separator of the box."""


def render_terminal(analysis: Analysis) -> Group:
    """Tables for each system, then the advice, what is not decided, and the warnings without their advice.

    The advice stands late because the end of a long output is what a person sees first. Comparisons level by level and
    what to do about each warning are in the guide's files.
    """
    content = describe(analysis)
    return Group(
        Text(content.title, style="bold"),
        *_figures(content),
        *_deviations(content),
        *_section("Not meant to differ", _tables(content.unexpected_variables)),
        *_section("The answer", [*_sentences(content.answer), *_many(content)]),
        *_section("What these trials cannot decide", _sentences(content.limits)),
        *_section("Warnings", [_warning(one) for one in content.warnings]),
        *_section("Outages", _tables(content.outages)),
        *_missing(content),
    )


def size_terminal(answer: SizeAnswer) -> Group:
    """Which systems carry a load, with what to spare and why."""
    reasons = (f"{one.system}: {one.reason}" for one in answer.systems if not _speaks_for_itself(one))
    return Group(
        *_sentences(answer.text, mark=""),
        Text(),
        show_table(size_table(answer)),
        *_section("Why", _sentences(reasons)),
        *_section("This rests on", _sentences(answer.assumptions)),
    )


def show_table(table: Table) -> RenderableType:
    """A table as wide as the terminal allows; where its figures do not fit side by side, one line for each."""
    return _Shown(table)


def _speaks_for_itself(one: SystemFit) -> bool:
    return one.verdict is Fit.FITS and one.interpolated_between is None


def _figures(content: Content) -> Iterator[RenderableType]:
    analysis = content.analysis
    for system, own in zip(analysis.systems, content.systems, strict=True):
        yield from _heading(f"{system.name}, {system.instances} instances" if system.instances > 1 else system.name)
        for part in content.workloads:
            figures = workload_table(analysis, system, part.workload)
            if figures.rows:
                yield Text(part.workload.name, style="italic")
                yield show_table(figures)
            if (rates := rate_table(analysis, system, part.workload, is_narrow=True)) is not None:
                yield Text(rates.caption.removeprefix(f"{system.name}, "), style="italic")
                yield show_table(rates)
            notpm = notpm_table(analysis, system, part.workload)
            instances = instance_table(analysis, system, part.workload)
            types = type_tables_of(analysis, system, part.workload)
            for table in filter(None, (notpm, *types, instances)):
                yield Text(table.caption.removeprefix(f"{system.name}, "), style="italic")
                yield show_table(table)
                yield from _sentences(table.notes)
        yield from _sentences(own.levels.notes if own.levels is not None else ())
    yield Text()
    yield from _sentences((content.rates_note, content.figures_note, content.bounds, *content.unknown), mark="")


def _many(content: Content) -> Iterator[RenderableType]:
    """All systems in a table for each workload of which the answer does not tell of each."""
    for table in many_tables(content.analysis):
        yield Text()
        yield Text(table.caption, style="italic")
        yield show_table(table)


def _deviations(content: Content) -> Iterator[RenderableType]:
    for table in (part.deviations for part in content.workloads if part.deviations is not None):
        yield from _section(table.caption, [show_table(table), *_sentences(table.notes, mark="")])


def _missing(content: Content) -> Iterator[RenderableType]:
    """A line for each, with its reason: there is no room for columns."""
    if groups := missing_groups(content.analysis.missing):
        told = (f"{group_words(one)}: {one.reason}" for one in groups)
        yield from _section("Missing trials", _sentences(tuple(told)))


def _tables(table: Table | None) -> list[RenderableType]:
    return [] if table is None else [show_table(table)]


def _section(title: str, body: Iterable[RenderableType]) -> Iterator[RenderableType]:
    parts = list(body)
    if parts:
        yield from _heading(title)
        yield from parts


def _heading(title: str) -> Iterator[RenderableType]:
    yield Text()
    yield Text(title, style="bold")


def _sentences(sentences: Iterable[str], mark: str = "-") -> Iterator[RenderableType]:
    for sentence in filter(None, sentences):
        yield _hanging(mark, Text(clean(sentence))) if mark else Text(clean(sentence))


def _warning(one: WarningPart) -> RenderableType:
    text = Text.assemble((one.code, "bold"), f" ({'; '.join(one.places)}): {one.evidence}")
    return _hanging("-", text)


def _hanging(mark: str, text: Text) -> RenderableType:
    grid = RichTable.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text(mark), text)
    return grid


@dataclass(frozen=True, slots=True)
class _Shown:
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
            shown.add_row(*map(Text, row))
        yield shown


def _with_bounds(table: Table) -> list[Column]:
    columns = list(table.columns)
    detailed = _detailed(table)
    if detailed is not None:
        columns.insert(detailed + 1, Column(heading="bounds" if columns[detailed].numeric else ""))
    if _is_marked(table):
        columns.append(Column(heading="", numeric=False))
    return columns


def _row(row: tuple[Entry, ...], table: Table) -> list[str]:
    texts = [clean(entry.text) for entry in row]
    detailed = _detailed(table)
    if detailed is not None:
        texts.insert(detailed + 1, clean(row[detailed].detail or ""))
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
    _share(spare, widths, [max(map(cell_len, own), default=0) for own in texts])
    spare = room - sum(widths) - GAP * (len(widths) - 1)
    _share(spare, widths, [cell_len(column.heading) for column in columns])
    return widths


def _share(spare: int, widths: list[int], whole: Sequence[int]) -> None:
    """Widens columns towards their whole texts: short ones first, then the one that is broken into most lines."""
    for index in (index for index, width in enumerate(whole) if width <= LONG_WORD):
        grown = max(min(whole[index] - widths[index], spare), 0)
        widths[index] += grown
        spare -= grown
    for _ in range(spare):
        index = max(range(len(whole)), key=lambda one: whole[one] / widths[one])
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


def _detailed(table: Table) -> int | None:
    """The first column whose entries have bounds: only these get room of their own."""
    found = (index for index in range(len(table.columns)) if any(row[index].detail for row in table.rows))
    return next(found, None)


def _is_marked(table: Table) -> bool:
    return any(entry.mark for row in table.rows for entry in row)
