"""How many transactions began in the counted part of a turn, and for how long a connection ran them.

Transactions that end within fixed times give a biased rate where they are not much shorter than these times: all
connections begin a turn together, and the end of the turn cuts the last ones. So the rate of a turn counts the
transactions that began in its counted part, those that ended in the drain included, over the time in which the
connections ran them. That time begins for each connection when the transaction ends that it ran at the begin of the
counted part, and ends with its last one. The ratio of both expectations is the rate of a closed loop, however long
transactions are: the number of transactions that begin until a time is a stopping time (Wald's equation).

The time that transactions still took at the end of the turn is known from the drain: their response times less their
ages. What they still took at the begin of the counted part is not recorded apart from the others. It is replaced by
its expectation, the mean residual life at their ages, from all response times of the system so far; each turn is
counted whole there, since a turn's transactions are an unbiased sample of response times only with its last ones.

Assumptions: a connection's transactions have independent response times of one distribution, and it begins the next
one at once. Where transactions share a resource that is used up, those that drain are faster than before; for
transactions of a tenth of a turn that moves the ratio of systems that differ by 10 % by less than 1 %.

Sources: Wald 1944; mean residual life, Cox 1962, "Renewal Theory", chapters 2 and 5.
Deliberately not here: the messages of the engine (`plimsoll.run.turns`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plimsoll.analyse.histograms import SparseHistogram
from plimsoll.record.buckets import BUCKET_COUNT, bucket_middle_ns


class ResponseTimes:
    """All response times of one system so far, failed transactions left out."""

    def __init__(self) -> None:
        self._counts = np.zeros(BUCKET_COUNT, dtype=np.int64)
        self._middles_ns = bucket_middle_ns(np.arange(BUCKET_COUNT)).astype(float)

    def add(self, turn: SparseHistogram) -> None:
        """Takes those of a whole turn in."""
        self._counts[turn.buckets] += turn.counts

    def residual_s(self, ages: SparseHistogram) -> float:
        """How long transactions of such ages still take, expected, all together, seconds.

        None longer than an age was seen: then nothing is expected of it.
        """
        count = np.cumsum(self._counts[::-1])[::-1][ages.buckets]
        total = np.cumsum((self._counts * self._middles_ns)[::-1])[::-1][ages.buckets]
        residual_ns = np.where(count > 0, total / np.maximum(count, 1) - self._middles_ns[ages.buckets], 0.0)
        return float(np.maximum(residual_ns, 0.0) @ ages.counts) / 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnds:
    """What is known of a turn of one system.

    Attributes:
        counted_s: Length of the counted part, seconds.
        connections: That were open.
        completed: Transactions that completed in the counted part or in the drain.
        failed: Those that failed there.
        ages_before: Of the transactions in flight at the begin of the counted part.
        ages_after: Of those in flight at its end.
        drained: Response times of those that completed in the drain.
    """

    counted_s: float
    connections: int
    completed: int
    failed: int
    ages_before: SparseHistogram
    ages_after: SparseHistogram
    drained: SparseHistogram


@dataclass(frozen=True, slots=True)
class Begun:
    """Of the counted part of a turn.

    Attributes:
        count: Transactions that began in it and completed; expected, where some failed.
        running_s: How long a connection ran them, mean over the connections, seconds; above 0.
    """

    count: float
    running_s: float


def begun_in(turn: TurnEnds, response_times: ResponseTimes) -> Begun:
    """What began in the counted part of a turn; `response_times` has the turn itself already."""
    ended = turn.completed + turn.failed
    completing = turn.completed / ended if ended else 0.0
    before_s = response_times.residual_s(turn.ages_before)
    running_s = turn.counted_s + (_residual_after_s(turn) - before_s) / max(turn.connections, 1)
    return Begun(
        count=max(turn.completed - completing * turn.ages_before.total, 0.0),
        running_s=running_s if running_s > 0 else turn.counted_s,
    )


def _residual_after_s(turn: TurnEnds) -> float:
    """How long the transactions in flight at the end still took; those that failed as long as the others."""
    if turn.drained.total == 0:
        return 0.0
    mean_ns = turn.drained.sum_ns / turn.drained.total
    return max(mean_ns * turn.ages_after.total - turn.ages_after.sum_ns, 0.0) / 1e9
