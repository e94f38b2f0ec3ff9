"""One system under one workload over rising rates: what of each it completed, and the highest rate that it carries.

A rate is carried when in every repetition, from the first second of the load on, nothing was dropped, no overload
(`overload`) lasted to the end, and at most 1 % of the transactions failed or never ended. A stall that was worked off
is no reason: it shows in the response times. The highest rate that is carried is the last before the first that is not:
a higher one that happens to be carried after one that was not counts for nothing.

Deliberately not here: rates between those that were tried, and bounds of response times.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from plimsoll.analyse.cells import durations_of, figures, repeated
from plimsoll.analyse.objective import ALLOWED_FAILED_RATIO
from plimsoll.analyse.rate_model import RateCell, RateCurve
from plimsoll.analyse.throughput import MeanThroughput, mean_throughputs
from plimsoll.analyse.trial_summary import TrialSummary


def rate_curves(trials: Sequence[TrialSummary]) -> tuple[RateCurve, ...]:
    """Builds all curves of trials at a rate, by workload and system in the order of their first trials."""
    workloads = dict.fromkeys(one.trial.workload.name for one in trials)
    systems = dict.fromkeys(one.trial.system.name for one in trials)
    return tuple(curve for workload in workloads for curve in _of_workload(trials, workload, list(systems)))


def _of_workload(trials: Sequence[TrialSummary], workload: str, systems: Sequence[str]) -> list[RateCurve]:
    groups: dict[tuple[str, float], list[TrialSummary]] = {}
    for one in trials:
        if one.trial.workload.name == workload and one.trial.level.rate_tps is not None:
            groups.setdefault((one.trial.system.name, one.trial.level.rate_tps), []).append(one)
    means = mean_throughputs([repeated(own) for own in groups.values()])
    cells = {key: _cell(key[1], own, mean) for (key, own), mean in zip(groups.items(), means, strict=True)}
    by_system = {name: [cells[key] for key in sorted(cells) if key[0] == name] for name in systems}
    return [_curve(name, workload, own) for name, own in by_system.items() if own]


def _curve(system: str, workload: str, rising: Sequence[RateCell]) -> RateCurve:
    carried = list(takewhile(lambda cell: cell.is_carried, rising))
    return RateCurve(
        system=system,
        workload=workload,
        connections=rising[0].connections,
        cells=tuple(rising),
        carried_tps=carried[-1].rate_tps if carried else None,
        bracketed=len(carried) < len(rising),
    )


def _cell(rate_tps: float, trials: Sequence[TrialSummary], throughput: MeanThroughput) -> RateCell:
    overloads = [overload for one in trials for overload in one.overloads]
    accounts = [one.outcome.account for one in trials if one.outcome.account is not None]
    load_s = sum(account.duration_s for account in accounts)
    return RateCell(
        **figures(trials, throughput),
        rate_tps=rate_tps,
        offered_tps=sum(account.offered_count for account in accounts) / load_s if load_s else None,
        pool_wait_ms=durations_of(trials, "pool_wait"),
        dispatch_delay_ms=durations_of(trials, "dispatch_delay"),
        waiting_max=max((overload.waiting_max for overload in overloads), default=0),
        overloaded_count=sum(bool(one.overloads) for one in trials),
        is_carried=all(_is_carried(one) for one in trials),
    )


def _is_carried(one: TrialSummary) -> bool:
    ended = {} if one.counts is None else one.counts.ended_of_trial
    unfinished = one.unfinished_count or 0
    failed_ratio = (ended.get("failed", 0) + unfinished) / max(sum(ended.values()) + unfinished, 1)
    fell_behind = any(overload.to_s is None for overload in one.overloads)
    return not fell_behind and not ended.get("dropped", 0) and failed_ratio <= ALLOWED_FAILED_RATIO
