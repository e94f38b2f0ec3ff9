"""The state of trials and the weather of their machines as a table."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.analyse.cell_model import Cell
from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.steady_model import StateKind, SteadyState
from plimsoll.analyse.weather_model import SlowFigure, TrialCondition
from plimsoll.guide.numbers import NOT_KNOWN
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.units import format_percent

SLOWER = "machine slower"

_COLUMNS = (
    Column(heading="system", numeric=False),
    Column(heading="workload", numeric=False),
    Column(heading="level"),
    Column(heading="repetition"),
    Column(heading="state", numeric=False),
    Column(heading="window"),
    Column(heading="what was seen", numeric=False),
)
_NOTES = (
    "Trials that are not listed were in a steady state on a machine as fast as around the other trials.",
    "The window is what was measured, in seconds since the load began.",
)


def condition_table(analysis: Analysis) -> Table | None:
    """Trials that were not in a steady state, or whose machine was slow; None when there was none."""
    rows = tuple(
        _row(curve, cell, one)
        for curve in analysis.curves
        for cell in curve.cells
        for one in cell.conditions
        if one.slower or (one.steady is not None and one.steady.state is not StateKind.STEADY)
    )
    return Table(caption="State of trials", columns=_COLUMNS, rows=rows, notes=_NOTES) if rows else None


def _row(curve: Curve, cell: Cell, one: TrialCondition) -> tuple[Entry, ...]:
    steady = one.steady
    seen = [*([] if steady is None else _seen(steady)), *(_slow(figure) for figure in one.slower)]
    return (
        Entry(curve.system),
        Entry(curve.workload),
        Entry(cell.level.label()),
        Entry(f"{one.repetition + 1}"),
        Entry(NOT_KNOWN if steady is None else steady.state.value, mark=SLOWER if one.slower else None),
        Entry(NOT_KNOWN if steady is None else f"{steady.from_s:.0f}–{steady.to_s:.0f} s"),
        Entry("; ".join(seen) or NOT_KNOWN),
    )


def _seen(steady: SteadyState) -> Iterator[str]:
    if len(steady.segments) > 1:
        means = [one.mean_tps for one in steady.segments]
        yield f"{len(means)} segments of {min(means):,.0f} to {max(means):,.0f} tps"
    for one in steady.series:
        if one.change_ratio is not None:
            yield f"{one.name} changed by {format_percent(one.change_ratio, signed=True)}"
        if one.period_s is not None:
            cycles = (steady.to_s - steady.from_s) / one.period_s
            yield f"{one.name}: period {one.period_s:.0f} s, {cycles:.1f} cycles measured"


def _slow(figure: SlowFigure) -> str:
    return f"{figure.figure}: {format_percent(figure.ratio - 1)} slower than the median"
