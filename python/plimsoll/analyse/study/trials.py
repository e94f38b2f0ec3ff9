"""The trials that figures rest on, one by one: what each reached, and how it went.

Long trials by minute, outages, and how data was put back before trials and changed during them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median

from plimsoll.analyse.study.cells import MeasuredCell
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.analyse.trial.percentiles import percentile_ms
from plimsoll.analyse.trial.series import Steps
from plimsoll.analyse.trial.trial_model import DataSummary, LongTrial, MeasuredTrial, TrialOutage
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.record.level import Level
from plimsoll.record.model import DataState, OutageRecord, State, TrialRecord

_P99 = 0.99


def measured_trials(cells: Iterable[MeasuredCell], curves: Sequence[Curve]) -> tuple[MeasuredTrial, ...]:
    """Every trial of every cell, in the order in which curves show them."""
    found = {(one.system, one.workload, one.level.order): one for one in cells}
    places = [(curve.system, curve.workload, cell.level.order) for curve in curves for cell in curve.cells]
    return tuple(
        _measured(one, cell.level)
        for cell in (found[place] for place in places)
        for one in sorted(cell.trials, key=lambda one: one.trial.repetition)
    )


def searched_trials(trials: Iterable[TrialSummary]) -> tuple[MeasuredTrial, ...]:
    """Every run of a search for a capacity, in the order in which they ran.

    How it went second by second is known of steady runs only: the others are short, and no figure rests on them.
    """
    runs = [_searched(one) for one in trials if one.trial.search_id is not None]
    return tuple(sorted(runs, key=lambda one: (one.system, one.workload, one.repetition, one.began_unix_s or 0.0)))


def _searched(one: TrialSummary) -> MeasuredTrial:
    run, role = _measured(one, one.trial.level), one.trial.search_role
    return run if role is not None and role.is_long else run.model_copy(update={"series": None})


def _measured(one: TrialSummary, level: Level) -> MeasuredTrial:
    trial = one.trial
    return MeasuredTrial(
        trial_id=trial.trial_id,
        system=trial.system.name,
        workload=trial.workload.name,
        level=level,
        repetition=trial.repetition,
        began_unix_s=_began_unix_s(one),
        throughput_tps=one.throughput_tps,
        response_ms_p99=_response_ms_p99(one),
        series=one.series,
    )


def _began_unix_s(one: TrialSummary) -> float | None:
    if one.outcome.account is not None:
        return one.outcome.account.started_unix_s
    return next((mark.began_unix_s for mark in one.trial.states if mark.state is State.MEASURE), None)


def _response_ms_p99(one: TrialSummary) -> float | None:
    """Of its own histogram, as the percentiles of cells; else as its source states it."""
    if (histogram := one.histograms.get("response")) is not None:
        return percentile_ms(histogram, _P99)
    reported = one.outcome.reported
    return None if reported is None else reported.response_ms.get("p99")


def long_trials(cells: Iterable[MeasuredCell], curves: Sequence[Curve]) -> tuple[LongTrial, ...]:
    """Every long trial of the curves, in their order."""
    found = {(one.system, one.workload, one.level.order): one for one in cells}
    places = [(curve.system, curve.workload, cell.level.order) for curve in curves for cell in curve.cells]
    return tuple(
        _long_trial(one.trial, one.steps)
        for cell in (found[place] for place in places)
        for one in sorted(cell.trials, key=lambda one: one.trial.repetition)
        if one.steps is not None
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
    found = [_placed(trial, one) for trial in trials for one in trial.outcome.outages]
    order = sorted(range(len(found)), key=lambda place: -found[place].length_s)[:LISTED_MAX]
    count = sum(trial.outcome.outages_count for trial in trials)
    return tuple(found[place] for place in sorted(order)), count


def _placed(trial: TrialSummary, one: OutageRecord) -> TrialOutage:
    record, outcome = trial.trial, trial.outcome
    load_s = one.from_s if outcome.account is None else outcome.account.duration_s
    end_s = load_s if one.to_s is None else one.to_s
    window = outcome.window
    return TrialOutage(
        system=record.system.name,
        workload=record.workload.name,
        level=record.level,
        repetition=record.repetition,
        instance=one.instance,
        from_s=one.from_s,
        length_s=max(end_s - one.from_s, 0.0),
        is_over=one.to_s is not None,
        is_measured=window is not None
        and one.from_s < (window.last + 1) * record.interval_s
        and end_s > window.first * record.interval_s,
        connections_count=one.connections_count,
        lost_count=one.lost_count,
    )


def data_summaries(trials: Iterable[TrialSummary]) -> tuple[DataSummary, ...]:
    """One for each system and workload of whose data anything is recorded, in the order of the trials."""
    known: dict[tuple[str, str], list[DataState]] = {}
    for one in trials:
        if one.outcome.data is not None:
            known.setdefault((one.trial.system.name, one.trial.workload.name), []).append(one.outcome.data)
    return tuple(_summary(system, workload, states) for (system, workload), states in known.items())


def _summary(system: str, workload: str, states: Sequence[DataState]) -> DataSummary:
    resets = [one.reset for one in states if one.reset is not None]
    put_back = [one for one in resets if one.way in {"copy", "prepare"}]
    turns = [one.redo_turns for one in states if one.redo_turns is not None]
    return DataSummary(
        system=system,
        workload=workload,
        trials_count=len(states),
        ways=dict(Counter(one.way for one in resets)),
        reset_s_median=_median(one.duration_s for one in put_back),
        other_s_median=_median(one.other_s for one in put_back),
        size_bytes=max((one.size_bytes for one in put_back if one.size_bytes is not None), default=None),
        cloned_bytes=max((one.cloned_bytes for one in put_back), default=0),
        is_aged=any(one.is_aged for one in resets),
        rows_ratio=_largest(_change(one.rows_before, one.rows_after) for one in states),
        bytes_ratio=_largest(_change(one.bytes_before, one.bytes_after) for one in states),
        redo_turns_min=min(turns, default=None),
        redo_turns_max=max(turns, default=None),
    )


def _change(before: int | None, after: int | None) -> float | None:
    return None if not before or after is None else after / before - 1


def _largest(changes: Iterable[float | None]) -> float | None:
    """The change that is farthest from none; None without any."""
    return max((one for one in changes if one is not None), key=abs, default=None)


def _median(values: Iterable[float | None]) -> float | None:
    known = [one for one in values if one is not None]
    return median(known) if known else None
