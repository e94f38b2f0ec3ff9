"""Which system to choose for which load: a ladder from the smallest load to the largest, by the verdicts of `size`.

A system is good for the largest load, less headroom, at which `size` says that it fits. Candidates are what the next
run surely sustains, what was searched for, and its figure; each is judged at that load, and level, response time,
evidence and grade are those of that verdict. A system of which no load is judged to fit has no rung.

A system has no rung where one with a rung is good for as much and costs no more and keeps its transactions as well; nor
where one is good for as much and keeps transactions that it may lose, under a workload that writes. Where prices are
not known of all, cores count in place of costs, and else nothing does. A rung that is good for no more than 5 % above a
smaller one is none: figures that lie so close do not say which system to take.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from plimsoll.analyse.answers.cost import is_comparable
from plimsoll.analyse.answers.size import HEADROOM, judged_system, objective_of
from plimsoll.analyse.answers.size_model import Choice, Fit, LoadAsked, SystemFit
from plimsoll.analyse.explain.durability import less_durable_under
from plimsoll.analyse.model import Analysis, SystemSummary, WorkloadSummary
from plimsoll.analyse.study.cell_model import EQUAL_WITHIN

_ANY_TPS = 1e-9
"""A load that whatever completes anything sustains."""

_BELOW = 1 - 1e-6
"""A load is judged a hair below the limit, which rounding may put on either side."""

Loses = Callable[[str, str], str | None]
"""What the first system may lose and the second one keeps, in words; None where that is nothing, or not known."""


def choices(analysis: Analysis) -> Iterator[Choice]:
    """The ladder of each workload; none where nothing is known of what systems sustain."""
    for workload in analysis.workloads:
        judged = [(system, _choice(analysis, system, workload)) for system in analysis.systems]
        sizes = _sizes([system for system, choice in judged if choice is not None])
        loses = partial(less_durable_under(analysis.systems, analysis.workloads), workload.name)
        yield from _ladder([choice for _, choice in judged if choice is not None], sizes, loses)


def _choice(analysis: Analysis, system: SystemSummary, workload: WorkloadSummary) -> Choice | None:
    """The largest load at which the system is judged to fit; None where there is none."""

    def judged(needed_tps: float) -> SystemFit | None:
        return judged_system(analysis, system, _asked(analysis, workload, needed_tps))

    best, most_tps = None, 0.0
    tried, untried = set[float](), set(_limits(judged(_ANY_TPS), _ANY_TPS))
    while len(tried) < _TRIES_MAX and (needed_tps := max(untried, default=0.0)) > most_tps:
        fit = judged(needed_tps * _BELOW)
        tried.add(needed_tps)
        untried = (untried | set(_limits(fit, needed_tps * _BELOW))) - tried
        if fit is not None and fit.verdict is Fit.FITS:
            best, most_tps = fit, needed_tps
    if best is None or best.connections is None:
        return None
    return Choice(
        workload=workload.name,
        system=system.name,
        up_to_tps=most_tps * (1 - HEADROOM),
        connections=best.connections,
        response_p99_ms=best.response_p99_ms,
        response_is_lower_bound=best.response_is_lower_bound,
        evidence=best.evidence,
        grade=best.grade,
    )


_TRIES_MAX = 20
"""Verdicts name few limits, and most of them twice."""


def _limits(fit: SystemFit | None, needed_tps: float) -> Iterator[float]:
    """Loads up to which a verdict says that the system may fit."""
    if fit is None:
        return
    by_margin = None if fit.margin_ratio is None else (1 + fit.margin_ratio) * needed_tps
    for limit_tps in (fit.sure_tps, fit.sustains_tps, by_margin):
        if limit_tps is not None and math.isfinite(limit_tps) and limit_tps > _ANY_TPS:
            yield limit_tps


def _asked(analysis: Analysis, workload: WorkloadSummary, needed_tps: float) -> LoadAsked:
    return LoadAsked(
        workload=workload.name,
        rate_unit=workload.rate_unit,
        tps=needed_tps * (1 - HEADROOM),
        response_p99_ms=objective_of(analysis),
        headroom=HEADROOM,
        needed_tps=needed_tps,
    )


def _ladder(known: Iterable[Choice], sizes: Mapping[str, float], loses: Loses) -> Iterator[Choice]:
    """The rungs, the smallest load first."""
    ordered = sorted(known, key=lambda choice: (-choice.up_to_tps, _size(choice, sizes), choice.system))
    rungs: list[Choice] = []
    for choice in ordered:
        if not any(_is_instead(rung, choice, sizes, loses) for rung in rungs):
            rungs.append(choice)
    steps: list[Choice] = []
    for rung in reversed(rungs):
        is_last = rung is rungs[0]
        if not steps or is_last or rung.up_to_tps * (1 - EQUAL_WITHIN) > steps[-1].up_to_tps:
            steps.append(rung)
    names = {rung.system for rung in steps}
    for rung in steps:
        others = (choice for choice in ordered if choice.system not in names)
        near = [choice for choice in others if _is_alike(choice, rung, sizes, loses)]
        lost = (loses(rung.system, choice.system) for choice in ordered)
        yield rung.model_copy(
            update={
                "or_systems": tuple(choice.system for choice in near),
                "less_durable": next(filter(None, lost), None),
            }
        )


def _is_instead(rung: Choice, choice: Choice, sizes: Mapping[str, float], loses: Loses) -> bool:
    """Whether a system that is good for as much leaves no reason to choose the other one."""
    is_no_larger = _size(rung, sizes) <= _size(choice, sizes)
    is_as_durable = loses(rung.system, choice.system) is None
    return (is_no_larger and is_as_durable) or loses(choice.system, rung.system) is not None


def _is_alike(choice: Choice, rung: Choice, sizes: Mapping[str, float], loses: Loses) -> bool:
    """Whether a system is as large, keeps as much, and is good for nearly as much or more."""
    is_as_durable = loses(choice.system, rung.system) is None
    is_as_large = _size(choice, sizes) == _size(rung, sizes)
    return is_as_durable and is_as_large and choice.up_to_tps >= rung.up_to_tps * (1 - EQUAL_WITHIN)


def _size(choice: Choice, sizes: Mapping[str, float]) -> float:
    return sizes.get(choice.system, 0.0)


def _sizes(systems: Sequence[SystemSummary]) -> dict[str, float]:
    """How large each system is: what it costs, else its cores; nothing where neither is known of all."""
    costs = {system.name: system.cost_per_month for system in systems}
    if is_comparable(systems) and (of_all := _known_of_all(costs)) is not None:
        return of_all
    return _known_of_all({system.name: system.cores for system in systems}) or {}


def _known_of_all(figures: Mapping[str, float | None]) -> dict[str, float] | None:
    known = {name: figure for name, figure in figures.items() if figure is not None and math.isfinite(figure)}
    return known if len(known) == len(figures) else None
