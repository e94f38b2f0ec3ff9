"""What is said about systems over rising levels and beside each other, as values; part of the analysis.

Curves with their peaks and pools, duets, effects of factors, and claims of an earlier study.
"""

from __future__ import annotations

import math
from enum import StrEnum

from plimsoll.analyse.study.cell_model import Cell, Estimate
from plimsoll.analyse.study.ratio_model import Ratio
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
    SINGLE_FIGURES = "single-figures"  # published figures that say nothing of how they vary: the highest of them
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
        is_published: It follows from figures that were imported, and not measured here.
    """

    connections: int
    per_core: float | None = None
    reason: PoolReason
    between: tuple[int, int] | None = None
    client_shared_processors: bool = False
    is_published: bool = False


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
        return tuple(cell for cell in self.cells if self.peak and cell.level.order <= self.peak.level.order)

    def cell_at(self, level: Level) -> Cell | None:
        """The cell at a level; None where there is none."""
        return next((cell for cell in self.cells if cell.level.order == level.order), None)


class DuetBasis(StrEnum):
    """What decides how wide the interval of a duet is."""

    ROUNDS = "rounds"
    PAIRS = "pairs"


class DuetRound(Document):
    """One round of a duet: all servers were started again before it.

    Attributes:
        repetition: 0, 1, 2, …
        ratio: Throughput of `system` over that of `base` in this round.
        pair_ratios: The same of each pair of neighbouring turns, in order.
    """

    repetition: int
    ratio: float
    pair_ratios: tuple[float, ...]


class Duet(Document):
    """The pairs of turns that a comparison rests on.

    Attributes:
        turn_s: Median length of the counted part of a turn, seconds.
        pair_count: Pairs of turns of all rounds together.
        basis: Which of the two intervals is the wider one, and counts: that between rounds or that within them.
        correlation: Of neighbouring pairs (lag 1), all rounds together; None for fewer than ten pairs.
        is_widened: The variance within rounds was widened, since neighbouring pairs resemble each other.
        rounds: In order.
    """

    turn_s: float
    pair_count: int
    basis: DuetBasis
    correlation: float | None = None
    is_widened: bool = False
    rounds: tuple[DuetRound, ...]


class EffectMeasure(StrEnum):
    """What a factor has an effect on."""

    THROUGHPUT = "throughput"
    CAPACITY = "capacity"


class EffectAtLevel(Document):
    """The effect of a factor at one level.

    Attributes:
        level: Which.
        ratio: As that of the effect, at this level alone.
    """

    level: Level
    ratio: Estimate


class FactorEffect(Ratio):
    """What one value of a factor changes, compared with the factor's first value.

    Attributes:
        workload: Under which.
        measure: Of what it is the ratio.
        factor: Which.
        base: The factor's first value.
        value: The value that is compared with it.
        ratio: Throughput, or capacity, with `value` over that with `base`: the geometric mean over the combinations of
            the other factors that have both, and over all levels. Its bounds stand for it alone.
        verdict: Whether `value` is faster or slower than `base` or equal to it within `equal_within`, corrected for all
            effects and interactions of the study (Holm); `disturbed` where the machine made over 5 % of it.
        over: Names of the other factors.
        contexts_count: Over how many combinations of them the ratio is a mean; 0 where `is_additive`.
        is_additive: No two systems differ in this factor alone; the ratio is right only where factors do not interact.
        levels: The ratio at each level alone; empty where there is only one level, and for capacities.
    """

    workload: str
    measure: EffectMeasure = EffectMeasure.THROUGHPUT
    factor: str
    base: str
    value: str
    over: tuple[str, ...] = ()
    contexts_count: int = 1
    is_additive: bool = False
    levels: tuple[EffectAtLevel, ...] = ()


class Interaction(Ratio):
    """How the effect of a factor depends on another factor, or on the level.

    Attributes:
        workload: Under which.
        measure: Of what the ratios are.
        factor: The factor whose effect it is.
        base: Its first value.
        value: The value that is compared with it.
        other: The factor on which the effect depends; null for the level.
        other_base: The first value of `other`; null for the level.
        other_value: The value of `other` that is compared with it; null for the level.
        base_level: The lowest level; null where `other` is a factor.
        level: The level that is compared with it; null where `other` is a factor.
        ratio: The effect at `other_value` or `level` over the effect at `other_base` or `base_level`: 1 where it does
            not depend on it. Its bounds stand for it alone.
        effect_at_base: The effect of `value` at `other_base`, or at `base_level`.
        effect_at_value: The effect of `value` at `other_value`, or at `level`.
        verdict: `faster` or `slower` where the ratio is established to be above or below 1, as that of an effect.
    """

    workload: str
    measure: EffectMeasure = EffectMeasure.THROUGHPUT
    factor: str
    base: str
    value: str
    other: str | None = None
    other_base: str | None = None
    other_value: str | None = None
    base_level: Level | None = None
    level: Level | None = None
    effect_at_base: Estimate
    effect_at_value: Estimate


class Effects(Document):
    """What the factors of a study do; all empty where systems were written out.

    Attributes:
        factors: What each factor changes, over the others.
        interactions: How effects depend on other factors and on the level, also where that is not established.
    """

    factors: tuple[FactorEffect, ...] = ()
    interactions: tuple[Interaction, ...] = ()


class ClaimVerdict(StrEnum):
    """Whether what was claimed shows here."""

    SHOWS = "shows"
    DOES_NOT_SHOW = "does-not-show"
    NOT_RESOLVED = "not-resolved"
    NOT_MEASURED = "not-measured"


class CheckedClaim(Document):
    """A claim about one system, held against what was measured.

    Attributes:
        says: The claim in the words of the study file, or of an import's document.
        source: Who made it; empty when not said.
        workload: Under which workload.
        system: Of which system.
        base: The system compared with; null for other claims.
        base_workload: The workload compared with; null for other claims.
        connections: For `ratio` and `scale_factor`: the level; null for that of the peaks.
        check: What was compared: `peak_connections`, `peak_per_cpu`, `ratio`, `scale_factor` or `limited_by`.
        low: The lowest value that agrees with the claim; null for `limited_by`.
        high: The highest; null where there is no upper limit.
        limited_by: For that check what is claimed: `hardware` or `no hardware`.
        found: What was measured; null for `limited_by` and where nothing was.
        levels: For peaks: the levels that may be the peak, rising: repetitions do not show that they have less.
        resource: For `limited_by`: the resource that limits here; null where none does.
        verdict: `shows` where the whole interval agrees, `does-not-show` where none of it does, otherwise
            `not-resolved`, as with one repetition; `not-measured` where the trials that would tell are missing.
    """

    says: str
    source: str = ""
    workload: str
    system: str
    base: str | None = None
    base_workload: str | None = None
    connections: int | None = None
    check: str
    low: float | None = None
    high: float | None = None
    limited_by: str | None = None
    found: Estimate | None = None
    levels: tuple[Level, ...] = ()
    resource: str | None = None
    verdict: ClaimVerdict

    @property
    def is_in_range(self) -> bool:
        """Whether the figure itself agrees, whatever its interval."""
        return (
            self.found is not None
            and self.low is not None
            and self.low <= self.found.value <= (math.inf if self.high is None else self.high)
        )
