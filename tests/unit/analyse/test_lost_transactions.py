"""Lost, torn and foreign transactions are found in made-up tables; limits are those of the binomial distribution."""

from __future__ import annotations

import math

import pytest

from plimsoll.analyse.answers.fault_tests import (
    Ledger,
    LedgerFailure,
    check_value,
    loss_ratio_max,
    read_ledger,
    searched,
    setting_outcome,
)
from plimsoll.errors import DataError
from plimsoll.record.fault_tests import FaultOutcome
from plimsoll.spec.fault_tests import DurabilitySetting, FaultKind

SEED = 7
ACKNOWLEDGED = {(0, 1): 1_000_000, (0, 2): 2_000_000, (0, 3): 3_000_000, (1, 1): 2_500_000}
LEDGER = Ledger(ACKNOWLEDGED, (LedgerFailure(1, 2, 3_900_000, 2013), LedgerFailure(1, 0, 3_950_000, 2003)))
FAULT_NS = 4_000_000


def rows(*keys: tuple[int, int]) -> list[tuple[int, int, int]]:
    return [(worker, number, check_value(SEED, worker, number)) for worker, number in keys]


def test_all_there_is_no_loss_and_one_in_flight_may_be_there() -> None:
    there = rows(*ACKNOWLEDGED, (1, 2))
    found = searched(LEDGER, [there, there], {0: 3, 1: 2}, seed=SEED, fault_ns=FAULT_NS)
    assert (found.lost, found.lost_ms, found.torn, found.foreign, found.unknown_found) == (0, None, 0, 0, 1)


def test_lost_ones_have_the_age_of_the_oldest() -> None:
    there = rows((0, 1), (1, 1))
    found = searched(LEDGER, [there, there], {0: 1, 1: 1}, seed=SEED, fault_ns=FAULT_NS)
    assert (found.lost, found.lost_ms, found.torn, found.foreign) == (2, 2.0, 0, 0)


def test_a_part_of_a_transaction_is_torn_and_not_lost() -> None:
    found = searched(
        LEDGER, [rows(*ACKNOWLEDGED), rows((0, 1), (0, 2), (1, 1))], {0: 2, 1: 1}, seed=SEED, fault_ns=FAULT_NS
    )
    assert (found.lost, found.torn, found.foreign) == (0, 1, 0)


@pytest.mark.parametrize("counters", [{0: 2, 1: 1}, {0: 3}])
def test_a_counter_that_does_not_fit_is_torn(counters: dict[int, int]) -> None:
    found = searched(LEDGER, [rows(*ACKNOWLEDGED)] * 2, counters, seed=SEED, fault_ns=FAULT_NS)
    assert (found.lost, found.torn) == (0, 1)


@pytest.mark.parametrize(
    "row", [(0, 4, check_value(SEED, 0, 4)), (9, 2, check_value(SEED, 9, 2)), (0, 4, 1), (0, 0, 1)]
)
def test_rows_that_nobody_sent_are_foreign(row: tuple[int, int, int]) -> None:
    found = searched(
        LEDGER, [[*rows(*ACKNOWLEDGED), row], rows(*ACKNOWLEDGED)], {0: 3, 1: 1}, seed=SEED, fault_ns=FAULT_NS
    )
    assert (found.lost, found.torn, found.foreign) == (0, 0, 1)


def test_a_ledger_is_read_and_a_damaged_one_refused() -> None:
    acknowledged = read_ledger("0 1 10\n1 1 11\n0 2 12\n")
    assert acknowledged == Ledger({(0, 1): 10, (1, 1): 11, (0, 2): 12})
    with_failures = read_ledger("0 1 10\n0 2 11 2013\n0 0 12 2003\n0 3 13\n")
    assert with_failures.acknowledged == {(0, 1): 10, (0, 3): 13}
    assert with_failures.failures == (LedgerFailure(0, 2, 11, 2013), LedgerFailure(0, 0, 12, 2003))
    assert with_failures.unknown == ((0, 2),)
    for text in ("0 1\n", "0 1 x\n", "0 2 10\n", "0 1 10\n0 1 11\n", "0 0 10\n", "0 1 10 2013 1\n"):
        with pytest.raises(DataError, match="ledger: line"):
            read_ledger(text)


def test_limits_are_exact() -> None:
    assert loss_ratio_max(0, 50) == pytest.approx(1 - 0.05 ** (1 / 50))
    assert loss_ratio_max(5, 5) == 1.0
    for losses, faults in ((1, 10), (3, 20), (19, 20)):
        p = loss_ratio_max(losses, faults)
        as_few = sum(math.comb(faults, k) * p**k * (1 - p) ** (faults - k) for k in range(losses + 1))
        assert as_few == pytest.approx(0.05)


def outcome(**changes: object) -> FaultOutcome:
    fixed = {"load_s": 1.0, "acknowledged": 100, "lost": 0, "torn": 0, "foreign": 0, "recovery_s": 1.0}
    return FaultOutcome.model_validate(fixed | changes)


@pytest.mark.parametrize(
    ("fault", "setting", "changes", "is_kept"),
    [
        (FaultKind.POWER_LOSS, (1, 1, True), {}, True),
        (FaultKind.POWER_LOSS, (1, 1, True), {"lost": 1, "lost_ms": 3.0}, False),
        (FaultKind.POWER_LOSS, (1, 0, True), {"lost": 1, "lost_ms": 3.0}, True),
        (FaultKind.POWER_LOSS, (2, 1, True), {"lost": 1, "lost_ms": 3.0}, True),
        (FaultKind.POWER_LOSS, (2, 1, True), {"torn": 1}, False),
        (FaultKind.POWER_LOSS, (2, 1, False), {"torn": 1}, True),
        (FaultKind.KILL, (2, 0, False), {"lost": 1, "lost_ms": 3.0}, False),
        (FaultKind.KILL, (0, 1, True), {"lost": 1, "lost_ms": 3.0}, True),
        (FaultKind.KILL, (0, 1, False), {"foreign": 1}, False),
    ],
)
def test_a_setting_is_held_to_its_promise(
    fault: FaultKind, setting: tuple[int, int, bool], changes: dict[str, object], *, is_kept: bool
) -> None:
    found = setting_outcome(DurabilitySetting(*setting), fault, 100.0, [outcome(), outcome(**changes)])
    assert found.is_kept is is_kept
    assert (found.faults, found.faults_with_loss) == (2, int("lost" in changes))


def test_a_server_that_never_came_back_has_no_recovery_time() -> None:
    failed = outcome(lost=100, lost_ms=900.0, recovery_s=None, failure="ended")
    found = setting_outcome(DurabilitySetting(1, 1, doublewrite=False), FaultKind.POWER_LOSS, 100.0, [failed])
    assert found.recovery_s is None
    assert (found.corrupt, found.lost, found.is_kept) == (1, 100, True), "a torn page cannot be restored"
    found = setting_outcome(DurabilitySetting(0, 0, doublewrite=True), FaultKind.POWER_LOSS, 100.0, [failed])
    assert not found.is_kept
