"""What is said of two systems that took turns; part of the analysis."""

from __future__ import annotations

from enum import StrEnum

from plimsoll.analyse.cell_model import Estimate
from plimsoll.record.document import Document


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
        response_p99_ratio: 99th percentile of response time of `system` over that of `base`, from rounds; None where
            a round has too few transactions for one.
        rounds: In order.
    """

    turn_s: float
    pair_count: int
    basis: DuetBasis
    correlation: float | None = None
    is_widened: bool = False
    response_p99_ratio: Estimate | None = None
    rounds: tuple[DuetRound, ...]
