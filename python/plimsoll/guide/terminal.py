"""The guide for a terminal: readable without colour and in 80 columns.

Everything returned can be printed by Rich. Nothing is parsed as Rich's mark-up, since names come from files of others.
Deliberately not here: what is said (`content`, `tables`), how it stands there (`terminal_blocks`), and printing.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from plimsoll.analyse.findings.missing import missing_groups
from plimsoll.analyse.model import Analysis
from plimsoll.guide.content import Content, describe
from plimsoll.guide.headline import many_tables
from plimsoll.guide.level_tables import (
    curves_of,
    instance_table,
    level_notes,
    notpm_table,
    type_tables_of,
    workload_tables,
)
from plimsoll.guide.sections import Section
from plimsoll.guide.terminal_blocks import hanging, heading, section, sentence_blocks, show_table, table_blocks
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
        *sentence_blocks((content.analysis.document.confidential, content.analysis.document.summary), mark=""),
        *section("The answer", [*sentence_blocks(content.answer), *_many(content)]),
        *section("Before you rely on a figure", [_warning(warning) for warning in first.warnings]),
        *_figures(content),
        *section("Capacity", _capacity(content)),
        *section("Unexpected differences", table_blocks(content.unexpected_variables)),
        *section("Systems that took turns", table_blocks(content.duets)),
        *(block for guide_section in content.sections for block in section(guide_section.title, _part(guide_section))),
        *section("Limitations", sentence_blocks(content.limits)),
        *section("More warnings", [_warning(warning) for warning in content.warnings[len(first.warnings) :]]),
        *section("State of trials", table_blocks(content.conditions)),
        *section("Outages", table_blocks(content.outages)),
        *_missing(content),
        *section("In short", sentence_blocks((*first.notices, *(headline.text for headline in first.headlines)))),
    )


def render_answer(analysis: Analysis) -> Group:
    """The answer alone, with the gravest warnings: the guide's files have everything else."""
    content = describe(analysis)
    warnings = [_warning(warning) for warning in content.first.warnings]
    return Group(
        Text(content.title, style="bold"),
        *(Text(f"{name}: {clean(value)}") for name, value in content.first.facts),
        *section("The answer", [*sentence_blocks(content.answer), *_many(content)]),
        *section("Before you rely on a figure", warnings),
    )


def _figures(content: Content) -> Iterator[RenderableType]:
    analysis = content.analysis
    for system in analysis.systems:
        if curves_of(analysis, system.name):  # of a system that was only searched there are none
            yield from heading(f"{system.name}, {system.instances} instances" if system.instances > 1 else system.name)
        shown_notes: set[str] = set()
        for part in content.workloads:
            tables = workload_tables(analysis, system, part.workload)
            notpm = notpm_table(analysis, system, part.workload)
            instances = instance_table(analysis, system, part.workload)
            types = type_tables_of(analysis, system, part.workload)
            for table in filter(None, (*tables, notpm, *types, instances)):
                yield Text(table.caption, style="italic")
                yield show_table(table)
                yield from sentence_blocks(note for note in table.notes if note not in shown_notes)
                shown_notes |= set(table.notes)
        yield from sentence_blocks(note for note in level_notes(analysis, system) if note not in shown_notes)
    yield Text()
    yield from sentence_blocks((content.rates_note, content.figures_note, content.bounds, *content.unknown), mark="")


def _many(content: Content) -> Iterator[RenderableType]:
    """All systems in a table for each workload of which the answer does not tell of each."""
    for table in many_tables(content.analysis):
        yield Text()
        yield Text(table.caption, style="italic")
        yield show_table(table)


def _capacity(content: Content) -> Iterator[RenderableType]:
    for table in content.capacity.tables if content.capacity is not None else ():
        yield show_table(table)
        yield from sentence_blocks(table.notes, mark="")


def _part(guide_section: Section) -> Iterator[RenderableType]:
    """A section's brief tables, else its sentences."""
    if not guide_section.brief:
        yield from sentence_blocks(guide_section.sentences)
    for index, table in enumerate(guide_section.brief):
        if index:
            yield Text()
        yield Text(clean(table.caption), style="italic")
        yield show_table(table)
        yield from sentence_blocks(table.notes, mark="")


def _missing(content: Content) -> Iterator[RenderableType]:
    """A line for each, with its reason: there is no room for columns."""
    if groups := missing_groups(content.analysis.missing):
        lines = (f"{group_words(group)}: {group.reason}" for group in groups)
        yield from section("Missing trials", sentence_blocks(tuple(lines)))


def _warning(warning_part: WarningPart) -> RenderableType:
    text = Text.assemble((warning_part.code, "bold"), f" ({warning_part.place}): {warning_part.evidence}")
    return hanging("-", text)
