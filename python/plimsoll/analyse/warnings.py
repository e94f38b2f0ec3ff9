"""All doubts about a study, merged and placed, in the order of the catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from plimsoll.analyse.catalogue import CATALOGUE
from plimsoll.analyse.cells import MeasuredCell
from plimsoll.analyse.curve_checks import check_cells, check_curves, check_order, check_study
from plimsoll.analyse.encryption import check_encryption
from plimsoll.analyse.findings import place
from plimsoll.analyse.model import (
    Curve,
    MissingTrial,
    PlacedWarning,
    SystemSummary,
    VariableDifference,
    WorkloadSummary,
)
from plimsoll.analyse.trial_checks import check_trials


def placed_warnings(
    cells: Sequence[MeasuredCell],
    curves: Sequence[Curve],
    *,
    workloads: Sequence[WorkloadSummary],
    systems: Sequence[SystemSummary],
    variables: Sequence[VariableDifference],
    missing: Sequence[MissingTrial],
) -> tuple[PlacedWarning, ...]:
    """Runs all checks; one warning for each code, with all its places."""
    findings = chain(
        check_trials(trial for cell in cells for trial in cell.trials),
        check_cells(curves),
        check_curves(curves, workloads),
        check_order(cells),
        check_encryption(systems),
        check_study(curves, variables, missing),
    )
    return place(findings, [kind.code for kind in CATALOGUE])
