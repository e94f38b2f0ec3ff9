"""In which order the trials of a study run: pure, and repeatable from the seed.

Repetitions are the outer loop and the blocks of the analysis: what changes slowly meets all systems alike. Within a
repetition each system is one block, from start to stop of its server, and every system meets the workloads and levels
in the same order, so that a cell of one system has the same predecessor as that of another. The order of cells changes
with each repetition, so that no level always follows the same other one.

The order of systems is reversed in every other repetition (ABBA), so that a steady trend cancels over each pair of
repetitions; with more than two systems it is also rotated from pair to pair, so that none always stands in the middle.
Which one comes first follows from the seed. A repetition's order depends on no other one: more repetitions leave the
order of the earlier ones as it was.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import TypeVar

from plimsoll.spec.study import StudySpec
from plimsoll.spec.system import SystemSpec

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
            yield from ((repetition, one) for one in systems if len(environments) < 2 or one.environment == group)


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
            own = [one for one in repetitions if round_of(spec, one) == number]
            yield from ((own, name) for name in environments)
    else:
        for one in repetitions:
            yield from (((one,), name) for name in system_order(environments, seed=spec.study.seed, repetition=one))


def cell_order(cells: Sequence[Item], *, seed: int, repetition: int) -> list[Item]:
    """The workloads and levels in the order in which every system meets them in a repetition."""
    order = list(cells)
    _random(seed, f"cells {repetition}").shuffle(order)
    return order


def _random(seed: int, of: str) -> random.Random:
    return random.Random(f"{seed} {of}")  # noqa: S311 - an order, not a secret
