"""The table and the sentences of a test of durability.

Deliberately not here: testing (`plimsoll.run.durability`), printing.
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.guide.numbers import NOT_KNOWN
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.guide.test_page import TestPage
from plimsoll.record.durability import DurabilityRecord, SettingOutcome
from plimsoll.spec.durability import DurabilitySetting, FaultKind
from plimsoll.units import format_number, format_percent

_WHAT_FAULTS_ARE = {
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
        Column(heading="setting", numeric=False),
        Column(heading="tps"),
        Column(heading="faults with loss"),
        Column(heading="limit"),
        Column(heading="transactions lost"),
        Column(heading="lost ms"),
        Column(heading="corrupt"),
        Column(heading="recovery s"),
    )
    rows = tuple(_row(one) for one in record.settings)
    return Table(caption=f"{record.fault}: {record.server}", columns=columns, rows=rows)


def durability_sentences(record: DurabilityRecord) -> Iterator[str]:
    """What the table says, the gravest first."""
    kind = FaultKind(record.fault)
    yield from (_broken(one, kind) for one in record.settings if not one.is_kept)
    yield from (_failed(one) for one in record.settings if any(fault.failure for fault in one.each))
    kept = [one for one in record.settings if one.faults_with_loss == 0 and one.faults]
    for one in sorted(kept, key=lambda one: -one.throughput_tps)[:1]:
        yield (
            f"The fastest setting that lost nothing: {_setting(one).label}, {format_number(one.throughput_tps)} tps;"
            f" 0 of {one.faults} faults lost anything: below {format_percent(one.loss_ratio_max)}."
        )
    yield _WHAT_FAULTS_ARE[kind]
    yield _COMMON


def _row(one: SettingOutcome) -> tuple[Entry, ...]:
    recovery = NOT_KNOWN if one.recovery_s is None else f"{one.recovery_s:.1f}"
    return (
        Entry(_setting(one).label),
        Entry(format_number(one.throughput_tps)),
        Entry(f"{one.faults_with_loss} of {one.faults}"),
        Entry(NOT_KNOWN if one.loss_ratio_max == 1 else f"< {format_percent(one.loss_ratio_max)}"),
        Entry(f"{one.lost} of {one.acknowledged}"),
        Entry(NOT_KNOWN if one.lost_ms is None else format_number(one.lost_ms)),
        Entry(str(one.corrupt)),
        Entry(recovery, mark=None if one.is_kept else "BROKEN"),
    )


def _setting(one: SettingOutcome) -> DurabilitySetting:
    return DurabilitySetting(one.flush_log_at_trx_commit, one.sync_binlog, one.doublewrite)


def _broken(one: SettingOutcome, kind: FaultKind) -> str:
    setting = _setting(one)
    if setting.promises_to_keep(kind) and any(fault.is_plain_loss for fault in one.each):
        what = (
            f"{setting.label} promises to keep every acknowledged transaction; {one.lost} of {one.acknowledged} were"
            " lost."
        )
    else:
        what = (
            f"{setting.label} promises whole transactions; data was corrupt after {one.corrupt} of {one.faults} faults."
        )
    if kind is FaultKind.LYING_DEVICE:
        return f"BROKEN PROMISE: {what} The device lied about flushes, as it was told to."
    return (
        f"BROKEN PROMISE: {what} The server does not do what it says, or what is between it and the device. Do not"
        " trust this version with data that matters under this setting before that is explained."
    )


def _failed(one: SettingOutcome) -> str:
    first = next(fault.failure for fault in one.each if fault.failure)
    count = sum(fault.failure is not None for fault in one.each)
    return (
        f"{_setting(one).label}: after {count} of {one.faults} faults the server did not come back, or its tables could"
        f" not be read; all transactions then count as lost. First: {first.splitlines()[0]}"
    )
