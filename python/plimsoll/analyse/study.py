"""From the recordings of a study to its analysis: the one entry. Pure: it reads recordings and writes nothing.

Deliberately not here: how recordings are read (`reading`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from plimsoll import __version__
from plimsoll.analyse.answer import answer
from plimsoll.analyse.answer_grades import with_grades
from plimsoll.analyse.capacities import capacities, capacity_ratios
from plimsoll.analyse.capacity_answer import capacity_answer
from plimsoll.analyse.capacity_conditions import with_disturbances, withheld_ratios
from plimsoll.analyse.capacity_model import CapacityRatio, SystemCapacity
from plimsoll.analyse.cell_model import EQUAL_WITHIN
from plimsoll.analyse.cells import MeasuredCell, measured_cells
from plimsoll.analyse.claims import check_claims
from plimsoll.analyse.conditions import with_conditions
from plimsoll.analyse.cost import workload_costs
from plimsoll.analyse.cost_answer import cost_answer
from plimsoll.analyse.cost_model import WorkloadCost
from plimsoll.analyse.curve_checks import check_cells, check_curves, check_order, check_study
from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.curves import build_curves
from plimsoll.analyse.data_drift import data_summaries
from plimsoll.analyse.deciding import questions
from plimsoll.analyse.differences import differences
from plimsoll.analyse.disturbance import disturbances
from plimsoll.analyse.disturbance_answer import disturbance_answer
from plimsoll.analyse.disturbance_model import Disturbance
from plimsoll.analyse.doubts import Doubt, placed_warnings
from plimsoll.analyse.durability import durability_answer, less_durable_under
from plimsoll.analyse.effect_answer import effect_answer
from plimsoll.analyse.effect_model import Effects
from plimsoll.analyse.encryption import check_encryption
from plimsoll.analyse.equivalence.checks import check_equivalence
from plimsoll.analyse.equivalence.compare import equivalence
from plimsoll.analyse.equivalence.model import Equivalence
from plimsoll.analyse.finding_model import Finding, found
from plimsoll.analyse.limits import fitted_limits, limits
from plimsoll.analyse.long_trials import long_trials
from plimsoll.analyse.main_effects import main_effects
from plimsoll.analyse.missing import PlannedLike, preliminary
from plimsoll.analyse.missing_model import MissingTrial
from plimsoll.analyse.model import Analysis, Difference, SystemSummary, VariableDifference, WorkloadSummary
from plimsoll.analyse.outages import longest_outages
from plimsoll.analyse.reading import DamagedLike, read_trials
from plimsoll.analyse.repetitions import check_repetitions
from plimsoll.analyse.replication.answer import lag_answer
from plimsoll.analyse.replication.study import replication_of
from plimsoll.analyse.scalability import scalabilities
from plimsoll.analyse.search_checks import check_searches, deciding_trials
from plimsoll.analyse.steady_checks import check_weather
from plimsoll.analyse.systems import summarise_systems, summarise_workloads, with_unknowns
from plimsoll.analyse.trial_checks import check_trials, stall_figures
from plimsoll.analyse.trial_summary import RecordingLike, TrialSummary
from plimsoll.analyse.trials import measured_trials, searched_trials
from plimsoll.analyse.variables import variable_differences
from plimsoll.analyse.warning_model import PlacedWarning
from plimsoll.analyse.weather import slow_figures
from plimsoll.analyse.weather_model import SlowFigure
from plimsoll.analyse.where_time import where_times
from plimsoll.record.capacity import SearchRecord
from plimsoll.record.fitted import FittedBudget
from plimsoll.spec.claims import ClaimSpec


def analyse(
    study: str,
    recordings: Sequence[RecordingLike],
    damaged: Iterable[DamagedLike] = (),
    *,
    planned: Sequence[PlannedLike] | None = None,
    objective_ms_p99: float | None = None,
    equal_within: float = EQUAL_WITHIN,
    at_any_look: bool = False,
    utilisation: float = 0.5,
    searches: Sequence[SearchRecord] = (),
    claims: Sequence[ClaimSpec] = (),
    fitted: FittedBudget | None = None,
) -> Analysis:
    """Says what can be said from the recordings of a study.

    Args:
        study: Its name.
        recordings: In the order in which systems are to be shown.
        damaged: Recordings that could not be read; they are listed as missing.
        planned: All trials of the study's plan, in its order; None for imports, which have no plan.
        objective_ms_p99: 99 % of transactions may take at most so long, milliseconds; None for no objective.
        equal_within: Systems count as equal within this share, such as 0.05.
        at_any_look: The study went on until its answer was decided; it is judged by intervals that allow that.
        utilisation: Share of their capacity at which systems will run, 0..1, for costs per transaction.
        claims: Findings of earlier studies, to be held against what was measured.
        searches: For capacities; their trials are no levels of a curve.
        fitted: How the plan's repetitions were reduced to fit its budget; None where they were not.
    """
    design = _Design(equal_within, at_any_look, _asked_count(planned or ()))
    read = read_trials(recordings, damaged, planned or ())
    figures = _figures(*read, searches=searches, objective_ms_p99=objective_ms_p99, design=design)
    cells, curves, compared, systems = figures.cells, figures.curves, figures.compared, figures.systems
    alike = equivalence(systems, variables := variable_differences(systems))
    costs, warnings = _costs(figures, objective_ms_p99, utilisation), _warnings(figures, variables, alike)
    effects = main_effects(cells, figures.searched, systems, equal_within, at_any_look=at_any_look, met=figures.met)
    where_time, scalability = where_times(cells, curves), scalabilities(cells, curves, warnings)
    return Analysis(
        plimsoll_version=__version__,
        study=study,
        objective_ms_p99=objective_ms_p99,
        answer=tuple(_answer(figures, effects, costs, planned or (), objective_ms_p99)),
        limits=(*fitted_limits(fitted), *limits(cells, curves, compared, warnings)),
        systems=systems,
        workloads=figures.workloads,
        curves=curves,
        differences=compared,
        variables=variables,
        warnings=warnings,
        outages=(longest := longest_outages(figures.shown))[0],
        outages_count=longest[1],
        planned_count=None if planned is None else len(planned),
        missing=figures.missing,
        where_time=where_time,
        scalability=scalability,
        equivalence=alike,
        costs=costs,
        capacities=figures.searched,
        capacity_ratios=figures.ratios,
        claims=check_claims(claims, cells, curves, compared, where_time=where_time, scalability=scalability),
        trials=(*measured_trials(cells, curves), *searched_trials(figures.trials)),
        effects=effects,
        long_trials=long_trials(cells, curves),
        data=data_summaries(figures.trials),
        replication=replication_of(cells, equal_within),
    )


@dataclass(frozen=True, slots=True)
class _Design:
    """How systems are compared, as `differences` takes it."""

    equal_within: float
    at_any_look: bool
    asked_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Figures:
    """What was calculated, for everything that draws conclusions from it.

    Attributes:
        trials: All that are complete.
        shown: Without those runs of searches that no answer rests on.
        environments: What is unlike in the environments of one system.
        slow: What was slow around trials, by their ids.
        met: How slow machines were in trials, by their ids.
    """

    trials: Sequence[TrialSummary]
    shown: Sequence[TrialSummary]
    missing: tuple[MissingTrial, ...]
    environments: Sequence[Doubt]
    slow: Mapping[str, tuple[SlowFigure, ...]]
    met: Mapping[str, Disturbance]
    workloads: tuple[WorkloadSummary, ...]
    systems: tuple[SystemSummary, ...]
    cells: Sequence[MeasuredCell]
    curves: tuple[Curve, ...]
    compared: tuple[Difference, ...]
    searched: tuple[SystemCapacity, ...]
    ratios: tuple[CapacityRatio, ...]


def _figures(
    trials: Sequence[TrialSummary],
    missing: Sequence[MissingTrial],
    environments: Sequence[Doubt],
    *,
    searches: Sequence[SearchRecord],
    objective_ms_p99: float | None,
    design: _Design,
) -> _Figures:
    workloads, searched = summarise_workloads(trials), capacities(searches)
    cells = measured_cells(one for one in trials if one.trial.search_id is None)
    shown = _shown(trials, deciding_trials(searched))
    ramps = [one for one in trials if one.trial.ramp is not None]
    systems, slow, met = summarise_systems(trials), slow_figures(shown), disturbances([*shown, *ramps])
    names = ([one.name for one in workloads], [one.name for one in systems])
    weighed = with_disturbances(searched, met)
    curves = with_conditions(build_curves(cells, *names, objective_ms_p99), shown, slow, met)
    systems = with_unknowns(systems, curves)
    return _Figures(
        trials=trials,
        shown=shown,
        missing=tuple(missing),
        environments=environments,
        slow=slow,
        met=met,
        workloads=workloads,
        systems=systems,
        cells=cells,
        curves=curves,
        compared=differences(
            cells, systems, design.equal_within, at_any_look=design.at_any_look, asked_count=design.asked_count, met=met
        ),
        searched=weighed,
        ratios=withheld_ratios(capacity_ratios(searched), weighed, met),
    )


def _asked_count(planned: Sequence[PlannedLike]) -> int:
    """How many questions the plan of a study asks that goes on until they are decided."""
    systems, workloads = {one.system for one in planned}, {one.workload for one in planned}
    levels = {one.level.order: one.level for one in planned}
    return len(questions(sorted(systems), sorted(workloads), list(levels.values()))) if planned else 0


def _costs(figures: _Figures, objective_ms_p99: float | None, utilisation: float) -> tuple[WorkloadCost, ...]:
    return workload_costs(
        figures.curves,
        figures.searched,
        figures.systems,
        objective_ms_p99=objective_ms_p99,
        utilisation=utilisation,
    )


def _warnings(
    figures: _Figures, variables: tuple[VariableDifference, ...], alike: Sequence[Equivalence]
) -> tuple[PlacedWarning, ...]:
    trials, curves = figures.shown, figures.curves
    return placed_warnings(
        (
            *check_trials(trials),
            *check_repetitions(trials),
            *check_weather(trials, figures.slow),
            *check_order(figures.cells),
            *check_cells(curves),
            *check_curves(curves, figures.workloads),
            *check_searches(figures.searched, (one for one in trials if one.trial.search_id is not None)),
            *check_study(curves, variables, figures.missing),
            *check_encryption(figures.systems),
            *check_equivalence(alike),
            *figures.environments,
        )
    )


def _answer(
    figures: _Figures,
    effects: Effects,
    costs: Sequence[WorkloadCost],
    planned: Sequence[PlannedLike],
    objective_ms_p99: float | None,
) -> Iterator[Finding]:
    """What is concluded, first things first, each with how well it is known."""
    return with_grades(_concluded(figures, effects, costs, planned, objective_ms_p99), figures.systems, figures.curves)


def _concluded(
    figures: _Figures,
    effects: Effects,
    costs: Sequence[WorkloadCost],
    planned: Sequence[PlannedLike],
    objective_ms_p99: float | None,
) -> Iterator[Finding]:
    yield from preliminary(planned, figures.missing)
    yield from disturbance_answer(figures.curves, figures.compared, figures.searched, figures.ratios)
    yield from lag_answer(figures.curves)
    yield from capacity_answer(figures.searched, figures.ratios, less_durable_under(figures.systems, figures.workloads))
    yield from effect_answer(effects)
    yield from _stalls(figures.shown)
    yield from answer(
        figures.workloads, figures.systems, figures.curves, figures.compared, objective_ms_p99=objective_ms_p99
    )
    yield from cost_answer(costs)
    yield from durability_answer(figures.systems, figures.workloads)
    if not figures.trials:
        yield found("nothing-completed")


def _shown(trials: Sequence[TrialSummary], deciding: Collection[str]) -> list[TrialSummary]:
    """Without the runs of searches that no answer rests on: what is wrong at other rates was asked for."""
    return [one for one in trials if one.trial.search_id is None or one.trial.trial_id in deciding]


def _stalls(trials: Sequence[TrialSummary]) -> Iterator[Finding]:
    """One for each workload with a stall: the worst trial, and how many more there were."""
    for workload in dict.fromkeys(one.trial.workload.name for one in trials):
        stalled = [one for one in trials if one.trial.workload.name == workload and one.quiet.stalls]
        if stalled:
            worst = max(stalled, key=lambda one: one.quiet.stalled_ratio)
            yield found(
                "stalled",
                system=worst.trial.system.name,
                workload=workload,
                level=worst.trial.level,
                repetition=worst.trial.repetition,
                is_hidden=not worst.trial.level.kind.is_at_rate and not worst.is_published,
                more_trials_count=len(stalled) - 1,
                **stall_figures(worst),
            )
