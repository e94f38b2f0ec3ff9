"""Where the time of transactions goes, which resource saturates first, and which wait grew most.

Utilisation law (Denning and Buzen 1978): a resource that is busy for a share U of the time at throughput X has a
demand D = U / X per transaction and saturates at X / U if the demand stays the same. It is read at the level of the
highest throughput; the interval is Student's t on the logarithms of the repetitions' own X / U. A resource that is
busy at least 90 % of the time there is saturated; one of at least 60 % is named as the first to saturate. A device
that serves many requests at once can be busy all the time and still have capacity, so its figure is a lower bound, and
any other resource of at least 60 % is named as its rival.

Where nothing is busy, the part of response time that grew most is named.

Where server or client had only some of the CPUs, those count as resources of their own (`processors`).

What twice the processors would give is not said where something else than server and client took a fifth of the busy
processor time.

What a transaction used and waited for at one level: per-second figures of the trials over their throughput. Response
time is divided into what a source says: processor time of the server and of the client, waits of the server's threads
for a processor, waits for row locks, for redo and the binary log, and for pages read from storage. The rest is
unexplained: network, latches, and whatever else nobody counts. Where the performance schema does not say how long
files were waited for, the wait for redo is flushes per transaction times the time of a flush (of the device, else as
measured on the idle directory), and that for reads is pages read times the time of a read. With group commit a
transaction waits for a flush that others caused, so this is a lower bound.

Of systems with replicas, what appliers use and wait for is left out: no transaction waits for it.

Which wait grew most from the lowest level to the highest, and which others may have grown as much. Growth is read
within each repetition that has both levels. Another part is named beside the first where a paired t test of the two
growths leaves open which is larger (5 %), and it grew by at least a quarter as much. With one repetition nothing can
be tested, so every part that grew by a quarter as much is named.

Response time must have grown by a quarter, or nothing is said to grow.

The parts of response time: what sources measured, cut so that with the unexplained rest it adds up to the whole.
Sources measure processes, not transactions. The server's processor time includes its background threads, the client's
what the load engine does between transactions and while the server works. So what they measured may come to more than
the response time. Then each part takes what is left of it, waits of the server's threads first, then the server's
processor time, then the client's. Waits come first because they are the best known to be of transactions. Where client
and server were busy at once, that time is therefore the server's. What found no room is kept beside the parts.

Source: none; this is bookkeeping.

What twice the processors would give at most: the asymptotic bound (Denning and Buzen 1978). It is twice the saturation
of the processors, or that of another resource where that is lower. It assumes that demands stay the same and that
contention does not rise.

A device is no such limit. It may be busy all the time while it serves many requests at once, and then still have
capacity (iostat(1) on %util; Gregg 2020, chapter 9). So the throughput at which it would be busy all the time is a
lower bound of what it sustains: it is given beside the upper one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from plimsoll.analyse.explain.where_model import (
    BUSIEST,
    CPU,
    DATA_DEVICE,
    DISK,
    ResourceDemand,
    WhatIf,
    WhereLevel,
    WherePart,
    WhereTime,
    WhereVerdict,
    is_device,
)
from plimsoll.analyse.study.cell_model import Bounds, Cell, Estimate, SpreadKind
from plimsoll.analyse.study.cells import MeasuredCell, response_of
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.analyse.trial.processors import CLIENT_CPUS, CPUS_OF, SERVER_CPUS
from plimsoll.analyse.trial.resources import CPU_QUOTA, statements_of, waits_of
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.stats.scaling_laws import Floats
from plimsoll.stats.variance import quantile_t

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
    measured = {(cell.system, cell.workload, cell.level.order): cell for cell in cells}
    per_curve = []
    for curve in curves:
        measured_levels = [
            _Measured(cell, measured_cell.trials, where_level(cell, measured_cell.trials))
            for cell in curve.cells
            if (measured_cell := measured.get((curve.system, curve.workload, cell.level.order))) is not None
            and cell.throughput_tps.value > 0
            and any(trial.resources.utilisation or trial.resources.per_s for trial in measured_cell.trials)
        ]
        if measured_levels:
            per_curve.append(_where_time(curve, measured_levels))
    return tuple(per_curve)


def _where_time(curve: Curve, measured_levels: Sequence[_Measured]) -> WhereTime:
    limit = max(measured_levels, key=lambda measured: measured.cell.throughput_tps.value)
    demands = tuple(sorted(_demands(limit), key=lambda demand: demand.saturation_tps.value))
    candidates = own_bottlenecks(demands)
    at_limit = {candidate.resource: limit.level.utilisation.get(candidate.resource, 0.0) for candidate in candidates}
    first = max(candidates, key=lambda candidate: at_limit[candidate.resource], default=None)
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
        is_network_known=all(trial.resources.is_network_known for trial in limit.trials),
        levels=tuple(measured.level for measured in measured_levels),
    )
    if any(trial.turns is not None for measured in measured_levels for trial in measured.trials):
        levels = tuple(measured.level.model_copy(update={"utilisation": {}}) for measured in measured_levels)
        return base.model_copy(update={"demands": (), "levels": levels, "client_ratio": None, "others_ratio": None})
    if first is None:
        return base
    if at_limit[first.resource] >= BUSY_RATIO:
        is_full = at_limit[first.resource] >= SATURATED_RATIO
        others = sorted(candidates, key=lambda candidate: -at_limit[candidate.resource])
        rivals = [other for other in others if other is not first and _is_rival(limit.trials, other, first)]
        return base.model_copy(
            update={
                "verdict": WhereVerdict.SATURATED if is_full else WhereVerdict.FIRST_TO_SATURATE,
                "resource": first.resource,
                "rival": rivals[0].resource if rivals else None,
                "what_if": twice_the_cpus(first, candidates) if (others_ratio or 0.0) < OTHERS_RATIO else None,
            }
        )
    lowest, highest = measured_levels[0], measured_levels[-1]
    return base.model_copy(update=growing(lowest.level, highest.level, (lowest.trials, highest.trials)))


def own_bottlenecks(demands: Sequence[ResourceDemand]) -> list[ResourceDemand]:
    """Those of a curve's resources that are neither a part nor a whole of another one."""
    return [demand for demand in demands if _is_own_bottleneck(demand, demands)]


def _is_own_bottleneck(resource_demand: ResourceDemand, demands: Sequence[ResourceDemand]) -> bool:
    """Whether a resource is more than a part or a whole of one that is listed too. The server's CPUs count its quota.

    One CPU counts apart from all of them where it is much busier: a single thread limits then. So does a disk apart
    from the device of the data, which may lie on it. The whole host is none where the server had only some of its CPUs,
    or where a source and its replicas have CPUs of their own.
    """
    if resource_demand.resource == CPU_QUOTA and any(other.resource == SERVER_CPUS for other in demands):
        return False
    if resource_demand.resource == CPU and any(other.resource == SERVER_CPUS for other in demands):
        return False
    if resource_demand.resource in (CPU, SERVER_CPUS) and any(other.resource.startswith(CPUS_OF) for other in demands):
        return False
    if resource_demand.resource == BUSIEST:
        whole = [other.utilisation_ratio for other in demands if other.resource in (CPU, SERVER_CPUS, CLIENT_CPUS)]
    elif resource_demand.resource.startswith(DISK):
        whole = [other.utilisation_ratio for other in demands if other.resource.startswith(DATA_DEVICE)]
    else:
        return True
    return resource_demand.utilisation_ratio >= _APART_RATIO * max(whole, default=0.0)


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
        trial.throughput_tps / trial.resources.utilisation[name]
        for trial in trials
        if trial.resources.utilisation.get(name, 0.0) > 0 and trial.throughput_tps > 0
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
        (trial.resources.utilisation.get(first.resource, 0.0), trial.resources.utilisation.get(other.resource, 0.0))
        for trial in trials
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


_PER_TRANSACTION = {
    "page_reads": "page_reads",
    "device_reads": "device_reads",
    "device_writes": "device_writes",
    "device_flushes": "device_flushes",
    "context_switches": "context_switches",
    "row_lock_waits": "row_lock_waits",
    "log_buffer_waits": "log_buffer_waits",
    "log_writes": "log_writes",
}
_KB = {
    "device_written_bytes": "written_kb",
    "redo_bytes": "redo_kb",
    "server_read_bytes": "server_read_kb",
    "server_written_bytes": "server_written_kb",
}


def where_level(cell: Cell, trials: Sequence[TrialSummary]) -> WhereLevel:
    """One level, mean of its trials; each figure over the trials that say it."""
    known = [trial for trial in trials if trial.throughput_tps > 0]
    each = mean_of([_per_transaction(trial) for trial in known])
    response_ms = cell.response_ms.mean
    measured, is_estimate = _measured(trials)
    within, outside = parts_of(response_ms, measured)
    rest_ms = within.get(WherePart.UNEXPLAINED)
    counted = mean_of(
        [{name: value / trial.throughput_tps for name, value in trial.resources.summaries.items()} for trial in known]
    )
    figures = {name: each[source] for source, name in _PER_TRANSACTION.items() if source in each}
    figures |= {name: each[source] / 1024 for source, name in _KB.items() if source in each}
    if (flushes := _flushes(each)) is not None:
        figures["flushes"] = flushes
    return WhereLevel(
        level=cell.level,
        throughput_tps=cell.throughput_tps.value,
        response_ms=response_ms,
        parts_ms=within,
        outside_ms=outside,
        unexplained_ratio=rest_ms / response_ms if response_ms and rest_ms is not None else None,
        redo_is_estimate=is_estimate,
        client_cpu_ms=measured[WherePart.CLIENT_CPU],
        per_transaction=figures,
        utilisation=mean_of([trial.resources.utilisation for trial in known]),
        waiters=dict(sorted(mean_of([trial.resources.waiters for trial in known]).items(), key=lambda item: -item[1])),
        throttled_s_per_s=mean_of([trial.resources.per_s for trial in known]).get("throttled_s"),
        server_waits=waits_of(counted),
        server_statements=statements_of(counted),
    )


def trial_parts(trial_summary: TrialSummary) -> dict[WherePart, float]:
    """The parts of one trial's response time, milliseconds; empty where that is not known."""
    response_ms = response_of(trial_summary).mean
    return {} if response_ms is None else parts_of(response_ms, _measured([trial_summary])[0]).within


def _measured(trials: Sequence[TrialSummary]) -> tuple[dict[WherePart, float | None], bool]:
    """Milliseconds per transaction that each part took, and whether those for redo are an estimate."""
    known = [trial for trial in trials if trial.throughput_tps > 0]
    each = mean_of([_per_transaction(trial) for trial in known])
    operation_ms = mean_of([trial.resources.operation_ms for trial in known])
    redo_ms, is_estimate = _redo_ms(each, operation_ms, trials)
    return {
        WherePart.SERVER_CPU: _served_ms(each),
        WherePart.CLIENT_CPU: _ms(each, "client_cpu_s"),
        WherePart.RUN_QUEUE: _ms(each, "run_delay_s"),
        WherePart.ROW_LOCKS: _ms(each, "row_lock_wait_s"),
        WherePart.REDO: redo_ms,
        WherePart.STORAGE_READS: _reads_ms(each, operation_ms),
    }, is_estimate


def mean_of(figures: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each figure over those that have it."""
    names = dict.fromkeys(name for figure in figures for name in figure)
    known = {name: [figure[name] for figure in figures if name in figure] for name in names}
    return {name: sum(values) / len(values) for name, values in known.items()}


def _per_transaction(trial_summary: TrialSummary) -> dict[str, float]:
    return {name: value / trial_summary.throughput_tps for name, value in trial_summary.resources.per_s.items()}


def _ms(each: Mapping[str, float], name: str) -> float | None:
    return each[name] * 1000 if name in each else None


def _served_ms(each: Mapping[str, float]) -> float | None:
    """Processor time of servers without that of appliers, for which no transaction waits."""
    whole_ms = _ms(each, "server_cpu_s")
    return None if whole_ms is None else max(whole_ms - (_ms(each, "apply_cpu_s") or 0.0), 0.0)


def _flushes(each: Mapping[str, float]) -> float | None:
    """Flushes of files that the server asked for; some versions count those of redo apart, others with all."""
    return max((each[name] for name in ("data_flushes", "redo_flushes") if name in each), default=None)


def _redo_ms(
    each: Mapping[str, float], operation_ms: Mapping[str, float], trials: Sequence[TrialSummary]
) -> tuple[float | None, bool]:
    """Milliseconds per transaction, and whether they are an estimate.

    MariaDB from 10.8 on counts no waits for its redo log, while it counts those for the binary log.
    """
    binlog_ms = each.get("binlog_file_wait_s", 0.0) * 1000
    if "redo_file_wait_s" in each:
        return each["redo_file_wait_s"] * 1000 + binlog_ms, False
    flush_ms = operation_ms.get("flush_ms_mean") or _idle_flush_ms(trials)
    flushes = each.get("redo_flushes", _flushes(each))
    return (None, False) if flush_ms is None or flushes is None else (flushes * flush_ms + binlog_ms, True)


def _idle_flush_ms(trials: Sequence[TrialSummary]) -> float | None:
    storages = (instance.storage for trial in trials for instance in trial.environment.instances)
    known = [
        storage.flush_ms_median for storage in storages if storage is not None and storage.flush_ms_median is not None
    ]
    return max(known, default=None)


def _reads_ms(each: Mapping[str, float], operation_ms: Mapping[str, float]) -> float | None:
    """Pages that a statement had to wait for. Waits for data files hold writes of the background too: not used."""
    if each.get("page_reads") == 0.0:
        return 0.0
    if "page_reads" not in each or "read_ms_mean" not in operation_ms:
        return None
    return each["page_reads"] * operation_ms["read_ms_mean"]


GROWN_RATIO = 0.25
RIVAL_RATIO = 0.25
"""A part that grew by less than so much of the largest growth is not in question, however few repetitions there are."""

_WAITS = tuple(part for part in WherePart if part is not WherePart.SERVER_CPU)
_GROWTH_METHOD = "t on the repetitions' own growth"

Growth = Mapping[str, object]
"""Fields of a `WhereTime`."""

Trials = Sequence[TrialSummary]


def growing(lowest: WhereLevel, highest: WhereLevel, trials: tuple[Trials, Trials]) -> Growth:
    """Which part of response time grew most.

    Args:
        lowest: The lowest level.
        highest: The highest level.
        trials: Those of each.
    """
    if lowest.response_ms is None or highest.response_ms is None or not highest.parts_ms:
        return {"verdict": WhereVerdict.UNKNOWN}
    if highest.level == lowest.level or highest.response_ms < lowest.response_ms * (1 + GROWN_RATIO):
        return {"verdict": WhereVerdict.NOTHING_GROWS}
    grown = _paired(*trials)
    if not grown.size:
        grown = _differences(lowest.parts_ms, highest.parts_ms)[None, :]
    means = grown.mean(axis=0)
    first = int(means.argmax())
    part = _WAITS[first]
    rivals = [
        other for other in np.argsort(-means) if other != first and _may_have_grown_most(grown, first, int(other))
    ]
    in_question = (part, *(_WAITS[other] for other in rivals))
    is_counted = part is not WherePart.UNEXPLAINED
    return {
        "verdict": WhereVerdict.WAIT_GROWS if is_counted else WhereVerdict.UNEXPLAINED_WAIT_GROWS,
        "part": part,
        "rival_parts": in_question[1:],
        "growth_ms": float(means[first]),
        "growth_bounds": _bounds(grown[:, first]),
        "table": next(iter(highest.waiters), None) if WherePart.ROW_LOCKS in in_question else None,
    }


def _paired(low: Trials, high: Trials) -> Floats:
    """Growth of each part in each repetition that has both levels, (repetitions, parts), milliseconds."""
    before = {trial.trial.repetition: trial_parts(trial) for trial in low}
    after = {trial.trial.repetition: trial_parts(trial) for trial in high}
    both = [number for number in before if before[number] and after.get(number)]
    return np.array([_differences(before[number], after[number]) for number in both])


def _differences(before: Mapping[WherePart, float], after: Mapping[WherePart, float]) -> Floats:
    return np.array([after.get(part, 0.0) - before.get(part, 0.0) for part in _WAITS])


def _may_have_grown_most(grown: Floats, first: int, other: int) -> bool:
    """Whether the repetitions leave open which of two parts grew more."""
    leads = grown[:, first] - grown[:, other]
    if float(grown[:, other].mean()) < RIVAL_RATIO * float(grown[:, first].mean()):
        return False
    return leads.size < 2 or bool(leads.mean() <= _width(leads))


def _width(values: Floats) -> float:
    return quantile_t(0.975, values.size - 1) * float(values.std(ddof=1)) / math.sqrt(values.size)


def _bounds(values: Floats) -> Bounds | None:
    if values.size < 2:
        return None
    mean, width = float(values.mean()), _width(values)
    return Bounds(
        low=mean - width,
        high=mean + width,
        basis=SpreadKind.REPETITIONS,
        degrees=values.size - 1,
        method=_GROWTH_METHOD,
    )


_TAKES_ROOM = (
    WherePart.ROW_LOCKS,
    WherePart.RUN_QUEUE,
    WherePart.STORAGE_READS,
    WherePart.REDO,
    WherePart.SERVER_CPU,
    WherePart.CLIENT_CPU,
)
"""Whose time is taken to be of the response time first."""


class Parts(NamedTuple):
    """Milliseconds per transaction, by part.

    Attributes:
        within: Of the response time; they add up to it. Without a response time as they were measured.
        outside: What was measured beyond the response time; only parts that were cut.
    """

    within: dict[WherePart, float]
    outside: dict[WherePart, float]


def parts_of(response_ms: float | None, measured: Mapping[WherePart, float | None]) -> Parts:
    """Divides a mean response time.

    Args:
        response_ms: Milliseconds; None when unknown.
        measured: Milliseconds per transaction that each part took; None where no source says.
    """
    known = {part: ms for part in WherePart if (ms := measured.get(part)) is not None}
    if response_ms is None or not known:
        return Parts(known, {})
    left_ms, taken = response_ms, {}
    for part in _TAKES_ROOM:
        if part in known:
            taken[part] = min(known[part], left_ms)
            left_ms -= taken[part]
    within = {part: taken[part] for part in known} | {WherePart.UNEXPLAINED: max(left_ms, 0.0)}
    return Parts(within, {part: ms - taken[part] for part, ms in known.items() if ms > taken[part]})


def twice_the_cpus(first: ResourceDemand, demands: Sequence[ResourceDemand]) -> WhatIf | None:
    """The bound; None where the processors are not what limits.

    Args:
        first: The resource that saturates first.
        demands: All that are bottlenecks of their own.
    """
    if first.resource not in (CPU, SERVER_CPUS):
        return None
    doubled = _scaled(first.saturation_tps, 2.0)
    others = [
        demand
        for demand in demands
        if demand.resource not in (CPU, BUSIEST, SERVER_CPUS) and not is_device(demand.resource)
    ]
    lowest = _lowest(others)
    is_other = lowest is not None and lowest.saturation_tps.value < doubled.value
    bound, limited_by = (lowest.saturation_tps, lowest.resource) if lowest and is_other else (doubled, first.resource)
    device = _lowest([demand for demand in demands if is_device(demand.resource)])
    if device is None or device.saturation_tps.value >= bound.value:
        return WhatIf(bound_tps=bound, limited_by=limited_by)
    return WhatIf(bound_tps=bound, limited_by=limited_by, device_busy_tps=device.saturation_tps, device=device.resource)


def _lowest(demands: Sequence[ResourceDemand]) -> ResourceDemand | None:
    return min(demands, key=lambda demand: demand.saturation_tps.value, default=None)


def _scaled(estimate: Estimate, factor: float) -> Estimate:
    bounds = estimate.bounds
    if bounds is not None:
        bounds = bounds.model_copy(update={"low": bounds.low * factor, "high": bounds.high * factor})
    return estimate.model_copy(update={"value": estimate.value * factor, "bounds": bounds})
