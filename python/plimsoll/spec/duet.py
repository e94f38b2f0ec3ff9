"""Duets as users write them: which studies can be one, and how many turns follow from their times.

Deliberately not here: the order of turns (`plan.duet`) and their analysis (`analyse.duet`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from plimsoll.spec.pace import has_own_pace
from plimsoll.spec.workloads import is_sound

if TYPE_CHECKING:
    from plimsoll.spec.study import StudySpec
    from plimsoll.spec.study_section import StudySection

Design = Literal["sequential", "duet"]

TURN_S_MIN, TURN_S_MAX = 0.1, 10.0
"""In a shorter turn the switch counts for more than the load, in a longer one slow noise does not cancel."""

PAIRS_MIN = 10
"""With fewer pairs of turns in a round the trimmed mean has too few degrees of freedom."""

ROUNDS_MIN = 2
"""One round says nothing about how starts of servers differ."""

LEAD_RATIO = 0.2
"""The begin of each turn that does not count, as a share of it."""


def pairs_per_round(study: StudySection) -> int:
    """How many pairs of turns each two systems have in the measured part of a round."""
    return int(study.duration_most / (2 * study.turn) + 1e-9)


def sweeps_to_warm(seconds: float, study: StudySection, system_count: int) -> int:
    """How many sweeps give each system so many seconds of load. A sweep has one pair of turns of each two systems."""
    return math.ceil(seconds / (study.turn * (system_count - 1)) - 1e-9)


def pair_count(system_count: int) -> int:
    """How many pairs there are of so many systems."""
    return system_count * (system_count - 1) // 2


def counted_turn_s(study: StudySection) -> float:
    """Length of the counted part of a turn, seconds."""
    return study.turn * (1 - LEAD_RATIO)


def counted_s_of_duet(study: StudySection, system_count: int) -> float:
    """How long the turns of each system count in a round, seconds."""
    return pairs_per_round(study) * (system_count - 1) * counted_turn_s(study)


def duet_faults(spec: StudySpec) -> Iterable[str]:
    """What keeps a study from being a duet, or belongs to duets only; one line each."""
    study, said = spec.study, spec.study.model_fields_set
    if study.design == "sequential":
        for key in ("turn", "rounds"):
            if key in said:
                yield f'study.{key}: belongs to a duet; say design = "duet", or leave it out'
        return
    if "repetitions" in said:
        yield "study.repetitions: a duet has rounds, in each of which all servers are started again; say rounds"
    if study.levels.capacity is not None:
        yield from _ramp_faults(spec)
        return
    if not TURN_S_MIN <= study.turn <= TURN_S_MAX:
        yield f'study.turn: must be "100ms" to "10s", is {study.turn:g} s'
    elif study.duration is None:
        yield 'study.duration: must be a time in a duet, such as "60s"; rounds = "auto" goes on until it is decided'
    elif pairs_per_round(study) < PAIRS_MIN:
        yield (
            f"study.duration: holds {pairs_per_round(study)} pairs of turns of {study.turn:g} s, at least {PAIRS_MIN}"
            " are needed; raise duration or shorten turn"
        )
    if study.rounds is not None and study.rounds < ROUNDS_MIN:
        yield (
            f"study.rounds: must be at least {ROUNDS_MIN}, is {study.rounds}: one says nothing about how starts differ"
        )
    yield from _system_faults(spec)
    yield from _pace_faults(spec)


def _ramp_faults(spec: StudySpec) -> Iterable[str]:
    """Capacities are compared by ramps: each has its own time, in which the other systems are frozen."""
    if "turn" in spec.study.model_fields_set:
        yield "study.turn: ramps that compare capacities have no turns; leave turn or capacity out"
    if spec.study.rounds is None:
        yield "study.rounds: must be a number where capacities are compared: pairs of ramps end when it is decided"
    if spec.study.duration is None:
        yield 'study.duration: must be a time where capacities are compared, such as "20s"'
    yield from _system_faults(spec)


def _system_faults(spec: StudySpec) -> Iterable[str]:
    if len(spec.system) < 2:
        yield "study.design: a duet compares systems; there is one. Add a system, or leave design out"
    for index, system in enumerate(spec.system):
        if system.server is None:
            yield (
                f"system[{index}]: a duet freezes servers, and Plimsoll freezes none that it did not start; use server"
                " in place of target, or leave design out"
            )
        if system.replicas:
            yield (
                f"system[{index}]: replicas would apply what their source wrote in the turns of other systems; leave"
                " replicas or design out"
            )
        if system.host is not None:
            yield f"system[{index}].host: systems of a duet run on this machine; leave it out, or leave design out"


def _pace_faults(spec: StudySpec) -> Iterable[str]:
    """A schedule goes on while its server is frozen, and what falls due then would wait for the thaw."""
    if spec.study.levels.rate_tps is not None:
        yield "study.levels.rate_tps: in a duet connections go at their own pace; leave rate_tps or design out"
    if spec.study.clients.think_time is not None:
        yield "study.clients.think_time: pauses go on while a server is frozen; leave think_time or design out"
    for index, workload in enumerate(spec.workload):
        if is_sound(workload) and has_own_pace(workload):
            yield (
                f"workload[{index}]: has pauses of its own, which go on while a server is frozen; leave them or design"
                " out"
            )
