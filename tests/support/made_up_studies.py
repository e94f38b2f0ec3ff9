"""Made-up studies whose truth is known, with block effects that no method is told of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from plimsoll.analyse.throughput import MeanThroughput, Repeated, mean_throughputs

NOISE = 0.03
"""Standard deviation of the residual, on a scale of natural logarithms."""


@dataclass(frozen=True, kw_only=True)
class World:
    """How repetitions vary, as multiples of the residual.

    Attributes:
        repetition: Between repetitions of the study: the hour, the machine's state; all systems alike.
        start: Between starts of a server: one for each system and repetition, all levels alike.
        minute: Between the times of cells: by repetition and level, the same for systems (a burst returns in order).
        noise: The residual itself.
        levels_noise: Factors of the noise by level.
        systems_noise: Factors of the noise by system, its starts included.
    """

    repetition: float = 0.0
    start: float = 0.0
    minute: float = 0.0
    noise: float = NOISE
    levels_noise: tuple[float, ...] = ()
    systems_noise: tuple[float, ...] = ()

    def logs(self, random: np.random.Generator, systems: int, levels: int, repetitions: int) -> np.ndarray:
        """Deviations from the truth, shape (systems, levels, repetitions)."""
        scale = np.array(self.levels_noise or (1.0,) * levels)[None, :, None]
        of_systems = np.array(self.systems_noise or (1.0,) * systems)[:, None, None]
        residual = random.normal(size=(systems, levels, repetitions)) * scale
        return self.noise * (
            residual * of_systems
            + self.repetition * random.normal(size=(1, 1, repetitions))
            + self.start * random.normal(size=(systems, 1, repetitions)) * of_systems
            + self.minute * random.normal(size=(1, levels, repetitions)) * scale
        )


WORLDS: Mapping[str, World] = {
    f"repetition {repetition:g}, start {start:g}, minute {minute:g}": World(
        repetition=repetition, start=start, minute=minute
    )
    for repetition in (0, 1, 3)
    for start in (0, 1, 3)
    for minute in (0, 1, 3)
}

Means = list[list[MeanThroughput]]
"""By system, then by level."""


def means_of(truth_tps: np.ndarray, logs: np.ndarray) -> Means:
    """The means of one study.

    Args:
        truth_tps: True throughput, shape (systems, levels).
        logs: Deviations, shape (systems, levels, repetitions).
    """
    tps = truth_tps[:, :, None] * np.exp(logs)
    systems, levels, repetitions = tps.shape
    cells = [
        Repeated(
            tuple(float(one) for one in tps[system, level]),
            (None,) * repetitions,
            "alike",
            system=f"s{system}",
            level=(False, float(level)),
            repetitions=tuple(range(repetitions)),
        )
        for system in range(systems)
        for level in range(levels)
    ]
    means = mean_throughputs(cells)
    return [means[system * levels : (system + 1) * levels] for system in range(systems)]
