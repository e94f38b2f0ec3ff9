"""Which system to choose for which load, by the verdicts of `size`.

A system is good for a load if it fits that load and every lower one, headroom kept free. Verdicts change only at
figures of the evidence (`verdict_limits`), and each is judged at all of them; nothing is searched for. Verdicts are not
monotone: a system that misses a load may fit a higher one, by other evidence. It is not good for that one.

Of the systems that are good for a load, those that may lose what another of them keeps are left out, under a workload
that writes. The smallest of the others is chosen: by price, by cores where prices are not known of all, by nothing
where neither is. Of systems as large the better grade comes first, then the one that is good for the most.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import groupby, takewhile

from plimsoll.analyse.answers.cost import is_comparable
from plimsoll.analyse.answers.size import HEADROOM, judged_system, needed_tps, objective_of, verdict_limits
from plimsoll.analyse.answers.size_model import (
    Alternative,
    Choice,
    Fit,
    LoadAsked,
    SizedBy,
    SystemFit,
    WorkloadChoices,
)
from plimsoll.analyse.explain.durability import less_durable_under
from plimsoll.analyse.findings.finding_model import RANKED, Grade, worst
from plimsoll.analyse.model import Analysis, SystemSummary, WorkloadSummary

Loses = Callable[[str, str], str | None]
"""What the first system may lose and the second one keeps, in words; None where that is nothing, or not known."""


@dataclass(frozen=True, slots=True)
class _GoodFor:
    """A system with the loads that it is good for.

    Attributes:
        fits: What is needed, transactions per second, with the verdict there and above the one before; rising.
        size: What it costs, or its cores; 0 for all systems where neither is known of all.
    """

    system: SystemSummary
    fits: tuple[tuple[float, SystemFit], ...]
    size: float = 0.0

    @property
    def name(self) -> str:
        return self.system.name

    @property
    def most_tps(self) -> float:
        return self.fits[-1][0]

    def fit_at(self, tps: float) -> SystemFit:
        return next(fit for up_to_tps, fit in self.fits if up_to_tps >= tps)

    def grade_between(self, above_tps: float, up_to_tps: float) -> Grade:
        """The worst there."""
        begins_tps = (0.0, *(tps for tps, _ in self.fits))
        return worst(
            fit.grade
            for begin_tps, (tps, fit) in zip(begins_tps, self.fits, strict=False)
            if tps > above_tps and begin_tps < up_to_tps
        )


def choices(analysis: Analysis) -> Iterator[WorkloadChoices]:
    """For each workload which system to choose for which load."""
    for workload in analysis.workloads:
        judged = [(system, _verdicts(analysis, system, workload)) for system in analysis.systems]
        good = [_GoodFor(system, fits) for system, verdicts in judged if (fits := _fits_from_the_lowest(verdicts))]
        sized_by, sized = _with_sizes(good)
        loses = partial(less_durable_under(analysis.systems, analysis.workloads), workload.name)
        most_tps = max((each.most_tps for each in good), default=0.0)
        yield WorkloadChoices(
            workload=workload.name,
            response_p99_ms=objective_of(analysis),
            headroom=HEADROOM,
            sized_by=sized_by,
            choices=tuple(_choices(sized, loses, [system.name for system in analysis.systems])),
            is_gap_above=any(
                fit.verdict is Fit.FITS and tps > most_tps for _, verdicts in judged for tps, fit in verdicts
            ),
        )


def _verdicts(analysis: Analysis, system: SystemSummary, workload: WorkloadSummary) -> list[tuple[float, SystemFit]]:
    """The verdict up to each limit, rising; nothing fits above the highest one."""
    limits = verdict_limits(analysis, system.name, workload.name)
    judged = ((tps, judged_system(analysis, system, _asked(analysis, workload, tps))) for tps in limits)
    return [(tps, fit) for tps, fit in judged if fit is not None]


def _asked(analysis: Analysis, workload: WorkloadSummary, tps: float) -> LoadAsked:
    """The load that needs so much."""
    return LoadAsked(
        workload=workload.name,
        rate_unit=workload.rate_unit,
        tps=_load_tps(tps),
        response_p99_ms=objective_of(analysis),
        headroom=HEADROOM,
        needed_tps=tps,
    )


def _load_tps(tps: float) -> float:
    """The largest load that needs no more than this with headroom."""
    load_tps = float(Fraction(tps) * (1 - Fraction(str(HEADROOM))))
    while load_tps > 0 and needed_tps(load_tps, HEADROOM) > tps:
        load_tps = math.nextafter(load_tps, 0.0)
    return load_tps


def _fits_from_the_lowest(verdicts: Sequence[tuple[float, SystemFit]]) -> tuple[tuple[float, SystemFit], ...]:
    """Those below the first load that does not fit, neighbours that say the same joined."""
    fitting = takewhile(lambda verdict: verdict[1].verdict is Fit.FITS, verdicts)
    joined = groupby(fitting, lambda verdict: (_basis(verdict[1]), verdict[1].connections, verdict[1].response_p99_ms))
    return tuple(tuple(same)[-1] for _, same in joined)


def _basis(fit: SystemFit) -> tuple[str, str]:
    return fit.evidence, fit.grade


def _choices(good: Sequence[_GoodFor], loses: Loses, systems: Sequence[str]) -> Iterator[Choice]:
    """The smallest loads first; a choice ends where another system, evidence or grade begins."""
    ends = sorted({tps for each in good for tps, _ in each.fits})
    chosen = [(tps, _smallest(good, tps, loses)) for tps in ends]
    above_tps = 0.0
    for _, same in groupby(chosen, lambda choice: (choice[1].name, *_basis(choice[1].fit_at(choice[0])))):
        tps, best = list(same)[-1]
        fit = best.fit_at(tps)
        lost = (loses(best.name, other) for other in systems)
        yield Choice(
            system=best.name,
            up_to_tps=_load_tps(tps),
            connections=fit.connections,
            response_p99_ms=fit.response_p99_ms,
            response_is_lower_bound=fit.response_is_lower_bound,
            evidence=fit.evidence,
            grade=fit.grade,
            less_durable=next(filter(None, lost), None),
            alternatives=tuple(_alternatives(good, best, (above_tps, tps), loses)),
        )
        above_tps = tps


def _smallest(good: Iterable[_GoodFor], tps: float, loses: Loses) -> _GoodFor:
    enough = [each for each in good if each.most_tps >= tps]
    keeping = (each for each in enough if not any(loses(each.name, other.name) for other in enough))
    return min(keeping, key=lambda each: (each.size, RANKED.index(each.fit_at(tps).grade), -each.most_tps, each.name))


def _alternatives(
    good: Sequence[_GoodFor], best: _GoodFor, between_tps: tuple[float, float], loses: Loses
) -> Iterator[Alternative]:
    """Systems as good as the choice for some of its loads, as far as size and durability tell."""
    above_tps, up_to_tps = between_tps
    rivals = [each for each in good if each.most_tps > above_tps]
    keeping = [each for each in good if each is not best and not any(loses(each.name, other.name) for other in rivals)]
    others = [each for each in keeping if each.size == best.size and each.most_tps > above_tps]
    if best.grade_between(above_tps, up_to_tps) is not Grade.MEASURED:
        larger = (each for each in keeping if each.size > best.size and each.most_tps >= up_to_tps)
        measured = [each for each in larger if each.grade_between(above_tps, up_to_tps) is Grade.MEASURED]
        others += sorted(measured, key=lambda each: (each.size, -each.most_tps, each.name))[:1]
    for each in sorted(others, key=lambda each: (each.size, -each.most_tps, each.name)):
        most_tps = min(each.most_tps, up_to_tps)
        yield Alternative(
            system=each.name, up_to_tps=_load_tps(most_tps), grade=each.grade_between(above_tps, most_tps)
        )


def _with_sizes(good: Sequence[_GoodFor]) -> tuple[SizedBy, list[_GoodFor]]:
    systems = [each.system for each in good]
    costs = {system.name: system.cost_per_month for system in systems}
    if is_comparable(systems) and (sizes := _known_of_all(costs)):
        return SizedBy.PRICE, _sized(good, sizes)
    if sizes := _known_of_all({system.name: system.cores for system in systems}):
        return SizedBy.CORES, _sized(good, sizes)
    return SizedBy.NOTHING, list(good)


def _sized(good: Sequence[_GoodFor], sizes: Mapping[str, float]) -> list[_GoodFor]:
    return [_GoodFor(each.system, each.fits, sizes[each.name]) for each in good]


def _known_of_all(figures: Mapping[str, float | None]) -> dict[str, float]:
    """Nothing where one is not known."""
    known = {name: figure for name, figure in figures.items() if figure is not None and math.isfinite(figure)}
    return known if len(known) == len(figures) else {}
