"""Stretches of a run in which nothing completed, or nearly nothing, though something was wanted.

An interval is *quiet* when it completed at most 5 % of what the run's own mean makes of its length, and something was
in flight at its end that had lasted for at least half of it, or a connection was lost: where nobody wanted anything,
nothing completes. Older recordings and logs of other tools do not say what was in flight and are judged without it.
Neighbouring quiet intervals are a stretch. It is a *stall* when

* chance does not explain it: if transactions completed independently of each other at the run's mean rate, such a
  stretch would be found in fewer than 1 of 1,000 runs (Poisson, over as many places as the run has intervals). The mean
  includes the stall, which makes the test milder. So single seconds of a workload of a few transactions per second are
  none;
* transactions do not usually take as long: it is more than twice as long as the median service time;
* it is no coincidence of slow transactions. Connections that run them independently of each other are all in one for
  some of the time: the share of their time that is spent in such, to the power of their number. Where that makes 70 %
  of the stretches or more, none is a stall, unless there are fewer than three and hardly more slow transactions than
  they caught. With one connection nothing tells a slow transaction from a stall, and stretches count.

A stretch is known to one interval at either end.
Deliberately not here: what such a run is worth (`trial_checks`, `silence`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from plimsoll.analyse.chance import chance_of_at_most
from plimsoll.analyse.histograms import SparseHistogram
from plimsoll.analyse.seen import SeenInterval

_QUIET_RATIO = 0.05
_CHANCE = 0.001
_USUAL_TIMES = 2.0
_COINCIDENCE_RATIO = 0.7
_CAUGHT_TIMES = 2
_CONNECTIONS_NEEDED, _STRETCHES_NEEDED = 2, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """A stretch of a run in which nothing, or nearly nothing, completed.

    Attributes:
        from_s: Its begin, seconds since the load began.
        to_s: Its end.
        completed: Transactions that completed in it all the same.
        instance: That stalled, where a system has several; None where it has one.
    """

    from_s: float
    to_s: float
    completed: int
    instance: str | None = None

    @property
    def length_s(self) -> float:
        """Seconds."""
        return self.to_s - self.from_s


def find_stalls(
    intervals: Sequence[SeenInterval], service: SparseHistogram | None, connections: int
) -> tuple[Stall, ...]:
    """The stalls of one instance, in order.

    Args:
        intervals: In order, without gaps.
        service: Service times of what completed; None where they are not known.
        connections: That the load had.
    """
    length_s = sum(one.length_s for one in intervals)
    rate_tps = sum(one.completed for one in intervals) / length_s if length_s > 0 else 0.0
    stretches = list(_stretches(intervals, _QUIET_RATIO * rate_tps))
    if _is_coincidence(stretches, service, connections, length_s):
        return ()
    chance = _CHANCE / max(len(intervals), 1)
    return tuple(
        one
        for one in stretches
        if chance_of_at_most(one.completed, rate_tps * one.length_s) < chance and not _is_usual(one.length_s, service)
    )


def _stretches(intervals: Iterable[SeenInterval], quiet_tps: float) -> Iterator[Stall]:
    stretch: Stall | None = None
    for one in intervals:
        if one.completed <= quiet_tps * one.length_s and one.is_wanted:
            begun = stretch or Stall(from_s=one.from_s, to_s=one.from_s, completed=0)
            stretch = replace(begun, to_s=one.to_s, completed=begun.completed + one.completed)
        elif stretch is not None:
            yield stretch
            stretch = None
    if stretch is not None:
        yield stretch


def _is_usual(length_s: float, service: SparseHistogram | None) -> bool:
    """Whether most transactions take about as long."""
    if service is None or service.total == 0:
        return False
    median = int(np.searchsorted(np.cumsum(service.counts), service.total / 2))
    return length_s * 1e9 <= _USUAL_TIMES * float(service.middles_ns()[median])


def _is_coincidence(
    stretches: Sequence[Stall], service: SparseHistogram | None, connections: int, length_s: float
) -> bool:
    """Whether connections that run slow transactions independently of each other are all in one as often as that."""
    if service is None or connections < _CONNECTIONS_NEEDED or not stretches:
        return False
    times_s = service.middles_ns() / 1e9
    is_slow = times_s >= min(one.length_s for one in stretches)
    slow_ratio = min(float(service.counts[is_slow] @ times_s[is_slow]) / (connections * length_s), 1.0)
    is_caught = service.counts[is_slow].sum() <= _CAUGHT_TIMES * connections * len(stretches)
    if is_caught and len(stretches) < _STRETCHES_NEEDED:
        return False
    expected_s = length_s * slow_ratio**connections
    return expected_s >= _COINCIDENCE_RATIO * sum(one.length_s for one in stretches)
