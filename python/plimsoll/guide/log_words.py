"""What a log cannot tell, in words: what was seen, what it means, what to do; and times as reports show them.

Deliberately not here: how it is found (`plimsoll.learn.doubts`).
"""

from __future__ import annotations

from datetime import UTC, datetime

from plimsoll.learn.report_model import LogDoubt
from plimsoll.units import format_ms, format_percent

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
    return _WITH_FIGURES[doubt.code].format_map({key: _shown(key, one) for key, one in doubt.figures.items()})


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
