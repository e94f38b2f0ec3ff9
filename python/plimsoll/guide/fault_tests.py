"""Pages of tests of durability and of failover: their tables, their sentences, and their files.

Deliberately not here: testing (`plimsoll.run`), how pages look (`html`), and printing. Charts take long to import, and
these tests draw none.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.guide.tables import NOT_KNOWN, Column, Entry, Table, text_column
from plimsoll.record.document import Document
from plimsoll.record.fault_tests import DurabilityRecord, FailoverOutcome, FailoverRecord, SettingOutcome
from plimsoll.spec.fault_tests import DurabilitySetting, FailoverFault, FaultKind
from plimsoll.units import format_duration, format_number, format_percent
from plimsoll.wording import counted

if TYPE_CHECKING:
    from plimsoll.guide.html import Page

INCOMPLETE = "The test was ended before all of it was done: this is what was known by then."


@dataclass(frozen=True, slots=True, kw_only=True)
class TestPage:
    """What is shown of a test.

    Attributes:
        name: Of its files.
        title: Its heading.
        facts: What was tested, as names and values.
        tables: Its figures.
        sentences: What they say, the gravest first.
        is_complete: All of the test was done.
    """

    __test__ = False  # no test of pytest's

    name: str
    title: str
    facts: tuple[tuple[str, str], ...]
    tables: tuple[Table, ...]
    sentences: tuple[str, ...]
    is_complete: bool

    @property
    def page(self) -> Page:
        """The page with all of it. Charts take long to import, and a terminal needs none of it."""
        from plimsoll.guide.html import Page
        from plimsoll.guide.sections import Section

        return Page(
            brand="Test",
            title=self.title,
            facts=self.facts,
            doubts=() if self.is_complete else (INCOMPLETE,),
            sections=(Section(anchor="result", title="Result", sentences=self.sentences, tables=self.tables),),
        )


def write_page(page: TestPage, record: Document, folder: Path) -> tuple[Path, ...]:
    """Writes NAME.json, NAME.md and NAME.html; a reader sees each old or new, and never a part.

    Raises:
        HostError: The folder cannot be written to.
    """
    from plimsoll.guide.files import write_texts
    from plimsoll.guide.html import page_files

    return write_texts(folder, page_files(page.page, record.model_dump_json(indent=2), page.name), "the result")


_DURABILITY_FAULTS = {
    FaultKind.KILL: (
        "The server was killed (SIGKILL); the machine went on. What the server had written is then in the page cache of"
        " the operating system, which survives: so flush = 2, which writes at each commit and flushes once a second,"
        " loses nothing here. Flush = 0 may lose up to a second, because it does not even write. What power loss does"
        " is tested by --fault power-loss."
    ),
    FaultKind.POWER_LOSS: (
        "Server and device lost power: both ended at once, and the device forgot what was not flushed. In"
        " every other fault half of the blocks of 4 KiB that were not flushed had reached the device by themselves, in"
        " any order. Names and explicit sizes of files were durable at once."
    ),
    FaultKind.LYING_DEVICE: (
        "The device said that it had flushed and did not, then lost the power. A server cannot protect data from such a"
        " device: this test shows that it would be noticed."
    ),
}
_COMMON = (
    "Throughput is that of the same settings straight on the storage, without faults. Recovery is from the start of the"
    " server until it answers. The limit is the upper end of the one-sided 95 % confidence interval (Clopper-Pearson)"
    " of the share of faults that lose something. The binary log was on."
)


def durability_page(record: DurabilityRecord) -> TestPage:
    """What is shown of a test."""
    facts = (
        ("server", record.server),
        ("fault", record.fault),
        ("connections", str(record.connections)),
        ("storage", record.storage.device or NOT_KNOWN),
        ("seed", str(record.seed)),
    )
    return TestPage(
        name="durability",
        title="Durability, tested",
        facts=facts,
        tables=(durability_table(record),),
        sentences=tuple(durability_sentences(record)),
        is_complete=record.is_complete,
    )


def durability_table(record: DurabilityRecord) -> Table:
    """Speed against safety: one row for each setting."""
    columns = (
        text_column("setting"),
        Column(heading="tps"),
        Column(heading="faults with loss"),
        Column(heading="limit"),
        Column(heading="transactions lost"),
        Column(heading="lost ms"),
        Column(heading="corrupt"),
        Column(heading="recovery s"),
    )
    rows = tuple(_row(setting) for setting in record.settings)
    return Table(caption=f"{record.fault}: {record.server}", columns=columns, rows=rows)


def durability_sentences(record: DurabilityRecord) -> Iterator[str]:
    """What the table says, the gravest first."""
    kind = FaultKind(record.fault)
    yield from (_broken_durability(setting, kind) for setting in record.settings if not setting.is_kept)
    yield from (_failed(setting) for setting in record.settings if any(fault.failure for fault in setting.each))
    kept = [setting for setting in record.settings if setting.faults_with_loss == 0 and setting.faults]
    for fastest in sorted(kept, key=lambda setting: -setting.throughput_tps)[:1]:
        yield (
            f"The fastest setting that lost nothing: {_setting(fastest).label},"
            f" {format_number(fastest.throughput_tps)} tps; 0 of {fastest.faults} faults lost anything:"
            f" below {format_percent(fastest.loss_ratio_max)}."
        )
    yield _DURABILITY_FAULTS[kind]
    yield _COMMON


def _row(setting_outcome: SettingOutcome) -> tuple[Entry, ...]:
    recovery = NOT_KNOWN if setting_outcome.recovery_s is None else f"{setting_outcome.recovery_s:.1f}"
    return (
        Entry(_setting(setting_outcome).label),
        Entry(format_number(setting_outcome.throughput_tps)),
        Entry(f"{setting_outcome.faults_with_loss} of {setting_outcome.faults}"),
        Entry(
            NOT_KNOWN if setting_outcome.loss_ratio_max == 1 else f"< {format_percent(setting_outcome.loss_ratio_max)}"
        ),
        Entry(f"{setting_outcome.lost} of {setting_outcome.acknowledged}"),
        Entry(NOT_KNOWN if setting_outcome.lost_ms is None else format_number(setting_outcome.lost_ms)),
        Entry(str(setting_outcome.corrupt)),
        Entry(recovery, mark=None if setting_outcome.is_kept else "BROKEN"),
    )


def _setting(setting_outcome: SettingOutcome) -> DurabilitySetting:
    return DurabilitySetting(
        setting_outcome.flush_log_at_trx_commit, setting_outcome.sync_binlog, setting_outcome.doublewrite
    )


def _broken_durability(setting_outcome: SettingOutcome, kind: FaultKind) -> str:
    setting = _setting(setting_outcome)
    if setting.promises_to_keep(kind) and any(fault.is_plain_loss for fault in setting_outcome.each):
        what = (
            f"{setting.label} promises to keep every acknowledged transaction; {setting_outcome.lost} of"
            f" {setting_outcome.acknowledged} were lost."
        )
    else:
        what = (
            f"{setting.label} promises whole transactions; data was corrupt after {setting_outcome.corrupt} of"
            f" {setting_outcome.faults} faults."
        )
    if kind is FaultKind.LYING_DEVICE:
        return f"BROKEN PROMISE: {what} The device lied about flushes, as it was told to."
    return (
        f"BROKEN PROMISE: {what} The server does not do what it says, or what is between it and the device. Do not"
        " trust this version with data that matters under this setting before that is explained."
    )


def _failed(setting_outcome: SettingOutcome) -> str:
    first = next(fault.failure for fault in setting_outcome.each if fault.failure)
    count = sum(fault.failure is not None for fault in setting_outcome.each)
    return (
        f"{_setting(setting_outcome).label}: after {count} of {setting_outcome.faults} faults the server did not come"
        f" back, or its tables could not be read; all transactions then count as lost. First: {first.splitlines()[0]}"
    )


_FAILOVER_FAULTS = {
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
        text_column("fault"),
        text_column("promoted"),
        Column(heading="tps before"),
        *(Column(heading=name) for name in names),
    )
    rows = tuple(_outage_row(number, outcome) for number, outcome in enumerate(record.each, 1))
    return Table(caption=f"Outages ({record.replication})", columns=columns, rows=rows)


def loss_table(record: FailoverRecord) -> Table:
    """One row for each fault: what became of transactions."""
    headings = ("failed", "of them found", "acknowledged", "then missing", "lost ms", "torn or foreign")
    columns = (text_column("fault"), *(Column(heading=heading) for heading in headings))
    rows = tuple(
        (
            Entry(str(number)),
            Entry(str(outcome.failed)),
            Entry(str(outcome.failed_found)),
            Entry(f"{outcome.acknowledged:,}"),
            Entry(f"{outcome.lost:,}", mark="BROKEN" if _is_broken(record, outcome) else None),
            Entry(NOT_KNOWN if outcome.lost_ms is None else format_number(outcome.lost_ms)),
            Entry(str(outcome.torn + outcome.foreign)),
        )
        for number, outcome in enumerate(record.each, 1)
    )
    return Table(caption="Transactions", columns=columns, rows=rows)


def error_table(record: FailoverRecord) -> Table:
    """What clients met, by code, over all faults."""
    counts: Counter[int] = Counter()
    spans: dict[int, list[float]] = {}
    for outcome in record.each:
        for error in outcome.errors:
            counts[error.code] += error.count
            spans.setdefault(error.code, []).extend((error.first_s, error.last_s))
    columns = (
        text_column("code"),
        text_column("meaning"),
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
        yield _broken_failover(record)
    if record.outage_s is not None:
        yield (
            f"Outage: {_seconds(record.outage_s)} s (median of {record.faults}), from {_seconds(record.outage_s_min)}"
            f" to {_seconds(record.outage_s_max)} s; the longest part is {_longest_part(record)}."
        )
        yield _loss(record)
    behind = [outcome for outcome in record.each if outcome.is_behind]
    if behind:
        yield (
            f"In {len(behind)} of {record.faults} faults another replica had received more than the promoted one:"
            " what only that one had is lost, and it cannot follow."
        )
    for number, outcome in enumerate(record.each, 1):
        for left in outcome.not_following:
            yield f"Fault {number}: {left.name} did not follow {outcome.promoted}: {left.reason}."
    committed_count = sum(outcome.failed_found for outcome in record.each)
    if committed_count:
        yield (
            f"{committed_count} of {sum(outcome.failed for outcome in record.each)} transactions that failed for their"
            " clients are there: a client that repeats what failed does these twice."
        )
    yield _FAILOVER_FAULTS[FailoverFault(record.fault)]
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


def _broken_failover(record: FailoverRecord) -> str:
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


def _is_broken(record: FailoverRecord, failover_outcome: FailoverOutcome) -> bool:
    return failover_outcome.is_corrupt or (
        record.semisync_replicas is not None and failover_outcome.lost > 0 and not failover_outcome.is_behind
    )


def _longest_part(record: FailoverRecord) -> str:
    parts = {
        name: statistics.median(getattr(outcome.outage, f"{name}_s") for outcome in record.each)
        for name in ("detect", "choose", "apply", "follow", "reconnect")
    }
    longest = max(parts, key=lambda name: parts[name])
    return f"{longest} ({_seconds(parts[longest])} s)"


def _outage_row(number: int, failover_outcome: FailoverOutcome) -> tuple[Entry, ...]:
    outage = failover_outcome.outage
    parts = (outage.total_s, outage.detect_s, outage.choose_s, outage.apply_s, outage.follow_s, outage.reconnect_s)
    return (
        Entry(str(number)),
        Entry(failover_outcome.promoted),
        Entry(format_number(failover_outcome.throughput_tps)),
        *(Entry(_seconds(part)) for part in parts),
        Entry(_seconds(failover_outcome.timeline.all_good_s)),
    )


def _seconds(value: float | None) -> str:
    return NOT_KNOWN if value is None else f"{value:.3f}"
