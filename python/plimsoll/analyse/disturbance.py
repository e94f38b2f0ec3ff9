"""How much slower than at its best a machine was while each trial was measured, second by second.

A machine is disturbed where something else than servers and client keeps them from running. Three figures tell that:

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

The slowness of a second is the product of the three. Over a trial it is the harmonic mean, because throughput is a mean
of speeds. What disturbs every trial of a study in all of its seconds cannot be seen: its best tenth is as slow.

Deliberately not here: what a recording says of a second (`machine_seconds`), and marks by the reference load around
trials (`weather`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from plimsoll.analyse.disturbance_model import SLOW_RATIO, Disturbance, UnlikeConditions
from plimsoll.analyse.machine_seconds import MachineSeconds
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.analyse.within_run import Series

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
    found = zip(trials, met_by(trials), strict=True)
    return {trial.trial.trial_id: one for trial, one in found if one is not None}


def met_by(trials: Sequence[TrialSummary]) -> list[Disturbance | None]:
    """What each trial met, against the others at its workload and level on the same machine, in their order.

    Runs of searches have rates of their own: those under a workload are compared with each other, and so are ramps.
    """
    groups: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for place, one in enumerate(trials):
        if one.machine is not None:
            level = one.trial.level.order if one.trial.search_id is None else None
            is_ramp = one.trial.ramp is not None
            groups[one.machine.host, one.trial.workload.name, level, is_ramp].append(place)
    found: list[Disturbance | None] = [None for _ in trials]
    for places in groups.values():
        machines = [machine for place in places if (machine := trials[place].machine) is not None]
        for place, met in zip(places, judged(machines), strict=True):
            found[place] = met
    return found


def judged(machines: Sequence[MachineSeconds]) -> list[Disturbance | None]:
    """The same of trials that are compared with each other; None for those of which too little is known."""
    best_server = _best([_over(one.server_wait_s, one.server_cpu_s) for one in machines])
    best_client = _best([_over(one.client_wait_s, one.client_cpu_s) for one in machines])
    best_others_s = _best([one.others_s for one in machines])
    best_steal = _best([_over(one.steal_ratio * one.cpu_count, one.busy_s) for one in machines])
    best_clock = _best([-_busy_clock(one) for one in machines])
    if best_server is None or best_others_s is None:
        return [None for _ in machines]
    found: list[Disturbance | None] = []
    for one in machines:
        excess_s = _excess(one.server_wait_s, one.server_cpu_s, best_server)
        excess_s = excess_s + _excess(one.client_wait_s, one.client_cpu_s, best_client)
        taken_s = np.maximum(one.others_s - best_others_s, 0.0)
        slowness = _waits(one, excess_s, taken_s)
        slowness = slowness * _known(1 + _over(one.steal_ratio * one.cpu_count, one.busy_s), 1 + (best_steal or 0.0))
        slowness = slowness * _known(-(best_clock or 0.0) / _busy_clock(one), 1.0)
        found.append(_disturbance(one, slowness, excess_s))
    return found


def together(found: Iterable[Disturbance | None]) -> Disturbance | None:
    """What several trials met; None where it is known of none."""
    known = [one for one in found if one is not None]
    watched_s = sum(one.watched_s for one in known)
    if not watched_s:
        return None

    def mean(name: str) -> float | None:
        values = [(one.watched_s, value) for one in known if (value := getattr(one, name)) is not None]
        return sum(weight * value for weight, value in values) / sum(weight for weight, _ in values) if values else None

    return Disturbance(
        watched_s=watched_s,
        slow_ratio=mean("slow_ratio") or 0.0,
        slowness=math.exp(sum(math.log(one.slowness) for one in known) / len(known)),
        wait_ms=mean("wait_ms"),
        best_wait_ms=mean("best_wait_ms"),
        steal_ratio=mean("steal_ratio"),
        from_unix_s=min((one.from_unix_s for one in known if one.from_unix_s is not None), default=None),
        to_unix_s=max((one.to_unix_s for one in known if one.to_unix_s is not None), default=None),
    )


def of_trials(trials: Iterable[TrialSummary], met: Mapping[str, Disturbance]) -> Disturbance | None:
    """What several trials met, from `disturbances`."""
    return together(met.get(one.trial.trial_id) for one in trials)


def is_disturbed(one: Disturbance | None) -> bool:
    """Whether an absolute figure rests on evidence of a machine that was too slow for too long."""
    return one is not None and one.slow_ratio > SLOW_SHARE_ALLOWED


def unlike(base: Disturbance | None, system: Disturbance | None) -> UnlikeConditions | None:
    """The conditions of two sides, where they are not alike; None where they are, or are not known of both."""
    if base is None or system is None:
        return None
    found = UnlikeConditions(base=base, system=system)
    return found if found.contrast_ratio > UNLIKE_RATIO else None


def _best(series: Sequence[Series]) -> float | None:
    known = np.concatenate([one[np.isfinite(one)] for one in series]) if series else np.zeros(0)
    return float(np.percentile(known, _BEST)) if known.size >= SECONDS_NEEDED else None


def _over(part: Series, whole: Series) -> Series:
    """NaN where there is too little of the whole."""
    found: Series = np.divide(part, whole, out=np.full(part.size, np.nan), where=whole > _LEAST_CPU_S)
    return found


def _excess(wait_s: Series, cpu_s: Series, best: float | None) -> Series:
    return np.maximum(wait_s - best * cpu_s, 0.0) if best is not None else np.zeros(wait_s.size)


def _waits(one: MachineSeconds, excess_s: Series, taken_s: Series) -> Series:
    """The smaller of two bounds, NaN where nothing is known."""
    count = one.in_service
    by_waits = count / np.maximum(count - excess_s, count / 1000)
    by_cpu = 1 + _over(taken_s, one.used_s)
    return np.minimum(by_waits, by_cpu)


def _busy_clock(one: MachineSeconds) -> Series:
    return np.where(one.busy_s >= _BUSY_RATIO * one.cpu_count, one.frequency_hz, np.nan)


def _known(slowness: Series, best: float) -> Series:
    """How many times as slow, at least 1, and 1 where that is not known."""
    return np.where(np.isfinite(slowness), np.maximum(slowness / best, 1.0), 1.0)


def _disturbance(one: MachineSeconds, slowness: Series, excess_s: Series) -> Disturbance | None:
    known = np.flatnonzero(np.isfinite(slowness))
    if known.size == 0:
        return None
    slow = known[slowness[known] > SLOW_RATIO]
    wait_s, excess = (one.server_wait_s + one.client_wait_s)[known], excess_s[known]
    per_ms = 1e3 / one.throughput_tps if one.throughput_tps else None
    steal = one.steal_ratio[known]
    steal = steal[np.isfinite(steal)]
    return Disturbance(
        watched_s=float(known.size),
        slow_ratio=slow.size / known.size,
        slowness=float(known.size / (1 / slowness[known]).sum()),
        wait_ms=None if per_ms is None else float(wait_s.mean()) * per_ms,
        best_wait_ms=None if per_ms is None else float((wait_s - excess).mean()) * per_ms,
        steal_ratio=float(steal.mean()) if steal.size else None,
        from_unix_s=one.began_unix_s + float(slow[0]) if slow.size else None,
        to_unix_s=one.began_unix_s + float(slow[-1]) + 1.0 if slow.size else None,
    )
