"""The repetitions of made-up curves, second by second.

Deliberately not here: the curves (`analyses`).
"""

from __future__ import annotations

from plimsoll.analyse.study.cell_model import Cell
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.analyse.trial.trial_model import MeasuredTrial, Stretch, TrialSeries

SECONDS, WARM_S = 16, 4
"""Of each trial, and how much of that is warm-up."""


def measured_trials(curves: tuple[Curve, ...]) -> tuple[MeasuredTrial, ...]:
    """The repetitions of each cell: throughput rises while they warm up, and one has a stall."""
    return tuple(
        _measured_trial(curve, cell, repetition)
        for curve in curves
        for cell in curve.cells
        for repetition in range(len(cell.trials))
    )


def _measured_trial(curve: Curve, cell: Cell, repetition: int) -> MeasuredTrial:
    rate = cell.throughput_tps.value * (0.97, 1.0, 1.03)[repetition]
    p99 = cell.response_ms.p99 or 1.0
    tps = [rate * min(1.0, 0.5 + 0.15 * second) * (1 + 0.02 * (second % 3 - 1)) for second in range(SECONDS)]
    times: list[float | None] = [p99 * (1 + 0.05 * (second % 4)) for second in range(SECONDS)]
    stretches = ()
    if (curve.system, curve.workload, cell.level.connections, repetition) == ("durable", "read-write", 32, 1):
        tps[9], times[9], stretches = 0.0, None, (Stretch(from_s=9.0, to_s=10.0, kind="stall"),)
    return MeasuredTrial(
        trial_id=cell.trials[repetition],
        system=curve.system,
        workload=curve.workload,
        level=cell.level,
        repetition=repetition,
        began_unix_s=1_793_500_000.0 + 60 * repetition,
        throughput_tps=rate,
        response_ms_p99=p99,
        series=TrialSeries(
            from_s=0.0,
            step_s=1.0,
            throughput_tps=tuple(round(one, 1) for one in tps),
            response_ms_p99=tuple(times),
            window_from_s=WARM_S,
            window_to_s=SECONDS,
            stretches=stretches,
        ),
    )
