"""Which burstiness the load engine must be given so that its arrivals vary as those of a log do.

The engine's bursts are a Markov-modulated Poisson process of two states with rates r (1 ± a) and exponentially
distributed stays of mean T (Heffes and Lucantoni, IEEE JSAC 4(6), 1986, for equal stays). Its index of dispersion in
windows of length w is

    I(w) = 1 + (N - 1) h(w / T),   h(x) = 1 - (1 - exp(-2 x)) / (2 x),   N = 1 + a² r T

and its Allan factor is 2 I(w) - I(2 w), as that of every stationary process. N is the asymptotic index, `burstiness`.
T is one second; where that would need an amplitude a above 0.95, stays are longer.

Deliberately not here: the bursts themselves (the engine's `arrivals::bursts`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from plimsoll.spec.arrivals import BURST_S, BURSTINESS_MAX

AMPLITUDE_MAX = 0.95
"""Of the engine's rate around its mean."""

_STEPS = 400


@dataclass(frozen=True, slots=True)
class IndexFound:
    """The asymptotic index of a load that shows an Allan factor.

    Attributes:
        index: From 1.
        is_reached: False where no index shows so much; `index` is that which shows the most.
    """

    index: float
    is_reached: bool


def allan_factor_shown(index: float, window_s: float, rate_tps: float) -> float:
    """The Allan factor, in windows of a length, of the engine's load with an asymptotic index at a rate."""
    excess = index - 1
    stay_s = max(BURST_S, excess / (AMPLITUDE_MAX**2 * rate_tps))
    return 1 + excess * (2 * _reached(window_s / stay_s) - _reached(2 * window_s / stay_s))


def index_that_shows(allan_factor: float, window_s: float, rate_tps: float) -> IndexFound:
    """The smallest asymptotic index with which the engine's load shows an Allan factor.

    Args:
        allan_factor: In windows of `window_s` seconds.
        window_s: Their length.
        rate_tps: Arrivals per second where it was measured, above 0.
    """
    if allan_factor <= 1:
        return IndexFound(1.0, is_reached=True)
    tried = np.geomspace(1e-3, BURSTINESS_MAX - 1, _STEPS) + 1
    shown = np.array([allan_factor_shown(float(one), window_s, rate_tps) for one in tried])
    above = np.flatnonzero(shown >= allan_factor)
    if not above.size:
        return IndexFound(float(tried[np.argmax(shown)]), is_reached=False)
    high = float(tried[above[0]])
    low = float(tried[above[0] - 1]) if above[0] else 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if allan_factor_shown(middle, window_s, rate_tps) < allan_factor else (low, middle)
    return IndexFound(high, is_reached=True)


def _reached(stays: float) -> float:
    """Share of the excess of the asymptotic index that a window of so many stays shows, 0..1."""
    return 1 + math.expm1(-2 * stays) / (2 * stays)
