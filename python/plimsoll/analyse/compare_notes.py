"""What to know before relying on a comparison, as findings; `plimsoll.guide.compare` says them in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from typing import TYPE_CHECKING

from plimsoll.analyse.cell_model import SpreadKind
from plimsoll.analyse.compare_model import CapacityComparison, CellComparison, Sessions
from plimsoll.analyse.compared_sessions import span
from plimsoll.analyse.environments import began_unix_s
from plimsoll.analyse.finding_model import Finding, found
from plimsoll.analyse.model import DifferenceVerdict

if TYPE_CHECKING:
    from plimsoll.analyse.compared_side import Design, Side

_APART_S = 3600.0
_WITHIN_STUDY = SpreadKind.WITHIN_STUDY


def notes(
    base: Side,
    system: Side,
    cells: Sequence[CellComparison],
    capacities: Sequence[CapacityComparison],
    *,
    design: Design,
    only: tuple[Set[object], Set[object]],
) -> Iterator[Finding]:
    """What limits a comparison, the gravest first.

    Args:
        base: The first side.
        system: The second.
        cells: What was compared at levels.
        capacities: Which capacities were compared.
        design: How both sides were measured against each other.
        only: Cells that only the first, and only the second side has.
    """
    yield from _of_few_repetitions(cells, capacities)
    yield from _of_sessions(base, system, design)
    if any(one.level.kind.is_at_rate for one in cells):
        yield found("at-a-rate")
    for side in (base, system):
        yield from _left_out(side)
    if only[0] or only[1]:
        yield found("cells-unmatched", base_count=len(only[0]), system_count=len(only[1]))
    for side in (base, system):
        codes = Counter(code for one in side.answering for code in {warning.code for warning in one.outcome.warnings})
        if codes:
            yield found("recorded-warnings", system=side.facts.name, codes=tuple(codes.most_common()))


def _left_out(side: Side) -> Iterator[Finding]:
    facts = side.facts
    if facts.left_out_count:
        yield found("trials-left-out", system=facts.name, trials_count=facts.left_out_count)
    if facts.unfinished_count:
        yield found("searches-unfinished", system=facts.name, searches_count=facts.unfinished_count)


def _of_few_repetitions(cells: Sequence[CellComparison], capacities: Sequence[CapacityComparison]) -> Iterator[Finding]:
    untestable = sum(one.verdict is DifferenceVerdict.UNTESTABLE for one in cells if one.basis is not _WITHIN_STUDY)
    if any(one.basis is SpreadKind.WITHIN_RUN for one in cells):
        yield found("within-run-only")
    elif untestable:
        yield found("untestable-cells", cells_count=untestable, of_count=len(cells))
    if any(_is_of_single_searches(one) for one in capacities):
        yield found("single-searches")


def _is_of_single_searches(one: CapacityComparison) -> bool:
    is_open = one.verdict is DifferenceVerdict.UNTESTABLE and one.ratio is not None
    return is_open and min(one.base_repetitions, one.system_repetitions) == 1


def _of_sessions(base: Side, system: Side, design: Design) -> Iterator[Finding]:
    """What is known of how the machine moved between the times of both."""
    apart_s = _apart_s(base, system) or 0.0
    match design.sessions:
        case Sessions.ONE_STUDY if apart_s > _APART_S:
            yield found("measured-apart", apart_h=apart_s / 3600)
        case Sessions.APART:
            yield found("sessions-not-compared", apart_h=apart_s / 3600)
        case Sessions.BASELINE:
            spans = [times for one in (base, *design.baselines) if (times := span(one)) is not None]
            covered_s = max(last for _, last in spans) - min(first for first, _ in spans)
            yield found("baselines", names=tuple(one.facts.name for one in design.baselines))
            if apart_s > covered_s:
                yield found("baselines-shorter", covered_h=covered_s / 3600, apart_h=apart_s / 3600)
        case Sessions.UNKNOWN:
            yield found("times-not-known")


def _apart_s(base: Side, system: Side) -> float | None:
    """Between the trials of one side and those of the other; None where they overlap or nothing is known."""
    times = [[began for one in side.answering if (began := began_unix_s(one.trial))] for side in (base, system)]
    if not all(times):
        return None
    return max(min(times[1]) - max(times[0]), min(times[0]) - max(times[1]), 0.0) or None
