"""Made-up machines on which two servers are compared by paired ramps while other programs come and go.

Continuous time, one clock: a server is a queue with one fast server whose speed varies over tenths of a second, and
whatever else runs takes its share of that speed, for one of the two or for both. What telemetry would have seen of the
machine is the true slowness of each ramp, with noise. Nothing of the rules that are tested is in it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.analyse.study.capacities import knee_at
from plimsoll.analyse.trial.condition_model import Disturbance
from plimsoll.plan.capacity import order_of, ramp_after
from plimsoll.record.level import INTERVAL_S, Ramp

Values = NDArray[np.float64]

_SLOT_S = 0.1
_BASE_MS, LIMIT_MS = 4.0, 50.0
_PAUSE_S = 1.7
"""From the end of a ramp to the begin of the next one."""

_SWEEP_S = 3.0

_USUAL_RATIO = 0.65
"""Nearly all knees lie within this share of a ramp. Most arrivals come later, and change no earlier knee."""


@dataclass(frozen=True, kw_only=True)
class World:
    """When other programs run, and what they leave.

    Attributes:
        on_s: Mean length of a spell of them, seconds; 0 for never.
        off_s: Mean time between two.
        share: What they leave of the machine, drawn for each spell between these.
        once_s: A single spell of this length instead, at a time drawn for each study.
        second: They take this share of the second server's speed beside its ramps, always; 0 for nothing.
        second_spells: And in this share of its ramps only, which follow each other.
        stall_every_s: Either server stands still so often on average; 0 for never.
        stall_s: So long.
        drift: By how much the machine's speed changes over an hour, as a logarithm.
        starts: Standard deviation of the logarithm of a server's speed between its starts.
        speed_tps: What the first server does in a second where nothing else runs.
        noise: Standard deviation of the machine's speed over tenths of a second, as a ratio.
    """

    on_s: float = 0.0
    off_s: float = 60.0
    share: tuple[float, float] = (1.0, 1.0)
    once_s: float = 0.0
    second: float = 0.0
    second_spells: float = 1.0
    stall_every_s: float = 0.0
    stall_s: float = 0.2
    drift: float = 0.0
    starts: float = 0.0
    speed_tps: float = 500.0
    noise: float = 0.05


WORLDS: Mapping[str, World] = {
    "calm": World(),
    "fast and even": World(speed_tps=8000.0, noise=0.005),
    "mild": World(on_s=60, off_s=120, share=(0.75, 0.95)),
    "busy": World(on_s=60, off_s=120, share=(0.3, 0.7)),
    "heavy": World(on_s=60, off_s=60, share=(0.15, 0.6)),
    "long": World(on_s=300, off_s=300, share=(0.2, 0.6)),
    "once": World(once_s=180, share=(0.2, 0.2)),
    "bursts": World(on_s=3, off_s=12, share=(0.3, 0.7)),
    "stalls": World(stall_every_s=8.0, stall_s=0.2),
    "drift": World(drift=1.0),
    "starts differ": World(starts=0.03),
    "beside the second": World(second=0.5),
    "a little beside the second": World(second=0.15),
    "spells beside the second": World(second=0.6, second_spells=0.5),
}


@dataclass(frozen=True)
class Climbed:
    """What the ramps of one study have shown so far.

    Attributes:
        log_ratios: Of the knees of each pair.
        base, system: What each ramp met, by pair.
        ended_s: When each pair was over, seconds since the begin.
    """

    log_ratios: list[float]
    base: dict[int, Disturbance]
    system: dict[int, Disturbance]
    ended_s: list[float]


def climb(world: World, seed: int, *, ratio: float = 1.0, budget_s: float = 420.0) -> Iterator[Climbed]:
    """A study of two servers of which the second is so many times as fast, for as long as the budget lasts.

    Yields:
        The same object after each pair of ramps that both have a knee: it grew by that pair.
    """
    return _Study(world, seed, ratio).climb(budget_s)


class _Study:
    def __init__(self, world: World, seed: int, ratio: float) -> None:
        self._world, self._seed, self._chance = world, seed, np.random.default_rng(seed)
        differ = np.exp(self._chance.normal(0.0, world.starts, 2)) if world.starts else np.ones(2)
        self._speeds_tps = (world.speed_tps * float(differ[0]), world.speed_tps * ratio * float(differ[1]))
        speed = _speeds(world, self._chance)
        self._clock_s = np.arange(speed.size + 1) * _SLOT_S
        self._worked_s = np.concatenate(([0.0], np.cumsum(speed))) * _SLOT_S
        self._now_s = 0.0
        self._is_beside = bool(self._chance.random() < world.second_spells)

    def climb(self, budget_s: float) -> Iterator[Climbed]:
        swept = [speed * self._share(_SWEEP_S) for speed in self._speeds_tps]
        self._now_s += 2 * (_SWEEP_S + _PAUSE_S)
        ramp, found, pair = ramp_after(swept), Climbed([], {}, {}, []), 0
        while self._now_s < budget_s:
            knees: dict[int, float | None] = {}
            for index in order_of(2, pair, self._seed):
                left = self._left_of(index)
                knees[index], slowness = self._ramp(ramp, self._speeds_tps[index] * left, left)
                met = Disturbance(watched_s=10.0, slow_ratio=0.0, slowness=slowness)
                (found.system if index else found.base)[pair] = met
            if knees[0] is not None and knees[1] is not None:
                found.log_ratios.append(math.log(knees[1] / knees[0]))
                found.ended_s.append(self._now_s)
                yield found
            pair += 1

    def _left_of(self, index: int) -> float:
        """What the programs beside the second server leave to one of the two."""
        world = self._world
        if not world.second or not index:
            return 1.0
        if world.second_spells < 1 and self._chance.random() < 0.4:
            self._is_beside = bool(self._chance.random() < world.second_spells)
        return 1 - world.second if self._is_beside else 1.0

    def _share(self, seconds: float) -> float:
        """Of its usual speed, from now on for so long."""
        ends = np.interp([self._now_s, self._now_s + seconds], self._clock_s, self._worked_s)
        return float(ends[1] - ends[0]) / seconds

    def _ramp(self, ramp: Ramp, speed_tps: float, left: float) -> tuple[float | None, float]:
        """The knee of a ramp that begins now, and how slow the machine was as telemetry would see it."""
        places = _places(ramp, self._chance)
        knee = self._knee(ramp, speed_tps, places, _USUAL_RATIO * ramp.longest_s)
        if knee is None:
            knee = self._knee(ramp, speed_tps, places, ramp.longest_s + INTERVAL_S)
        took_s = ramp.longest_s if knee is None else knee * INTERVAL_S + 0.6
        slowness = max(1.0, math.exp(self._chance.normal(0.0, 0.03)) / (self._share(took_s) * left))
        self._now_s += took_s + _PAUSE_S
        return (None if knee is None else ramp.rate_tps(knee * INTERVAL_S)), slowness

    def _knee(self, ramp: Ramp, speed_tps: float, places: Values, until_s: float) -> float | None:
        """The knee in the intervals that end before a time, in intervals since the begin; None where none is."""
        due_s = _arrivals(ramp, places, until_s)
        done_s = self._done(speed_tps, due_s)
        size = int(until_s / INTERVAL_S)
        ends_s = (np.arange(size) + 1) * INTERVAL_S
        interval = np.minimum((done_s / INTERVAL_S).astype(np.int64), size)
        is_late = (done_s - due_s) * 1e3 + _BASE_MS > LIMIT_MS
        ended = np.bincount(interval, minlength=size + 1)[:size].astype(float)
        late = np.bincount(interval, weights=is_late, minlength=size + 1)[:size]
        overdue = np.searchsorted(due_s, ends_s - LIMIT_MS / 1e3)
        waiting = np.maximum(overdue - np.searchsorted(done_s, ends_s), 0).astype(float)
        return knee_at(ended, late, waiting)

    def _done(self, speed_tps: float, due_s: Values) -> Values:
        """When each arrival is done: a queue with one server, in the time in which that is equally fast."""
        at = np.interp(due_s + self._now_s, self._clock_s, self._worked_s)
        each, number = 1 / speed_tps, np.arange(at.size)
        done = np.maximum.accumulate(at - number * each) + (number + 1) * each
        found: Values = np.interp(done, self._worked_s, self._clock_s) - self._now_s
        return found


def _places(ramp: Ramp, chance: np.random.Generator) -> Values:
    """Poisson arrivals at the rates of a ramp, in no order: how many are expected before each of them."""
    total = _expected(ramp, ramp.longest_s)
    found: Values = chance.uniform(0.0, total, chance.poisson(total))
    return found


def _arrivals(ramp: Ramp, places: Values, until_s: float) -> Values:
    """When those of the arrivals come that come before a time, in order."""
    growth = _growth(ramp)
    found: Values = np.log1p(np.sort(places[places < _expected(ramp, until_s)]) * growth / ramp.from_tps) / growth
    return found


def _expected(ramp: Ramp, until_s: float) -> float:
    """How many arrivals are expected before a time."""
    return ramp.from_tps / _growth(ramp) * math.expm1(_growth(ramp) * until_s)


def _growth(ramp: Ramp) -> float:
    return math.log(ramp.rate_tps(1.0) / ramp.from_tps)


def _speeds(world: World, chance: np.random.Generator) -> Values:
    """The machine's speed in each tenth of a second, about 1 where nothing else runs."""
    size = round(1200 / _SLOT_S)
    shocks = chance.normal(0.0, world.noise * math.sqrt(1 - 0.9**2), size)
    speed = np.clip(1 + np.convolve(shocks, 0.9 ** np.arange(60))[:size], 0.2, 2.0)
    speed *= np.exp(world.drift * np.arange(size) * _SLOT_S / 3600)
    for begin, length, share in _spells(world, chance, size):
        jerks = np.clip(1 + chance.normal(0.0, 0.25, length), 0.2, 2.0)
        speed[begin : begin + length] *= share * jerks[: size - begin]
    if world.stall_every_s:
        for begin in np.flatnonzero(chance.random(size) < _SLOT_S / world.stall_every_s):
            speed[begin : begin + round(world.stall_s / _SLOT_S)] = 1e-6
    return speed


def _spells(world: World, chance: np.random.Generator, size: int) -> list[tuple[int, int, float]]:
    """Begin and length of each spell, in slots, and what it leaves."""
    if world.once_s:
        return [(int(chance.uniform(0, 360) / _SLOT_S), round(world.once_s / _SLOT_S), world.share[0])]
    if not world.on_s:
        return []
    found, at = [], int(chance.exponential(world.off_s) / _SLOT_S) * int(chance.random() < 0.66)
    while at < size:
        length = int(chance.exponential(world.on_s) / _SLOT_S) + 1
        found.append((at, min(length, size - at), float(chance.uniform(*world.share))))
        at += length + int(chance.exponential(world.off_s) / _SLOT_S)
    return found
