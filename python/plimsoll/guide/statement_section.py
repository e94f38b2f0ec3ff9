"""The section on statements of a page on a load: the top statements with their figures.

Deliberately not here: how they are found (`plimsoll.learn`).
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.guide.numbers import NOT_KNOWN
from plimsoll.guide.sections import Section
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.learn.digest_model import DigestFigures
from plimsoll.learn.report_model import TemplateFigures
from plimsoll.prose.phrases import counted
from plimsoll.units import format_number, format_percent

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
    has_p95 = has_times and any(isinstance(one, DigestFigures) for one in templates)
    lengths = ("mean ms", "p95 ms", "p99 ms") if has_p95 else ("mean ms", "p99 ms")
    columns = (
        Column(heading="#"),
        *((Column(heading="time %"),) if has_times else ()),
        Column(heading="count"),
        *(Column(heading=one) for one in (lengths if has_times else ())),
        Column(heading="examined"),
        Column(heading="sent"),
        Column(heading="affected"),
        Column(heading="statement", numeric=False),
    )
    rows = tuple(_row(place, one, has_times=has_times) for place, one in enumerate(templates[:TOP], start=1))
    told = sum(one.time_share or 0.0 for one in templates[:TOP])
    if has_times:
        below = "the one below takes" if len(rows) == 1 else f"the {len(rows)} below take"
        below += f" {format_percent(told)} of statement time"
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


def _row(place: int, one: TemplateFigures, *, has_times: bool) -> tuple[Entry, ...]:
    p95 = (figure(one.p95_ms),) if isinstance(one, DigestFigures) else ()
    share = (percent(one.time_share),) if has_times else ()
    lengths = (figure(one.mean_ms), *p95, figure(one.p99_ms)) if has_times else ()
    counts = (figure(one.rows_examined), figure(one.rows_sent), figure(one.rows_affected))
    return tuple(map(Entry, (f"{place}", *share, f"{one.count:,.0f}", *lengths, *counts, shortened(one.text))))


def shortened(text: str) -> str:
    """The text of a statement as a table shows it."""
    return text if len(text) <= _TEXT_MAX else f"{text[: _TEXT_MAX - 1]}…"


def figure(value: float | None) -> str:
    """A figure as a table shows it."""
    return NOT_KNOWN if value is None else format_number(value)


def percent(ratio: float | None) -> str:
    """A share (0..1) as a table shows it, in percent."""
    return NOT_KNOWN if ratio is None else f"{ratio * 100:.1f}"
