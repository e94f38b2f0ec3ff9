"""The levels of one system under one workload as tables show them, whether they are connections or rates."""

from __future__ import annotations

from plimsoll.analyse.cell_model import CellFigures
from plimsoll.analyse.model import Analysis, SystemSummary, WorkloadSummary
from plimsoll.guide.numbers import per_unit
from plimsoll.guide.rates import rate_curve
from plimsoll.guide.tables import curves_of
from plimsoll.units import format_exact


def levels_of(
    analysis: Analysis, system: SystemSummary, workload: WorkloadSummary
) -> tuple[str, list[tuple[str, CellFigures]]]:
    """The heading of levels, and every level as it is shown with its figures."""
    at_rates = rate_curve(analysis, system.name, workload.name)
    if at_rates is not None:
        cells = [(format_exact(per_unit(one.rate_tps, workload.rate_unit)), one) for one in at_rates.cells]
        return f"wanted {workload.rate_unit}", list(cells)
    curves = (curve for of, curve in curves_of(analysis, system.name) if of == workload)
    return "connections", [(f"{one.connections:,}", one) for curve in curves for one in curve.cells]
