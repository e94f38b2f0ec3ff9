"""What is said about one system under one workload over rising levels; part of the analysis."""

from __future__ import annotations

from enum import StrEnum

from plimsoll.analyse.cell_model import Cell, Estimate
from plimsoll.record.document import Document
from plimsoll.record.level import Level, LevelKind


class Peak(Document):
    """The best level of a curve: the highest throughput, or at rates the highest rate that was sustained.

    A rate counts as sustained only with every lower one: one that is sustained after one that was not says nothing.

    Attributes:
        level: Which.
        throughput_tps: The figure of `level`. In a closed loop its interval is that of the maximum of all levels near
            the peak, since the highest of several noisy figures overstates the truth.
        is_inside_range: A higher level was measured and was worse: the peak is not beyond the last level.
        tied_levels: Levels that are not distinguishable from the peak at the given confidence, the peak included,
            rising; at rates the peak alone.
    """

    level: Level
    throughput_tps: Estimate
    is_inside_range: bool
    tied_levels: tuple[Level, ...] = ()


class PoolReason(StrEnum):
    """Why a connection pool should be of that size."""

    UNKNOWN = "unknown"  # nothing completed at any level
    ONLY_LEVEL = "only-level"
    SINGLE_FIGURES = "single-figures"  # published figures that say nothing of how they vary: what they show, no advice
    UNRESOLVED = "unresolved"  # no level is shown to be enough: the trials are too few or too noisy
    STILL_RISING = "still-rising"
    OBJECTIVE = "objective"  # more connections do not keep the objective
    LOWEST_LEVEL = "lowest-level"
    NO_GAIN = "no-gain"  # no other level gives more than 5 % more
    PEAK = "peak"


class PoolAdvice(Document):
    """How large a connection pool should be, following from the curve.

    Attributes:
        connections: The smallest level that is shown to sustain at least 95 % of what every other level sustains; where
            none is, the largest that may be needed; of single published figures the level with the highest. With an
            objective only levels that keep it count.
        per_core: `connections` over the system's processor cores; None when cores are unknown.
        reason: Why.
        between: Where unresolved: the smallest and the largest level that may be the right one.
        client_shared_processors: The client ran on the server's host, so the pool was found on what the client left.
    """

    connections: int
    per_core: float | None = None
    reason: PoolReason
    between: tuple[int, int] | None = None
    client_shared_processors: bool = False

    @property
    def is_advice(self) -> bool:
        """Whether repetitions show it, and it is not only what single figures show."""
        return self.reason not in (PoolReason.UNKNOWN, PoolReason.UNRESOLVED, PoolReason.SINGLE_FIGURES)


class Curve(Document):
    """One system under one workload and one kind of load: its cells by rising level.

    Attributes:
        system: Which.
        workload: Which.
        kind: Who sets the pace.
        cells: By rising level.
        peak: Where it is best; None when no rate was sustained.
        pool: How many connections an application should keep open; None at rates, and where no level keeps the
            objective.
    """

    system: str
    workload: str
    kind: LevelKind
    cells: tuple[Cell, ...]
    peak: Peak | None
    pool: PoolAdvice | None = None

    @property
    def peak_cell(self) -> Cell | None:
        """The cell at the peak."""
        return None if self.peak is None else self.cell_at(self.peak.level)

    @property
    def sustained(self) -> tuple[Cell, ...]:
        """The cells that an application could run at: at rates those up to the peak, otherwise all."""
        if not self.kind.is_at_rate:
            return self.cells
        return tuple(one for one in self.cells if self.peak and one.level.order <= self.peak.level.order)

    def cell_at(self, level: Level) -> Cell | None:
        """The cell at a level; None where there is none."""
        return next((cell for cell in self.cells if cell.level.order == level.order), None)
