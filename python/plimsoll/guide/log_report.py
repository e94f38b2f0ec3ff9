"""Pages on a production load: the report on a log, and what a server's own counters show.

What a log cannot tell is said in words: what was seen, what it means, what to do. Deliberately not here: how any of it
is found (`plimsoll.learn`), and how pages look (`html`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from plimsoll.guide.drawing import alt
from plimsoll.guide.html import Page
from plimsoll.guide.marks import Chart, Style, axis_y, chart_of, finish
from plimsoll.guide.sections import Section, SectionChart
from plimsoll.guide.tables import NOT_KNOWN, Column, Entry, Table, text_column
from plimsoll.learn.report_model import (
    ArrivalFigures,
    DigestFigures,
    DigestReport,
    HotValues,
    LogDoubt,
    LogReport,
    TemplateFigures,
    TypeFigures,
)
from plimsoll.units import format_bytes, format_duration, format_ms, format_number, format_percent, format_rate
from plimsoll.wording import counted

_FOLLOWED = 6
_USES = {
    "equal": " ({} =)",
    "range": " ({}, range)",
    "list": " ({} IN)",
    "written": " ({} written)",
    "added": " ({} + ?)",
    "limit": " (LIMIT)",
    "other": "",
}
"""What a literal is for, with its column."""

_SPREAD = "Index of dispersion over {}: {}"


def log_page(report: LogReport) -> Page:
    """The report as a page of sections."""
    sections = (
        _overview(report),
        statement_section(report.templates, report.templates_count, has_times=report.read_time is not None),
        _transactions(report),
        _arrival_section(report.arrivals),
        _sessions(report),
        _hot(report),
        _damaged(report),
    )
    return Page(
        brand="Log report",
        title=", ".join(source.name for source in report.sources[:3])
        + (" and more" if len(report.sources) > 3 else ""),
        facts=tuple(_facts(report)),
        doubts=tuple(map(doubt_sentence, report.doubts)),
        sections=tuple(filter(None, sections)),
    )


def _facts(report: LogReport) -> Iterator[tuple[str, str]]:
    flavours = sorted({source.flavour for source in report.sources if source.flavour})
    if flavours:
        yield "server", ", ".join(flavours)
    if (arrivals := report.arrivals) is not None:
        yield "from", wall_clock(arrivals.first_unix_s)
        yield "length", format_duration(arrivals.duration_s)
    yield "read", format_bytes(sum(source.bytes_read for source in report.sources))


def _overview(report: LogReport) -> Section:
    sentences = [
        f"{counted(report.statements_count, 'statement')} in {counted(report.transactions_count, 'transaction')} over"
        f" {counted(report.sessions.count, 'session')}."
    ]
    if (arrivals := report.arrivals) is not None:
        sentences.append(
            f"{format_rate(arrivals.mean_tps)} on average, {format_rate(arrivals.peak_tps)} in the busiest minute."
        )
    time = "" if report.read_time is None else f" and {format_percent(report.read_time)} of statement time"
    sentences.append(
        f"Reads are {format_percent(report.read_statements)} of statements{time};"
        f" {format_percent(report.read_transactions)} of transactions only read."
    )
    if report.rolled_back_count or report.errors_count:
        sentences.append(
            f"{counted(report.rolled_back_count, 'transaction')} ended with a rollback;"
            f" {counted(report.errors_count, 'statement')} failed."
        )
    if report.sessions.busy_mean is not None:
        sentences.append(
            f"On average {format_number(report.sessions.busy_mean)} statements were in execution at a time."
        )
    return Section(anchor="overview", title="The load", sentences=tuple(sentences))


def _transactions(report: LogReport) -> Section:
    places = _places(report)
    has_times = report.read_time is not None
    columns = (
        text_column("type"),
        Column(heading="share %"),
        *((Column(heading="time %"), Column(heading="mean ms"), Column(heading="p99 ms")) if has_times else ()),
        Column(heading="statements"),
        Column(heading="rolled back %"),
        text_column("reads only"),
        text_column("statements by # above"),
    )
    rows = []
    for transaction in report.types:
        times = (
            (percent(transaction.time_share), figure(transaction.mean_ms), figure(transaction.p99_ms))
            if has_times
            else ()
        )
        figures = (
            transaction.name,
            percent(transaction.share),
            *times,
            _count(transaction),
            percent(transaction.rollback_ratio),
        )
        rows.append(
            tuple(map(Entry, (*figures, "yes" if transaction.reads_only else "no", _sequence(transaction, places))))
        )
    return Section(
        anchor="transactions",
        title="Transactions",
        sentences=(),
        tables=(Table(caption="Types of transactions", columns=columns, rows=tuple(rows)),),
        notes=(
            "A type is a sequence of statements; a block that is repeated counts once in it. Types that together take"
            " 95 % of statement time are listed one by one. Mean is the statement time of a transaction, p99 its length"
            " from the begin to the end of its last statement.",
        ),
    )


def _places(report: LogReport) -> dict[int, int]:
    """Of each statement, its number in the table of statements."""
    return {template.template: place for place, template in enumerate(report.templates, start=1)}


def _sequence(type_figures: TypeFigures, places: dict[int, int]) -> str:
    if not type_figures.templates:
        return counted(type_figures.types_count, "more type")
    shown = [str(places.get(template, "·")) for template in type_figures.templates]
    if len(shown) > 2 * _FOLLOWED:
        shown = [*shown[:_FOLLOWED], "…", *shown[-_FOLLOWED:]]
    return " ".join(shown)


def _count(type_figures: TypeFigures) -> str:
    mean = format_number(type_figures.statements)
    return (
        mean
        if type_figures.statements_max <= len(type_figures.templates)
        else f"{mean} (max {type_figures.statements_max:,})"
    )


def _arrival_section(arrivals: ArrivalFigures | None) -> Section | None:
    if arrivals is None:
        return None
    sentences = [
        f"Mean {format_rate(arrivals.mean_tps)}; 99 % of the minutes have at most {format_rate(arrivals.p99_tps)};"
        f" the busiest minute {format_rate(arrivals.peak_tps)}."
    ]
    if arrivals.dispersion:
        burstiness = "; ".join(
            _SPREAD.format(f"{window} s", format_number(value)) for window, value in arrivals.dispersion.items()
        )
        sentences.append(f"{burstiness} (1 is a Poisson process; more is burstier).")
    return Section(
        anchor="arrivals",
        title="Arrivals",
        sentences=tuple(sentences),
        charts=(SectionChart(title="Transactions begun", draw=lambda style: _rate_chart(arrivals, style)),),
        notes=(
            "Burstiness is that of the busiest hour. A rate that rises and falls within it counts as burstiness over"
            " long windows.",
        ),
    )


def _rate_chart(arrivals: ArrivalFigures, style: Style) -> Chart:
    rows = [{"minute": (place * arrivals.step_s) / 60, "rate": rate} for place, rate in enumerate(arrivals.steps_tps)]
    x = alt.X("minute:Q", axis=alt.Axis(title="minutes since the first transaction", format=",~r", tickCount=6))
    y = axis_y("rate:Q", "transactions per second (tps)", alt.Scale(zero=True), tickCount=4)
    area = chart_of(rows).mark_area(
        interpolate="step-after", opacity=0.25, color=style.palette.series[0], line={"color": style.palette.series[0]}
    )
    return finish(area.encode(x=x, y=y), style)


def _sessions(report: LogReport) -> Section:
    sessions = report.sessions
    ran = counted(sessions.transactions_median, "transaction")
    sentences = [
        f"1 session, which ran {ran}."
        if sessions.count == 1
        else f"{sessions.count:,} sessions; half of them ran at most {ran}."
    ]
    if sessions.think_ms_median is not None and sessions.think_ms_mean is not None:
        sentences.append(
            f"From the end of a transaction to the begin of the next one of its session: median"
            f" {format_number(sessions.think_ms_median)} ms, mean {format_number(sessions.think_ms_mean)} ms."
        )
    return Section(anchor="sessions", title="Sessions", sentences=tuple(sentences))


def _hot(report: LogReport) -> Section | None:
    if not report.hot:
        return None
    places = _places(report)
    columns = (
        Column(heading="statement #"),
        text_column("literal"),
        Column(heading="seen"),
        Column(heading="different"),
        Column(heading="top value %"),
        Column(heading="top 10 %"),
        Column(heading="top 1 % of values %"),
    )
    rows = tuple(
        tuple(
            map(
                Entry,
                (
                    f"{places[hot_values.template]}",
                    _slot_words(hot_values),
                    f"{hot_values.observed_count:,}",
                    f"{hot_values.distinct_count:,}",
                    percent(hot_values.top_share),
                    percent(hot_values.top_ten_share),
                    percent(hot_values.top_hundredth_share),
                ),
            )
        )
        for hot_values in report.hot
    )
    return Section(
        anchor="hot",
        title="Hot values",
        sentences=(),
        tables=(Table(caption="How often literals took their most frequent values", columns=columns, rows=rows),),
        notes=(
            "Shares of all occurrences that the most frequent value, the ten most frequent values and the most frequent"
            " hundredth of the different values have. Values themselves are never shown.",
        ),
    )


def _slot_words(hot_values: HotValues) -> str:
    """A literal: its place in the statement, and what it is for."""
    use = _USES[hot_values.use].format(hot_values.column or "a column")
    return f"{hot_values.slot + 1}{use}"


def _damaged(report: LogReport) -> Section | None:
    if not report.damaged_lines:
        return None
    lines = tuple(f"{name}, line {line:,}: {reason}" for name, line, reason in report.damaged_lines[:20])
    return Section(anchor="damaged", title="Entries that could not be read", sentences=lines)


def digest_page(report: DigestReport) -> Page:
    """The report as a page of sections."""
    statements = statement_section(report.templates, report.templates_count, has_times=report.read_time is not None)
    return Page(
        brand="Statements that a server counted",
        title="Statements that a server counted",
        facts=tuple(_digest_facts(report)),
        doubts=tuple(map(doubt_sentence, report.doubts)),
        sections=(_digest_overview(report), *((statements,) if report.templates else ())),
    )


def _digest_facts(report: DigestReport) -> Iterator[tuple[str, str]]:
    yield "server", report.version
    if report.from_unix_s is None:
        yield "until", wall_clock(report.to_unix_s)
    else:
        yield "from", wall_clock(report.from_unix_s)
        yield "length", format_duration(report.to_unix_s - report.from_unix_s)


def _digest_overview(report: DigestReport) -> Section:
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


TOP = 15
"""Statements that are shown; the JSON has more."""

_TEXT_MAX = 160


def statement_section(templates: Sequence[TemplateFigures], count: int, *, has_times: bool) -> Section:
    """The top statements.

    Args:
        templates: Those with the most time first, or the most frequent first.
        count: How many different statements there are.
        has_times: Durations are known.
    """
    has_p95 = has_times and any(isinstance(template, DigestFigures) for template in templates)
    lengths = ("mean ms", "p95 ms", "p99 ms") if has_p95 else ("mean ms", "p99 ms")
    columns = (
        Column(heading="#"),
        *((Column(heading="time %"),) if has_times else ()),
        Column(heading="count"),
        *(Column(heading=length) for length in (lengths if has_times else ())),
        Column(heading="examined"),
        Column(heading="sent"),
        Column(heading="affected"),
        text_column("statement"),
    )
    rows = tuple(_row(place, template, has_times=has_times) for place, template in enumerate(templates[:TOP], start=1))
    top_share = sum(template.time_share or 0.0 for template in templates[:TOP])
    if has_times:
        below = "the one below takes" if len(rows) == 1 else f"the {len(rows)} below take"
        below += f" {format_percent(top_share)} of statement time"
    else:
        below = "the most frequent is below" if len(rows) == 1 else f"the {len(rows)} most frequent are below"
    sentence = f"{counted(count, 'different statement')} ran; {below}."
    return Section(
        anchor="statements",
        title="Statements",
        sentences=(sentence,),
        tables=(Table(caption="Top statements", columns=columns, rows=rows),),
        notes=(
            "Statements that differ in literals only are one. Rows are per statement. Counts and times are of the"
            " server, without the network.",
        ),
    )


def _row(place: int, template_figures: TemplateFigures, *, has_times: bool) -> tuple[Entry, ...]:
    p95 = (figure(template_figures.p95_ms),) if isinstance(template_figures, DigestFigures) else ()
    share = (percent(template_figures.time_share),) if has_times else ()
    lengths = (figure(template_figures.mean_ms), *p95, figure(template_figures.p99_ms)) if has_times else ()
    counts = (
        figure(template_figures.rows_examined),
        figure(template_figures.rows_sent),
        figure(template_figures.rows_affected),
    )
    return tuple(
        map(
            Entry,
            (f"{place}", *share, f"{template_figures.count:,.0f}", *lengths, *counts, shortened(template_figures.text)),
        )
    )


def shortened(text: str) -> str:
    """The text of a statement as a table shows it."""
    return text if len(text) <= _TEXT_MAX else f"{text[: _TEXT_MAX - 1]}…"


def figure(value: float | None) -> str:
    """A figure as a table shows it."""
    return NOT_KNOWN if value is None else format_number(value)


def percent(ratio: float | None) -> str:
    """A share (0..1) as a table shows it, in percent."""
    return NOT_KNOWN if ratio is None else f"{ratio * 100:.1f}"


_FIXED = {
    "no-durations": "The log has no durations (a general log never has), so statements are ordered by how often they"
    " ran, and nothing is known of rows. Use a slow query log with a threshold of 0 to learn what statements cost.",
    "times-in-seconds": "Times in this log are whole seconds. Plimsoll spreads the entries of a second over it by their"
    " order and duration, so arrivals within a second are not known.",
    "no-times": "Some entries have no time, so they count in no rate.",
    "no-statements": "The logs hold no statement that reads or writes data. Check that these are the right files.",
    "writes-only": "A binary log holds writes that were committed: no reads, no rollbacks and no durations. A"
    " transaction stands at the time of its commit. The report shows when and what was written; no workload can be"
    " learned from it.",
    "no-sessions": "MariaDB's binary log does not say which session wrote, so all writes count as one session, and"
    " nothing is known of think times.",
    "no-reads": "The logs hold no SELECT. They come from a binary log, or log only some kinds of statements: no"
    " workload can be learned from that.",
    "digests-none": "The server counted no statement that reads or writes data in this time. Check that this is the"
    " right server, and take the snapshots further apart.",
    "digests-reset": "The server's counters were reset between the snapshots: it was restarted, or somebody truncated"
    " the table. The figures are of the time since then, whose length is not known.",
    "digests-no-histograms": "This server keeps no histograms of durations, so there are means, and no percentiles.",
    "digests-only": "These are the server's own counters. They show statements and what they cost, but no parameters,"
    " no transactions, no sessions and no arrivals. Learn those from a log: plimsoll capture prints how.",
    "no-begin": "No statement begins a transaction. Each statement counts as a transaction by itself, which is right"
    " if clients use autocommit. If they do not, BEGIN and COMMIT were not logged.",
}

_WITH_FIGURES = {
    "slow-statements-only": "The fastest statement took {fastest_ms}: the log was written with a threshold"
    " (long_query_time or min_examined_row_limit) and holds only the slow part of the load. No mix can be learned from"
    " it. Log everything for a while: plimsoll capture prints the statements.",
    "sampled": "The server logged a sample, at most one in {one_in}. Counts are estimates. If it sampled statements"
    " and not sessions, transactions are torn apart: use a log without a rate limit to learn them.",
    "files-damaged": "Files that are damaged or cut: {damaged_count} of {files_count}. In {first} it was noticed at"
    " line {line}: {reason}. What follows is missing, and what stands just before may be wrong. Read a sound copy, or"
    " leave the file out.",
    "entries-damaged": "Entries that could not be read are left out: {damaged_count} of {entries_count}. The first are"
    " listed with their lines.",
    "statements-cut": "Statements that are longer than what Plimsoll reads of one: {cut_count}. The rest of their"
    " literals is not known.",
    "digests-overflow": "{share} of the statements have no row of their own, because the server's table of {size} rows"
    " is full. Above 5 % the mix is not known: truncate performance_schema.events_statements_summary_by_digest, or"
    " raise performance_schema_digests_size, which needs a restart.",
    "digests-prepared": "{share} of the statements were prepared over the binary protocol. MariaDB does not count them"
    " by statement, so they are missing here. Above 5 % the mix is not known: learn from a slow query log.",
    "digests-cut": "Statements of which the server keeps only the beginning: {cut_count}"
    " (performance_schema_max_digest_length and max_digest_length). Files without names do not show them.",
    "files-overlap": "{first} and {second} cover the same time. If they are of different servers, read each server's"
    " logs by itself. If they are copies, give one of them.",
    "transactions-open": "The end of {share} of the transactions is not in the log. This happens if logs are cut, or"
    " connections stay open.",
}


def doubt_sentence(doubt: LogDoubt) -> str:
    """One doubt in words."""
    if doubt.code in _FIXED:
        return _FIXED[doubt.code]
    return _WITH_FIGURES[doubt.code].format_map({key: _shown(key, value) for key, value in doubt.figures.items()})


def _shown(key: str, value: float | str) -> str:
    """A figure of a doubt; its unit is the end of its name."""
    if isinstance(value, str):
        return value
    if key.endswith("_ms"):
        return format_ms(value)
    return format_percent(value) if key.endswith("share") else f"{value:,.0f}"


def wall_clock(unix_s: float) -> str:
    """A second of the wall clock."""
    return f"{datetime.fromtimestamp(unix_s, UTC):%Y-%m-%d %H:%M:%S} UTC"
