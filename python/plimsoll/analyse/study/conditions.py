"""Under which conditions trials were measured: disturbance second by second, weather around trials.

Under which conditions each trial of a cell was measured: its state, its machine's weather, and disturbances. Of a
disturbed cell throughput loses its bounds: they say how repetitions vary, not how far all of them are off.

How much slower than at its best a machine was while each trial was measured, second by second. A machine is disturbed
where something else than servers and client keeps them from running. Three figures tell that:

* **Scheduler wait.** Threads that are ready and wait for a processor. A saturated server waits for itself, so a wait
  counts for each second of processor time, and as far as it is longer than in the best tenth of the seconds at this
  workload and level, of all systems of the study. A system that needs more processor time is not called disturbed by
  that. By the bounds of an interactive system (Denning and Buzen 1978), throughput without that excess of E seconds per
  second would be at most N / (N - E) times as much with N transactions in service, and at most (U + T) / U times as
  much, where U is the processor time that servers and client used, and T what others used above their best tenth. The
  smaller of the two is the slowness. So a wait that nobody else caused counts nothing, and neither do other programs
  that never made anybody wait.
* **Steal**: the processor time that the hypervisor took, over what all programs used.
* **Clock**: the frequency against that of the fastest tenth, in seconds in which processors were at least half busy.
  Idle ones clock down by themselves.

The slowness of a second is the product of the three. Over a trial it is the harmonic mean, because throughput is a
mean of speeds. What disturbs every trial of a study in all of its seconds cannot be seen: its best tenth is as slow.

Trials whose machine was slower than around the study's other trials: the weather of machines. What others took is
measured: steal and other processes' share of processor time count when they are `TAKEN_MORE` above the median of the
study's trials on that machine. No spread is needed for that.

How fast the machine was is estimated: by times of the reference load before and after the trial, and clock frequency.
Each figure of a trial is turned into a slowness, the logarithm of a time or of the inverse of a speed, and compared
with its median; figures after a trial only with those of the same system, because what a server still writes and
purges then is its own work. A figure's spread is the median of the absolute deviations, or that of the deviations
above the median where it is larger (both made consistent with normal noise), so that noise with a long tail of slow
values is measured by that tail.

A slow machine is slow in several figures, and noise may be as well: before and after a trial, processor and memory go
up and down together. So a trial's score is the second largest of its slownesses in spreads, and the scores are
compared with each other: a trial is slower when its score is above their median by more than `_LIMIT` times their
spread, and both figures are slower by 5 % or more. Where figures vary together, scores vary more and the limit rises.
A few scores tell their spread badly; it is drawn towards that of independent normal figures, as if `_SCORES_PRIOR`
more had been seen. A single figure counts above `_ALONE` spreads.

By simulation of 6 to 100 trials with seven figures, whose noise is normal, of Student's t with 3 degrees of freedom,
or log-normal with sigma 0.5 (all of logarithms), independent or with half of its variance in common, at most 1 of 20
studies without a slow machine has a mark. With fewer than `TRIALS_NEEDED` trials nothing is judged by spreads; where a
quarter of them are slow, that is their spread. Sources: Rousseeuw and Croux 1993; Iglewicz and Hoaglin 1993; Hubert
and Van der Veeken 2008 for the side's own spread.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.analyse.study.cell_model import Cell
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.analyse.trial.condition_model import SLOW_RATIO, Disturbance, SlowFigure, TrialCondition, UnlikeConditions
from plimsoll.analyse.trial.samples import MachineSeconds, machine_of_round
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.stats.variance import Series


def with_conditions(
    curves: Iterable[Curve],
    trials: Iterable[TrialSummary],
    slow: Mapping[str, tuple[SlowFigure, ...]],
    met: Mapping[str, Disturbance],
) -> tuple[Curve, ...]:
    """The curves, whose cells say under which conditions their trials were measured.

    Args:
        curves: Of the study.
        trials: That they rest on.
        slow: In what machines were slow, by trial.
        met: What trials met, by trial.
    """
    known = {
        trial.trial.trial_id: TrialCondition(
            trial_id=trial.trial.trial_id,
            repetition=trial.trial.repetition,
            throughput_tps=trial.throughput_tps,
            steady=trial.steady,
            slower=slow.get(trial.trial.trial_id, ()),
            disturbance=met.get(trial.trial.trial_id),
        )
        for trial in trials
    }
    return tuple(_of_curve(curve, known) for curve in curves)


def _of_curve(curve: Curve, known: Mapping[str, TrialCondition]) -> Curve:
    cells = tuple(
        _of_cell(cell, tuple(known[trial] for trial in cell.trials if trial in known)) for cell in curve.cells
    )
    peak = curve.peak
    if peak is not None and any(cell.is_disturbed and cell.level == peak.level for cell in cells):
        peak = peak.model_copy(update={"throughput_tps": peak.throughput_tps.without_bounds})
    return curve.model_copy(update={"cells": cells, "peak": peak})


def _of_cell(cell: Cell, conditions: tuple[TrialCondition, ...]) -> Cell:
    disturbance = together(condition.disturbance for condition in conditions)
    update: dict[str, object] = {"conditions": conditions, "disturbance": disturbance}
    if is_disturbed(disturbance):
        update |= {"is_disturbed": True, "throughput_tps": cell.throughput_tps.without_bounds}
    return cell.model_copy(update=update)


SLOW_SHARE_ALLOWED = 0.10
"""With a larger share of slow seconds an absolute figure is disturbed."""

UNLIKE_RATIO = 1.05
"""From this ratio of their slownesses on, two sides met unlike conditions."""

SECONDS_NEEDED = 10
"""With fewer seconds together there is no best tenth."""

_BEST = 10
"""Percentile."""

_BUSY_RATIO = 0.5
_LEAST_CPU_S = 0.01
"""Of processor time in a second; with less, a wait for each second of it says nothing."""


def disturbances(trials: Sequence[TrialSummary]) -> dict[str, Disturbance]:
    """What each trial met, by its id; those of which nothing is known are left out."""
    pairs = zip(trials, met_by(trials), strict=True)
    return {trial.trial.trial_id: disturbance for trial, disturbance in pairs if disturbance is not None}


def met_by(trials: Sequence[TrialSummary]) -> list[Disturbance | None]:
    """What each trial met, against the others at its workload and level on the same machine, in their order.

    Runs of searches have rates of their own: those under a workload are compared with each other, and so are ramps.
    Systems that took turns met the same, round by round; nothing is known of a round where it is not of each of them.
    """
    groups: dict[tuple[object, ...], list[tuple[Sequence[int], MachineSeconds]]] = defaultdict(list)
    for places in _together(trials):
        machines = [machine for place in places if (machine := trials[place].machine) is not None]
        if len(machines) == len(places):
            trial, machine = trials[places[0]].trial, machine_of_round(machines)
            level = trial.level.order if trial.search_id is None else None
            groups[machine.host, trial.workload.name, level, trial.ramp is not None].append((places, machine))
    by_place: list[Disturbance | None] = [None for _ in trials]
    for units in groups.values():
        for (places, _), met in zip(units, judged([machine for _, machine in units]), strict=True):
            for place in places:
                by_place[place] = met
    return by_place


def _together(trials: Sequence[TrialSummary]) -> Iterable[Sequence[int]]:
    """The places of trials that met the same: those of a round, which one run of the engine drove; else each alone."""
    units: dict[object, list[int]] = defaultdict(list)
    for place, summary in enumerate(trials):
        account, trial = summary.outcome.account, summary.trial
        if summary.turns is None or account is None:
            units[place].append(place)
        else:
            units[trial.workload.name, trial.level.order, trial.repetition, account.started_unix_s].append(place)
    return units.values()


def judged(machines: Sequence[MachineSeconds]) -> list[Disturbance | None]:
    """The same of trials that are compared with each other; None for those of which too little is known."""
    best_server = _best([_over(machine.server_wait_s, machine.server_cpu_s) for machine in machines])
    best_client = _best([_over(machine.client_wait_s, machine.client_cpu_s) for machine in machines])
    best_others_s = _best([machine.others_s for machine in machines])
    best_steal = _best([_over(machine.steal_ratio * machine.cpu_count, machine.busy_s) for machine in machines])
    best_clock = _best([-_busy_clock(machine) for machine in machines])
    if best_server is None or best_others_s is None:
        return [None for _ in machines]
    met: list[Disturbance | None] = []
    for machine in machines:
        excess_s = _excess(machine.server_wait_s, machine.server_cpu_s, best_server)
        excess_s = excess_s + _excess(machine.client_wait_s, machine.client_cpu_s, best_client)
        taken_s = np.maximum(machine.others_s - best_others_s, 0.0)
        slowness = _waits(machine, excess_s, taken_s)
        slowness = slowness * _known(
            1 + _over(machine.steal_ratio * machine.cpu_count, machine.busy_s), 1 + (best_steal or 0.0)
        )
        slowness = slowness * _known(-(best_clock or 0.0) / _busy_clock(machine), 1.0)
        met.append(_disturbance(machine, slowness, excess_s))
    return met


def together(met: Iterable[Disturbance | None]) -> Disturbance | None:
    """What several trials met; None where it is known of none."""
    known = [disturbance for disturbance in met if disturbance is not None]
    watched_s = sum(disturbance.watched_s for disturbance in known)
    if not watched_s:
        return None

    def mean(name: str) -> float | None:
        values = [
            (disturbance.watched_s, value) for disturbance in known if (value := getattr(disturbance, name)) is not None
        ]
        return sum(weight * value for weight, value in values) / sum(weight for weight, _ in values) if values else None

    return Disturbance(
        watched_s=watched_s,
        slow_ratio=mean("slow_ratio") or 0.0,
        slowness=math.exp(sum(math.log(disturbance.slowness) for disturbance in known) / len(known)),
        wait_ms=mean("wait_ms"),
        best_wait_ms=mean("best_wait_ms"),
        steal_ratio=mean("steal_ratio"),
        from_unix_s=min(
            (disturbance.from_unix_s for disturbance in known if disturbance.from_unix_s is not None), default=None
        ),
        to_unix_s=max(
            (disturbance.to_unix_s for disturbance in known if disturbance.to_unix_s is not None), default=None
        ),
    )


def of_trials(trials: Iterable[TrialSummary], met: Mapping[str, Disturbance]) -> Disturbance | None:
    """What several trials met, from `disturbances`."""
    return together(met.get(trial.trial.trial_id) for trial in trials)


def is_disturbed(disturbance: Disturbance | None) -> bool:
    """Whether an absolute figure rests on evidence of a machine that was too slow for too long."""
    return disturbance is not None and disturbance.slow_ratio > SLOW_SHARE_ALLOWED


def to_measure_again(trials: Sequence[TrialSummary]) -> set[str]:
    """Ids of the trials whose machine was not what it was for others, so that they had better be measured again.

    Those that were slower than the rest by any figure (`slow_figures`), those that were disturbed for too long, and
    those that differ from the least slow one at their workload and level by so much that two sides would be unlike.
    Their own throughput plays no part.
    """
    met = disturbances(trials)
    places: dict[tuple[str, tuple[bool, float]], dict[str, Disturbance]] = defaultdict(dict)
    for trial in trials:
        if (disturbance := met.get(trial.trial.trial_id)) is not None:
            places[trial.trial.workload.name, trial.trial.level.order][trial.trial.trial_id] = disturbance
    again = set(slow_figures(trials))
    for place in places.values():
        limit = UNLIKE_RATIO * min(disturbance.slowness for disturbance in place.values())
        again |= {
            trial_id
            for trial_id, disturbance in place.items()
            if is_disturbed(disturbance) or disturbance.slowness > limit
        }
    return again


def unlike(base: Disturbance | None, system: Disturbance | None) -> UnlikeConditions | None:
    """The conditions of two sides, where they are not alike; None where they are, or are not known of both."""
    if base is None or system is None:
        return None
    conditions = UnlikeConditions(base=base, system=system)
    return conditions if conditions.contrast_ratio > UNLIKE_RATIO else None


def _best(series: Sequence[Series]) -> float | None:
    known = np.concatenate([values[np.isfinite(values)] for values in series]) if series else np.zeros(0)
    return float(np.percentile(known, _BEST)) if known.size >= SECONDS_NEEDED else None


def _over(part: Series, whole: Series) -> Series:
    """NaN where there is too little of the whole."""
    ratio: Series = np.divide(part, whole, out=np.full(part.size, np.nan), where=whole > _LEAST_CPU_S)
    return ratio


def _excess(wait_s: Series, cpu_s: Series, best: float | None) -> Series:
    return np.maximum(wait_s - best * cpu_s, 0.0) if best is not None else np.zeros(wait_s.size)


def _waits(machine_seconds: MachineSeconds, excess_s: Series, taken_s: Series) -> Series:
    """The smaller of two bounds, NaN where nothing is known."""
    count = machine_seconds.in_service
    by_waits = count / np.maximum(count - excess_s, count / 1000)
    by_cpu = 1 + _over(taken_s, machine_seconds.used_s)
    return np.minimum(by_waits, by_cpu)


def _busy_clock(machine_seconds: MachineSeconds) -> Series:
    return np.where(
        machine_seconds.busy_s >= _BUSY_RATIO * machine_seconds.cpu_count, machine_seconds.frequency_hz, np.nan
    )


def _known(slowness: Series, best: float) -> Series:
    """How many times as slow, at least 1, and 1 where that is not known."""
    return np.where(np.isfinite(slowness), np.maximum(slowness / best, 1.0), 1.0)


def _disturbance(machine_seconds: MachineSeconds, slowness: Series, excess_s: Series) -> Disturbance | None:
    known = np.flatnonzero(np.isfinite(slowness))
    if known.size == 0:
        return None
    slow = known[slowness[known] > SLOW_RATIO]
    wait_s, excess = (machine_seconds.server_wait_s + machine_seconds.client_wait_s)[known], excess_s[known]
    per_ms = 1e3 / machine_seconds.throughput_tps if machine_seconds.throughput_tps else None
    steal = machine_seconds.steal_ratio[known]
    steal = steal[np.isfinite(steal)]
    return Disturbance(
        watched_s=float(known.size),
        slow_ratio=slow.size / known.size,
        slowness=float(known.size / (1 / slowness[known]).sum()),
        wait_ms=None if per_ms is None else float(wait_s.mean()) * per_ms,
        best_wait_ms=None if per_ms is None else float((wait_s - excess).mean()) * per_ms,
        steal_ratio=float(steal.mean()) if steal.size else None,
        from_unix_s=machine_seconds.began_unix_s + float(slow[0]) if slow.size else None,
        to_unix_s=machine_seconds.began_unix_s + float(slow[-1]) + 1.0 if slow.size else None,
    )


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
    slow_by_trial: dict[str, list[SlowFigure]] = defaultdict(list)
    for of_study in _compared(every):
        groups: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
        for trial in of_study:
            for (figure, group), slowness in slownesses(trial).items():
                groups[figure, _host(trial), group][trial.trial.trial_id] = slowness
        for trial_id, figures in marked((figure, of_trials) for (figure, _, _), of_trials in groups.items()).items():
            slow_by_trial[trial_id] += figures
    for trial_id, figures in _taken(every).items():
        slow_by_trial[trial_id] += figures
    return {trial_id: _slowest_first(figures) for trial_id, figures in slow_by_trial.items()}


def _compared(trials: Iterable[TrialSummary]) -> Iterable[list[TrialSummary]]:
    """Trials that are judged together: those of a duet by system, since systems of a round share a reference load."""
    parts: dict[str | None, list[TrialSummary]] = defaultdict(list)
    for trial in trials:
        parts[None if trial.turns is None else trial.trial.system.name].append(trial)
    return parts.values()


def marked(figures: Iterable[tuple[str, _ByTrial]]) -> dict[str, tuple[SlowFigure, ...]]:
    """The same by spreads, from pairs of a figure and the slowness of each trial that is compared by it."""
    known: dict[str, list[_Deviation]] = defaultdict(list)
    for figure, of_trials in figures:
        for trial_id, deviation in _deviations(figure, of_trials):
            known[trial_id].append(deviation)
    limit = _score_limit({trial_id: _score(of_trial) for trial_id, of_trial in known.items() if len(of_trial) > 1})
    slow_by_trial = {trial_id: tuple(_slow(of_trial, limit)) for trial_id, of_trial in known.items()}
    return {trial_id: _slowest_first(slow) for trial_id, slow in slow_by_trial.items() if slow}


def slownesses(trial_summary: TrialSummary) -> dict[tuple[str, str], float]:
    """Logarithms of how slow a trial's machine was, by (figure, group of trials that it is compared in)."""
    logarithms: dict[tuple[str, str], float | None] = {}
    weather, system = trial_summary.outcome.weather, trial_summary.trial.system.name
    for when, group in (("before", ""), ("after", system)):
        times = None if weather is None else getattr(weather, when)
        for name in ("processor", "memory", "flush"):
            time_ms = None if times is None else getattr(times, f"{name}_ms")
            logarithms[f"{name}-{when}", group] = None if not time_ms else math.log(time_ms)
    logarithms["frequency", ""] = None if not trial_summary.frequency_hz else -math.log(trial_summary.frequency_hz)
    return {place: value for place, value in logarithms.items() if value is not None}


def taken(figures: Iterable[tuple[str, _ByTrial]]) -> dict[str, tuple[SlowFigure, ...]]:
    """The same by shares of processor time, from pairs of a figure and the share that each trial lost to others."""
    slow_by_trial: dict[str, list[SlowFigure]] = defaultdict(list)
    for figure, of_trials in figures:
        if len(of_trials) < TAKEN_TRIALS_NEEDED:
            continue
        usual = float(np.median(list(of_trials.values())))
        limit_ratio = _slower(usual, usual + TAKEN_MORE)
        for trial_id, share in of_trials.items():
            if share > usual + TAKEN_MORE:
                slow_by_trial[trial_id].append(
                    SlowFigure(figure=figure, ratio=_slower(usual, share), limit_ratio=limit_ratio)
                )
    return {trial_id: _slowest_first(slow) for trial_id, slow in slow_by_trial.items()}


def _taken(trials: Iterable[TrialSummary]) -> dict[str, tuple[SlowFigure, ...]]:
    groups: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for trial in trials:
        for figure, share in (("steal", trial.cpu.steal), ("other-processes", trial.other_cpu_ratio)):
            if share is not None:
                groups[figure, _host(trial)][trial.trial.trial_id] = share
    return taken((figure, of_trials) for (figure, _), of_trials in groups.items())


def _slower(usual: float, share: float) -> float:
    """How many times as slow a machine is of which others take a share instead of the usual one."""
    return max(1 - usual, 0.01) / max(1 - share, 0.01)


def _host(trial_summary: TrialSummary) -> str:
    return trial_summary.environment.host.name or ""


def _slowest_first(figures: Iterable[SlowFigure]) -> tuple[SlowFigure, ...]:
    return tuple(sorted(figures, key=lambda figure: -figure.ratio))


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
    return sorted(deviation.spreads for deviation in of_trial)[-2]


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
    slow = [deviation for deviation in of_trial if deviation.slowness > math.log(SLOWER_RATIO)]
    together = [deviation for deviation in slow if deviation.spreads > limit]
    is_together = len(together) > 1
    for deviation in slow:
        if is_together and deviation in together:
            yield _slow_figure(deviation, max(limit * deviation.spread, math.log(SLOWER_RATIO)))
        elif deviation.slowness > deviation.limit_alone:
            yield _slow_figure(deviation, deviation.limit_alone)


def _slow_figure(deviation: _Deviation, limit: float) -> SlowFigure:
    return SlowFigure(figure=deviation.figure, ratio=math.exp(deviation.slowness), limit_ratio=math.exp(limit))
