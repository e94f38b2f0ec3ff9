"""Comparisons of systems as tables: their peaks, and each level.

Deliberately not here: systems that took turns (`duets`), and comparisons as sentences (`comparisons`).
"""

from __future__ import annotations

from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.model import Analysis, Difference
from plimsoll.guide.numbers import NOT_KNOWN, show_change
from plimsoll.guide.sources import cell_sources
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.guide.words import effect_words, other_factor_words, verdict_words


def peak_differences(analysis: Analysis) -> Table | None:
    """The peaks of each two systems, with what else differs; None where no two were compared, or only in a duet."""
    has_peaks = len(_single_levels(analysis)) < len(analysis.workloads)
    turns = {one.workload for one in analysis.differences if one.duet is not None} & _single_levels(analysis)
    found = [one for one in analysis.differences if one.level is None and one.workload not in turns]
    return _differences(analysis, "Peaks compared" if has_peaks else "Systems compared", found)


def level_differences(analysis: Analysis) -> Table | None:
    """Each level of two systems; None where there is none but what `peak_differences` or a table of duets has."""
    single = _single_levels(analysis)
    levels = (one for one in analysis.differences if one.level is not None and one.duet is None)
    found = [one for one in levels if one.workload not in single]
    return _differences(analysis, "The same number of connections compared", found)


def _single_levels(analysis: Analysis) -> set[str]:
    """Workloads under which one level was measured: comparing that level says what comparing the systems says."""
    levels: dict[str, set[tuple[bool, float]]] = {}
    for curve in analysis.curves:
        levels.setdefault(curve.workload, set()).update(cell.level.order for cell in curve.cells)
    return {workload for workload, own in levels.items() if len(own) == 1}


def _differences(analysis: Analysis, caption: str, differences: list[Difference]) -> Table | None:
    if not differences:
        return None
    with_level = any(one.level is not None for one in differences)
    with_others = any(one.other_factors or one.one_sided_factors for one in differences)
    columns = [_words("compared"), _words("workload")]
    columns += [Column(heading="connections")] if with_level else []
    columns += [
        Column(heading="throughput"),
        _words("verdict"),
        Column(heading="minimum detectable effect (80 % power)"),
    ]
    columns += [_words("what else differs")] if with_others else []
    curves = {(one.system, one.workload): one for one in analysis.curves if not one.kind.is_at_rate}
    rows = tuple(
        _difference_row(one, curves.get((one.system, one.workload)), with_level=with_level, with_others=with_others)
        for one in differences
    )
    return Table(caption=caption, columns=tuple(columns), rows=rows)


def _difference_row(one: Difference, curve: Curve | None, *, with_level: bool, with_others: bool) -> tuple[Entry, ...]:
    change = show_change(one.ratio)
    cell = None if curve is None else curve.peak_cell if one.level is None else curve.cell_at(one.level)
    level = [Entry(NOT_KNOWN if one.level is None else one.level.figure())] if with_level else []
    others = [Entry(other_factor_words(one) or NOT_KNOWN)] if with_others else []
    return (
        Entry(f"{one.system} against {one.base}"),
        Entry(one.workload),
        *level,
        Entry(change.value, change.bounds, sources=cell_sources(cell)),
        Entry(verdict_words(one)),
        Entry(effect_words(one)),
        *others,
    )


def _words(heading: str) -> Column:
    return Column(heading=heading, numeric=False)
