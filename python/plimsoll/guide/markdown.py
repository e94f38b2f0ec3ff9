"""The guide as Markdown (GitHub's dialect), without charts.

Deliberately not here: what is said (`content`, `tables`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from plimsoll.analyse.model import Analysis, MethodNote
from plimsoll.guide.content import NO_ENVIRONMENTS, Content, WarningPart, describe
from plimsoll.guide.facts import EnvironmentPart
from plimsoll.guide.tables import Entry, Table

_SPECIAL = re.compile(r"([\\`*\[\]|~]|(?<!\w)_|_(?!\w)|^[#+=-]+(?=\s|$)|^\d+(?=[.)](?:\s|$)))")


def render_markdown(analysis: Analysis) -> str:
    """The whole guide as text."""
    content = describe(analysis)
    sections = (
        _answer(content),
        _limits(content),
        *_workloads(content),
        _systems(content),
        _differences(content),
        _configuration(content),
        _environments(content),
        [
            "## Warnings in full",
            *_or_none(_warning(one) for one in content.warnings),
            *(_table(content.outages) if content.outages else []),
        ],
        ["## Missing trials", *(_table(content.missing) if content.missing else ["None."])],
        ["## How the figures were found", *(_method(note) for note in content.analysis.methods), _rebuild(content)],
    )
    return "\n\n".join(block for section in sections for block in section if block) + "\n"


def escape_markdown(text: str) -> str:
    r"""Text that Markdown shows as it is, in one line.

    >>> escape_markdown("a|b <c> innodb_flush *d*")
    'a\\|b &lt;c&gt; innodb_flush \\*d\\*'
    """
    text = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(r"\\\1", text)


def _answer(content: Content) -> list[str]:
    return [
        f"# {escape_markdown(content.title)}",
        *(escape_markdown(sentence) for sentence in content.answer),
        *_table(content.glance),
        *(escape_markdown(sentence) for sentence in (content.bounds, *content.unknown)),
    ]


def _limits(content: Content) -> list[str]:
    codes = ", ".join(f"{_code(code)}{f' × {count}' if count > 1 else ''}" for code, count in content.warning_codes)
    return ["## What these trials cannot decide", _list(content.limits), f"Warnings: {codes or 'none'}."]


def _workloads(content: Content) -> Iterator[list[str]]:
    for part in content.workloads:
        name = escape_markdown(part.workload.name)
        yield [
            f"## Workload {name}",
            escape_markdown(part.description) or "What clients did is not described.",
            _list(part.pools) if part.pools else "",
            *(_table(part.deviations) if part.deviations else []),
        ]


def _systems(content: Content) -> list[str]:
    tables = (block for part in content.systems for table in part.tables for block in _table(table))
    return ["## Every system in figures", *tables, content.rates_note, content.figures_note]


def _differences(content: Content) -> list[str]:
    tables = [table for table in (content.peak_differences, content.level_differences) if table is not None]
    blocks = [block for table in tables for block in _table(table)]
    return ["## Differences between systems", *(blocks or [content.no_differences])]


def _configuration(content: Content) -> list[str]:
    tables = (content.factors, content.unexpected_variables, content.expected_variables)
    blocks = [block for table in tables if table is not None for block in _table(table)]
    return ["## What differs between the systems", *(blocks or ["Nothing is known to differ."])]


def _environments(content: Content) -> list[str]:
    parts = [block for part in content.environments for block in _environment(part)]
    return ["## Machines and servers", *(parts or [NO_ENVIRONMENTS])]


def _environment(part: EnvironmentPart) -> list[str]:
    facts = [f"- {escape_markdown(name)}: {escape_markdown(value)}" for name, value in part.facts]
    return [
        f"### {escape_markdown(', '.join(part.systems))}",
        "\n".join(facts) or "Nothing is known about the machines.",
    ]


def _warning(one: WarningPart) -> str:
    places = "; ".join(escape_markdown(place) for place in one.places)
    return f"- {_code(one.code)} ({places}): {escape_markdown(one.evidence)} {escape_markdown(one.advice)}"


def _method(note: MethodNote) -> str:
    source = f" Source: {escape_markdown(note.source)}." if note.source else ""
    return f"**{escape_markdown(note.name)}.** {escape_markdown(note.text)}{source}"


def _rebuild(content: Content) -> str:
    return f"This guide was made from recordings and never edited. To make it again: `{content.rebuild}`"


def _table(table: Table) -> list[str]:
    headings = [escape_markdown(column.label) for column in table.columns]
    rules = ["---:" if column.numeric else "---" for column in table.columns]
    rows = [[_entry(entry) for entry in row] for row in table.rows]
    lines = [f"| {' | '.join(line)} |" for line in (headings, rules, *rows)]
    notes = [escape_markdown(note) for note in table.notes]
    return [f"### {escape_markdown(table.caption)}", "\n".join(lines), *notes]


def _entry(entry: Entry) -> str:
    text = escape_markdown(entry.text)
    detail = f" ({escape_markdown(entry.detail)})" if entry.detail else ""
    return f"**{text}**{detail} {entry.mark}" if entry.mark else f"{text}{detail}"


def _code(code: str) -> str:
    return f"`{' '.join(code.replace('`', '').split())}`"


def _list(sentences: Iterable[str]) -> str:
    return "\n".join(f"- {escape_markdown(sentence)}" for sentence in sentences) or "None."


def _or_none(blocks: Iterable[str]) -> list[str]:
    return ["\n".join(blocks) or "None."]
