"""The trials that figures rest on, one by one: what each reached, and how it went.

Long trials by minute, outages, and how data was put back before trials and changed during them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median

from plimsoll.analyse.study.cells import MeasuredCell
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.analyse.trial.histograms import percentile_ms
from plimsoll.analyse.trial.series import Steps
from plimsoll.analyse.trial.trial_model import DataSummary, LongTrial, MeasuredTrial, TrialOutage
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.record.level import Level
from plimsoll.record.model import DataState, OutageRecord, State, TrialRecord

_P99 = 0.99


def measured_trials(cells: Iterable[MeasuredCell], curves: Sequence[Curve]) -> tuple[MeasuredTrial, ...]:
    """Every trial of every cell, in the order in which curves show them."""
    cells_by_place = {(cell.system, cell.workload, cell.level.order): cell for cell in cells}
    places = [(curve.system, curve.workload, cell.level.order) for curve in curves for cell in curve.cells]
    return tuple(
        _measured(trial, cell.level)
        for cell in (cells_by_place[place] for place in places)
        for trial in sorted(cell.trials, key=lambda trial: trial.trial.repetition)
    )


def searched_trials(trials: Iterable[TrialSummary]) -> tuple[MeasuredTrial, ...]:
    """Every run of a search for a capacity, in the order in which they ran.

    How it went second by second is known of steady runs only: the others are short, and no figure rests on them.
    """
    runs = [_searched(trial) for trial in trials if trial.trial.search_id is not None]
    return tuple(sorted(runs, key=lambda run: (run.system, run.workload, run.repetition, run.began_unix_s or 0.0)))


def _searched(trial_summary: TrialSummary) -> MeasuredTrial:
    run, role = _measured(trial_summary, trial_summary.trial.level), trial_summary.trial.search_role
    return run if role is not None and role.is_long else run.model_copy(update={"series": None})


def _measured(trial_summary: TrialSummary, level: Level) -> MeasuredTrial:
    trial = trial_summary.trial
    return MeasuredTrial(
        trial_id=trial.trial_id,
        system=trial.system.name,
        workload=trial.workload.name,
        level=level,
        repetition=trial.repetition,
        began_unix_s=_began_unix_s(trial_summary),
        throughput_tps=trial_summary.throughput_tps,
        response_ms_p99=_response_ms_p99(trial_summary),
        series=trial_summary.series,
    )


def _began_unix_s(trial_summary: TrialSummary) -> float | None:
    if trial_summary.outcome.account is not None:
        return trial_summary.outcome.account.started_unix_s
    return next((mark.began_unix_s for mark in trial_summary.trial.states if mark.state is State.MEASURE), None)


def _response_ms_p99(trial_summary: TrialSummary) -> float | None:
    """Of its own histogram, as the percentiles of cells; else as its source states it."""
    if (histogram := trial_summary.histograms.get("response")) is not None:
        return percentile_ms(histogram, _P99)
    reported = trial_summary.outcome.reported
    return None if reported is None else reported.response_ms.get("p99")


def long_trials(cells: Iterable[MeasuredCell], curves: Sequence[Curve]) -> tuple[LongTrial, ...]:
    """Every long trial of the curves, in their order."""
    cells_by_place = {(cell.system, cell.workload, cell.level.order): cell for cell in cells}
    places = [(curve.system, curve.workload, cell.level.order) for curve in curves for cell in curve.cells]
    return tuple(
        _long_trial(trial.trial, trial.steps)
        for cell in (cells_by_place[place] for place in places)
        for trial in sorted(cell.trials, key=lambda trial: trial.trial.repetition)
        if trial.steps is not None
    )


def _long_trial(trial: TrialRecord, steps: Steps) -> LongTrial:
    return LongTrial(
        trial_id=trial.trial_id,
        system=trial.system.name,
        workload=trial.workload.name,
        level=trial.level,
        repetition=trial.repetition,
        step_s=steps.step_s,
        throughput_tps=steps.throughput_tps,
        response_ms_p99=steps.response_ms_p99,
        throughput=steps.throughput,
        response=steps.response,
    )


LISTED_MAX = 100
"""The longest are listed; a guide of thousands of short ones would be about nothing else."""


def longest_outages(trials: Sequence[TrialSummary]) -> tuple[tuple[TrialOutage, ...], int]:
    """The longest outages, in the order of their trials, and how many there were."""
    outages = [_placed(trial, outage) for trial in trials for outage in trial.outcome.outages]
    order = sorted(range(len(outages)), key=lambda place: -outages[place].length_s)[:LISTED_MAX]
    count = sum(trial.outcome.outages_count for trial in trials)
    return tuple(outages[place] for place in sorted(order)), count


def _placed(trial: TrialSummary, outage_record: OutageRecord) -> TrialOutage:
    record, outcome = trial.trial, trial.outcome
    load_s = outage_record.from_s if outcome.account is None else outcome.account.duration_s
    end_s = load_s if outage_record.to_s is None else outage_record.to_s
    window = outcome.window
    return TrialOutage(
        system=record.system.name,
        workload=record.workload.name,
        level=record.level,
        repetition=record.repetition,
        instance=outage_record.instance,
        from_s=outage_record.from_s,
        length_s=max(end_s - outage_record.from_s, 0.0),
        is_over=outage_record.to_s is not None,
        is_measured=window is not None
        and outage_record.from_s < (window.last + 1) * record.interval_s
        and end_s > window.first * record.interval_s,
        connections_count=outage_record.connections_count,
        lost_count=outage_record.lost_count,
    )


def data_summaries(trials: Iterable[TrialSummary]) -> tuple[DataSummary, ...]:
    """One for each system and workload of whose data anything is recorded, in the order of the trials."""
    known: dict[tuple[str, str], list[DataState]] = {}
    for trial in trials:
        if trial.outcome.data is not None:
            known.setdefault((trial.trial.system.name, trial.trial.workload.name), []).append(trial.outcome.data)
    return tuple(_summary(system, workload, states) for (system, workload), states in known.items())


def _summary(system: str, workload: str, states: Sequence[DataState]) -> DataSummary:
    resets = [state.reset for state in states if state.reset is not None]
    put_back = [reset for reset in resets if reset.way in {"copy", "prepare"}]
    turns = [state.redo_turns for state in states if state.redo_turns is not None]
    return DataSummary(
        system=system,
        workload=workload,
        trials_count=len(states),
        ways=dict(Counter(reset.way for reset in resets)),
        reset_s_median=_median(reset.duration_s for reset in put_back),
        other_s_median=_median(reset.other_s for reset in put_back),
        size_bytes=max((reset.size_bytes for reset in put_back if reset.size_bytes is not None), default=None),
        cloned_bytes=max((reset.cloned_bytes for reset in put_back), default=0),
        is_aged=any(reset.is_aged for reset in resets),
        rows_ratio=_largest(_change(state.rows_before, state.rows_after) for state in states),
        bytes_ratio=_largest(_change(state.bytes_before, state.bytes_after) for state in states),
        redo_turns_min=min(turns, default=None),
        redo_turns_max=max(turns, default=None),
    )


def _change(before: int | None, after: int | None) -> float | None:
    return None if not before or after is None else after / before - 1


def _largest(changes: Iterable[float | None]) -> float | None:
    """The change that is farthest from none; None without any."""
    return max((change for change in changes if change is not None), key=abs, default=None)


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
