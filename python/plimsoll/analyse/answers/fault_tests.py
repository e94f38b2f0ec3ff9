"""What tests of faults show: transactions that a killed server lost, and the timeline of a failover.

The timeline of a failover from a ledger and instants that were noted beside it, and what all faults say together. All
instants are of one monotonic clock. An outage is from the last transaction that the old source acknowledged to the
first one that the new source did, over all clients; its parts add up to it exactly. Losses have the confidence limit
of Clopper and Pearson (1934).

Which acknowledged transactions a server still has, whole, and what the number of faults says about the next one. The
confidence limit is the exact one-sided bound of Clopper and Pearson (1934): the largest share of faults that lose
something under which so few losses would be seen in 5 % of tests. It assumes faults that are independent of each
other; without any loss it is 1 - 0.05 ** (1 / n), about 3 / n.
"""

from __future__ import annotations

import statistics
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.errors import DataError
from plimsoll.record.fault_tests import (
    ErrorSeen,
    FailoverOutcome,
    FailoverRecord,
    FailoverTimeline,
    FaultOutcome,
    NotFollowing,
    Outage,
    SettingOutcome,
)
from plimsoll.spec.fault_tests import DurabilitySetting, FaultKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Instants:
    """What was noted while a failover ran, monotonic nanoseconds.

    Attributes:
        fault_ns: The source was killed.
        detected_ns: It was known to be gone.
        chosen_ns: The next source was chosen.
        applied_ns: It took writes.
        followed_ns: The others followed it; clients were told next.
    """

    fault_ns: int
    detected_ns: int
    chosen_ns: int
    applied_ns: int
    followed_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    """Which replica became the source.

    Attributes:
        name: Its name.
        is_behind: Another replica had received more.
        not_following: Those that could not follow it.
    """

    name: str
    is_behind: bool
    not_following: tuple[NotFollowing, ...] = ()


def failover_outcome(ledger: Ledger, instants: Instants, promotion: Promotion, search: Search) -> FailoverOutcome:
    """What one fault did.

    Raises:
        DataError: Nothing was acknowledged before the fault, or after it.
    """
    before = [at_ns for at_ns in ledger.acknowledged.values() if at_ns < instants.followed_ns]
    after = {key: at_ns for key, at_ns in ledger.acknowledged.items() if at_ns >= instants.followed_ns}
    errors = [failure for failure in ledger.failures if failure.at_ns >= instants.fault_ns]
    if not before or not after or not errors:
        raise DataError("ledger: transactions before or after the fault are missing; take a longer --load")
    firsts: dict[int, int] = {}
    for (worker, _), at_ns in after.items():
        firsts[worker] = min(firsts.get(worker, at_ns), at_ns)

    def since_s(at_ns: int) -> float:
        return (at_ns - instants.fault_ns) / 1e9

    timeline = FailoverTimeline(
        last_good_s=since_s(max(before)),
        first_error_s=since_s(errors[0].at_ns),
        detected_s=since_s(instants.detected_ns),
        chosen_s=since_s(instants.chosen_ns),
        applied_s=since_s(instants.applied_ns),
        followed_s=since_s(instants.followed_ns),
        first_good_s=since_s(min(after.values())),
        all_good_s=since_s(max(firsts.values())),
    )
    load_s = max((instants.fault_ns - min(before)) / 1e9, 1e-9)
    codes = dict.fromkeys(error.code for error in errors)
    times = {code: [since_s(error.at_ns) for error in errors if error.code == code] for code in codes}
    return FailoverOutcome(
        load_s=load_s,
        throughput_tps=len(before) / load_s,
        promoted=promotion.name,
        is_behind=promotion.is_behind,
        timeline=timeline,
        outage=outage_of(timeline),
        errors=tuple(
            ErrorSeen(code=code, count=len(seen), first_s=min(seen), last_s=max(seen)) for code, seen in times.items()
        ),
        failed=len(ledger.unknown),
        failed_found=search.unknown_found,
        acknowledged=len(ledger.acknowledged),
        lost=search.lost,
        lost_ms=search.lost_ms,
        torn=search.torn,
        foreign=search.foreign,
        not_following=promotion.not_following,
    )


def outage_of(timeline: FailoverTimeline) -> Outage:
    """The outage in a timeline, by its parts."""
    return Outage(
        total_s=timeline.first_good_s - timeline.last_good_s,
        detect_s=timeline.detected_s - timeline.last_good_s,
        choose_s=timeline.chosen_s - timeline.detected_s,
        apply_s=timeline.applied_s - timeline.chosen_s,
        follow_s=timeline.followed_s - timeline.applied_s,
        reconnect_s=timeline.first_good_s - timeline.followed_s,
    )


def with_outcomes(record: FailoverRecord, each: Sequence[FailoverOutcome], *, is_complete: bool) -> FailoverRecord:
    """The record with what these faults say together."""
    with_loss = sum(outcome.lost > 0 for outcome in each)
    outages = [outcome.outage.total_s for outcome in each]
    is_broken = any(outcome.is_corrupt for outcome in each)
    if record.semisync_replicas is not None:
        is_broken = is_broken or any(outcome.lost > 0 and not outcome.is_behind for outcome in each)
    return record.model_copy(
        update={
            "is_complete": is_complete,
            "faults": len(each),
            "faults_with_loss": with_loss,
            "loss_ratio_max": loss_ratio_max(with_loss, len(each)),
            "acknowledged": sum(outcome.acknowledged for outcome in each),
            "lost": sum(outcome.lost for outcome in each),
            "lost_ms": max((outcome.lost_ms for outcome in each if outcome.lost_ms is not None), default=None),
            "corrupt": sum(outcome.is_corrupt for outcome in each),
            "outage_s": statistics.median(outages) if outages else None,
            "outage_s_min": min(outages, default=None),
            "outage_s_max": max(outages, default=None),
            "is_kept": not is_broken,
            "each": tuple(each),
        }
    )


CONFIDENCE = 0.95

ATTEMPT = 0
"""The number of a failed attempt to connect; transactions are numbered from 1."""

Rows = Iterable[tuple[int, int, int]]
"""Worker, number and check value of each row of a table."""


@dataclass(frozen=True, slots=True)
class LedgerFailure:
    """A transaction that was not acknowledged, so that nobody knows whether the server has it, or a failed connection.

    Attributes:
        worker: Who met it.
        number: Of the transaction; `ATTEMPT` for an attempt to connect.
        at_ns: When, on the ledger's clock.
        code: MySQL's error number; where no server answered, that of MySQL's client library.
    """

    worker: int
    number: int
    at_ns: int
    code: int


@dataclass(frozen=True, slots=True)
class Ledger:
    """What became of the transactions that were sent.

    Attributes:
        acknowledged: When each was acknowledged, monotonic nanoseconds, by worker and number.
        failures: All others, and attempts to connect, in the order in which they were noted.
    """

    acknowledged: Mapping[tuple[int, int], int]
    failures: tuple[LedgerFailure, ...] = ()

    @property
    def unknown(self) -> tuple[tuple[int, int], ...]:
        """Worker and number of the transactions that failed."""
        return tuple((failure.worker, failure.number) for failure in self.failures if failure.number != ATTEMPT)


@dataclass(frozen=True, slots=True)
class Search:
    """What was found of the transactions in a ledger.

    Attributes:
        lost: Acknowledged ones that are not there, not even in part.
        lost_ms: Age of the oldest of them at the fault, milliseconds; None where there is none.
        torn: Transactions that are there in part.
        foreign: Rows that nobody sent.
        unknown_found: Transactions that are there and were not acknowledged.
    """

    lost: int
    lost_ms: float | None
    torn: int
    foreign: int
    unknown_found: int = 0


def read_ledger(text: str) -> Ledger:
    """A ledger as the engine wrote it: `worker number monotonic_ns` in each line, and an error code after a failure.

    Raises:
        DataError: A line is not one of a ledger, or a worker's numbers do not follow each other.
    """
    acknowledged: dict[tuple[int, int], int] = {}
    failures: list[LedgerFailure] = []
    last: dict[int, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        try:
            worker, transaction, at_ns, *code = map(int, line.split())
        except ValueError:
            raise _damaged(number, line) from None
        if len(code) > 1 or (transaction == ATTEMPT and not code):
            raise _damaged(number, line)
        if transaction != ATTEMPT:
            if transaction != last.get(worker, 0) + 1:
                raise DataError(f"ledger: line {number} does not follow the last one of worker {worker}; test again")
            last[worker] = transaction
        if code:
            failures.append(LedgerFailure(worker, transaction, at_ns, code[0]))
        else:
            acknowledged[worker, transaction] = at_ns
    return Ledger(acknowledged, tuple(failures))


def _damaged(number: int, line: str) -> DataError:
    return DataError(f"ledger: line {number} is damaged: {line[:80]!r}; test again")


def searched(
    ledger: Ledger, tables: Sequence[Rows], counters: Mapping[int, int], *, seed: int, fault_ns: int
) -> Search:
    """Compares what was acknowledged with what is there.

    A transaction that was sent and not acknowledged may be there or not.

    Args:
        ledger: What was sent, and what was acknowledged.
        tables: The rows of both tables.
        counters: The number that each worker's counter has.
        seed: Of the check values.
        fault_ns: When the fault came, on the ledger's clock.
    """
    last: dict[int, int] = {}
    for worker, number in (*ledger.acknowledged, *ledger.unknown):
        last[worker] = max(last.get(worker, 0), number)
    foreign, parts = 0, []
    for rows in tables:
        transactions = set()
        for worker, number, checked in rows:
            if 1 <= number <= last.get(worker, 0) and checked == check_value(seed, worker, number):
                transactions.add((worker, number))
            else:
                foreign += 1
        parts.append(transactions)
    there, whole = set.union(*parts), set.intersection(*parts)
    lost = [at_ns for key, at_ns in ledger.acknowledged.items() if key not in there]
    newest: dict[int, int] = {}
    for worker, number in whole:
        newest[worker] = max(newest.get(worker, 0), number)
    wrong_counters = sum(newest.get(worker, 0) != number for worker, number in counters.items())
    wrong_counters += sum(worker not in counters for worker in newest)
    return Search(
        lost=len(lost),
        lost_ms=max((fault_ns - min(lost)) / 1e6, 0.0) if lost else None,
        torn=len(there - whole) + wrong_counters,
        foreign=foreign,
        unknown_found=sum(key in whole for key in ledger.unknown),
    )


def check_value(seed: int, worker: int, number: int) -> int:
    """What the rows of a transaction hold, as the engine calculates it."""
    return zlib.crc32(f"{seed} {worker} {number}".encode())


def loss_ratio_max(losses: int, faults: int) -> float:
    """Upper end of the one-sided 95 % confidence interval of the share of faults that lose something, 0..1.

    >>> round(loss_ratio_max(0, 50), 3), loss_ratio_max(3, 3)
    (0.058, 1.0)
    """
    if losses >= faults:
        return 1.0
    from plimsoll.stats.special import betaincinv

    return float(betaincinv(losses + 1, faults - losses, CONFIDENCE))


def setting_outcome(
    setting: DurabilitySetting, fault: FaultKind, throughput_tps: float, each: Sequence[FaultOutcome]
) -> SettingOutcome:
    """What all faults under one setting say together."""
    with_loss = sum(outcome.lost > 0 for outcome in each)
    corrupt = sum(outcome.is_corrupt for outcome in each)
    is_broken = any(outcome.is_plain_loss for outcome in each) and setting.promises_to_keep(fault)
    is_broken = is_broken or (corrupt > 0 and setting.promises_whole_data(fault))
    recoveries = [outcome.recovery_s for outcome in each if outcome.recovery_s is not None]
    return SettingOutcome(
        flush_log_at_trx_commit=setting.flush_log_at_trx_commit,
        sync_binlog=setting.sync_binlog,
        doublewrite=setting.doublewrite,
        throughput_tps=throughput_tps,
        faults=len(each),
        faults_with_loss=with_loss,
        loss_ratio_max=loss_ratio_max(with_loss, len(each)),
        acknowledged=sum(outcome.acknowledged for outcome in each),
        lost=sum(outcome.lost for outcome in each),
        lost_ms=max((outcome.lost_ms for outcome in each if outcome.lost_ms is not None), default=None),
        corrupt=corrupt,
        recovery_s=statistics.median(recoveries) if recoveries else None,
        is_kept=not is_broken,
        each=tuple(each),
    )
