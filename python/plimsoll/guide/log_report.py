"""The report on a log: what stands on its pages and on the terminal.

Deliberately not here: how it is found (`plimsoll.learn.report`) and how pages look (`pages`).
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.guide.drawing import alt
from plimsoll.guide.labels import chart_of
from plimsoll.guide.log_words import doubt_sentence, wall_clock
from plimsoll.guide.look import Look
from plimsoll.guide.marks import Chart, axis_y, finish
from plimsoll.guide.pages import Page
from plimsoll.guide.sections import Section, SectionChart
from plimsoll.guide.statement_section import figure, percent, statement_section
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.learn.report_model import ArrivalFigures, HotValues, LogReport, TypeFigures
from plimsoll.prose.phrases import counted
from plimsoll.units import format_bytes, format_duration, format_number, format_percent, format_rate

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
        title=", ".join(one.name for one in report.sources[:3]) + (" and more" if len(report.sources) > 3 else ""),
        facts=tuple(_facts(report)),
        doubts=tuple(map(doubt_sentence, report.doubts)),
        sections=tuple(filter(None, sections)),
    )


def _facts(report: LogReport) -> Iterator[tuple[str, str]]:
    flavours = sorted({one.flavour for one in report.sources if one.flavour})
    if flavours:
        yield "server", ", ".join(flavours)
    if (arrivals := report.arrivals) is not None:
        yield "from", wall_clock(arrivals.first_unix_s)
        yield "length", format_duration(arrivals.duration_s)
    yield "read", format_bytes(sum(one.bytes_read for one in report.sources))


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
        Column(heading="type", numeric=False),
        Column(heading="share %"),
        *((Column(heading="time %"), Column(heading="mean ms"), Column(heading="p99 ms")) if has_times else ()),
        Column(heading="statements"),
        Column(heading="rolled back %"),
        Column(heading="reads only", numeric=False),
        Column(heading="statements by # above", numeric=False),
    )
    rows = []
    for one in report.types:
        times = (percent(one.time_share), figure(one.mean_ms), figure(one.p99_ms)) if has_times else ()
        figures = (one.name, percent(one.share), *times, _count(one), percent(one.rollback_ratio))
        rows.append(tuple(map(Entry, (*figures, "yes" if one.reads_only else "no", _sequence(one, places)))))
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
    return {one.template: place for place, one in enumerate(report.templates, start=1)}


def _sequence(one: TypeFigures, places: dict[int, int]) -> str:
    if not one.templates:
        return counted(one.types_count, "more type")
    shown = [str(places.get(template, "·")) for template in one.templates]
    if len(shown) > 2 * _FOLLOWED:
        shown = [*shown[:_FOLLOWED], "…", *shown[-_FOLLOWED:]]
    return " ".join(shown)


def _count(one: TypeFigures) -> str:
    mean = format_number(one.statements)
    return mean if one.statements_max <= len(one.templates) else f"{mean} (max {one.statements_max:,})"


def _arrival_section(arrivals: ArrivalFigures | None) -> Section | None:
    if arrivals is None:
        return None
    sentences = [
        f"Mean {format_rate(arrivals.mean_tps)}; 99 % of the minutes have at most {format_rate(arrivals.p99_tps)};"
        f" the busiest minute {format_rate(arrivals.peak_tps)}."
    ]
    if arrivals.dispersion:
        told = "; ".join(
            _SPREAD.format(f"{window} s", format_number(value)) for window, value in arrivals.dispersion.items()
        )
        sentences.append(f"{told} (1 is a Poisson process; more is burstier).")
    return Section(
        anchor="arrivals",
        title="Arrivals",
        sentences=tuple(sentences),
        charts=(SectionChart(title="Transactions begun", draw=lambda look: _rate_chart(arrivals, look)),),
        notes=(
            "Burstiness is that of the busiest hour. A rate that rises and falls within it counts as burstiness over"
            " long windows.",
        ),
    )


def _rate_chart(arrivals: ArrivalFigures, look: Look) -> Chart:
    rows = [{"minute": (place * arrivals.step_s) / 60, "rate": rate} for place, rate in enumerate(arrivals.steps_tps)]
    x = alt.X("minute:Q", axis=alt.Axis(title="minutes since the first transaction", format=",~r", tickCount=6))
    y = axis_y("rate:Q", "transactions per second (tps)", alt.Scale(zero=True), tickCount=4)
    area = chart_of(rows).mark_area(
        interpolate="step-after", opacity=0.25, color=look.palette.series[0], line={"color": look.palette.series[0]}
    )
    return finish(area.encode(x=x, y=y), look)


def _sessions(report: LogReport) -> Section:
    found = report.sessions
    ran = counted(found.transactions_median, "transaction")
    sentences = [
        f"1 session, which ran {ran}."
        if found.count == 1
        else f"{found.count:,} sessions; half of them ran at most {ran}."
    ]
    if found.think_ms_median is not None and found.think_ms_mean is not None:
        sentences.append(
            f"From the end of a transaction to the begin of the next one of its session: median"
            f" {format_number(found.think_ms_median)} ms, mean {format_number(found.think_ms_mean)} ms."
        )
    return Section(anchor="sessions", title="Sessions", sentences=tuple(sentences))


def _hot(report: LogReport) -> Section | None:
    if not report.hot:
        return None
    places = _places(report)
    columns = (
        Column(heading="statement #"),
        Column(heading="literal", numeric=False),
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
                    f"{places[one.template]}",
                    _slot_words(one),
                    f"{one.observed_count:,}",
                    f"{one.distinct_count:,}",
                    percent(one.top_share),
                    percent(one.top_ten_share),
                    percent(one.top_hundredth_share),
                ),
            )
        )
        for one in report.hot
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


def _slot_words(one: HotValues) -> str:
    """A literal: its place in the statement, and what it is for."""
    use = _USES[one.use].format(one.column or "a column")
    return f"{one.slot + 1}{use}"


def _damaged(report: LogReport) -> Section | None:
    if not report.damaged_lines:
        return None
    lines = tuple(f"{name}, line {line:,}: {reason}" for name, line, reason in report.damaged_lines[:20])
    return Section(anchor="damaged", title="Entries that could not be read", sentences=lines)
