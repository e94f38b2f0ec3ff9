"""The order of a duet: which systems take turns, in pairs of neighbouring turns whose order is tossed.

A *pair* is one turn of each of two systems, one right after the other. A *sweep* has one pair of each two systems, in
random order; so all comparisons get equally many pairs, spread evenly over a round. Deliberately not here: freezing
(`run.duet`), and what follows from the pairs (`analyse.duet`).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from plimsoll.plan.order import cell_order
from plimsoll.record.level import Level
from plimsoll.spec.duet import pair_count, pairs_per_round, sweeps_to_warm
from plimsoll.spec.statements import Workload
from plimsoll.spec.study import StudySpec
from plimsoll.spec.study_section import StudySection

SWITCH_S = 0.01
"""Typical time from the end of a turn to the begin of the next: draining, freezing, thawing."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a round.

    Attributes:
        pair: Ordinal of its pair in the round, from 0.
        position: 0 for the first turn of the pair, 1 for the second.
        side: Whose turn it is, as index of its system.
        against: Whose turn the other one of the pair is.
    """

    pair: int
    position: int
    side: int
    against: int


def order_of_turns(system_count: int, sweep_count: int, seed: int) -> tuple[Turn, ...]:
    """All turns of a round: sweep after sweep, in each every two systems once.

    Args:
        system_count: At least two.
        sweep_count: How many sweeps.
        seed: Order of pairs, and of the turns in each, follow from it.
    """
    toss = random.Random(seed)  # noqa: S311 - an order, not a secret
    turns: list[Turn] = []
    for _ in range(sweep_count):
        pairs = list(combinations(range(system_count), 2))
        toss.shuffle(pairs)
        for first, second in pairs:
            one, other = (first, second) if toss.random() < 0.5 else (second, first)
            pair = len(turns) // 2
            turns += [Turn(pair, 0, one, other), Turn(pair, 1, other, one)]
    return tuple(turns)


def duet_cells(spec: StudySpec) -> Iterator[tuple[int, Workload, Level]]:
    """Round, workload and level of each part of a duet: round after round, in each all cells in random order."""
    cells = [(workload, level) for workload in spec.workload for level in spec.study.levels.levels]
    for repetition in range(spec.study.repetition_count):
        ordered = cell_order(cells, seed=spec.study.seed, repetition=repetition)
        yield from ((repetition, workload, level) for workload, level in ordered)


def duet_identity(study: StudySection, systems: Sequence[dict[str, object]]) -> dict[str, object]:
    """What changes the trials of a duet besides their own inputs: the length of turns, and who takes part."""
    return {"turn": study.turn, "systems": sorted(systems, key=repr)}


def load_s_of_duet(study: StudySection, warm_up_s: float, system_count: int) -> float:
    """How long the load of one cell in one round takes, warm-up and switches included, seconds."""
    sweeps = sweeps_to_warm(warm_up_s, study, system_count) + pairs_per_round(study)
    return sweeps * pair_count(system_count) * 2 * (study.turn + SWITCH_S)
