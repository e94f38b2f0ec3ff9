"""Whether the answers of a running ramp are late by now: the rule of `analyse.ramps`, over the engine's intervals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from plimsoll.analyse.ramps import knee_at
from plimsoll.drive.protocol import GroupInterval, Histogram, Interval
from plimsoll.record.buckets import bucket_of_ns
from plimsoll.run.rows import merged


@dataclass(slots=True)
class KneeWatch:
    """Takes in what a ramp's intervals say of late answers.

    Attributes:
        limit_ms: An answer that takes longer is late, milliseconds.
    """

    limit_ms: float
    _ended: list[float] = field(default_factory=list)
    _late: list[float] = field(default_factory=list)
    _waiting: list[float] = field(default_factory=list)

    def reached(self, interval: Interval) -> bool:
        """Whether most answers were late by the end of the next interval."""
        groups = interval.groups
        counts = [one.counts for group in groups for one in group.snapshot.transactions.values()]
        lost = sum(one.failed + one.dropped for one in counts)
        self._ended.append(lost + sum(one.completed for one in counts))
        self._late.append(lost + self._above(_responses(groups)))
        self._waiting.append(self._above(group.in_flight.get("response") for group in groups))
        return knee_at(np.array(self._ended), np.array(self._late), np.array(self._waiting)) is not None

    def _above(self, histograms: Iterable[Histogram | None]) -> int:
        return merged(histograms).above(int(bucket_of_ns(np.array([round(self.limit_ms * 1e6)]))[0]))


def _responses(groups: Iterable[GroupInterval]) -> Iterable[Histogram | None]:
    return (one.histograms.get("response") for group in groups for one in group.snapshot.transactions.values())
