"""How two mean throughputs compare: their ratio and its variance, by what the two have in common.

* Two systems at one level: within repetitions, with the residual variances of both in the level's table.
* Two levels of a system: within one start of the server, by the table of the differences of the systems that were
  measured alike at both levels.
* Anything else that was measured in the same repetitions: paired t test of its own.
* Two systems of environments that are measured in turn: by blocks.
* What has no repetitions in common (imports, unlike hosts): Welch's test (1947) of the two spreads.

Assumptions: those of `throughput`.

Comparing systems of two environments that are not there at the same time: by blocks, and not by repetitions. A *block*
is the time from a switch of environments to the next. What differs from block to block (the hour, a start of the
machine, where a virtual machine was placed) meets all repetitions of a block alike. So the block is the unit: a system
has one figure for each block, the mean of the logarithms of its repetitions there. Two systems of different
environments are compared by Welch's t test (1947) of these figures, which allows the blocks of one environment to vary
more than those of the other. With a single block of either nothing tells a difference of the environments from one of
the times at which they were measured: there is no interval, and no verdict.

Assumptions: blocks are independent of each other, and their effects about normal. A slow change over all blocks is not
removed: it widens the interval. Systems of one environment are compared within repetitions, as in any other study
(`stats.variance`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from plimsoll.analyse.model import EnvironmentBlocks
from plimsoll.analyse.study.cell_model import Estimate, SpreadKind
from plimsoll.analyse.study.comparison import NO_SPREAD, LogRatio, welch
from plimsoll.analyse.study.environments import began_unix_s
from plimsoll.analyse.study.throughput import WITHIN_RUN_WORDS, MeanThroughput, Repeated
from plimsoll.record.model import TrialRecord
from plimsoll.stats.variance import LevelTable, MeanVariance, moderated_power_degrees


def ratio_of(system: MeanThroughput, base: MeanThroughput) -> Estimate | None:
    """One mean throughput over another, with bounds where both have a spread; None where one is zero."""
    if system.value_tps <= 0 or base.value_tps <= 0:
        return None
    ratio = log_ratio(system, base)
    if ratio is not None:
        return ratio.estimate()
    return Estimate(value=system.value_tps / base.value_tps, trial_count=min(system.trial_count, base.trial_count))


def log_ratio(system: MeanThroughput, base: MeanThroughput) -> LogRatio | None:
    """The logarithm of the ratio of two means; None where one of them has no spread."""
    if compared_blocks(base.cell, system.cell) is not None:
        ratio = ratio_of_blocks(system.cell, base.cell)
        return None if ratio is None else _known(ratio, system, base)
    if system.spread is None or base.spread is None:
        return None
    if not (system.spread.seen_between_runs and base.spread.seen_between_runs):
        return _apart(
            system, base, SpreadKind.WITHIN_RUN, f"Welch's t on logarithms, within the runs: {WITHIN_RUN_WORDS}"
        )
    return _in_common(system, base) or _of_one_way(system, base) or _welch(system, base)


def _in_common(system: MeanThroughput, base: MeanThroughput) -> LogRatio | None:
    """By the repetitions that both have; None where there are none, or where they share nothing else."""
    system_table, base_table = system.table, base.table
    if system_table is None or base_table is None or not (system_table.in_blocks and base_table.in_blocks):
        return None
    if system.cell.setting is None or system.cell.setting != base.cell.setting:
        return None
    same_system = system.cell.system == base.cell.system
    if same_system and system.cell.level == base.cell.level:
        return None
    differences = _differences(system_table, base_table, (system.cell.system, base.cell.system))
    if differences.size == 0:
        return None
    if system_table is base_table:
        variance, method = _of_systems(system_table, (system.cell.system, base.cell.system), differences.size)
    elif same_system:
        variance, method = _of_levels(system_table, base_table, system.cell.system, differences.size)
    else:
        variance, method = _mean_variance(differences), "paired t on logarithms"
    if variance is None:
        return None
    degrees = f"{variance.degrees:.3g} degree{'' if variance.degrees == 1 else 's'} of freedom"
    ratio = LogRatio(
        value=float(differences.mean()),
        variance=variance,
        repetitions=differences.size,
        basis=SpreadKind.REPETITIONS,
        method=f"{method}, {differences.size} repetitions ({degrees})",
        power_degrees=moderated_power_degrees(variance.degrees, differences.size),
    )
    return _known(ratio, system, base)


def _of_systems(table: LevelTable, systems: tuple[str, str], count: int) -> tuple[MeanVariance | None, str]:
    pool, parts = table.residual, [table.residual_of.get(name) for name in systems]
    total = len(table.systems)
    moderated = f", residuals moderated by those of {total} systems" if total > 2 else ""
    method = f"t on logarithms, within repetitions{moderated}"
    return None if pool is None else _difference([(part, count) for part in parts if part], pool.degrees), method


def _difference(parts: Sequence[tuple[MeanVariance, int]], most_degrees: float) -> MeanVariance:
    """Of two means, from the variance of one repetition and the number of repetitions of each."""
    both = welch([(variance.variance / count, variance.degrees) for variance, count in parts])
    return MeanVariance(both.variance, min(both.degrees, most_degrees))


def _of_levels(level_table: LevelTable, other: LevelTable, system: str, count: int) -> tuple[MeanVariance | None, str]:
    """Moderated by the systems that both tables have.

    The order of levels is that of all systems, so a slow change between two levels is in common to all of them: the
    differences are blocks like the figures themselves.
    """
    table = level_table.less(other)
    variance = table.trial_of.get(system)
    total = len(table.systems)
    moderated = f", moderated by those of {total} systems" if total > 1 else ""
    method = f"t on logarithms, within repetitions{moderated}"
    return None if variance is None else MeanVariance(variance.variance / count, variance.degrees), method


def _mean_variance(differences: NDArray[np.float64]) -> MeanVariance | None:
    return (
        None
        if differences.size < 2
        else MeanVariance(float(differences.var(ddof=1)) / differences.size, differences.size - 1)
    )


def _differences(level_table: LevelTable, other: LevelTable, systems: tuple[str, str]) -> NDArray[np.float64]:
    """Logarithms of a row of one table less those of a row of the other, by the repetitions that both have."""
    columns, others = level_table.common(other)
    differences: NDArray[np.float64] = level_table.row(systems[0])[columns] - other.row(systems[1])[others]
    return differences[np.isfinite(differences)]


def _of_one_way(system: MeanThroughput, base: MeanThroughput) -> LogRatio | None:
    """Independent repetitions: imports whose repetitions have nothing in common."""
    table = system.table
    if table is None or table is not base.table or table.in_blocks or system.cell is base.cell:
        return None
    pool = table.of_one_trial
    parts = [(table.trial_of.get(mean.cell.system), mean.trial_count) for mean in (system, base)]
    if pool is None:
        return None
    variance = _difference([(part, count) for part, count in parts if part is not None], pool.degrees)
    ratio = LogRatio(
        value=math.log(system.value_tps / base.value_tps),
        variance=variance,
        repetitions=min(system.trial_count, base.trial_count),
        basis=SpreadKind.REPETITIONS,
        method=f"t on logarithms, moderated spread of repetitions ({variance.degrees:.3g} degrees of freedom)",
    )
    return _known(ratio, system, base)


def _welch(system: MeanThroughput, base: MeanThroughput) -> LogRatio | None:
    return _apart(system, base, None, "Welch's t on logarithms, spread of repetitions")


def _apart(system: MeanThroughput, base: MeanThroughput, basis: SpreadKind | None, method: str) -> LogRatio | None:
    assert system.spread is not None, "checked by the caller"
    assert base.spread is not None, "checked by the caller"
    if basis is None and system.spread.kind is base.spread.kind:
        basis = system.spread.kind
    parts = [(spread.of_mean.variance, spread.of_mean.degrees) for spread in (system.spread, base.spread)]
    return LogRatio(
        value=math.log(system.value_tps / base.value_tps),
        variance=welch(parts),
        repetitions=min(system.trial_count, base.trial_count),
        basis=basis,
        method=method,
    )


def _known(ratio: LogRatio, *of: MeanThroughput) -> LogRatio | None:
    """With the spread within the runs where that is the larger one; None where nothing differed at all."""
    inside = [mean.cell.inside for mean in of]
    known = [
        (variance.variance, variance.degrees) for variance in inside if variance is not None and variance.variance > 0.0
    ]
    if len(known) == len(inside):
        within = welch(known)
        if within.half_width() > ratio.variance.half_width():
            method = f"{ratio.method}; widened to the spread within the runs"
            return replace(ratio, variance=within, method=method)
    return ratio if ratio.variance.variance > NO_SPREAD else None


BLOCKS_NEEDED = 2
"""Of each environment, for an interval."""


def blocks_of(trials: Iterable[TrialRecord]) -> Mapping[str, int]:
    """The block of each trial of a study by the trial's id; empty where no environments are switched.

    It follows from when trials began, whatever was planned.
    """
    in_time = sorted((trial for trial in trials if trial.system.environment is not None), key=began_unix_s)
    stretches = itertools.groupby(in_time, key=lambda trial: trial.system.environment)
    return {trial.trial_id: number for number, (_, stretch) in enumerate(stretches) for trial in stretch}


def compared_blocks(base: Repeated, system: Repeated) -> EnvironmentBlocks | None:
    """How often the environments of two cells were there; None where they are in the same one."""
    if base.environment is None or system.environment is None or base.environment == system.environment:
        return None
    return EnvironmentBlocks(
        environments=(base.environment, system.environment), counts=(len(set(base.blocks)), len(set(system.blocks)))
    )


def ratio_of_blocks(system: Repeated, base: Repeated) -> LogRatio | None:
    """The logarithm of the ratio of two means of different environments; None with a single block of either."""
    figures = [_by_block(cell) for cell in (system, base)]
    counts = [len(figure) for figure in figures]
    if min(counts) < BLOCKS_NEEDED:
        return None
    variance = welch([(float(np.var(figure, ddof=1)) / len(figure), len(figure) - 1) for figure in figures])
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
    return [float(np.mean(log)) for log in logs.values()]
