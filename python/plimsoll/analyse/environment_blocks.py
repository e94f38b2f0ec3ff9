"""Comparing systems of two environments that are not there at the same time: by blocks, and not by repetitions.

A *block* is the time from a switch of environments to the next. What differs from block to block (the hour, a start of
the machine, where a virtual machine was placed) meets all repetitions of a block alike. So the block is the unit: a
system has one figure for each block, the mean of the logarithms of its repetitions there. Two systems of different
environments are compared by Welch's t test (1947) of these figures, which allows the blocks of one environment to vary
more than those of the other. With a single block of either nothing tells a difference of the environments from one of
the times at which they were measured: there is no interval, and no verdict.

Assumptions: blocks are independent of each other, and their effects about normal. A slow change over all blocks is not
removed: it widens the interval. Systems of one environment are compared within repetitions, as in any other study
(`level_table`). Deliberately not here: the order in which environments are measured (`plimsoll.plan.order`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from plimsoll.analyse.cell_model import SpreadKind
from plimsoll.analyse.comparison import welch
from plimsoll.analyse.environments import began_unix_s
from plimsoll.analyse.log_ratio import NO_SPREAD, LogRatio
from plimsoll.analyse.model import EnvironmentBlocks
from plimsoll.analyse.throughput import MeanThroughput, Repeated
from plimsoll.record.model import TrialRecord

BLOCKS_NEEDED = 2
"""Of each environment, for an interval."""


def blocks_of(trials: Iterable[TrialRecord]) -> Mapping[str, int]:
    """The block of each trial of a study by the trial's id; empty where no environments are switched.

    It follows from when trials began, whatever was planned.
    """
    in_time = sorted((one for one in trials if one.system.environment is not None), key=began_unix_s)
    stretches = itertools.groupby(in_time, key=lambda one: one.system.environment)
    return {one.trial_id: number for number, (_, own) in enumerate(stretches) for one in own}


def compared_blocks(base: Repeated, system: Repeated) -> EnvironmentBlocks | None:
    """How often the environments of two cells were there; None where they are in the same one."""
    if base.environment is None or system.environment is None or base.environment == system.environment:
        return None
    return EnvironmentBlocks(
        environments=(base.environment, system.environment), counts=(len(set(base.blocks)), len(set(system.blocks)))
    )


def ratio_of_blocks(system: MeanThroughput, base: MeanThroughput) -> LogRatio | None:
    """The logarithm of the ratio of two means of different environments; None with a single block of either."""
    figures = [_by_block(one.cell) for one in (system, base)]
    counts = [len(one) for one in figures]
    if min(counts) < BLOCKS_NEEDED:
        return None
    variance = welch([(float(np.var(one, ddof=1)) / len(one), len(one) - 1) for one in figures])
    if variance.variance <= NO_SPREAD:
        return None
    return LogRatio(
        value=float(np.mean(figures[0]) - np.mean(figures[1])),
        variance=variance,
        repetitions=min(counts),
        basis=SpreadKind.BLOCKS,
        method=(
            f"Welch's t on logarithms of {counts[0]} and {counts[1]} blocks of environments"
            f" ({variance.degrees:.3g} degrees of freedom)"
        ),
    )


def _by_block(cell: Repeated) -> Sequence[float]:
    """The mean logarithm of throughput in each block; none where something completed nothing."""
    if min(cell.throughputs_tps) <= 0:
        return ()
    logs: dict[int, list[float]] = {}
    for block, tps in zip(cell.blocks, cell.throughputs_tps, strict=True):
        logs.setdefault(block, []).append(float(np.log(tps)))
    return [float(np.mean(own)) for own in logs.values()]
