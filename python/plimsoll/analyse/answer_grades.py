"""How well each finding of an answer is known, by the same rule as in `size`, `compare` and `ab`.

Deliberately not here: the findings (`answer`, `capacity_answer`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from plimsoll.analyse.cell_model import Estimate
from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.finding_model import Finding
from plimsoll.analyse.grade import Grade, of_verdict
from plimsoll.analyse.model import SystemSummary
from plimsoll.analyse.prediction import is_repeated
from plimsoll.analyse.size_grades import MEASURED_ORIGIN, RATE_REPETITIONS_NEEDED


def with_grades(
    answer: Iterable[Finding], systems: Iterable[SystemSummary], curves: Collection[Curve]
) -> Iterator[Finding]:
    """The findings of an answer, those that say how much or which is faster with a grade.

    Args:
        answer: Of a study.
        systems: Of the study.
        curves: Whose levels the findings are about.
    """
    imported = {one.name for one in systems if one.origin != MEASURED_ORIGIN}
    for finding in answer:
        rule = _RULES.get(finding.code)
        if rule is None:
            yield finding
            continue
        is_measured = imported.isdisjoint({finding.system, finding.known.get("base")})
        yield finding.model_copy(update={"grade": rule(finding, curves, is_measured)})


def _of_figure(estimate: Estimate | None, *, is_measured: bool, is_disturbed: bool) -> Grade:
    if estimate is None or is_disturbed:
        return Grade.UNKNOWN
    return Grade.MEASURED if is_measured and is_repeated(estimate) else Grade.INDICATED


def _of_level(finding: Finding, curves: Collection[Curve], is_measured: bool) -> Grade:
    """By the cell that the figure is of; one interval of the answer may be that of a maximum."""
    cells = (
        cell
        for curve in curves
        if (curve.system, curve.workload) == (finding.system, finding.workload)
        for cell in curve.cells
        if cell.level == finding.level
    )
    cell = next(cells, None)
    if cell is None:
        return Grade.UNKNOWN
    if cell.level.kind.is_at_rate and not cell.is_disturbed:
        is_enough = cell.throughput_tps.trial_count >= RATE_REPETITIONS_NEEDED
        return Grade.MEASURED if is_measured and is_enough else Grade.INDICATED
    return _of_figure(cell.throughput_tps, is_measured=is_measured, is_disturbed=cell.is_disturbed)


def _of_capacity(finding: Finding, _: Collection[Curve], is_measured: bool) -> Grade:
    seen = finding.known
    return _of_figure(seen["capacity_tps"], is_measured=is_measured, is_disturbed=seen["is_disturbed"])


def _of_comparison(finding: Finding, _: Collection[Curve], is_measured: bool) -> Grade:
    ratio: Any = finding.known["ratio"]
    is_single = ratio.bounds is None or ratio.bounds.basis == "within-run"
    return of_verdict(finding.known["verdict"], is_measured=is_measured and not is_single)


_RULES: Mapping[str, Callable[[Finding, Collection[Curve], bool], Grade]] = {
    "peak": _of_level,
    "sustained-rate": _of_level,
    "within-objective": _of_level,
    "capacity": _of_capacity,
    "comparison": _of_comparison,
    "capacity-compared": _of_comparison,
}
