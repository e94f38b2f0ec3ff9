"""Made-up machines on which other programs come and go while two systems take turns in whole trials.

A fluid model of one second: `CPUS` processors share their time evenly among all that want to run, the threads of
server and client and those of other programs (processor sharing). N connections in a closed loop are either runnable
or wait for storage; runnable ones collide at random even where nobody else runs. Nothing of the rule that is tested is
in it: throughput follows from the model, and what telemetry would have seen is read off it, with noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from plimsoll.analyse.trial.samples import MachineSeconds

CPUS, SECONDS = 2, 10
_STORAGE_S = 0.001
_MOST_OTHERS = 8


@dataclass(frozen=True, kw_only=True)
class World:
    """When other programs run, and how many.

    Attributes:
        begins: Chance in a second without them that they begin.
        ends: Chance in a second with them that they end.
        most: Between 1 and so many run at once, drawn for each spell.
        only_second: They run beside the second system alone.
        weight: Of one of their threads against one of ours; nearly 0 for the lowest priority.
        once_s: They run for so long once, instead, from a second drawn for each study.
    """

    begins: float = 0.0
    ends: float = 1.0
    most: int = 4
    only_second: bool = False
    weight: float = 1.0
    once_s: int = 0


WORLDS: Mapping[str, World] = {
    "calm": World(),
    "lowest priority": World(begins=1.0, ends=0.0, only_second=True, weight=0.002),
    "mild": World(begins=1 / 40, ends=1 / 20, most=1),
    "busy": World(begins=1 / 40, ends=1 / 20),
    "heavy": World(begins=1 / 20, ends=1 / 20, most=8),
    "long": World(begins=1 / 200, ends=1 / 100),
    "once": World(once_s=40, most=8),
    "beside the second": World(begins=1.0, ends=0.0, only_second=True),
    "spells beside the second": World(begins=1 / 5, ends=1 / 5, only_second=True),
    "beside both": World(begins=1.0, ends=0.0, most=2),
}


@dataclass(frozen=True)
class Measured:
    """The trials of a study, by system and repetition, and what their machines showed."""

    tps: np.ndarray
    machines: list[list[MachineSeconds]]


def measure(
    world: World, random: np.random.Generator, *, ratio: float = 1.0, connections: int = 4, repetitions: int = 4
) -> Measured:
    """One study of two systems in ABBA order; the second needs the first's processor time divided by `ratio`."""
    order = [(system, number) for number in range(repetitions) for system in ((0, 1) if number % 2 == 0 else (1, 0))]
    others = _others(world, random, len(order))
    demands = (0.001, 0.001 / ratio)
    tables = [
        [_second(connections, demand, count, world.weight) for count in range(_MOST_OTHERS + 1)] for demand in demands
    ]
    tps = np.zeros((2, repetitions))
    machines: list[list[MachineSeconds]] = [[], []]
    for place, (system, number) in sorted(enumerate(order), key=lambda one: one[1]):
        counts = others[place] if system == 1 or not world.only_second else np.zeros(SECONDS, dtype=int)
        found = np.array([tables[system][count] for count in counts])
        run = float(np.exp(random.normal(0.0, 0.01)))  # how starts of a server differ
        machine = _telemetry(found, counts, connections, random)
        machines[system].append(machine)
        seconds = found[:, 0] / demands[system] * run * np.exp(random.normal(0.0, 0.02, SECONDS))
        tps[system, number] = seconds.mean()
    return Measured(tps, machines)


def measure_duet(
    world: World, random: np.random.Generator, *, ratio: float = 1.0, connections: int = 4, rounds: int = 5
) -> Measured:
    """The same of two systems that take turns within each second of a round, beside the same other programs.

    A side is seen while it runs, so its machine says the mean of the round in each second, as telemetry of frozen
    servers does. What threads wait differs from round to round by 5 % besides.
    """
    others = _others(world, random, rounds)
    demands = (0.001, 0.001 / ratio)
    tps = np.zeros((2, rounds))
    machines: list[list[MachineSeconds]] = [[], []]
    for number, counts in enumerate(others):
        turns = [
            np.array([_second(connections, demand, count, world.weight) for count in counts]) / 2 for demand in demands
        ]
        idle = np.clip(CPUS - sum(turn[:, 0] for turn in turns) - counts, 0.0, None)
        for system, turn in enumerate(turns):
            seen = _telemetry(turn, counts, connections, random, idle=idle, differs=0.05)
            means = {
                name: np.full(SECONDS, getattr(seen, name).mean())
                for name in ("server_cpu_s", "server_wait_s", "client_cpu_s", "client_wait_s", "free_ratio")
            }
            machines[system].append(replace(seen, in_service=connections / 2, **means))
            noise = np.exp(random.normal(0.0, 0.01) + random.normal(0.0, 0.02, SECONDS))
            tps[system, number] = (2 * turn[:, 0] / demands[system] * noise).mean()
    return Measured(tps, machines)


def _others(world: World, random: np.random.Generator, trials: int) -> np.ndarray:
    """How many other programs run in each second, shape (trials, seconds)."""
    size = trials * SECONDS
    running = np.zeros(size, dtype=int)
    if world.once_s:
        first = int(random.integers(0, size))
        running[first : first + world.once_s] = random.integers(1, world.most + 1)
        return running.reshape(trials, SECONDS)
    is_there = random.random() < world.begins / (world.begins + world.ends)
    count = int(random.integers(1, world.most + 1)) if is_there else 0
    for second in range(size):
        running[second] = count
        if count == 0 and random.random() < world.begins:
            count = int(random.integers(1, world.most + 1))
        elif count and random.random() < world.ends:
            count = 0
    return running.reshape(trials, SECONDS)


@cache
def _second(connections: int, demand_s: float, others: int, weight: float) -> tuple[float, float]:
    """Processor time that our threads use in a second, and what they wait for it, by bisection of how many run."""
    low, high = 0.0, float(connections)
    for _ in range(60):
        runnable = (low + high) / 2
        used = _used(runnable, others * weight)
        low, high = (runnable, high) if runnable + used / demand_s * _STORAGE_S < connections else (low, runnable)
    return used, low - used


def _used(runnable: float, others: float) -> float:
    alone: float = CPUS * (1 - (1 - 1 / CPUS) ** runnable)  # as many processors as random placement fills
    shared = CPUS * runnable / (runnable + others) if runnable + others > CPUS else runnable
    return min(alone, shared)


def _telemetry(
    found: np.ndarray,
    counts: np.ndarray,
    connections: int,
    random: np.random.Generator,
    *,
    idle: np.ndarray | None = None,
    differs: float = 0.0,
) -> MachineSeconds:
    """What the samplers would say: a fifth of the time is the client's, the rest the server's; each with its noise.

    `idle` is given where not only these threads and the other programs run; waits differ by `differs` as a whole.
    """
    size = len(counts)
    used = found[:, 0]
    waited = found[:, 1] * np.exp(random.normal(0.0, 0.1, size) + (random.normal(0.0, differs) if differs else 0.0))
    idle = np.clip(CPUS - used - counts, 0.0, None) if idle is None else idle
    background = np.abs(random.normal(0.0, 0.02, size))
    return MachineSeconds(
        began_unix_s=1e9,
        host="made",
        cpu_count=CPUS,
        in_service=float(connections),
        throughput_tps=1000.0,
        server_cpu_s=0.8 * used,
        server_wait_s=0.8 * waited,
        client_cpu_s=0.2 * used,
        client_wait_s=0.2 * waited,
        free_ratio=np.clip((idle - background) / CPUS, 0.0, 1.0),
        steal_ratio=np.zeros(size),
        frequency_hz=np.full(size, np.nan),
    )
