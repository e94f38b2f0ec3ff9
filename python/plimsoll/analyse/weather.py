"""Trials whose machine was slower than around the study's other trials: the weather of machines.

What others took is measured: steal and other processes' share of processor time count when they are `TAKEN_MORE` above
the median of the study's trials on that machine. No spread is needed for that.

How fast the machine was is estimated: by times of the reference load before and after the trial, and clock frequency.
Each figure of a trial is turned into a slowness, the logarithm of a time or of the inverse of a speed, and compared
with its median; figures after a trial only with those of the same system, because what a server still writes and purges
then is its own work. A figure's spread is the median of the absolute deviations, or that of the deviations above the
median where it is larger (both made consistent with normal noise), so that noise with a long tail of slow values is
measured by that tail.

A slow machine is slow in several figures, and noise may be as well: before and after a trial, processor and memory go
up and down together. So a trial's score is the second largest of its slownesses in spreads, and the scores are compared
with each other: a trial is slower when its score is above their median by more than `_LIMIT` times their spread, and
both figures are slower by 5 % or more. Where figures vary together, scores vary more and the limit rises. A few scores
tell their spread badly; it is drawn towards that of independent normal figures, as if `_SCORES_PRIOR` more had been
seen. A single figure counts above `_ALONE` spreads.

By simulation of 6 to 100 trials with seven figures, whose noise is normal, of Student's t with 3 degrees of freedom, or
log-normal with sigma 0.5 (all of logarithms), independent or with half of its variance in common, at most 1 of 20
studies without a slow machine has a mark. With fewer than `TRIALS_NEEDED` trials nothing is judged by spreads; where a
quarter of them are slow, that is their spread. Sources: Rousseeuw and Croux 1993; Iglewicz and Hoaglin 1993; Hubert and
Van der Veeken 2008 for the side's own spread.
Deliberately not here: whether the trial's own throughput was low. Who marked trials by that would choose results.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.analyse.weather_model import SlowFigure

TRIALS_NEEDED = 6
TAKEN_TRIALS_NEEDED = 3
"""The median of fewer is no other trial's share."""

TAKEN_MORE = 0.05
"""Of all processor time."""

SLOWER_RATIO = 1.05
"""Below this a trial is not marked, however calm the other trials were."""

_LIMIT, _LIMIT_TRIALS, _LIMIT_GROWTH = 8.0, 24, 0.25
"""Up to so many trials, and with which power of more of them it grows: the largest of many is larger."""

_SCORE_SPREAD = 0.6
"""Of the second largest of seven independent normal figures."""

_SCORES_PRIOR = 6

_SIZES = (6, 20, 30, 50, 100, 200, 500)
_ALONE = (17.6, 17.6, 20.5, 22.5, 30.5, 37.5, 45.6)
"""By number of trials: each with nine figures marks any trial of a calm study in at most 1 of 40, as above."""

_CONSISTENT = 1.4826
_SPREAD_LEAST = 1e-9

_ByTrial = Mapping[str, float]


def slow_figures(trials: Iterable[TrialSummary]) -> dict[str, tuple[SlowFigure, ...]]:
    """What was slow around each trial, the slowest first, by its id; trials without anything are left out."""
    every = list(trials)
    found: dict[str, list[SlowFigure]] = defaultdict(list)
    for of_study in _compared(every):
        groups: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
        for one in of_study:
            for (figure, group), slowness in slownesses(one).items():
                groups[figure, _host(one), group][one.trial.trial_id] = slowness
        for trial_id, figures in marked((figure, of_trials) for (figure, _, _), of_trials in groups.items()).items():
            found[trial_id] += figures
    for trial_id, figures in _taken(every).items():
        found[trial_id] += figures
    return {trial_id: _slowest_first(figures) for trial_id, figures in found.items()}


def _compared(trials: Iterable[TrialSummary]) -> Iterable[list[TrialSummary]]:
    """Trials that are judged together: those of a duet by system, since systems of a round share a reference load."""
    parts: dict[str | None, list[TrialSummary]] = defaultdict(list)
    for one in trials:
        parts[None if one.turns is None else one.trial.system.name].append(one)
    return parts.values()


def marked(figures: Iterable[tuple[str, _ByTrial]]) -> dict[str, tuple[SlowFigure, ...]]:
    """The same by spreads, from pairs of a figure and the slowness of each trial that is compared by it."""
    known: dict[str, list[_Deviation]] = defaultdict(list)
    for figure, of_trials in figures:
        for trial_id, one in _deviations(figure, of_trials):
            known[trial_id].append(one)
    limit = _score_limit({trial_id: _score(of_trial) for trial_id, of_trial in known.items() if len(of_trial) > 1})
    found = {trial_id: tuple(_slow(of_trial, limit)) for trial_id, of_trial in known.items()}
    return {trial_id: _slowest_first(slow) for trial_id, slow in found.items() if slow}


def slownesses(one: TrialSummary) -> dict[tuple[str, str], float]:
    """Logarithms of how slow a trial's machine was, by (figure, group of trials that it is compared in)."""
    found: dict[tuple[str, str], float | None] = {}
    weather, system = one.outcome.weather, one.trial.system.name
    for when, group in (("before", ""), ("after", system)):
        times = None if weather is None else getattr(weather, when)
        for name in ("processor", "memory", "flush"):
            time_ms = None if times is None else getattr(times, f"{name}_ms")
            found[f"{name}-{when}", group] = None if not time_ms else math.log(time_ms)
    found["frequency", ""] = None if not one.frequency_hz else -math.log(one.frequency_hz)
    return {place: value for place, value in found.items() if value is not None}


def taken(figures: Iterable[tuple[str, _ByTrial]]) -> dict[str, tuple[SlowFigure, ...]]:
    """The same by shares of processor time, from pairs of a figure and the share that each trial lost to others."""
    found: dict[str, list[SlowFigure]] = defaultdict(list)
    for figure, of_trials in figures:
        if len(of_trials) < TAKEN_TRIALS_NEEDED:
            continue
        usual = float(np.median(list(of_trials.values())))
        limit_ratio = _slower(usual, usual + TAKEN_MORE)
        for trial_id, share in of_trials.items():
            if share > usual + TAKEN_MORE:
                found[trial_id].append(SlowFigure(figure=figure, ratio=_slower(usual, share), limit_ratio=limit_ratio))
    return {trial_id: _slowest_first(slow) for trial_id, slow in found.items()}


def _taken(trials: Iterable[TrialSummary]) -> dict[str, tuple[SlowFigure, ...]]:
    groups: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for one in trials:
        for figure, share in (("steal", one.cpu.steal), ("other-processes", one.other_cpu_ratio)):
            if share is not None:
                groups[figure, _host(one)][one.trial.trial_id] = share
    return taken((figure, of_trials) for (figure, _), of_trials in groups.items())


def _slower(usual: float, share: float) -> float:
    """How many times as slow a machine is of which others take a share instead of the usual one."""
    return max(1 - usual, 0.01) / max(1 - share, 0.01)


def _host(one: TrialSummary) -> str:
    return one.environment.host.name or ""


def _slowest_first(figures: Iterable[SlowFigure]) -> tuple[SlowFigure, ...]:
    return tuple(sorted(figures, key=lambda one: -one.ratio))


@dataclass(frozen=True, slots=True)
class _Deviation:
    """A figure of a trial.

    Attributes:
        slowness: Above the median, a logarithm.
        spread: Of the figure.
        limit_alone: Above so much slowness it counts by itself.
    """

    figure: str
    slowness: float
    spread: float
    limit_alone: float

    @property
    def spreads(self) -> float:
        """The slowness in spreads."""
        return self.slowness / self.spread


def _deviations(figure: str, of_trials: _ByTrial) -> Iterator[tuple[str, _Deviation]]:
    if len(of_trials) < TRIALS_NEEDED:
        return
    above = _above_median(of_trials.values())
    spread = max(_spread(above), _SPREAD_LEAST)
    times = float(np.interp(math.log(above.size), np.log(_SIZES), _ALONE))
    limit_alone = max(times * spread, math.log(SLOWER_RATIO))
    for trial_id, slowness in zip(of_trials, above, strict=True):
        yield trial_id, _Deviation(figure, float(slowness), spread, limit_alone)


def _above_median(values: Iterable[float]) -> NDArray[np.float64]:
    known = np.fromiter(values, dtype=float)
    above: NDArray[np.float64] = known - np.median(known)
    return above


def _spread(above: NDArray[np.float64]) -> float:
    return _CONSISTENT * float(max(np.median(np.abs(above)), np.median(above[above >= 0])))


def _score(of_trial: Sequence[_Deviation]) -> float:
    return sorted(one.spreads for one in of_trial)[-2]


def _score_limit(scores: _ByTrial) -> float:
    """From which number of spreads on two figures of a trial count; infinite for too few trials."""
    if len(scores) < TRIALS_NEEDED:
        return math.inf
    size, above = len(scores), _above_median(scores.values())
    spread = (size * _spread(above) + _SCORES_PRIOR * _SCORE_SPREAD) / (size + _SCORES_PRIOR)
    times: float = _LIMIT * max(size / _LIMIT_TRIALS, 1.0) ** _LIMIT_GROWTH
    return float(np.median(list(scores.values()))) + times * spread


def _slow(of_trial: Iterable[_Deviation], limit: float) -> Iterator[SlowFigure]:
    """The figures of a trial that count: two or more together, or each by itself."""
    slow = [one for one in of_trial if one.slowness > math.log(SLOWER_RATIO)]
    together = [one for one in slow if one.spreads > limit]
    is_together = len(together) > 1
    for one in slow:
        if is_together and one in together:
            yield _slow_figure(one, max(limit * one.spread, math.log(SLOWER_RATIO)))
        elif one.slowness > one.limit_alone:
            yield _slow_figure(one, one.limit_alone)


def _slow_figure(one: _Deviation, limit: float) -> SlowFigure:
    return SlowFigure(figure=one.figure, ratio=math.exp(one.slowness), limit_ratio=math.exp(limit))
