"""In which order the trials of a study run, and whose turn it is in a duet: pure, and repeatable from the seed.

Repetitions are the outer loop and the blocks of the analysis: what changes slowly meets all systems alike. Within a
repetition each system is one block, from start to stop of its server, and every system meets the workloads and levels
in the same order, so that a cell of one system has the same predecessor as that of another. The order of cells changes
with each repetition, so that no level always follows the same other one.

The order of systems is reversed in every other repetition (ABBA), so that a steady trend cancels over each pair of
repetitions; with more than two systems it is also rotated from pair to pair, so that none always stands in the middle.
Which one comes first follows from the seed. A repetition's order depends on no other one: more repetitions leave the
order of the earlier ones as it was.

In a duet, a *pair* is one turn of each of two systems, one right after the other. A *sweep* has one pair of each two
systems, in random order; so all comparisons get equally many pairs, spread evenly over a round. Deliberately not here:
freezing (`run.duet`), and what follows from the pairs (`analyse.study.duets`).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

from plimsoll.record.level import Level
from plimsoll.spec.study import StudySection, StudySpec, pair_count, pairs_per_round, sweeps_to_warm
from plimsoll.spec.system import SystemSpec
from plimsoll.spec.workloads import Workload

Item = TypeVar("Item")


def system_order(systems: Sequence[Item], *, seed: int, repetition: int) -> list[Item]:
    """The systems in the order in which they run in a repetition.

    >>> [system_order("ABC", seed=3, repetition=repetition) for repetition in range(4)]
    [['A', 'B', 'C'], ['C', 'B', 'A'], ['B', 'C', 'A'], ['A', 'C', 'B']]
    """
    order = list(systems)
    _random(seed, "systems").shuffle(order)
    turn = (repetition // 2) % len(order) if len(order) > 2 else 0
    order = order[turn:] + order[:turn]
    return order[::-1] if repetition % 2 else order


def blocks_in_order(spec: StudySpec) -> Iterator[tuple[int, SystemSpec]]:
    """The repetition and system of each block of trials.

    Environments that a hook switches are in ABBA order over repetitions; so two repetitions of an environment follow
    each other, and a switch is saved. Those that are switched by hand are measured in rounds, each in the same order:
    between two blocks of one environment there is always another one.
    """
    study, environments = spec.study, spec.environments
    for repetitions, group in _visits(spec):
        for repetition in repetitions:
            systems = system_order(spec.system, seed=study.seed, repetition=repetition)
            yield from (
                (repetition, system) for system in systems if len(environments) < 2 or system.environment == group
            )


def round_of(spec: StudySpec, repetition: int) -> int:
    """The round that a repetition belongs to where environments are switched by hand."""
    return repetition * spec.study.blocks_count // spec.study.repetition_count


def _visits(spec: StudySpec) -> Iterator[tuple[Sequence[int], str | None]]:
    """Repetitions that are measured in one environment before the next; None for all systems."""
    repetitions, environments = range(spec.study.repetition_count), spec.environments
    if len(environments) < 2:
        yield repetitions, None
    elif spec.study.switch == "hand":
        for number in range(spec.study.blocks_count):
            round_repetitions = [repetition for repetition in repetitions if round_of(spec, repetition) == number]
            yield from ((round_repetitions, name) for name in environments)
    else:
        for repetition in repetitions:
            yield from (
                ((repetition,), name)
                for name in system_order(environments, seed=spec.study.seed, repetition=repetition)
            )


def cell_order(cells: Sequence[Item], *, seed: int, repetition: int) -> list[Item]:
    """The workloads and levels in the order in which every system meets them in a repetition."""
    order = list(cells)
    _random(seed, f"cells {repetition}").shuffle(order)
    return order


def _random(seed: int, of: str) -> random.Random:
    return random.Random(f"{seed} {of}")  # noqa: S311 - an order, not a secret


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
            earlier, later = (first, second) if toss.random() < 0.5 else (second, first)
            pair = len(turns) // 2
            turns += [Turn(pair, 0, earlier, later), Turn(pair, 1, later, earlier)]
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
