"""From the recordings of a study to its analysis: the one entry. Pure: it reads recordings and writes nothing.

Each recording's tables are read once, reduced, and forgotten before the next is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from plimsoll import __version__
from plimsoll.analyse.answer import answer
from plimsoll.analyse.cells import MeasuredCell, measured_cells
from plimsoll.analyse.curves import build_curve
from plimsoll.analyse.differences import differences
from plimsoll.analyse.durability import durability_answer
from plimsoll.analyse.environments import apart
from plimsoll.analyse.limits import limits
from plimsoll.analyse.methods import METHODS
from plimsoll.analyse.missing import PlannedLike, missing_trial, never_ran, preliminary
from plimsoll.analyse.model import Analysis, Curve, MissingTrial
from plimsoll.analyse.outages import longest_outages
from plimsoll.analyse.rate_answer import rate_answer, rate_limits
from plimsoll.analyse.rates import rate_curves
from plimsoll.analyse.stall_text import stall_sentences
from plimsoll.analyse.systems import summarise_systems, summarise_workloads, with_unknowns
from plimsoll.analyse.trial_summary import RecordingLike, TrialSummary, summarise
from plimsoll.analyse.variables import variable_differences
from plimsoll.analyse.warnings import placed_warnings
from plimsoll.errors import RecordError
from plimsoll.record.model import Verdict

NOTHING_COMPLETED = "No trial was completed, so nothing can be said about throughput."


class DamagedLike(Protocol):
    """A recording that cannot be read: `plimsoll.record.store.Damaged` is one."""

    @property
    def trial_id(self) -> str: ...  # noqa: D102

    @property
    def path(self) -> Path: ...  # noqa: D102

    @property
    def reason(self) -> str: ...  # noqa: D102


def analyse(
    study: str,
    recordings: Sequence[RecordingLike],
    damaged: Iterable[DamagedLike] = (),
    *,
    planned: Sequence[PlannedLike] | None = None,
    objective_ms_p99: float | None = None,
) -> Analysis:
    """Says what can be said from the recordings of a study.

    Args:
        study: Its name.
        recordings: In the order in which systems are to be shown.
        damaged: Recordings that could not be read; they are listed as missing.
        planned: All trials of the study's plan, in its order; None for imports, which have no plan.
        objective_ms_p99: 99 % of transactions may take at most so long, milliseconds; None for no objective.
    """
    trials, missing = _reduce(recordings)
    trials, environments = apart(trials)
    missing += _damaged(damaged, planned or ())
    present = {one.trial.trial_id for one in recordings} | {one.trial_id for one in missing}
    missing += never_ran(planned or (), present)
    workloads = summarise_workloads(trials)
    at_rates = [one for one in trials if one.trial.level.rate_tps is not None]
    cells = measured_cells(one for one in trials if one.trial.level.rate_tps is None)
    systems = summarise_systems(trials)
    curves = _curves(cells, [one.name for one in workloads], [one.name for one in systems])
    by_rate = rate_curves(at_rates)
    systems = with_unknowns(systems, [*curves, *by_rate])
    compared = differences(cells, systems)
    outages, outages_count = longest_outages(trials)
    variables = variable_differences(systems)
    warnings = placed_warnings(
        cells,
        curves,
        (at_rates, by_rate),
        workloads=workloads,
        systems=systems,
        variables=variables,
        missing=missing,
        environments=environments,
    )
    return Analysis(
        plimsoll_version=__version__,
        study=study,
        objective_ms_p99=objective_ms_p99,
        answer=(
            *preliminary(planned or (), missing),
            *stall_sentences(trials),
            *answer(workloads, systems, curves, compared, objective_ms_p99=objective_ms_p99),
            *rate_answer(workloads, by_rate, objective_ms_p99=objective_ms_p99),
            *durability_answer(systems, workloads),
            *(() if trials else (NOTHING_COMPLETED,)),
        ),
        limits=(*rate_limits(by_rate, at_rates), *limits(cells, curves, compared, warnings, at_rates=at_rates)),
        systems=systems,
        workloads=workloads,
        curves=curves,
        rate_curves=by_rate,
        differences=compared,
        variables=variables,
        warnings=warnings,
        outages=outages,
        outages_count=outages_count,
        planned_count=None if planned is None else len(planned),
        missing=tuple(missing),
        methods=METHODS,
    )


def _reduce(recordings: Iterable[RecordingLike]) -> tuple[list[TrialSummary], list[MissingTrial]]:
    trials: list[TrialSummary] = []
    missing: list[MissingTrial] = []
    for recording in recordings:
        found = _summary_or_reason(recording)
        if isinstance(found, str):
            missing.append(_missing(recording, found))
        else:
            trials.append(found)
    return trials, missing


def _summary_or_reason(recording: RecordingLike) -> TrialSummary | str:
    outcome = recording.outcome
    if outcome.verdict is not Verdict.COMPLETE:
        return f"{outcome.verdict.value}: {outcome.reason or 'no reason was recorded'}"
    try:
        return summarise(recording) or "nothing was measured: no interval lies in its window"
    except RecordError as error:
        return str(error)


def _damaged(damaged: Iterable[DamagedLike], planned: Iterable[PlannedLike]) -> Iterator[MissingTrial]:
    """What a damaged recording is of, the plan may still say."""
    known = {one.trial_id: one for one in planned}
    for one in damaged:
        if one.trial_id in known:
            yield missing_trial(known[one.trial_id], one.reason)
        else:
            yield MissingTrial(trial_id=one.trial_id, system="", workload="", connections=0, reason=one.reason)


def _missing(recording: RecordingLike, reason: str) -> MissingTrial:
    trial = recording.trial
    return MissingTrial(
        trial_id=trial.trial_id,
        system=trial.system.name,
        workload=trial.workload.name,
        connections=trial.level.connections,
        rate_tps=trial.level.rate_tps,
        repetition=trial.repetition,
        reason=reason,
    )


def _curves(cells: Sequence[MeasuredCell], workloads: Sequence[str], systems: Sequence[str]) -> tuple[Curve, ...]:
    curves = []
    for workload in workloads:
        for system in systems:
            own = [cell for cell in cells if cell.key.system == system and cell.key.workload == workload]
            if own:
                curves.append(build_curve(own))
    return tuple(curves)
