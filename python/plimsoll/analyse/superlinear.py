"""Steps of a curve at which throughput rose by more than the connections did, and their likely reason.

More work for each connection cannot come from the connections: either transactions became cheaper, because work is done
for several at once (group commit, interrupts, wake-ups), which shows as less processor time per transaction; or the
machine was slow to wake while it had little to do (idle states, halt polling of a virtual machine), which shows as the
same processor time per transaction beside idle processors.

Deliberately not here: laws (`scaling_fit`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from plimsoll.analyse.cell_model import Bounds, Cell, Estimate, SpreadKind
from plimsoll.analyse.scaling_fit import Levels
from plimsoll.analyse.scaling_model import SuperlinearReason, SuperlinearStep
from plimsoll.analyse.where_time import OTHERS_RATIO
from plimsoll.analyse.within_run import quantile_t
from plimsoll.record.environment import HostFacts

RISE_RATIO = 0.05
"""A smaller rise of throughput per connection is not worth a word."""

_ALPHA = 0.05
_CHEAPER_RATIO = 0.05
_IDLE_RATIO = 0.25


def steps_beyond_noise(levels: Levels) -> list[tuple[int, float, float]]:
    """Which steps are superlinear: index of the lower level, log ratio per connection, its standard error."""
    if levels.residual is None:
        return []
    gains = np.diff(levels.log_tps) - np.diff(np.log(levels.connections))
    errors = np.sqrt(levels.residual * (1 / levels.weights[:-1] + 1 / levels.weights[1:]))
    limit = quantile_t(1 - _ALPHA / gains.size, levels.degrees)
    return [
        (index, float(gain), float(error))
        for index, (gain, error) in enumerate(zip(gains, errors, strict=True))
        if gain > limit * error and gain > math.log1p(RISE_RATIO)
    ]


def superlinear_steps(cells: Sequence[Cell], levels: Levels, host: HostFacts) -> tuple[SuperlinearStep, ...]:
    """The superlinear steps of a curve, rising; none without repetitions.

    Args:
        cells: By rising level, as `levels` has them.
        levels: Their throughputs.
        host: Says how many processors there are.
    """
    return tuple(
        _step((cells[index], cells[index + 1]), gain, error, levels, host)
        for index, gain, error in steps_beyond_noise(levels)
    )


def _step(pair: tuple[Cell, Cell], gain: float, error: float, levels: Levels, host: HostFacts) -> SuperlinearStep:
    low, high = pair
    width = quantile_t(0.975, levels.degrees) * error
    bounds = Bounds(
        low=math.exp(gain - width),
        high=math.exp(gain + width),
        basis=SpreadKind.POOLED,
        degrees=levels.degrees,
        method="t on logarithms within repetitions, spread pooled over the levels of the curve",
    )
    costs = [_cpu_s(cell, host) for cell in (low, high)]
    ratio = costs[1] / costs[0] if costs[0] and costs[1] else None
    return SuperlinearStep(
        from_connections=low.level.connections,
        to_connections=high.level.connections,
        per_connection_ratio=Estimate(value=math.exp(gain), bounds=bounds, trial_count=levels.repetitions),
        cpu_ratio=ratio,
        idle_ratio=low.cpu.idle,
        reason=SuperlinearReason.OTHERS if any(map(_is_shared, pair)) else _reason(ratio, low.cpu.idle),
    )


def _cpu_s(cell: Cell, host: HostFacts) -> float | None:
    """Processor time of the server per transaction, seconds."""
    if cell.cpu.server is None or not host.cpu_threads or cell.throughput_tps.value <= 0:
        return None
    return cell.cpu.server * host.cpu_threads / cell.throughput_tps.value


def _is_shared(cell: Cell) -> bool:
    """Whether neither server nor client took much of the busy processor time, which then says nothing of either."""
    cpu = cell.cpu
    if cpu.idle is None or cpu.server is None:
        return False
    busy = 1 - cpu.idle - (cpu.iowait or 0.0)
    return busy - cpu.server - (cpu.client or 0.0) >= OTHERS_RATIO * busy > 0


def _reason(cpu_ratio: float | None, idle_ratio: float | None) -> SuperlinearReason:
    if cpu_ratio is None:
        return SuperlinearReason.UNKNOWN
    if cpu_ratio < 1 - _CHEAPER_RATIO:
        return SuperlinearReason.BATCHING
    is_idle = idle_ratio is not None and idle_ratio > _IDLE_RATIO
    return SuperlinearReason.IDLE_STATES if is_idle else SuperlinearReason.UNKNOWN
