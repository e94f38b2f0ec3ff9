"""Which acknowledged transactions a server still has, whole, and what the number of faults says about the next one.

The confidence limit is the exact one-sided bound of Clopper and Pearson (1934): the largest share of faults that lose
something under which so few losses would be seen in 5 % of tests. It assumes faults that are independent of each
other; without any loss it is 1 - 0.05 ** (1 / n), about 3 / n.
"""

from __future__ import annotations

import statistics
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.errors import DataError
from plimsoll.record.durability import FaultOutcome, SettingOutcome
from plimsoll.spec.durability import DurabilitySetting, FaultKind

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
        return tuple((one.worker, one.number) for one in self.failures if one.number != ATTEMPT)


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
        own = set()
        for worker, number, checked in rows:
            if 1 <= number <= last.get(worker, 0) and checked == check_value(seed, worker, number):
                own.add((worker, number))
            else:
                foreign += 1
        parts.append(own)
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
    from scipy.special import betaincinv

    return float(betaincinv(losses + 1, faults - losses, CONFIDENCE))


def setting_outcome(
    setting: DurabilitySetting, fault: FaultKind, throughput_tps: float, each: Sequence[FaultOutcome]
) -> SettingOutcome:
    """What all faults under one setting say together."""
    with_loss = sum(one.lost > 0 for one in each)
    corrupt = sum(one.is_corrupt for one in each)
    is_broken = any(one.is_plain_loss for one in each) and setting.promises_to_keep(fault)
    is_broken = is_broken or (corrupt > 0 and setting.promises_whole_data(fault))
    recoveries = [one.recovery_s for one in each if one.recovery_s is not None]
    return SettingOutcome(
        flush_log_at_trx_commit=setting.flush_log_at_trx_commit,
        sync_binlog=setting.sync_binlog,
        doublewrite=setting.doublewrite,
        throughput_tps=throughput_tps,
        faults=len(each),
        faults_with_loss=with_loss,
        loss_ratio_max=loss_ratio_max(with_loss, len(each)),
        acknowledged=sum(one.acknowledged for one in each),
        lost=sum(one.lost for one in each),
        lost_ms=max((one.lost_ms for one in each if one.lost_ms is not None), default=None),
        corrupt=corrupt,
        recovery_s=statistics.median(recoveries) if recoveries else None,
        is_kept=not is_broken,
        each=tuple(each),
    )
