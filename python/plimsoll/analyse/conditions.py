"""Under which conditions each trial of a cell was measured: its state, its machine's weather, and disturbances.

Of a disturbed cell throughput loses its bounds: they say how repetitions vary, not how far all of them are off.
Deliberately not here: how any of these is found (`steady`, `weather`, `disturbance`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from plimsoll.analyse.cell_model import Cell, Estimate
from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.disturbance import is_disturbed, together
from plimsoll.analyse.disturbance_model import Disturbance, UnlikeConditions
from plimsoll.analyse.model import DifferenceVerdict
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.analyse.weather_model import SlowFigure, TrialCondition


def with_conditions(
    curves: Iterable[Curve],
    trials: Iterable[TrialSummary],
    slow: Mapping[str, tuple[SlowFigure, ...]],
    met: Mapping[str, Disturbance],
) -> tuple[Curve, ...]:
    """The curves, whose cells say under which conditions their trials were measured.

    Args:
        curves: Of the study.
        trials: That they rest on.
        slow: In what machines were slow, by trial.
        met: What trials met, by trial.
    """
    known = {
        one.trial.trial_id: TrialCondition(
            trial_id=one.trial.trial_id,
            repetition=one.trial.repetition,
            throughput_tps=one.throughput_tps,
            steady=one.steady,
            slower=slow.get(one.trial.trial_id, ()),
            disturbance=met.get(one.trial.trial_id),
        )
        for one in trials
    }
    return tuple(_of_curve(curve, known) for curve in curves)


def _of_curve(curve: Curve, known: Mapping[str, TrialCondition]) -> Curve:
    cells = tuple(_of_cell(cell, tuple(known[one] for one in cell.trials if one in known)) for cell in curve.cells)
    peak = curve.peak
    if peak is not None and any(one.is_disturbed and one.level == peak.level for one in cells):
        peak = peak.model_copy(update={"throughput_tps": without_bounds(peak.throughput_tps)})
    return curve.model_copy(update={"cells": cells, "peak": peak})


def _of_cell(cell: Cell, conditions: tuple[TrialCondition, ...]) -> Cell:
    disturbance = together(one.disturbance for one in conditions)
    update: dict[str, object] = {"conditions": conditions, "disturbance": disturbance}
    if is_disturbed(disturbance):
        update |= {"is_disturbed": True, "throughput_tps": without_bounds(cell.throughput_tps)}
    return cell.model_copy(update=update)


def without_verdict(ratio: Estimate, conditions: UnlikeConditions) -> dict[str, object]:
    """What is left of a comparison whose sides met unlike conditions, as an update of it."""
    return {
        "ratio": without_bounds(ratio),
        "verdict": DifferenceVerdict.DISTURBED,
        "repetitions_needed": None,
        "unlike": conditions,
    }


def without_bounds(estimate: Estimate) -> Estimate:
    """A figure of which nobody knows how far it is off."""
    return estimate.model_copy(update={"bounds": None})
