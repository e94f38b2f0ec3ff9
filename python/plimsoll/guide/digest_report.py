"""The page on what a server's own counters show.

Deliberately not here: how it is found (`plimsoll.learn.digests`), and how pages look (`pages`).
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.guide.log_words import doubt_sentence, wall_clock
from plimsoll.guide.pages import Page
from plimsoll.guide.sections import Section
from plimsoll.guide.statement_section import statement_section
from plimsoll.learn.digest_model import DigestReport
from plimsoll.prose.phrases import counted
from plimsoll.units import format_duration, format_number, format_percent


def digest_page(report: DigestReport) -> Page:
    """The report as a page of sections."""
    statements = statement_section(report.templates, report.templates_count, has_times=report.read_time is not None)
    return Page(
        brand="Statements that a server counted",
        title="Statements that a server counted",
        facts=tuple(_facts(report)),
        doubts=tuple(map(doubt_sentence, report.doubts)),
        sections=(_overview(report), *((statements,) if report.templates else ())),
    )


def _facts(report: DigestReport) -> Iterator[tuple[str, str]]:
    yield "server", report.version
    if report.from_unix_s is None:
        yield "until", wall_clock(report.to_unix_s)
    else:
        yield "from", wall_clock(report.from_unix_s)
        yield "length", format_duration(report.to_unix_s - report.from_unix_s)


def _overview(report: DigestReport) -> Section:
    rate = ""
    if report.from_unix_s is not None and report.to_unix_s > report.from_unix_s:
        rate = f", {format_number(report.statements_count / (report.to_unix_s - report.from_unix_s))} per second"
    sentences = [
        f"{counted(report.statements_count, 'statement')}{rate}; besides, {report.other_count:,.0f} of COMMIT,"
        " SET, SHOW and the like."
    ]
    time = "" if report.read_time is None else f" and {format_percent(report.read_time)} of statement time"
    sentences.append(f"Reads are {format_percent(report.read_statements)} of statements{time}.")
    if report.errors_count:
        sentences.append(f"{counted(report.errors_count, 'statement')} failed.")
    if report.busy_mean is not None:
        sentences.append(f"On average {format_number(report.busy_mean)} statements were in execution at a time.")
    return Section(anchor="overview", title="The load", sentences=tuple(sentences))
