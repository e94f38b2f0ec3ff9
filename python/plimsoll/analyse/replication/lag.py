"""Whether the lag of a replica is bounded or grows: does its lower envelope rise all the time?

A replica that applies as fast as its source writes comes back to a small lag again and again, however high its lag
rises in between: behind a large transaction, a flush, a stall. One that is too slow never comes back. So not the lag
itself is judged but its lower envelope: the window is cut into `BLOCKS` equal blocks, and the least lag of each is
taken. The lag grows where

* every block's least lag is above that of the block before by at least `STEADINESS` of the mean rise (a single stall
  and a lag that settles at a level rise once, not all the time; blocks in random order rise strictly in one case of
  120), and
* the whole rise is at least `LEAST_RISE_S` (five heartbeats, which come every 50 ms) and `LEAST_RATE` seconds in each
  second: a replica that is 0.2 % too slow is three minutes behind after a day.

It assumes no distribution and no correlation. A test of Mann and Kendall, with its variance widened for neighbours that
resemble each other (`drift`), was tried in its place: it finds hardly any growth once a stall is in the window, because
the stall passes for correlation. Error rates by simulation are in docs/methods.md. A sawtooth longer than the window,
and a stall that has not ended with it, cannot be told from growth by anybody: measure longer.

Source of the idea: a queue is stable where its minima recur (Loynes 1962); blocks and constants by simulation.
Deliberately not here: what a lag costs readers (`servers`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from plimsoll.analyse.replication.model import LagSeries, LagState
from plimsoll.analyse.within_run import Series
from plimsoll.record.model import Window

BLOCKS = 5
STEADINESS = 0.25
LEAST_RISE_S = 0.25
LEAST_RATE = 0.002
INTERVALS_NEEDED = 10
"""Of fewer nothing is said."""

_SEEN_RATIO = 0.8
"""Of the intervals of the window; a replica that was away is an outage, and its lag is not known."""

_POINTS_MAX = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """What a window says of a lag.

    Attributes:
        rate: Rise of the lower envelope, seconds in each second; negative where it fell.
    """

    state: LagState
    rate: float | None = None


def growth_of(lag_s: Series, interval_s: float) -> Growth:
    """Judges the lags of one window.

    Args:
        lag_s: At the end of each interval, in order, seconds.
        interval_s: Length of an interval, seconds.
    """
    if lag_s.size < INTERVALS_NEEDED:
        return Growth(state=LagState.UNKNOWN)
    least = np.array([block.min() for block in np.array_split(lag_s, BLOCKS)])
    steps = np.diff(least)
    mean_step = float(steps.mean())
    length_s = lag_s.size * interval_s
    rise_s = mean_step * BLOCKS
    rises = float(steps.min()) > STEADINESS * mean_step
    is_material = rise_s >= max(LEAST_RISE_S, LEAST_RATE * length_s)
    state = LagState.GROWING if rises and is_material else LagState.BOUNDED
    return Growth(state=state, rate=rise_s / length_s)


def lags_of(replication: pl.DataFrame | None, window: Window | None, interval_s: float) -> dict[str, LagSeries]:
    """The lag of each replica within the measured window, by its name.

    Args:
        replication: All of the trial (`frames.REPLICATION`); None for trials without replicas.
        window: Which intervals count; None for all.
        interval_s: Length of an interval, seconds.
    """
    if replication is None or replication.is_empty():
        return {}
    first = window.first if window is not None else int(replication["interval"].min() or 0)  # type: ignore[arg-type]
    last = window.last if window is not None else int(replication["interval"].max() or 0)  # type: ignore[arg-type]
    rows = (
        replication.filter(pl.col("interval").is_between(first, last))
        .group_by("instance", "interval")
        .agg(pl.col("lag_s").max(), pl.col("lag_end_s").max())
        .sort("instance", "interval")
    )
    return {
        str(name): _series(own, count=last - first + 1, first=first, interval_s=interval_s)
        for (name,), own in rows.partition_by("instance", as_dict=True, maintain_order=True).items()
    }


def _series(rows: pl.DataFrame, *, count: int, first: int, interval_s: float) -> LagSeries:
    known = rows.filter(pl.col("lag_s").is_not_null())
    ends = known.filter(pl.col("lag_end_s").is_not_null())["lag_end_s"].to_numpy()
    if known.is_empty() or ends.size < _SEEN_RATIO * count:
        largest = None if known.is_empty() else float(known["lag_s"].max())  # type: ignore[arg-type]  # a float
        return LagSeries(state=LagState.UNKNOWN, largest_s=largest, from_s=first * interval_s)
    growth = growth_of(ends, interval_s)
    block = -(-count // _POINTS_MAX)
    values = np.full(-(-count // block) * block, np.nan)
    values[known["interval"].to_numpy().astype(int) - first] = known["lag_s"].to_numpy()
    shown = [None if np.isnan(one).all() else float(f"{np.nanmax(one):.4g}") for one in values.reshape(-1, block)]
    return LagSeries(
        state=growth.state,
        largest_s=float(known["lag_s"].max()),  # type: ignore[arg-type]  # a float
        median_s=float(np.median(ends)),
        end_s=float(ends[-1]),
        growth_s_per_s=growth.rate,
        from_s=first * interval_s,
        step_s=block * interval_s,
        lag_s=tuple(shown),
    )
