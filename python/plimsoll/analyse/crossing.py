"""At which rate the share of arrivals over an objective crosses what is allowed, from all runs of a search.

Model: below saturation the logarithm of the share rises in a straight line with the logarithm of the rate, as the tail
of a queue's waiting time does (exponential in 1 - utilisation; Kingman 1962). Weighted least squares over the runs:
longer runs weigh more; runs without any violation, or with most arrivals over, only say on which side they are, and
weigh less. A slope that noise has turned flat or absurdly steep is held to a plausible range.

It is used to choose the next rate, and decides nothing: what holds is measured. Deliberately not here: any interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from plimsoll.record.capacity import CapacityRun

_SATURATED = 0.3
_SIDE_WEIGHT = 0.2
_SLOPES = (8.0, 300.0)


def crossing_tps(runs: Sequence[CapacityRun], allowed_ratio: float) -> float | None:
    """The rate at which the share over is `allowed_ratio`; None with fewer than two rates.

    Args:
        runs: At rates; those far from the crossing should be left out.
        allowed_ratio: Such as 0.01 for a 99th percentile, above 0.
    """
    if len({run.rate_tps for run in runs}) < 2:
        return None
    rate = np.log([run.rate_tps or 0.0 for run in runs])
    count = np.array([max(run.throughput_tps * run.duration_s, 1.0) for run in runs])
    over = np.array([run.counted_over_ratio for run in runs])
    share = np.log(np.clip((over * count + 0.5) / (count + 1), None, 2 * _SATURATED))
    weight = np.array([run.duration_s for run in runs])
    weight = np.where((over > _SATURATED) | (over * count < 1), weight * _SIDE_WEIGHT, weight)
    centre, level = np.average(rate, weights=weight), np.average(share, weights=weight)
    spread = float((weight * (rate - centre) ** 2).sum())
    slope = float((weight * (rate - centre) * (share - level)).sum()) / spread if spread > 0 else 0.0
    slope = min(max(slope, _SLOPES[0]), _SLOPES[1])
    return math.exp(centre + (math.log(allowed_ratio) - level) / slope)
