"""Figures of the measured window while it grows: what the live display and the verdict need of it.

Deliberately not here: any statistic of a recording (package `analyse`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from plimsoll.drive.protocol import Interval
from plimsoll.record.model import Window


@dataclass(slots=True)
class Measured:
    """Sums over the intervals that count; of themselves only throughput is kept.

    Attributes:
        intervals_count: How many there are.
        completed: Transactions that completed in them.
        duration_s: Their length, seconds.
        window: From the first to the last; None while there is none.
        rates_tps: Throughput of each of them.
    """

    intervals_count: int = 0
    completed: int = 0
    duration_s: float = 0.0
    window: Window | None = None
    rates_tps: list[float] = field(default_factory=list)

    def add(self, interval: Interval) -> None:
        """Takes the next interval in."""
        self.intervals_count += 1
        self.completed += interval.completed
        self.rates_tps.append(interval.throughput_tps)
        self.duration_s += (interval.to_ns - interval.from_ns) / 1e9
        first = interval.index if self.window is None else self.window.first
        self.window = Window(first=first, last=interval.index)

    @property
    def throughput_tps(self) -> float | None:
        """Completed transactions per second; None while there is no interval."""
        return self.completed / self.duration_s if self.duration_s else None
