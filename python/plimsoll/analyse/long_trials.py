"""Which trials of a study were long, and how they went minute by minute.

Deliberately not here: how drift is found (`steps`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plimsoll.analyse.cells import MeasuredCell
from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.long_model import LongTrial
from plimsoll.analyse.steps import Steps
from plimsoll.record.model import TrialRecord


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
