"""From the recordings of a study to its analysis: the one entry. Pure: it reads recordings and writes nothing.

The trials of a study from its recordings, and those that are missing. Each recording's tables are read once, reduced,
and forgotten: at a time there are those of one for each processor.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from plimsoll import __version__
from plimsoll.analyse.answers.answer import answer, cost_answer, with_grades
from plimsoll.analyse.answers.capacity import capacity_answer, with_disturbances, withheld_ratios
from plimsoll.analyse.answers.choices import choices
from plimsoll.analyse.answers.cost import workload_costs
from plimsoll.analyse.explain.durability import durability_answer, less_durable_under
from plimsoll.analyse.explain.equivalence import check_equivalence, equivalence
from plimsoll.analyse.explain.equivalence_model import Equivalence
from plimsoll.analyse.explain.replication import lag_answer, replication_of
from plimsoll.analyse.explain.scalability import scalabilities
from plimsoll.analyse.explain.variables import variable_differences
from plimsoll.analyse.explain.where_time import where_times
from plimsoll.analyse.findings.catalogue import placed_warnings
from plimsoll.analyse.findings.curves import (
    check_cells,
    check_curves,
    check_order,
    check_searches,
    check_study,
    deciding_trials,
)
from plimsoll.analyse.findings.doubts import Doubt, PlacedWarning
from plimsoll.analyse.findings.finding_model import Finding, make_finding
from plimsoll.analyse.findings.limits import disturbance_answer, fitted_limits, limits
from plimsoll.analyse.findings.missing import MissingTrial, PlannedLike, missing_trial, never_ran, preliminary
from plimsoll.analyse.findings.repetitions import check_weather
from plimsoll.analyse.findings.runs import check_trials, stall_of
from plimsoll.analyse.model import Analysis, Difference, SystemSummary, VariableDifference, WorkloadSummary
from plimsoll.analyse.study.capacities import capacities, capacity_ratios
from plimsoll.analyse.study.capacity_model import CapacityRatio, SystemCapacity, WorkloadCost
from plimsoll.analyse.study.cell_model import EQUAL_WITHIN
from plimsoll.analyse.study.cells import MeasuredCell, check_repetitions, measured_cells
from plimsoll.analyse.study.claims import check_claims
from plimsoll.analyse.study.conditions import disturbances, slow_figures, with_conditions
from plimsoll.analyse.study.curve_model import Curve, Effects
from plimsoll.analyse.study.curves import build_curves
from plimsoll.analyse.study.differences import differences
from plimsoll.analyse.study.effects import effect_answer, main_effects
from plimsoll.analyse.study.environments import apart
from plimsoll.analyse.study.factors import check_encryption
from plimsoll.analyse.study.sequential import questions
from plimsoll.analyse.study.systems import summarise_systems, summarise_workloads, with_unknowns
from plimsoll.analyse.study.trials import data_summaries, long_trials, longest_outages, measured_trials, searched_trials
from plimsoll.analyse.trial.condition_model import Disturbance, SlowFigure
from plimsoll.analyse.trial.series import points_max
from plimsoll.analyse.trial.trial_summary import RecordingLike, TrialSummary, counting, summarise
from plimsoll.errors import RecordError
from plimsoll.record.capacity import SearchRecord
from plimsoll.record.level import FittedBudget
from plimsoll.record.model import Verdict
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
    analysis = Analysis(
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
    return analysis.model_copy(update={"choices": tuple(choices(analysis))})


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
    cells = measured_cells(trial for trial in trials if trial.trial.search_id is None)
    shown = _shown(trials, deciding_trials(searched))
    systems, slow, met = summarise_systems(trials), slow_figures(shown), disturbances(trials)
    names = ([workload.name for workload in workloads], [system.name for system in systems])
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
        ratios=withheld_ratios(capacity_ratios(searched, equal_within=design.equal_within), weighed, met),
    )


def _asked_count(planned: Sequence[PlannedLike]) -> int:
    """How many questions the plan of a study asks that goes on until they are decided."""
    systems, workloads = {trial.system for trial in planned}, {trial.workload for trial in planned}
    levels = {trial.level.order: trial.level for trial in planned}
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
            *check_searches(figures.searched, (trial for trial in trials if trial.trial.search_id is not None)),
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
        yield make_finding("nothing-completed")


def _shown(trials: Sequence[TrialSummary], deciding: Collection[str]) -> list[TrialSummary]:
    """Without the runs of searches that no answer rests on: what is wrong at other rates was asked for."""
    return [trial for trial in trials if trial.trial.search_id is None or trial.trial.trial_id in deciding]


def _stalls(trials: Sequence[TrialSummary]) -> Iterator[Finding]:
    """One for each workload with a stall: the worst trial, and how many more there were."""
    for workload in dict.fromkeys(trial.trial.workload.name for trial in trials):
        stalled = [trial for trial in trials if trial.trial.workload.name == workload and trial.quiet.stalls]
        if stalled:
            worst = max(stalled, key=lambda trial: trial.quiet.stalled_ratio)
            seen = stall_of(worst)
            yield make_finding(
                "stalled",
                system=worst.trial.system.name,
                workload=workload,
                level=worst.trial.level,
                repetition=worst.trial.repetition,
                is_hidden=not worst.trial.level.kind.is_at_rate and not worst.is_published,
                more_trials_count=len(stalled) - 1,
                **({} if seen is None else seen.figures()),
            )


REPLACED = "the machine was slow or disturbed; measured again as"
"""Why a trial counts nowhere that was measured again; the other trial's id follows."""


class DamagedLike(Protocol):
    """A recording that cannot be read: `plimsoll.record.store.Damaged` is one."""

    @property
    def trial_id(self) -> str: ...  # noqa: D102

    @property
    def path(self) -> Path: ...  # noqa: D102

    @property
    def reason(self) -> str: ...  # noqa: D102


def read_trials(
    recordings: Sequence[RecordingLike], damaged: Iterable[DamagedLike], planned: Iterable[PlannedLike]
) -> tuple[list[TrialSummary], list[MissingTrial], list[Doubt]]:
    """All complete trials, systems that changed their environment apart; what is missing; and doubts about the changes.

    Args:
        recordings: In the order in which systems are to be shown.
        damaged: Recordings that could not be read.
        planned: All trials of the study's plan; nothing where there is none.
    """
    recordings, replaced = counting(recordings)
    trials, missing = _reduce(recordings)
    missing += [
        _missing(recording, f"{REPLACED} {by}").model_copy(update={"replaced_by": by}) for recording, by in replaced
    ]
    trials, environments = apart(trials)
    missing += _damaged(damaged, planned)
    missing += never_ran(
        planned, {recording.trial.trial_id for recording in recordings} | {trial.trial_id for trial in missing}
    )
    return trials, missing, list(environments)


def _reduce(recordings: Iterable[RecordingLike]) -> tuple[list[TrialSummary], list[MissingTrial]]:
    """Sums all of them up, side by side: reading and merging tables does not hold the interpreter."""
    trials: list[TrialSummary] = []
    missing: list[MissingTrial] = []
    recordings = list(recordings)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        points = points_max(len(recordings))
        summaries = pool.map(lambda recording: _summary_or_reason(recording, points), recordings)
    for recording, summary in zip(recordings, summaries, strict=True):
        if isinstance(summary, str):
            missing.append(_missing(recording, summary))
        else:
            trials.append(summary)
    return trials, missing


def _summary_or_reason(recording: RecordingLike, points: int) -> TrialSummary | str:
    outcome = recording.outcome
    if outcome.verdict is not Verdict.COMPLETE:
        return f"{outcome.verdict.value}: {outcome.reason or 'no reason was recorded'}"
    try:
        return summarise(recording, points=points) or "nothing was measured: no interval lies in its window"
    except RecordError as error:
        return str(error)


def _damaged(damaged: Iterable[DamagedLike], planned: Iterable[PlannedLike]) -> Iterator[MissingTrial]:
    """What a damaged recording is of, the plan may still say."""
    known = {trial.trial_id: trial for trial in planned}
    for recording in damaged:
        if recording.trial_id in known:
            yield missing_trial(known[recording.trial_id], recording.reason)
        else:
            yield MissingTrial(trial_id=recording.trial_id, system="", workload="", reason=recording.reason)


def _missing(recording: RecordingLike, reason: str) -> MissingTrial:
    trial = recording.trial
    return MissingTrial(
        trial_id=trial.trial_id,
        system=trial.system.name,
        workload=trial.workload.name,
        level=trial.level,
        repetition=trial.repetition,
        reason=reason,
    )
