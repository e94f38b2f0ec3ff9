"""Where the time of transactions goes, and which resource saturates first.

Utilisation law (Denning and Buzen 1978): a resource that is busy for a share U of the time at throughput X has a demand
D = U / X per transaction and saturates at X / U if the demand stays the same. It is read at the level of the highest
throughput; the interval is Student's t on the logarithms of the repetitions' own X / U. A resource that is busy at
least 90 % of the time there is saturated; one of at least 60 % is named as the first to saturate. A device that serves
many requests at once can be busy all the time and still have capacity, so its figure is a lower bound, and any other
resource of at least 60 % is named as its rival.

Where nothing is busy, the part of response time that grew most is named (`where_growth`).

Where server or client had only some of the CPUs, those count as resources of their own (`own_processors`).

What twice the processors would give (`twice_cpus`) is not said where something else than server and client took a fifth
of the busy processor time.

Deliberately not here: reading telemetry (`resources`), words (`plimsoll.guide`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from plimsoll.analyse.cell_model import Bounds, Cell, Estimate, SpreadKind
from plimsoll.analyse.cells import MeasuredCell
from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.own_processors import CLIENT_CPUS, CPUS_OF, SERVER_CPUS
from plimsoll.analyse.resources import CPU_QUOTA
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.analyse.twice_cpus import twice_the_cpus
from plimsoll.analyse.where_growth import growing
from plimsoll.analyse.where_level import where_level
from plimsoll.analyse.where_model import (
    BUSIEST,
    CPU,
    DATA_DEVICE,
    DISK,
    ResourceDemand,
    WhereLevel,
    WhereTime,
    WhereVerdict,
    is_device,
)
from plimsoll.analyse.within_run import quantile_t

SATURATED_RATIO = 0.9
BUSY_RATIO = 0.6
OTHERS_RATIO = 0.2
"""Where something else took so much of the processors, their demand is not that of transactions."""

_APART_RATIO = 1.3
"""A part of a resource is a bottleneck of its own only where it is so much busier than the whole."""

_METHOD = "t on logarithms of the repetitions' own throughput over utilisation"


class _Measured(NamedTuple):
    """A level: what is said about it, what it rests on, and what it comes to per transaction."""

    cell: Cell
    trials: tuple[TrialSummary, ...]
    level: WhereLevel


def where_times(cells: Iterable[MeasuredCell], curves: Iterable[Curve]) -> tuple[WhereTime, ...]:
    """One for each curve with telemetry; without utilisation of systems that took turns, which share all resources."""
    measured = {(one.system, one.workload, one.level.order): one for one in cells}
    found = []
    for curve in curves:
        own = [
            _Measured(cell, one.trials, where_level(cell, one.trials))
            for cell in curve.cells
            if (one := measured.get((curve.system, curve.workload, cell.level.order))) is not None
            and cell.throughput_tps.value > 0
            and any(trial.resources.utilisation or trial.resources.per_s for trial in one.trials)
        ]
        if own:
            found.append(_where_time(curve, own))
    return tuple(found)


def _where_time(curve: Curve, own: Sequence[_Measured]) -> WhereTime:
    limit = max(own, key=lambda one: one.cell.throughput_tps.value)
    demands = tuple(sorted(_demands(limit), key=lambda one: one.saturation_tps.value))
    candidates = own_bottlenecks(demands)
    at_limit = {one.resource: limit.level.utilisation.get(one.resource, 0.0) for one in candidates}
    first = max(candidates, key=lambda one: at_limit[one.resource], default=None)
    client_ratio, others_ratio = _shares(limit)
    base = WhereTime(
        system=curve.system,
        workload=curve.workload,
        kind=curve.kind,
        verdict=WhereVerdict.UNKNOWN,
        limit_level=limit.cell.level,
        demands=demands,
        client_ratio=client_ratio,
        others_ratio=others_ratio,
        is_network_known=all(one.resources.is_network_known for one in limit.trials),
        levels=tuple(one.level for one in own),
    )
    if any(trial.turns is not None for one in own for trial in one.trials):
        levels = tuple(one.level.model_copy(update={"utilisation": {}}) for one in own)
        return base.model_copy(update={"demands": (), "levels": levels, "client_ratio": None, "others_ratio": None})
    if first is None:
        return base
    if at_limit[first.resource] >= BUSY_RATIO:
        is_full = at_limit[first.resource] >= SATURATED_RATIO
        others = sorted(candidates, key=lambda one: -at_limit[one.resource])
        rivals = [one for one in others if one is not first and _is_rival(limit.trials, one, first)]
        return base.model_copy(
            update={
                "verdict": WhereVerdict.SATURATED if is_full else WhereVerdict.FIRST_TO_SATURATE,
                "resource": first.resource,
                "rival": rivals[0].resource if rivals else None,
                "what_if": twice_the_cpus(first, candidates) if (others_ratio or 0.0) < OTHERS_RATIO else None,
            }
        )
    lowest, highest = own[0], own[-1]
    return base.model_copy(update=growing(lowest.level, highest.level, (lowest.trials, highest.trials)))


def own_bottlenecks(demands: Sequence[ResourceDemand]) -> list[ResourceDemand]:
    """Those of a curve's resources that are neither a part nor a whole of another one."""
    return [one for one in demands if _is_own_bottleneck(one, demands)]


def _is_own_bottleneck(one: ResourceDemand, demands: Sequence[ResourceDemand]) -> bool:
    """Whether a resource is more than a part or a whole of one that is listed too. The server's CPUs count its quota.

    One CPU counts apart from all of them where it is much busier: a single thread limits then. So does a disk apart
    from the device of the data, which may lie on it. The whole host is none where the server had only some of its CPUs,
    or where a source and its replicas have CPUs of their own.
    """
    if one.resource == CPU_QUOTA and any(other.resource == SERVER_CPUS for other in demands):
        return False
    if one.resource == CPU and any(other.resource == SERVER_CPUS for other in demands):
        return False
    if one.resource in (CPU, SERVER_CPUS) and any(other.resource.startswith(CPUS_OF) for other in demands):
        return False
    if one.resource == BUSIEST:
        whole = [other.utilisation_ratio for other in demands if other.resource in (CPU, SERVER_CPUS, CLIENT_CPUS)]
    elif one.resource.startswith(DISK):
        whole = [other.utilisation_ratio for other in demands if other.resource.startswith(DATA_DEVICE)]
    else:
        return True
    return one.utilisation_ratio >= _APART_RATIO * max(whole, default=0.0)


def _demands(limit: _Measured) -> Iterable[ResourceDemand]:
    for name, busy_ratio in limit.level.utilisation.items():
        if busy_ratio > 0:
            yield ResourceDemand(
                resource=name,
                level=limit.cell.level,
                utilisation_ratio=busy_ratio,
                saturation_tps=_estimate(_saturations(limit.trials, name)),
            )


def _saturations(trials: Sequence[TrialSummary], name: str) -> list[float]:
    return [
        one.throughput_tps / one.resources.utilisation[name]
        for one in trials
        if one.resources.utilisation.get(name, 0.0) > 0 and one.throughput_tps > 0
    ]


def _estimate(values: Sequence[float]) -> Estimate:
    logs = np.log(values)
    value = math.exp(float(logs.mean()))
    if len(values) < 2 or float(logs.std()) == 0.0:
        return Estimate(value=value, trial_count=len(values))
    width = quantile_t(0.975, len(values) - 1) * float(logs.std(ddof=1)) / math.sqrt(len(values))
    bounds = Bounds(
        low=value * math.exp(-width),
        high=value * math.exp(width),
        basis=SpreadKind.REPETITIONS,
        degrees=len(values) - 1,
        method=_METHOD,
    )
    return Estimate(value=value, bounds=bounds, trial_count=len(values))


def _is_rival(trials: Sequence[TrialSummary], other: ResourceDemand, first: ResourceDemand) -> bool:
    if is_device(first.resource) and not is_device(other.resource) and other.utilisation_ratio >= BUSY_RATIO:
        return True
    return _may_be_first(trials, other, first)


def _may_be_first(trials: Sequence[TrialSummary], other: ResourceDemand, first: ResourceDemand) -> bool:
    """Whether the repetitions leave open which of two resources is busier: paired t test, 5 %; busy ones only."""
    pairs = [
        (one.resources.utilisation.get(first.resource, 0.0), one.resources.utilisation.get(other.resource, 0.0))
        for one in trials
    ]
    known = np.array([pair for pair in pairs if min(pair) > 0])
    if known.size == 0 or float(known[:, 1].mean()) < BUSY_RATIO:
        return False
    ratios = np.log(known[:, 0] / known[:, 1])
    if ratios.size < 2:
        return True
    width = quantile_t(0.975, ratios.size - 1) * float(ratios.std(ddof=1)) / math.sqrt(ratios.size)
    return bool(ratios.mean() <= width)


def _shares(limit: _Measured) -> tuple[float | None, float | None]:
    """Of the host's busy processor time: what the client took, and what neither it nor the server did."""
    cpu = limit.cell.cpu
    on_host = limit.trials[0].environment.client.on_server_host
    busy = 0.0 if cpu.idle is None else 1 - cpu.idle - (cpu.iowait or 0.0)
    if busy <= 0 or cpu.server is None or (on_host and cpu.client is None):
        return None, None
    client = cpu.client or 0.0 if on_host else 0.0
    others = max(busy - cpu.server - client, 0.0) / busy
    return (min(client / busy, 1.0) if on_host else None), min(others, 1.0)
