"""The trials that figures rest on, one by one: what each reached, and how it went."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plimsoll.analyse.cells import MeasuredCell
from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.durations import percentile_ms
from plimsoll.analyse.trial_model import MeasuredTrial
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.record.level import Level
from plimsoll.record.model import State

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
