"""The timeline of a failover from a made-up ledger: parts add up, errors are counted, promises are judged."""

from __future__ import annotations

import pytest

from plimsoll.analyse.answers.fault_tests import (
    Instants,
    Ledger,
    LedgerFailure,
    Promotion,
    Search,
    failover_outcome,
    with_outcomes,
)
from plimsoll.errors import DataError
from plimsoll.record.environment import StorageFacts
from plimsoll.record.fault_tests import FailoverOutcome, FailoverRecord

S = 1_000_000_000
FAULT = 100 * S
INSTANTS = Instants(
    fault_ns=FAULT,
    detected_ns=FAULT + S // 10,
    chosen_ns=FAULT + 2 * S // 10,
    applied_ns=FAULT + 12 * S // 10,
    followed_ns=FAULT + 15 * S // 10,
)
LEDGER = Ledger(
    {
        (0, 1): FAULT - 2 * S,
        (1, 1): FAULT - S,
        (0, 2): FAULT + S // 1000,  # the answer was on its way
        (0, 4): FAULT + 16 * S // 10,
        (1, 3): FAULT + 18 * S // 10,
        (1, 4): FAULT + 19 * S // 10,
    },
    (
        LedgerFailure(0, 3, FAULT + S // 20, 2013),
        LedgerFailure(1, 2, FAULT + S // 20, 2013),
        LedgerFailure(0, 0, FAULT + S // 5, 2003),
        LedgerFailure(0, 0, FAULT + S, 2003),
    ),
)
WHOLE = Search(lost=0, lost_ms=None, torn=0, foreign=0, unknown_found=1)


def outcome(found: Search = WHOLE, *, is_behind: bool = False) -> FailoverOutcome:
    return failover_outcome(LEDGER, INSTANTS, Promotion(name="failover/1", is_behind=is_behind), found)


def record(semisync_replicas: int | None = None) -> FailoverRecord:
    return FailoverRecord(
        fault="kill",
        server="mariadbd",
        storage=StorageFacts(),
        replicas=2,
        replication="async" if semisync_replicas is None else "semisync",
        semisync_replicas=semisync_replicas,
        replication_delay_s=0,
        promote="most-advanced",
        connections=2,
        seed=1,
    )


def test_an_outage_is_between_acknowledgements_and_its_parts_add_up() -> None:
    found = outcome()
    assert found.timeline.last_good_s == pytest.approx(0.001)
    assert found.timeline.first_error_s == pytest.approx(0.05)
    assert found.timeline.first_good_s == pytest.approx(1.6)
    assert found.timeline.all_good_s == pytest.approx(1.8)
    parts = found.outage.model_dump()
    assert parts == pytest.approx(
        {"total_s": 1.599, "detect_s": 0.099, "choose_s": 0.1, "apply_s": 1.0, "follow_s": 0.3, "reconnect_s": 0.1}
    )
    assert found.throughput_tps == pytest.approx(1.5)


def test_errors_are_counted_by_code_and_only_transactions_fail() -> None:
    found = outcome()
    assert [(error.code, error.count, error.first_s, error.last_s) for error in found.errors] == [
        (2013, 2, pytest.approx(0.05), pytest.approx(0.05)),
        (2003, 2, pytest.approx(0.2), pytest.approx(1.0)),
    ]
    assert (found.failed, found.failed_found, found.acknowledged) == (2, 1, 6)


def test_a_ledger_without_transactions_after_the_fault_says_nothing() -> None:
    before = {key: at_ns for key, at_ns in LEDGER.acknowledged.items() if at_ns < FAULT}
    with pytest.raises(DataError, match="take a longer --load"):
        failover_outcome(Ledger(before, LEDGER.failures), INSTANTS, Promotion(name="x", is_behind=False), WHOLE)


LOST = Search(lost=3, lost_ms=40.0, torn=0, foreign=0)
TORN = Search(lost=0, lost_ms=None, torn=1, foreign=0)


@pytest.mark.parametrize(
    ("semisync", "found", "is_behind", "is_kept"),
    [
        (None, WHOLE, False, True),
        (None, LOST, False, True),
        (None, TORN, False, False),
        (1, WHOLE, False, True),
        (1, LOST, False, False),
        (1, LOST, True, True),  # a hook chose a replica that had not acknowledged
        (1, TORN, True, False),
    ],
)
def test_replication_is_held_to_its_promise(
    semisync: int | None, found: Search, *, is_behind: bool, is_kept: bool
) -> None:
    whole = with_outcomes(record(semisync), [outcome(), outcome(found, is_behind=is_behind)], is_complete=True)
    assert whole.is_kept is is_kept
    assert (whole.faults, whole.faults_with_loss, whole.lost) == (2, int(found.lost > 0), found.lost)
    assert whole.outage_s == pytest.approx(1.599)
    assert whole.outage_s_max == whole.outage_s_min
    assert whole.loss_ratio_max < 1
