"""What to know before relying on a comparison, as findings; `plimsoll.guide.compare` says them in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from typing import TYPE_CHECKING

from plimsoll.analyse.cell_model import SpreadKind
from plimsoll.analyse.compare_model import CellComparison
from plimsoll.analyse.environments import began_unix_s
from plimsoll.analyse.finding_model import Finding, found
from plimsoll.analyse.model import DifferenceVerdict

if TYPE_CHECKING:
    from plimsoll.analyse.compared_side import Side

_APART_S = 3600.0


def notes(
    base: Side, system: Side, cells: Sequence[CellComparison], *, only: tuple[Set[object], Set[object]]
) -> Iterator[Finding]:
    """What limits a comparison, the gravest first.

    Args:
        base: The first side.
        system: The second.
        cells: What was compared.
        only: Cells that only the first, and only the second side has.
    """
    if any(one.basis is SpreadKind.WITHIN_RUN for one in cells):
        yield found("within-run-only")
    elif any(one.verdict is DifferenceVerdict.UNTESTABLE for one in cells):
        few = sum(one.verdict is DifferenceVerdict.UNTESTABLE for one in cells)
        yield found("untestable-cells", cells_count=few, of_count=len(cells))
    apart_s = _apart_s(base, system)
    if apart_s is not None and apart_s > _APART_S:
        yield found("measured-apart", apart_h=apart_s / 3600)
    if any(one.level.kind.is_at_rate for one in cells):
        yield found("at-a-rate")
    for side in (base, system):
        if side.facts.left_out_count:
            yield found("trials-left-out", system=side.facts.name, trials_count=side.facts.left_out_count)
    if only[0] or only[1]:
        yield found("cells-unmatched", base_count=len(only[0]), system_count=len(only[1]))
    for side in (base, system):
        codes = Counter(code for one in side.trials for code in {warning.code for warning in one.outcome.warnings})
        if codes:
            yield found("recorded-warnings", system=side.facts.name, codes=tuple(codes.most_common()))


def _apart_s(base: Side, system: Side) -> float | None:
    """Between the trials of one side and those of the other; None where they overlap or nothing is known."""
    times = [[began for one in side.trials if (began := began_unix_s(one.trial))] for side in (base, system)]
    if not all(times):
        return None
    return max(min(times[1]) - max(times[0]), min(times[0]) - max(times[1]), 0.0) or None
