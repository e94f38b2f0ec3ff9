"""The tables and the sentences of a test of failover.

Deliberately not here: testing (`plimsoll.run.failover`), printing.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator

from plimsoll.guide.numbers import NOT_KNOWN
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.guide.test_page import TestPage
from plimsoll.prose.phrases import counted
from plimsoll.record.failover import FailoverOutcome, FailoverRecord
from plimsoll.spec.failover import FailoverFault
from plimsoll.units import format_duration, format_number, format_percent

_WHAT_FAULTS_ARE = {
    FailoverFault.KILL: (
        "The source was killed (SIGKILL) at a random instant of the load. Its machine went on, so what it had sent"
        " still arrived: with async, only transactions that it had acknowledged and not yet sent are lost."
    ),
    FailoverFault.CUT_OFF: (
        "Replicas stopped receiving half a second before the source was killed (SIGKILL), as when the network fails"
        " first. What async acknowledged in that time is lost; semisync acknowledged nothing in it."
    ),
}
_PARTS = (
    "An outage is from the last transaction that the old source acknowledged to the first one that the new source did."
    " Detect: until a new connection to the source failed as well. Choose: until the next source was chosen. Apply:"
    " until it had applied what it had received, and took writes. Follow: until the other replicas followed it."
    " Reconnect: until a transaction was acknowledged."
)
_LIMIT = (
    "The limit is the upper end of the one-sided 95 % confidence interval (Clopper-Pearson) of the share of faults that"
    " lose something."
)
_MEANINGS = {
    1290: "the server takes no writes",
    1836: "the server takes no writes",
    2002: "no connection by the socket",
    2003: "no connection",
    2013: "connection lost",
}


def failover_page(record: FailoverRecord) -> TestPage:
    """What is shown of a test."""
    delay = f", {format_duration(record.replication_delay_s)} one way" if record.replication_delay_s else ""
    waits = f", a commit waits for {record.semisync_replicas}" if record.semisync_replicas else ""
    facts = (
        ("server", record.server),
        ("replicas", str(record.replicas)),
        ("replication", f"{record.replication}{waits}{delay}"),
        ("fault", record.fault),
        ("next source", "chosen by a hook" if record.promote == "hook" else "the most advanced replica"),
        ("connections", str(record.connections)),
        ("seed", str(record.seed)),
    )
    return TestPage(
        name="failover",
        title="Failover, timed",
        facts=facts,
        tables=(outage_table(record), loss_table(record), error_table(record)),
        sentences=tuple(failover_sentences(record)),
        is_complete=record.is_complete,
    )


def outage_table(record: FailoverRecord) -> Table:
    """One row for each fault: the outage and its parts, in seconds."""
    names = ("outage s", "detect", "choose", "apply", "follow", "reconnect", "all back s")
    columns = (
        Column(heading="fault", numeric=False),
        Column(heading="promoted", numeric=False),
        Column(heading="tps before"),
        *(Column(heading=name) for name in names),
    )
    rows = tuple(_outage_row(number, one) for number, one in enumerate(record.each, 1))
    return Table(caption=f"Outages ({record.replication})", columns=columns, rows=rows)


def loss_table(record: FailoverRecord) -> Table:
    """One row for each fault: what became of transactions."""
    headings = ("failed", "of them found", "acknowledged", "then missing", "lost ms", "torn or foreign")
    columns = (Column(heading="fault", numeric=False), *(Column(heading=heading) for heading in headings))
    rows = tuple(
        (
            Entry(str(number)),
            Entry(str(one.failed)),
            Entry(str(one.failed_found)),
            Entry(f"{one.acknowledged:,}"),
            Entry(f"{one.lost:,}", mark="BROKEN" if _is_broken(record, one) else None),
            Entry(NOT_KNOWN if one.lost_ms is None else format_number(one.lost_ms)),
            Entry(str(one.torn + one.foreign)),
        )
        for number, one in enumerate(record.each, 1)
    )
    return Table(caption="Transactions", columns=columns, rows=rows)


def error_table(record: FailoverRecord) -> Table:
    """What clients met, by code, over all faults."""
    counts: Counter[int] = Counter()
    spans: dict[int, list[float]] = {}
    for outcome in record.each:
        for one in outcome.errors:
            counts[one.code] += one.count
            spans.setdefault(one.code, []).extend((one.first_s, one.last_s))
    columns = (
        Column(heading="code", numeric=False),
        Column(heading="meaning", numeric=False),
        Column(heading="count"),
        Column(heading="first s"),
        Column(heading="last s"),
    )
    rows = tuple(
        (
            Entry(str(code)),
            Entry(_MEANINGS.get(code, NOT_KNOWN)),
            Entry(f"{count:,}"),
            Entry(_seconds(min(spans[code]))),
            Entry(_seconds(max(spans[code]))),
        )
        for code, count in counts.most_common()
    )
    return Table(caption="Errors of clients, seconds since the kill", columns=columns, rows=rows)


def failover_sentences(record: FailoverRecord) -> Iterator[str]:
    """What the tables say, the gravest first."""
    if not record.is_kept:
        yield _broken(record)
    if record.outage_s is not None:
        yield (
            f"Outage: {_seconds(record.outage_s)} s (median of {record.faults}), from {_seconds(record.outage_s_min)}"
            f" to {_seconds(record.outage_s_max)} s; the longest part is {_longest_part(record)}."
        )
        yield _loss(record)
    behind = [one for one in record.each if one.is_behind]
    if behind:
        yield (
            f"In {len(behind)} of {record.faults} faults another replica had received more than the promoted one:"
            " what only that one had is lost, and it cannot follow."
        )
    for number, one in enumerate(record.each, 1):
        for left in one.not_following:
            yield f"Fault {number}: {left.name} did not follow {one.promoted}: {left.reason}."
    found = sum(one.failed_found for one in record.each)
    if found:
        yield (
            f"{found} of {sum(one.failed for one in record.each)} transactions that failed for their clients are there:"
            " a client that repeats what failed does these twice."
        )
    yield _WHAT_FAULTS_ARE[FailoverFault(record.fault)]
    yield _PARTS
    yield _LIMIT


def _loss(record: FailoverRecord) -> str:
    limit = "" if record.loss_ratio_max == 1 else f": below {format_percent(record.loss_ratio_max)} of faults"
    if record.lost == 0:
        return (
            f"0 of {record.acknowledged:,} acknowledged transactions are missing; {record.faults_with_loss} of"
            f" {record.faults} faults lost anything{limit}."
        )
    age = "" if record.lost_ms is None else f", the oldest {format_number(record.lost_ms)} ms before the kill"
    return (
        f"{record.lost:,} of {record.acknowledged:,} acknowledged transactions are missing{age};"
        f" {record.faults_with_loss} of {record.faults} faults lost something{limit}."
    )


def _broken(record: FailoverRecord) -> str:
    if record.corrupt:
        return (
            f"BROKEN PROMISE: after {record.corrupt} of {record.faults} faults the new source had transactions in part,"
            " or rows that nobody sent. Do not trust this version with data that matters before that is explained."
        )
    return (
        "BROKEN PROMISE: with semi-synchronous replication,"
        f" {counted(record.semisync_replicas or 0, 'replica')} had received each acknowledged transaction;"
        f" {record.lost:,} of {record.acknowledged:,} are missing on the most advanced one."
    )


def _is_broken(record: FailoverRecord, one: FailoverOutcome) -> bool:
    return one.is_corrupt or (record.semisync_replicas is not None and one.lost > 0 and not one.is_behind)


def _longest_part(record: FailoverRecord) -> str:
    parts = {
        name: statistics.median(getattr(one.outage, f"{name}_s") for one in record.each)
        for name in ("detect", "choose", "apply", "follow", "reconnect")
    }
    longest = max(parts, key=lambda name: parts[name])
    return f"{longest} ({_seconds(parts[longest])} s)"


def _outage_row(number: int, one: FailoverOutcome) -> tuple[Entry, ...]:
    outage = one.outage
    parts = (outage.total_s, outage.detect_s, outage.choose_s, outage.apply_s, outage.follow_s, outage.reconnect_s)
    return (
        Entry(str(number)),
        Entry(one.promoted),
        Entry(format_number(one.throughput_tps)),
        *(Entry(_seconds(part)) for part in parts),
        Entry(_seconds(one.timeline.all_good_s)),
    )


def _seconds(value: float | None) -> str:
    return NOT_KNOWN if value is None else f"{value:.3f}"
