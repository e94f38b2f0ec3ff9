"""The sentences on a test of durability: a broken promise comes first, and kill -9 is explained."""

from __future__ import annotations

from plimsoll.analyse.answers.fault_tests import setting_outcome
from plimsoll.guide.fault_tests import durability_sentences, durability_table
from plimsoll.record.environment import StorageFacts
from plimsoll.record.fault_tests import DurabilityRecord, FaultOutcome
from plimsoll.spec.fault_tests import DurabilitySetting, FaultKind


def record(fault: FaultKind, setting: DurabilitySetting, *each: FaultOutcome) -> DurabilityRecord:
    return DurabilityRecord(
        fault=fault,
        server="mariadbd Ver 11.4.2-MariaDB",
        storage=StorageFacts(),
        connections=8,
        seed=1,
        is_complete=True,
        settings=(setting_outcome(setting, fault, 1000.0, each),),
    )


def outcome(lost: int, failure: str | None = None) -> FaultOutcome:
    return FaultOutcome(
        load_s=1, acknowledged=500, lost=lost, lost_ms=20.0 if lost else None, torn=0, foreign=0,
        recovery_s=None if failure else 1.0, failure=failure,
    )  # fmt: skip


def test_a_broken_promise_is_said_first_and_marked() -> None:
    found = record(FaultKind.POWER_LOSS, DurabilitySetting(1, 1, doublewrite=True), outcome(0), outcome(3))
    first = next(durability_sentences(found))
    assert first.startswith(
        "BROKEN PROMISE: flush 1, sync_binlog 1, doublewrite on promises to keep every acknowledged"
    )
    assert "3 of 1000 were lost" in first
    assert [entry.mark for entry in durability_table(found).rows[0] if entry.mark] == ["BROKEN"]


def test_damage_without_a_promise_to_keep_is_told_as_damage() -> None:
    found = record(
        FaultKind.POWER_LOSS, DurabilitySetting(2, 1, doublewrite=True), outcome(500, failure="it ended\nlog")
    )
    first, second, *_ = durability_sentences(found)
    assert "promises whole transactions; data was corrupt after 1 of 1 faults" in first
    assert "the server did not come back" in second
    assert second.endswith("First: it ended")


def test_kill_is_explained_and_no_loss_has_its_limit() -> None:
    found = record(FaultKind.KILL, DurabilitySetting(2, 1, doublewrite=True), *[outcome(0)] * 50)
    text = " ".join(durability_sentences(found))
    assert "0 of 50 faults lost anything: below 5.8 %" in text
    assert "page cache of the operating system, which survives" in text
    assert "BROKEN" not in text
