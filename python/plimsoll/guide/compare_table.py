"""The table of a comparison: a row for each workload and level, and for each capacity.

Deliberately not here: sentences (`compare`), and how tables are drawn.
"""

from __future__ import annotations

from plimsoll.analyse.compare_model import (
    CapacityComparison,
    CellComparison,
    CompareAnswer,
    MetricComparison,
    Sessions,
)
from plimsoll.analyse.compared_capacities import place_of
from plimsoll.analyse.model import DifferenceVerdict
from plimsoll.guide.compare import bounds_of, capacity_verdict, interval_words, verdict_word
from plimsoll.guide.numbers import NOT_KNOWN
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.prose.phrases import counted, vague_words
from plimsoll.units import format_number, format_percent


def compare_table(answer: CompareAnswer) -> Table:
    """Every workload and level that both sides have, then their capacities."""
    headings = (
        ("workload", False),
        ("level", False),
        ("tps", True),
        ("change", True),
        ("verdict", False),
        ("p99 ms", True),
    )
    interval = "within the studies" if answer.sessions is Sessions.APART else "95 % CI"
    columns = tuple(Column(heading=heading, numeric=numeric, detail=interval) for heading, numeric in headings)
    rows = (*(_row(one) for one in answer.comparisons), *(_capacity(one) for one in answer.capacities))
    notes = (
        f"Figures before the arrow: {answer.base.name}; behind it: {answer.system.name}.",
        _ranges(answer),
        *(_P99S for _ in answer.comparisons[:1] if _has_means_of_p99(answer)),
    )
    return Table(caption="By workload and level", columns=columns, rows=rows, notes=notes)


_P99S = (
    "p99: the geometric mean of the repetitions' own, whose ratio the change is. The p99 of a guide is that of all"
    " transactions of a level together."
)


def _has_means_of_p99(answer: CompareAnswer) -> bool:
    return any(one.p99 is not None and one.p99.base_repetitions > 1 for one in answer.comparisons)


def _ranges(answer: CompareAnswer) -> str:
    """What ranges hold for."""
    if answer.sessions is Sessions.APART:
        return "Ranges are what repetitions within the studies show: they hold for these two sessions alone."
    return (
        "Ranges are 95 % confidence intervals, each for its figure alone; verdicts are about tps, corrected for all"
        " places together."
    )


def _row(one: CellComparison) -> tuple[Entry, ...]:
    return (
        Entry(one.workload),
        Entry(one.level.label() or NOT_KNOWN),
        Entry(_both(one)),
        _change(one),
        Entry(f"{verdict_word(one)}{_needed(one)}"),
        Entry(NOT_KNOWN if one.p99 is None else _p99(one.p99)),
    )


def _both(one: MetricComparison) -> str:
    return " → ".join(
        NOT_KNOWN if value is None else format_number(value) for value in (one.base_value, one.system_value)
    )


def _p99(one: MetricComparison) -> str:
    """Both, the change, and the verdict where there is a difference."""
    differs = one.verdict in (DifferenceVerdict.FASTER, DifferenceVerdict.SLOWER)
    word = f", {'lower' if one.verdict is DifferenceVerdict.FASTER else 'higher'}" if differs else ""
    change = "" if one.ratio is None else f" ({format_percent(one.ratio - 1, signed=True)}{word})"
    return f"{_both(one)}{change}"


def _change(one: MetricComparison) -> Entry:
    if one.ratio is None:
        return Entry(NOT_KNOWN)
    bounds = bounds_of(one)
    detail = None if bounds is None else vague_words(bounds) if bounds.is_vague else interval_words(bounds)
    return Entry(format_percent(one.ratio - 1, signed=True), detail)


def _capacity(one: CapacityComparison) -> tuple[Entry, ...]:
    return (
        Entry(one.workload),
        Entry(place_of(one.workload, one.objective)[1]),
        Entry(_both(one)),
        _change(one),
        Entry(f"{capacity_verdict(one)}{_needed(one)}"),
        Entry(NOT_KNOWN),
    )


def _needed(one: MetricComparison) -> str:
    is_open = one.verdict is DifferenceVerdict.UNRESOLVED and one.repetitions_needed
    return f"; {counted(one.repetitions_needed or 0, 'more repetition')}" if is_open else ""
