"""What a disturbed machine withholds, as findings: one for each workload, before everything else that is said of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from plimsoll.analyse.capacity_model import CapacityRatio, SystemCapacity
from plimsoll.analyse.cell_model import Cell
from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.disturbance_model import UnlikeConditions, slow_figures
from plimsoll.analyse.finding_model import Finding, found
from plimsoll.analyse.model import Difference


def disturbance_answer(
    curves: Sequence[Curve],
    compared: Sequence[Difference],
    searched: Sequence[SystemCapacity] = (),
    ratios: Sequence[CapacityRatio] = (),
) -> Iterator[Finding]:
    """Comparisons without a winner, and figures that are not those of their systems."""
    for workload in dict.fromkeys([*(one.workload for one in curves), *(one.workload for one in searched)]):
        pairs: list[Difference | CapacityRatio] = [*compared, *ratios]
        pairs = [one for one in pairs if one.workload == workload]
        figures: list[tuple[str, Cell | SystemCapacity]] = [
            (one.system, cell) for one in curves if one.workload == workload for cell in one.cells
        ]
        figures += [(one.system, one) for one in searched if one.workload == workload]
        unlike = [(one.base, one.system, one.unlike) for one in pairs if one.unlike is not None]
        disturbed = [(system, one.disturbance) for system, one in figures if one.is_disturbed and one.disturbance]
        systems = tuple(dict.fromkeys(system for system, _ in disturbed))
        if unlike:
            base, system, conditions = max(unlike, key=lambda one: one[2].contrast_ratio)
            yield found(
                "disturbed",
                workload=workload,
                systems=systems,
                comparisons_count=len(unlike),
                compared_count=len(pairs),
                **unlike_figures(base, system, conditions),
            )
        elif disturbed:
            slower, worst = max(disturbed, key=lambda one: one[1].slowness)
            yield found("disturbed", workload=workload, systems=systems, slower=slower, **slow_figures(worst))


def unlike_figures(base: str, system: str, one: UnlikeConditions) -> dict[str, Any]:
    """What the side on the slower machine met, and how slow it was for the other."""
    is_base = one.base.slowness > one.system.slowness
    slower, other = (one.base, one.system) if is_base else (one.system, one.base)
    return {
        "slower": base if is_base else system,
        "other": system if is_base else base,
        **slow_figures(slower),
        "other_slowness": other.slowness,
        "other_slow_ratio": other.slow_ratio,
    }
