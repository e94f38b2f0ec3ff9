"""Made-up studies whose truth is known, with block effects that no method is told of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from plimsoll.analyse.study.cell_model import EQUAL_WITHIN
from plimsoll.analyse.study.comparison import ALPHA, LogRatio, judge
from plimsoll.analyse.study.curves import compare_peaks
from plimsoll.analyse.study.ratio_model import Ratio
from plimsoll.analyse.study.ratios import log_ratio
from plimsoll.analyse.study.throughput import MeanThroughput, Repeated, mean_throughputs
from plimsoll.stats.significance import holm

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


TestKey = tuple[int, int, int, int]
"""Base, system, and the level of each."""


def ratios_of(means: Means) -> dict[TestKey, LogRatio]:
    """All ratios that a guide shows of one workload, each once."""
    levels = range(len(means[0]))
    curves = [{(False, float(at)): one for at, one in enumerate(own)} for own in means]
    found: dict[TestKey, LogRatio] = {}
    for base, system in combinations(range(len(means)), 2):
        ratios = [((level, level), log_ratio(means[system][level], means[base][level])) for level in levels]
        if len(levels) > 1:
            peaks = compare_peaks(curves[base], curves[system])
            ratios.append(((int(peaks.levels[0][1]), int(peaks.levels[1][1])), peaks.log_ratio))
        found |= {(base, system, *at): one for at, one in ratios if one is not None}
    return found


def judged(means: Means, equal_within: float = EQUAL_WITHIN) -> dict[TestKey, Ratio]:
    """The same, judged together."""
    ratios = ratios_of(means)
    return dict(zip(ratios, judge(list(ratios.values()), equal_within=equal_within), strict=True))


def has_winner(means: Means) -> bool:
    """Whether any system is named faster or slower; quicker than `judged`, which finds more than the verdict."""
    return min(holm([ratio.chance_if_same for ratio in ratios_of(means).values()])) <= ALPHA
