"""The guide and the sizing answer for a terminal: readable without colour and in 80 columns.

Everything returned can be printed by Rich. Nothing is parsed as Rich's mark-up, since names come from files of others.
Deliberately not here: what is said (`content`, `tables`), how a table finds room (`terminal_table`), and printing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from plimsoll.analyse.answers.size_model import Fit, SizeAnswer, SystemFit
from plimsoll.analyse.findings.finding_model import Grade
from plimsoll.analyse.findings.missing import missing_groups
from plimsoll.analyse.model import Analysis
from plimsoll.guide.content import Content, describe
from plimsoll.guide.headline import many_tables
from plimsoll.guide.level_tables import instance_table, notpm_table, type_tables_of, workload_tables
from plimsoll.guide.sections import Section
from plimsoll.guide.size import answer_sentences, assumption_sentence, doubt_sentence, horizon_table, size_table
from plimsoll.guide.size_reasons import reason_sentence
from plimsoll.guide.tables import Table
from plimsoll.guide.terminal_table import show_table
from plimsoll.guide.warnings import WarningPart
from plimsoll.guide.words import clean
from plimsoll.prose.phrases import group_words


def render_terminal(analysis: Analysis) -> Group:
    """The answer, what casts doubt on it, and tables for each system; then limitations and the other warnings.

    The end of a long output is what a person sees first: there the sentence for each workload stands again. Comparisons
    level by level and what to do about each warning are in the guide's files.
    """
    content = describe(analysis)
    first = content.first
    return Group(
        Text(content.title, style="bold"),
        *(Text(f"{name}: {clean(value)}") for name, value in first.facts),
        *_section("The answer", [*_sentences(content.answer), *_many(content)]),
        *_section("Before you rely on a figure", [_warning(one) for one in first.warnings]),
        *_figures(content),
        *_deviations(content),
        *_section("Capacity", _capacity(content)),
        *_section("Unexpected differences", _tables(content.unexpected_variables)),
        *_section("Systems that took turns", _tables(content.duets)),
        *(block for one in content.sections for block in _section(one.title, _part(one))),
        *_section("Limitations", _sentences(content.limits)),
        *_section("More warnings", [_warning(one) for one in content.warnings[len(first.warnings) :]]),
        *_section("State of trials", _tables(content.conditions)),
        *_section("Outages", _tables(content.outages)),
        *_missing(content),
        *_section("In short", _sentences((*first.notices, *(one.text for one in first.headlines)))),
    )


def render_answer(analysis: Analysis) -> Group:
    """The answer alone, with the gravest warnings: the guide's files have everything else."""
    content = describe(analysis)
    warnings = [_warning(one) for one in content.first.warnings]
    return Group(
        Text(content.title, style="bold"),
        *(Text(f"{name}: {clean(value)}") for name, value in content.first.facts),
        *_section("The answer", [*_sentences(content.answer), *_many(content)]),
        *_section("Before you rely on a figure", warnings),
    )


def size_terminal(answer: SizeAnswer) -> Group:
    """Which systems sustain a load, with what to spare and why."""
    asked = answer.asked
    reasons = (f"{one.system}: {reason_sentence(one, asked)}" for one in answer.systems if not _speaks_for_itself(one))
    return Group(
        *_sentences(answer_sentences(answer), mark=""),
        Text(),
        show_table(size_table(answer)),
        *_section("Until when", _tables(horizon_table(answer))),
        *_section("Before you rely on it", _sentences(doubt_sentence(one) for one in answer.doubts)),
        *_section("Why", _sentences(reasons)),
        *_section("Assumptions", _sentences(assumption_sentence(one) for one in answer.assumptions)),
    )


def _speaks_for_itself(one: SystemFit) -> bool:
    return one.verdict is Fit.FITS and one.grade is Grade.MEASURED and one.interpolated_between is None


def _figures(content: Content) -> Iterator[RenderableType]:
    analysis = content.analysis
    for system, own in zip(analysis.systems, content.systems, strict=True):
        if own.tables:  # of a system that was only searched there are none
            yield from _heading(f"{system.name}, {system.instances} instances" if system.instances > 1 else system.name)
        told: set[str] = set()
        for part in content.workloads:
            tables = workload_tables(analysis, system, part.workload)
            notpm = notpm_table(analysis, system, part.workload)
            instances = instance_table(analysis, system, part.workload)
            types = type_tables_of(analysis, system, part.workload)
            for table in filter(None, (*tables, notpm, *types, instances)):
                yield Text(table.caption, style="italic")
                yield show_table(table)
                yield from _sentences(note for note in table.notes if note not in told)
                told |= set(table.notes)
        yield from _sentences(note for note in (own.levels.notes if own.levels is not None else ()) if note not in told)
    yield Text()
    yield from _sentences((content.rates_note, content.figures_note, content.bounds, *content.unknown), mark="")


def _many(content: Content) -> Iterator[RenderableType]:
    """All systems in a table for each workload of which the answer does not tell of each."""
    for table in many_tables(content.analysis):
        yield Text()
        yield Text(table.caption, style="italic")
        yield show_table(table)


def _capacity(content: Content) -> Iterator[RenderableType]:
    for table in content.capacity.tables if content.capacity is not None else ():
        yield show_table(table)
        yield from _sentences(table.notes, mark="")


def _deviations(content: Content) -> Iterator[RenderableType]:
    for table in (part.deviations for part in content.workloads if part.deviations is not None):
        yield from _section(table.caption, [show_table(table), *_sentences(table.notes, mark="")])


def _part(section: Section) -> Iterator[RenderableType]:
    """A section's brief tables, else its sentences."""
    if not section.brief:
        yield from _sentences(section.sentences)
    for index, table in enumerate(section.brief):
        if index:
            yield Text()
        yield Text(clean(table.caption), style="italic")
        yield show_table(table)
        yield from _sentences(table.notes, mark="")


def section_blocks(
    title: str, sentences: Iterable[str], tables: Iterable[Table] = (), notes: Iterable[str] = ()
) -> Iterator[RenderableType]:
    """A section with its sentences, tables and notes; nothing where it has none."""
    shown = [show_table(table) for table in tables]
    yield from _section(title, [*_sentences(sentences), *shown, *_sentences(notes, mark="")])


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
    text = Text.assemble((one.code, "bold"), f" ({one.place}): {one.evidence}")
    return _hanging("-", text)


def _hanging(mark: str, text: Text) -> RenderableType:
    grid = RichTable.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text(mark), text)
    return grid
