"""Which system to choose for which load: a ladder from the smallest system to the largest, by the rules of `size`.

A system is good for what the next run surely sustains (the lower prediction limit over repetitions), or for its figure
where there is only one, less the headroom that `size` keeps free. It has a rung unless another one that is good for as
much costs no more and keeps its transactions as well, under a workload that writes; where prices are not known, cores
count instead of costs. Systems that are good for nearly as much as a rung and have none are named beside it: figures
that lie so close do not say which one to take.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from plimsoll.analyse.answers.cost import is_comparable
from plimsoll.analyse.answers.size import HEADROOM, judged_systems
from plimsoll.analyse.answers.size_model import Choice, LoadAsked, SystemFit
from plimsoll.analyse.explain.durability import less_durable_under
from plimsoll.analyse.model import Analysis, SystemSummary
from plimsoll.analyse.study.cell_model import EQUAL_WITHIN

_ANY_TPS = 1e-9
"""A load that whatever completes anything sustains: what a system is good for is asked for, whatever the load."""


def choices(analysis: Analysis) -> Iterator[Choice]:
    """The ladder of each workload, the smallest load first; none where nothing is known of what systems sustain."""
    for workload in analysis.workloads:
        asked = LoadAsked(
            workload=workload.name,
            rate_unit=workload.rate_unit,
            tps=_ANY_TPS,
            response_p99_ms=analysis.objective_ms_p99,
            headroom=HEADROOM,
            needed_tps=_ANY_TPS,
        )
        known = [choice for fit in judged_systems(analysis, asked) if (choice := _choice(asked, fit)) is not None]
        loses = partial(less_durable_under(analysis.systems, analysis.workloads), workload.name)
        yield from reversed(list(_rungs(known, _sizes(analysis.systems), loses)))


def _choice(asked: LoadAsked, fit: SystemFit) -> Choice | None:
    """None where it is not known what the system sustains, or the machine was disturbed."""
    most_tps = fit.sure_tps if fit.sure_tps is not None else fit.sustains_tps
    if not most_tps or fit.connections is None:
        return None
    return Choice(
        workload=asked.workload,
        system=fit.system,
        up_to_tps=most_tps * (1 - asked.headroom),
        connections=fit.connections,
        response_p99_ms=fit.response_p99_ms,
        response_is_lower_bound=fit.response_is_lower_bound,
        evidence=fit.evidence,
        grade=fit.grade,
    )


Loses = Callable[[str, str], str | None]
"""What the first system may lose and the second one keeps, in words; None where that is nothing, or not known."""


def _rungs(known: Sequence[Choice], sizes: Mapping[str, float], loses: Loses) -> Iterator[Choice]:
    """The largest load first."""
    ordered = sorted(known, key=lambda choice: (-choice.up_to_tps, sizes.get(choice.system, 0.0), choice.system))
    rungs: list[Choice] = []
    for choice in ordered:
        size, name = sizes.get(choice.system, 0.0), choice.system
        if not any(sizes.get(rung.system, 0.0) <= size and loses(rung.system, name) is None for rung in rungs):
            rungs.append(choice)
    names = {rung.system for rung in rungs}
    for rung in rungs:
        near = [choice for choice in ordered if choice.system not in names and _is_near(choice, rung, loses)]
        lost = (loses(rung.system, choice.system) for choice in known)
        yield rung.model_copy(
            update={
                "or_systems": tuple(choice.system for choice in near),
                "less_durable": next(filter(None, lost), None),
            }
        )


def _is_near(choice: Choice, rung: Choice, loses: Loses) -> bool:
    is_as_durable = loses(choice.system, rung.system) is None
    return is_as_durable and rung.up_to_tps * (1 - EQUAL_WITHIN) <= choice.up_to_tps <= rung.up_to_tps


def _sizes(systems: Sequence[SystemSummary]) -> dict[str, float]:
    """How large each system is: what it costs, else its cores; nothing where neither is known of all."""
    costs = {system.name: system.cost_per_month for system in systems}
    if is_comparable(systems) and (of_all := _known_of_all(costs)) is not None:
        return of_all
    return _known_of_all({system.name: system.cores for system in systems}) or {}


def _known_of_all(figures: dict[str, float | None] | dict[str, int | None]) -> dict[str, float] | None:
    known = {name: float(figure) for name, figure in figures.items() if figure is not None and math.isfinite(figure)}
    return known if len(known) == len(figures) else None
