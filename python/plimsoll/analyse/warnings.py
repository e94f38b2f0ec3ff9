"""All doubts about a study, merged and placed, in the order of the catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from plimsoll.analyse.catalogue import CATALOGUE
from plimsoll.analyse.cells import MeasuredCell
from plimsoll.analyse.curve_checks import check_cells, check_curves, check_order, check_study
from plimsoll.analyse.encryption import check_encryption
from plimsoll.analyse.findings import Finding, place
from plimsoll.analyse.model import (
    Curve,
    MissingTrial,
    PlacedWarning,
    SystemSummary,
    VariableDifference,
    WorkloadSummary,
)
from plimsoll.analyse.rate_model import RateCurve
from plimsoll.analyse.repetitions import check_repetitions
from plimsoll.analyse.trial_checks import check_trials
from plimsoll.analyse.trial_summary import TrialSummary


def placed_warnings(
    cells: Sequence[MeasuredCell],
    curves: Sequence[Curve],
    rates: tuple[Sequence[TrialSummary], Sequence[RateCurve]],
    *,
    workloads: Sequence[WorkloadSummary],
    systems: Sequence[SystemSummary],
    variables: Sequence[VariableDifference],
    missing: Sequence[MissingTrial],
    environments: Sequence[Finding] = (),
) -> tuple[PlacedWarning, ...]:
    """Runs all checks; one warning for each code, with all its places.

    Args:
        cells: Of trials with connections at their own pace, as are `curves`.
        curves: All of them.
        rates: The trials at a rate and their curves.
        workloads: All that were measured, as are `systems`.
        systems: All of them.
        variables: That differ.
        missing: Trials that are part of no number.
        environments: Doubts about systems whose environment changed.
    """
    rate_trials, rate_curves = rates
    trials = [*(trial for cell in cells for trial in cell.trials), *rate_trials]
    findings = chain(
        check_trials(trials),
        check_repetitions(trials),
        check_cells([*curves, *rate_curves]),
        check_curves(curves, workloads),
        check_order(cells),
        check_encryption(systems),
        check_study(curves, variables, missing),
        environments,
    )
    return place(findings, [kind.code for kind in CATALOGUE])
