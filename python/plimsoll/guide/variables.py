"""Server variables that differ between systems, as a table."""

from __future__ import annotations

from plimsoll.analyse.model import Analysis, VariableDifference, VariableReason
from plimsoll.guide.tables import Column, Entry, Table

_GROUPED = (VariableReason.ABSENT, VariableReason.DEFAULT)
"""Hundreds of variables between flavours: the section on equivalence counts them."""


def variable_table(analysis: Analysis, caption: str, *, expected: bool) -> Table | None:
    """Those that are expected to differ, or those that are not; None without any."""
    found = [one for one in analysis.variables if one.expected is expected and one.reason not in _GROUPED]
    if not found:
        return None
    names = [system.name for system in analysis.systems if any(system.name in variable.values for variable in found)]
    rows = tuple((Entry(variable.variable), *_variable_entries(variable, names)) for variable in found)
    return Table(caption=caption, columns=(_heading("variable"), *(_heading(name) for name in names)), rows=rows)


def _variable_entries(variable: VariableDifference, names: list[str]) -> list[Entry]:
    values = [variable.values.get(name) for name in names]
    return [Entry("does not have it" if value is None else value or "(empty)") for value in values]


def _heading(text: str) -> Column:
    return Column(heading=text, numeric=False)
