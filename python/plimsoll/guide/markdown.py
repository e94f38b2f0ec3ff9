"""The guide as Markdown (GitHub's dialect), without charts.

Figures are links by reference: `[1,245][r7] [r8] [r9]`, one for each repetition, and at the end `[r7]: recordings/…/`.
So tables can be read as text too. In a row only the first figure of the same recordings names them all.

Deliberately not here: what is said (`content`, `tables`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from plimsoll.analyse.model import Analysis
from plimsoll.guide.content import RECORDINGS, Content, describe
from plimsoll.guide.facts import Fact
from plimsoll.guide.methods import MethodNote, methods_of
from plimsoll.guide.sections import Listing, Section
from plimsoll.guide.sources import RecordingPart, Source
from plimsoll.guide.system_pages import PAGES_TITLE, SystemPage
from plimsoll.guide.tables import NOT_KNOWN, Entry, Table
from plimsoll.guide.warnings import WarningGroup, WarningPart
from plimsoll.guide.words import escape_markdown


def render_markdown(analysis: Analysis, recordings: str = RECORDINGS) -> str:
    """The whole guide as text; `recordings` is the folder that holds them, relative to it."""
    content = describe(analysis, recordings)
    sections = (
        _answer(content),
        *_workloads(content),
        _capacity(content),
        *(_section(result_section, content.recorded) for result_section in content.result_sections),
        _differences(content),
        [
            "## Warnings in full",
            *(_warnings(content.warning_groups, content.recorded) or ["None."]),
            *(_table(content.conditions, content.recorded) if content.conditions else []),
            *(_table(content.outages, content.recorded) if content.outages else []),
        ],
        _pages(content),
        _configuration(content),
        *(_section(background_section, content.recorded) for background_section in content.background_sections),
        ["## How the figures were found", *(_method(note) for note in methods_of(content.analysis)), _rebuild(content)],
        ["## Limitations", _list(content.limits)],
        ["## Missing trials", *(_table(content.missing, content.recorded) if content.missing else ["None."])],
        ["## Recordings", _recordings(content.recordings)],
    )
    text = "\n\n".join(block for section in sections for block in section if block) + "\n"
    return text + _references(text, content)


def _answer(content: Content) -> list[str]:
    first = content.first
    facts = " · ".join(f"{name}: {value}" for name, value in first.facts)
    return [
        f"# {escape_markdown(content.title)}",
        escape_markdown(facts),
        *(f"*{escape_markdown(text)}*" for text in (content.analysis.document.confidential,) if text),
        *(escape_markdown(text) for text in (content.analysis.document.summary,) if text),
        *(f"**{escape_markdown(sentence)}**" for sentence in first.notices),
        *(
            f"**{escape_markdown(headline.text)}**{_sources(headline.sources, content.recorded)}"
            for headline in first.headlines
        ),
        *_doubts(content),
        *(_table(content.choices, content.recorded) if content.choices else ()),
        *_table(content.glance, content.recorded),
        *(
            f"{escape_markdown(sentence.text)}{_sources(sentence.sources, content.recorded)}"
            for sentence in content.rest
        ),
        *(escape_markdown(sentence) for sentence in (content.bounds, *content.unknown)),
    ]


def _doubts(content: Content) -> list[str]:
    """The gravest warnings, and how many others there are."""
    first = content.first
    if not first.warnings:
        return ["No warnings were raised."]
    shown = [
        f"- {escape_markdown(warning.subject + warning.evidence)} {_code(warning.code)}" for warning in first.warnings
    ]
    more = first.more_warnings_count
    shown += [f"- {more} more {'warning' if more == 1 else 'warnings'}: see below."] if more else []
    return ["Before you rely on a figure:", "\n".join(shown)]


def _warnings(groups: Iterable[WarningGroup], recorded: Mapping[str, str]) -> list[str]:
    blocks = []
    for group in groups:
        blocks += [f"### {group.severity.value}", "\n".join(_warning(warning, recorded) for warning in group.warnings)]
    return blocks


def _recordings(recordings: Sequence[RecordingPart]) -> str:
    """A line for each, with a link to its folder."""
    if not recordings:
        return "None."
    headings = ("recording", "system", "workload", "level", "repetition", "throughput", "p99 ms", "load began (UTC)")
    rules = ("---", "---", "---", "---", "---:", "---:", "---:", "---")
    rows = [
        (
            f"[{escape_markdown(recording.trial_id)}]({recording.href})",
            *map(escape_markdown, (recording.system, recording.workload, recording.level, recording.repetition)),
            *map(
                escape_markdown,
                (f"{recording.throughput} {recording.unit}", recording.response_ms_p99, recording.began),
            ),
        )
        for recording in recordings
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in (headings, rules, *rows))


def _workloads(content: Content) -> Iterator[list[str]]:
    for part in content.workloads:
        name = escape_markdown(part.workload.name)
        yield [
            f"## Workload {name}",
            escape_markdown(part.description) or "What clients did is not described.",
            escape_markdown(part.caveat),
            _list(part.pools) if part.pools else "",
        ]


def _capacity(content: Content) -> list[str]:
    if content.capacity is None:
        return []
    tables = (*content.capacity.tables, *content.capacity.runs)
    return ["## Capacity", *(block for table in tables for block in _table(table, content.recorded))]


def _pages(content: Content) -> list[str]:
    """Every system: what it is, its levels, its options."""
    blocks = [block for page in content.pages for block in _page(page, content.recorded)]
    return [f"## {PAGES_TITLE}", *blocks, content.rates_note, content.figures_note]


def _page(page: SystemPage, recorded: Mapping[str, str]) -> list[str]:
    blocks = [f"### {escape_markdown(page.name)}", _facts(page.facts)]
    for table in (page.differences, *page.levels, *page.more, page.options):
        if table is not None:
            is_named = table.title == page.name
            blocks += _table(table, recorded)[1 if is_named else 0 :]
    return blocks


def _facts(facts: Iterable[Fact]) -> str:
    return "\n".join(f"- {escape_markdown(name)}: {escape_markdown(value)}" for name, value in facts)


def _section(section: Section, recorded: Mapping[str, str]) -> list[str]:
    return [f"## {section.title}", *section_lines(section, recorded)]


def section_lines(section: Section, recorded: Mapping[str, str]) -> list[str]:
    """Blocks of Markdown for a section, without its title."""
    tables = (block for table in section.tables for block in _table(table, recorded))
    has_others = section.tables or section.notes or section.listings
    sentences = _list(section.sentences) if section.sentences or not has_others else ""
    listings = (block for listing in section.listings for block in _listing(listing))
    return [sentences, *tables, *map(escape_markdown, section.notes), *listings]


def _listing(listing: Listing) -> list[str]:
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", listing.text) or [""]))
    return [f"### {escape_markdown(listing.title)}", f"{fence}\n{listing.text.rstrip()}\n{fence}"]


def _differences(content: Content) -> list[str]:
    differences = (content.peak_differences, content.level_differences, content.duets)
    tables = [table for table in differences if table is not None]
    blocks = [block for table in tables for block in _table(table, content.recorded)]
    return ["## Differences between systems", *(blocks or [content.no_differences])]


def _configuration(content: Content) -> list[str]:
    tables = (content.factors, content.unexpected_variables, content.expected_variables)
    blocks = [block for table in tables if table is not None for block in _table(table, content.recorded)]
    return ["## What differs between the systems", *(blocks or ["Nothing is known to differ."])]


def _warning(warning_part: WarningPart, recorded: Mapping[str, str]) -> str:
    place = escape_markdown(warning_part.place)
    text = (
        f"- {_code(warning_part.code)} ({place}): {escape_markdown(warning_part.evidence)}"
        f" {escape_markdown(warning_part.advice)}"
    )
    return f"{text}{_sources(warning_part.sources, recorded, more_count=warning_part.more_sources_count)}"


def _sources(sources: Iterable[Source], recorded: Mapping[str, str], *, more_count: int = 0) -> str:
    """Links to the recordings that a sentence rests on."""
    links = [
        f"{_link(escape_markdown(source.label), recorded[source.trial_id])}{_short_links(source.others, recorded)}"
        for source in sources
        if source.trial_id in recorded
    ]
    more = f" and {more_count} more" if more_count else ""
    return f" (recordings: {'; '.join(links)}{more})" if links else ""


def _link(text: str, name: str) -> str:
    return f"[{text}][{name}]"


def _short_links(trials: Iterable[str], recorded: Mapping[str, str]) -> str:
    """The other recordings of a figure behind it: ` [r8] [r9]`."""
    return "".join(f" [{recorded[trial]}]" for trial in trials if trial in recorded)


def _references(text: str, content: Content) -> str:
    """Where the links lead."""
    names = content.recorded
    lines = [
        f"[{name}]: {recording.href}\n"
        for recording in content.recordings
        if f"[{(name := names[recording.trial_id])}]" in text
    ]
    return "".join(("\n", *lines)) if lines else ""


def _method(note: MethodNote) -> str:
    source = f" Source: {escape_markdown(note.source)}." if note.source else ""
    return f"**{escape_markdown(note.name)}.** {escape_markdown(note.text)}{source}"


def _rebuild(content: Content) -> str:
    return f"This guide was made from recordings and never edited. To rebuild it: `{content.rebuild}`"


def _table(table: Table, recorded: Mapping[str, str]) -> list[str]:
    headings = [escape_markdown(column.label) for column in table.columns]
    rules = ["---:" if column.numeric else "---" for column in table.columns]
    rows = [_row(row, recorded) for row in table.rows]
    lines = [f"| {' | '.join(line)} |" for line in (headings, rules, *rows)]
    notes = [escape_markdown(note) for note in table.notes]
    return [f"### {escape_markdown(table.title)}", "\n".join(lines), *notes]


def _row(row: Sequence[Entry], recorded: Mapping[str, str]) -> list[str]:
    """The entries of a row; only the first of those that rest on the same recordings names them all."""
    named: set[tuple[str, ...]] = set()
    shown = []
    for entry in row:
        is_first = entry.sources not in named and entry.text != NOT_KNOWN
        shown.append(f"{_entry(entry, recorded)}{_short_links(entry.sources[1:], recorded) if is_first else ''}")
        named |= {entry.sources} if is_first else set()
    return shown


def _entry(entry: Entry, recorded: Mapping[str, str]) -> str:
    text = escape_markdown(entry.text)
    if entry.source is not None and entry.source in recorded and entry.text != NOT_KNOWN:
        text = _link(text, recorded[entry.source])
    detail = f" ({escape_markdown(entry.detail)})" if entry.detail else ""
    return f"**{text}**{detail} {entry.mark}" if entry.mark else f"{text}{detail}"


def _code(code: str) -> str:
    return f"`{' '.join(code.replace('`', '').split())}`"


def _list(sentences: Iterable[str]) -> str:
    return "\n".join(f"- {escape_markdown(sentence)}" for sentence in sentences) or "None."
