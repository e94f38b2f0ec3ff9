"""The section "Data between trials": how data was put back, how it changed, and whether the redo log wrapped.

Deliberately not here: how that is found (`plimsoll.analyse.data_drift`).
"""

from __future__ import annotations

from plimsoll.analyse.data_model import DataSummary
from plimsoll.analyse.model import Analysis
from plimsoll.guide.numbers import NOT_KNOWN
from plimsoll.guide.sections import Section
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.prose.phrases import counted
from plimsoll.units import format_bytes, format_duration, format_percent

_COLUMNS = (
    Column(heading="system", numeric=False),
    Column(heading="workload", numeric=False),
    Column(heading="data before trials", numeric=False),
    Column(heading="time"),
    Column(heading="other way"),
    Column(heading="rows"),
    Column(heading="size of tables"),
    Column(heading="redo log filled"),
)
_NOTES = (
    "Rows and size of tables: the largest change during a trial. Files grow in steps of up to 4 MiB.",
    "Redo log filled: how often while the server warmed up. From 1 on it wrapped: the server had to write changed pages"
    " at the pace of the load.",
)
_WAYS = {
    "copy": "copied",
    "prepare": "loaded again",
    "fresh": "loaded for the first time",
    "left": "as the last trial left it",
    "hook": "put back by a hook",
}


def data_section(analysis: Analysis) -> Section | None:
    """The whole section; None where nothing is known, as of imports and older recordings."""
    if not analysis.data:
        return None
    table = Table(
        caption="Data before and after trials", columns=_COLUMNS, rows=tuple(map(_row, analysis.data)), notes=_NOTES
    )
    return Section(anchor="data", title="Data between trials", sentences=(), tables=(table,), is_background=True)


def _row(one: DataSummary) -> tuple[Entry, ...]:
    turns = (one.redo_turns_min, one.redo_turns_max)
    return (
        Entry(one.system),
        Entry(one.workload),
        Entry(_came_about(one)),
        Entry(NOT_KNOWN if one.reset_s_median is None else format_duration(one.reset_s_median)),
        Entry(NOT_KNOWN if one.other_s_median is None else format_duration(one.other_s_median)),
        Entry(NOT_KNOWN if one.rows_ratio is None else format_percent(one.rows_ratio, signed=True)),
        Entry(NOT_KNOWN if one.bytes_ratio is None else format_percent(one.bytes_ratio, signed=True)),
        Entry(_range(*turns)),
    )


def _came_about(one: DataSummary) -> str:
    """Ways with their numbers of trials, and what of the data shares blocks with the saved copy."""
    is_one_way = len(one.ways) == 1
    trials = {way: "" if is_one_way else f" ({counted(count, 'trial')})" for way, count in one.ways.items()}
    ways = [f"{_WAYS[way]}{of}" for way, of in trials.items()]
    parts = [*(["aged"] if one.is_aged else []), *ways]
    if one.size_bytes is not None:
        shared = f", {format_bytes(one.cloned_bytes)} of it as shared blocks" if one.cloned_bytes else ""
        parts.append(f"{format_bytes(one.size_bytes)}{shared}")
    return ", ".join(parts) or NOT_KNOWN


def _range(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return NOT_KNOWN
    texts = dict.fromkeys((f"{low:.2g} ×", f"{high:.2g} ×"))
    return " to ".join(texts)
