"""Under which conditions each trial of a cell was measured: its state, and its machine's weather.

Deliberately not here: how either is found (`steady`, `weather`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.analyse.weather_model import SlowFigure, TrialCondition


def with_conditions(
    curves: Iterable[Curve], trials: Iterable[TrialSummary], slow: Mapping[str, tuple[SlowFigure, ...]]
) -> tuple[Curve, ...]:
    """The curves, whose cells say under which conditions their trials were measured.

    Args:
        curves: Of the study.
        trials: That they rest on.
        slow: In what machines were slow, by trial.
    """
    known = {
        one.trial.trial_id: TrialCondition(
            trial_id=one.trial.trial_id,
            repetition=one.trial.repetition,
            throughput_tps=one.throughput_tps,
            steady=one.steady,
            slower=slow.get(one.trial.trial_id, ()),
        )
        for one in trials
    }
    return tuple(
        curve.model_copy(
            update={
                "cells": tuple(
                    cell.model_copy(update={"conditions": tuple(known[one] for one in cell.trials if one in known)})
                    for cell in curve.cells
                )
            }
        )
        for curve in curves
    )
