"""Lags of replicas with known answers, nastier than any method assumes: one value for each second.

Deliberately not here: what is concluded from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

Lags = NDArray[np.float64]
World = Callable[[int, np.random.Generator], Lags]

HEARTBEAT_S = 0.05


def _seen(lag_s: Lags, random: np.random.Generator) -> Lags:
    """A lag as a heartbeat shows it: never below 0, and up to one beat more."""
    return np.maximum(lag_s, 0.0) + random.uniform(0.0, HEARTBEAT_S, lag_s.size)


def _correlated(size: int, phi: float, random: np.random.Generator) -> Lags:
    values = np.empty(size)
    values[0] = random.normal()
    noise = random.normal(size=size) * np.sqrt(1 - phi * phi)
    for index in range(1, size):
        values[index] = phi * values[index - 1] + noise[index]
    return values


def _stall(size: int, random: np.random.Generator, *, until: float) -> Lags:
    """The lag rises with the clock for a while, then is made up for."""
    length, begin = random.uniform(0.05, 0.2) * size, random.uniform(0.0, until) * size
    drain, at = random.uniform(0.3, 1.5), np.arange(size, dtype=float)
    after = np.maximum(length - drain * (at - begin - length), 0.0)
    return np.where(at < begin, 0.0, np.where(at < begin + length, at - begin, after))


def autocorrelated(phi: float) -> World:
    """Log-normal around half a second, neighbours correlated by `phi`."""
    return lambda size, random: _seen(0.5 * np.exp(0.8 * _correlated(size, phi, random)), random)


def sawtooth(share: float) -> World:
    """Two seconds high; a period takes so much of the window."""

    def made(size: int, random: np.random.Generator) -> Lags:
        period = share * size
        at = np.arange(size) + random.uniform(0.0, period)
        return _seen(2.0 * (at % period) / period + 0.05 * random.exponential(size=size), random)

    return made


def queue(size: int, random: np.random.Generator) -> Lags:
    """A queue that is nearly full all the time: a random walk with a small drift towards its wall at 0."""
    values, now = np.empty(size), random.exponential(2.0)
    for index in range(size):
        now = max(now + 0.3 * random.normal() - 0.03, 0.0)
        values[index] = now
    return _seen(values, random)


def settling(size: int, random: np.random.Generator) -> Lags:
    """From nothing to 0.2 s, and no further."""
    rise = 0.2 * (1 - np.exp(-np.arange(size) / (size / 4)))
    return _seen(rise + 0.05 * random.exponential(size=size), random)


def slow_drift(size: int, random: np.random.Generator) -> Lags:
    """1 ms more in each second: after a day one and a half minutes, and too slow to be told in a window of minutes."""
    return _seen(0.1 + 0.001 * np.arange(size) + 0.05 * random.exponential(size=size), random)


def growing(rate: float, kind: str = "quiet") -> World:
    """A replica that is too slow by `rate`, beside other trouble."""

    def made(size: int, random: np.random.Generator) -> Lags:
        trend = rate * np.arange(size)
        if kind == "walk":
            return _seen(np.maximum(np.cumsum(rate + 0.15 * random.normal(size=size)), 0.0), random)
        beside = {
            "quiet": lambda: 0.05 * random.exponential(size=size),
            "correlated": lambda: 0.3 * np.exp(0.5 * _correlated(size, 0.8, random)),
            "sawtooth": lambda: ((np.arange(size) + random.uniform(0, size / 8)) % (size / 8)) / (size / 8),
            "stall": lambda: _stall(size, random, until=0.7),
        }[kind]()
        return _seen(trend + beside, random)

    return made


BOUNDED: Mapping[str, World] = {
    "heartbeats only": lambda size, random: _seen(np.zeros(size), random),
    "autocorrelated, 0.5": autocorrelated(0.5),
    "autocorrelated, 0.8": autocorrelated(0.8),
    "autocorrelated, 0.95": autocorrelated(0.95),
    "autocorrelated, 0.99": autocorrelated(0.99),
    "sawtooth, a tenth of the window": sawtooth(0.1),
    "sawtooth, a third of the window": sawtooth(0.3),
    "sawtooth, two thirds of the window": sawtooth(0.65),
    "one stall, made up for": lambda size, random: _seen(_stall(size, random, until=0.5), random),
    "one late stall, perhaps not made up for": lambda size, random: _seen(_stall(size, random, until=0.8), random),
    "a queue that is nearly full": queue,
    "settles at 0.2 s": settling,
    "drifts by 1 ms/s": slow_drift,
}
"""By name."""

GROWING: Mapping[str, World] = {
    "1 % too slow": growing(0.01),
    "2 % too slow, autocorrelated": growing(0.02, "correlated"),
    "5 % too slow, autocorrelated": growing(0.05, "correlated"),
    "5 % too slow, sawtooth": growing(0.05, "sawtooth"),
    "10 % too slow, one stall": growing(0.1, "stall"),
    "20 % too slow, random walk": growing(0.2, "walk"),
    "does not apply at all": growing(1.0, "correlated"),
}
"""By name."""
