"""A comparison in words, as a table and as Markdown for a pull request. What it says, `plimsoll.analyse.compare` finds.

The first sentence is the whole answer. What is not the same on both sides, and is not what is compared, stands in it.
Deliberately not here: any calculation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from plimsoll.analyse.cell_model import SpreadKind
from plimsoll.analyse.compare_model import (
    CellComparison,
    CompareAnswer,
    ComparedSide,
    ConditionDifference,
    GateOutcome,
    GateResult,
    Metric,
    MetricComparison,
)
from plimsoll.analyse.finding_model import Finding
from plimsoll.analyse.model import DifferenceVerdict
from plimsoll.guide.numbers import NOT_KNOWN
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.prose.phrases import capitalised, changes_words, counted, first_few
from plimsoll.units import format_number, format_percent

_WIDEST = 9.0
"""An interval whose ends are further apart, a factor of 3 to each side, is said in words."""

_NOTES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "within-run-only": lambda _: (
        "One run of each: the intervals are those within the runs, and say nothing about how repetitions differ. So"
        " neither is called faster. Measure at least three repetitions of each."
    ),
    "untestable-cells": lambda seen: (
        f"{seen['cells_count']} of {seen['of_count']} places have no verdict: too few repetitions, or figures that do"
        " not vary at all."
    ),
    "measured-apart": lambda seen: (
        f"The two were measured {format_number(seen['apart_h'])} hours apart. What changed on the machine meanwhile"
        " counts as a difference between them; measure both in one study to rule that out."
    ),
    "at-a-rate": lambda _: "At a target rate, throughput is what was asked for unless the system fell behind.",
    "trials-left-out": lambda seen: (
        f"{counted(seen['trials_count'], 'trial')} of {seen['system']} left out: damaged, failed or invalid."
    ),
    "cells-unmatched": lambda seen: (
        f"Not compared: {counted(seen['base_count'], 'level')} that only the first has, and"
        f" {counted(seen['system_count'], 'level')} that only the second has."
    ),
    "recorded-warnings": lambda seen: (
        f"Warnings in the recordings of {seen['system']}:"
        f" {first_few([f'{code} ({count})' for code, count in seen['codes']])}."
    ),
}


def worded_comparison(answer: CompareAnswer) -> CompareAnswer:
    """The answer with its sentences, for whoever reads the JSON."""
    notes = tuple(one.model_copy(update={"text": note_sentence(one)}) for one in answer.notes)
    return answer.model_copy(update={"text": answer_sentence(answer), "notes": notes})


def answer_sentence(answer: CompareAnswer) -> str:
    """All in one sentence: gates, what is not alike, and the difference with its interval."""
    around = [one.what for one in answer.differing if not one.is_compared]
    unlike = f"Measured under unlike conditions ({first_few(around)}): " if around else ""
    gates = "".join(f"{gate_words(one)}: " for one in answer.gates)
    text = f"{gates}{unlike}{_difference(answer)}{_exceptions(answer)}."
    return capitalised(text, (answer.base.name, answer.system.name))


def gate_words(gate: GateResult) -> str:
    """What a rule comes to: `regression (throughput more than 5.0 % lower)`."""
    worse = "throughput more than {} lower" if gate.metric is Metric.THROUGHPUT else "p99 more than {} higher"
    rule = worse.format(format_percent(gate.limit))
    match gate.outcome:
        case GateOutcome.FAILED:
            places = [_place(*place) for place in gate.failed_at if place != ("", "")]
            where = f" at {first_few(places)}" if places else " over all together"
            return f"regression ({rule}{where})"
        case GateOutcome.PASSED:
            return f"no regression ({rule} is ruled out)"
    return f"undecided ({rule} is neither shown nor ruled out{_further(gate.repetitions_needed)})"


def _difference(answer: CompareAnswer) -> str:
    base, system, change = answer.base.name, answer.system.name, _change(answer)
    over = f" over {len(answer.comparisons)} places together" if len(answer.comparisons) > 1 else _only_place(answer)
    match answer.verdict:
        case DifferenceVerdict.FASTER | DifferenceVerdict.SLOWER:
            return f"{system} is {answer.verdict.value} than {base}{over}, {change}"
        case DifferenceVerdict.EQUAL:
            return f"{system} and {base} are equal within {format_percent(answer.equal_within)}{over}, {change}"
        case DifferenceVerdict.UNRESOLVED:
            further = _further(answer.repetitions_needed)
            return f"not resolved whether {system} is faster than {base}{over}, {change}{further}"
    return f"{system} against {base}{over}: {change}, not testable{_why_untestable(answer)}"


def _why_untestable(answer: CompareAnswer) -> str:
    if answer.basis is SpreadKind.WITHIN_RUN:
        return " without repetitions (the interval is that within the runs)"
    return "" if answer.ratio is None else " without repetitions that vary"


def _only_place(answer: CompareAnswer) -> str:
    (cell,) = answer.comparisons
    return f" under {_place(cell.workload, cell.level.label())}"


def _exceptions(answer: CompareAnswer) -> str:
    """Places with another verdict than all together."""
    if len(answer.comparisons) == 1:
        return ""
    text = ""
    for verdict in (DifferenceVerdict.SLOWER, DifferenceVerdict.FASTER):
        places = [_place(one.workload, one.level.label()) for one in answer.comparisons if one.verdict is verdict]
        if places and verdict is not answer.verdict:
            text += f"; {verdict.value} at {first_few(places)}"
    return text


def _place(workload: str, level: str) -> str:
    return f"{workload}, {level}" if level else workload


def _change(one: MetricComparison) -> str:
    """Such as `-6.2 % (95 % CI -8.9 % to -3.5 %)`."""
    if one.ratio is None:
        return "nothing completed, or is known, on one side"
    value = format_percent(one.ratio - 1, signed=True)
    if one.low is None or one.high is None:
        return value
    if one.high > _WIDEST * one.low:
        return f"{value}, with a confidence interval wider than a factor of {_WIDEST:g}"
    return f"{value} (95 % CI {_interval(one.low, one.high)})"


def _interval(low: float, high: float) -> str:
    return f"{format_percent(low - 1, signed=True)} to {format_percent(high - 1, signed=True)}"


def _further(repetitions: int | None) -> str:
    return f"; about {counted(repetitions, 'more repetition')} of each would decide" if repetitions else ""


def note_sentence(note: Finding) -> str:
    """What to know before relying on the comparison."""
    return _NOTES[note.code]({"system": note.system, **note.figures})


def condition_sentences(answer: CompareAnswer) -> Iterator[str]:
    """What is not the same, first what should be, then what is compared."""
    groups = (("Not the same on both sides", False), ("Compared", True))
    for heading, is_compared in groups:
        own = [one for one in answer.differing if one.is_compared is is_compared]
        if own:
            yield f"{heading}: {_changes(own)}."


def _changes(differing: list[ConditionDifference]) -> str:
    return changes_words([(one.what, one.base, one.system) for one in differing])


def verdict_text(one: MetricComparison) -> str:
    """A verdict in a table."""
    match one.verdict:
        case DifferenceVerdict.EQUAL:
            return f"equal within {format_percent(one.equal_within)}"
        case DifferenceVerdict.UNRESOLVED:
            needed = one.repetitions_needed
            return f"not resolved; {counted(needed, 'more repetition')}" if needed else "not resolved"
        case DifferenceVerdict.UNTESTABLE:
            return "not testable"
    return one.verdict.value


def compare_table(answer: CompareAnswer) -> Table:
    """Every workload and level that both sides have."""
    headings = (
        ("workload", False),
        ("level", False),
        ("tps", True),
        ("change", True),
        ("verdict", False),
        ("p99 ms", True),
    )
    columns = tuple(Column(heading=heading, numeric=numeric) for heading, numeric in headings)
    rows = tuple(_row(one) for one in answer.comparisons)
    notes = (
        f"Figures before the arrow: {answer.base.name}; behind it: {answer.system.name}.",
        "Ranges are 95 % confidence intervals, each for its figure alone; verdicts are about throughput, corrected for"
        " all places together.",
    )
    return Table(caption="By workload and level", columns=columns, rows=rows, notes=notes)


def _row(one: CellComparison) -> tuple[Entry, ...]:
    return (
        Entry(one.workload),
        Entry(one.level.label() or NOT_KNOWN),
        Entry(_both(one)),
        _change_entry(one),
        Entry(verdict_text(one)),
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


def _change_entry(one: MetricComparison) -> Entry:
    if one.ratio is None:
        return Entry(NOT_KNOWN)
    has_interval = one.low is not None and one.high is not None and one.high <= _WIDEST * one.low
    bounds = _interval(one.low or 0.0, one.high or 0.0) if has_interval else None
    return Entry(format_percent(one.ratio - 1, signed=True), bounds)


def sentences(answer: CompareAnswer) -> tuple[str, ...]:
    """The answer, what is not the same, and what to know, in this order."""
    return (
        answer_sentence(answer),
        *condition_sentences(answer),
        *(note_sentence(one) for one in answer.notes),
        *(_undecided(one) for one in answer.gates if one.undecided_at),
        *(_of_single_runs() for _ in answer.gates[:1] if any(one.is_within_run for one in answer.gates)),
    )


def _undecided(gate: GateResult) -> str:
    places = [_place(*place) for place in gate.undecided_at]
    return f"Undecided about {gate.metric.value} at {len(places)} of the places: {first_few(places)}."


def _of_single_runs() -> str:
    return "The rules of --fail-if rest on intervals within single runs here: false alarms are more frequent than 5 %."


def trials_words(answer: CompareAnswer) -> str:
    """What was compared, in one line."""
    how = "within the repetitions of one study" if answer.is_paired else "as independent repetitions"
    return f"{_side_words(answer.base)} against {_side_words(answer.system)}, {how}."


def _side_words(side: ComparedSide) -> str:
    return f"{side.name} ({', '.join([counted(side.trials_count, 'trial'), *side.server_versions])})"
