"""Capacities compared by paired ramps: how they rise, in which order they run, and which rate is confirmed at the end.

1. Sweep: a closed loop says about how much each server can do.
2. Ramps: the rate rises by `record.ramp.GROWTH` in each second, from a tenth of what the slowest server did, until
   most answers are late. The systems take turns, in random order within each pair. Every ramp starts alike, whatever
   the ones before it showed: those that follow their own estimate carry a slow minute on from one to the next.
3. One steady run of each system, at a rate clearly below its knee: what is held there is a capacity at least.

Deliberately not here: when it ends (`run.paired_search`), and what the knees say (`analyse.ramps`).
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from plimsoll.plan.capacity import Step, rounded
from plimsoll.plan.search_settings import SearchSettings
from plimsoll.record.capacity import RunRole
from plimsoll.record.ramp import Ramp, seconds_until

PAIRS_MOST = 40
"""After so many pairs it ends undecided; a ratio that is open by then is next to 1."""

USUAL_PAIRS = 8
"""A clear difference is decided after about so many pairs; for what a plan is expected to take."""

CONFIRMED_RATIO, LOWER_RATIO = 0.6, 0.85
"""Of the knee is the rate that is confirmed, and of that the next lower one where it does not hold. The knee is about a
seventh above what a server can do, and 99 % in time is less than that."""

CONFIRMATIONS_MOST = 4
"""So many rates are tried."""

_START_RATIO, _MOST_RATIO = 0.1, 10.0
"""Of the lowest and the highest throughput of the sweep: where ramps begin, and where they end at the latest, which is
far above it because the sweep may have met a slow machine."""


def ramp_after(swept_tps: Sequence[float]) -> Ramp:
    """The ramp that all systems get.

    Args:
        swept_tps: The highest throughput of each in the sweep, transactions per second; all above 0.
    """
    from_tps = rounded(_START_RATIO * min(swept_tps))
    return Ramp(from_tps=from_tps, longest_s=round(seconds_until(_MOST_RATIO * max(swept_tps) / from_tps), 1))


def order_of(systems_count: int, pair: int, seed: int) -> list[int]:
    """In which order the systems run the ramps of a pair."""
    places = list(range(systems_count))
    random.Random(f"{seed}:{pair}").shuffle(places)  # noqa: S311 - an order, not a secret
    return places


def ramp_step(ramp: Ramp, pair: int, connections: int) -> Step:
    """A ramp as the run that comes next."""
    return Step(
        role=RunRole.RAMP,
        connections=connections,
        rate_tps=None,
        duration_s=ramp.longest_s,
        ordinal=pair,
        ramp=ramp,
    )


def confirmed_step(knee_tps: float, lowered: int, again: int, connections: int, settings: SearchSettings) -> Step:
    """The steady run of a system whose knee is there.

    Args:
        knee_tps: Of its ramps, transactions per second.
        lowered: So many higher rates did not hold.
        again: So many runs at this rate met a disturbed machine.
        connections: That serve it.
        settings: Of the search.
    """
    rate_tps = rounded(knee_tps * CONFIRMED_RATIO * LOWER_RATIO**lowered)
    duration_s = settings.length_s(RunRole.STEADY, rate_tps)
    return Step(role=RunRole.CONFIRM, connections=connections, rate_tps=rate_tps, duration_s=duration_s, ordinal=again)


def usual_ramp_s() -> float:
    """About how long a ramp takes before its answers are late, seconds: until a seventh above the sweep."""
    return seconds_until(1.15 / _START_RATIO)
