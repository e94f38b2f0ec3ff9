"""A comparison in words and as a table, for a terminal and as Markdown for a pull request.

The first sentence is the whole answer. It begins with what is not the same on both sides, and is not what is compared.
Then it says what became of the rules, and the figures. The table has a row for each workload and level, and for each
capacity. Deliberately not here: any calculation (`plimsoll.analyse`), and how tables are drawn (`terminal_blocks`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rich.console import Group

from plimsoll.analyse.answers.compare_capacities import place_of
from plimsoll.analyse.answers.compare_model import (
    CapacityComparison,
    CellComparison,
    CompareAnswer,
    ComparedSide,
    ConditionDifference,
    GateOutcome,
    GateResult,
    Metric,
    MetricComparison,
    Sessions,
)
from plimsoll.analyse.findings.finding_model import Finding
from plimsoll.analyse.findings.limits import unlike_figures
from plimsoll.analyse.study.cell_model import Bounds, SpreadKind
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.analyse.trial.condition_model import UnlikeConditions
from plimsoll.guide.tables import NOT_KNOWN, Column, Entry, Table
from plimsoll.guide.terminal_blocks import answer_blocks
from plimsoll.guide.words import escape_markdown
from plimsoll.prose.capacity import objective_words, slow_words
from plimsoll.prose.phrases import vague_words
from plimsoll.prose.ratios import changes_span, verdict_word
from plimsoll.units import format_number, format_percent
from plimsoll.wording import capitalised, changes_words, counted, first_few

_NOTES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "within-run-only": lambda _: (
        "One run of each: the intervals are those within the runs, and say nothing about how repetitions differ. So"
        " neither is called faster. Measure at least three repetitions of each."
    ),
    "single-searches": lambda _: (
        "One search of each is not enough to know how much searches vary. Search at least three times on each."
    ),
    "searches-unfinished": lambda seen: (
        f"{counted_searches(seen['searches_count'])} of {seen['system']} not finished: run the study again."
    ),
    "untestable-cells": lambda seen: (
        f"{seen['cells_count']} of {seen['of_count']} places have no verdict: too few repetitions, or figures that do"
        " not vary at all."
    ),
    "sessions-not-compared": lambda _: (
        "Sessions of this machine were not compared; repetitions inside a study say nothing of how it moves between"
        " studies. Measure both in one study, or name other studies of A with --baseline, or let the two"
        " studies take turns at least three times (A, B, A, B)."
    ),
    "baselines": lambda seen: (
        f"The intervals have the spread between {counted(len(seen['names']) + 1, 'session')} of A: it and"
        f" {first_few(seen['names'])}. More of them make the intervals narrower, more repetitions hardly."
    ),
    "baselines-shorter": lambda seen: (
        f"The sessions of A lie within {_hours(seen['covered_h'])}, and A and B are {_hours(seen['apart_h'])} apart:"
        " what moves the machine over a longer time does not show in them."
    ),
    "times-not-known": lambda _: (
        "When they were measured is not known. They are compared as independent repetitions, as if the machine moved no"
        " more between sessions than within them."
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


_DESIGNS: Mapping[Sessions, str] = {
    Sessions.ONE_STUDY: "within the repetitions of one study",
    Sessions.ALTERNATING: "as sessions that alternate",
    Sessions.APART: "as two studies, one session of each",
    Sessions.BASELINE: "as two studies, by the spread between sessions of the first",
    Sessions.UNKNOWN: "as independent repetitions",
}


def worded_comparison(answer: CompareAnswer) -> CompareAnswer:
    """The answer with its sentences, for whoever reads the JSON."""
    notes = tuple(note.model_copy(update={"text": note_sentence(note)}) for note in answer.notes)
    return answer.model_copy(update={"text": answer_sentence(answer), "notes": notes})


def answer_sentence(answer: CompareAnswer) -> str:
    """All in one sentence: what is not alike, the rules, and the difference with its interval."""
    disturbed = f"disturbed: {slow_clause(answer)}; " if is_disturbed(answer) else ""
    around = [condition.what for condition in answer.differing if not condition.is_compared]
    unlike = f"Measured under unlike conditions ({first_few(around)}): " if around else ""
    gates = "".join(f"{gate_words(gate, answer)}: " for gate in answer.gates)
    difference = _difference(answer) if answer.comparisons else _difference_of_capacities(answer)
    text = f"{disturbed}{unlike}{gates}{difference}{_exceptions(answer)}."
    return capitalised(text, (answer.base.name, answer.system.name))


def is_disturbed(answer: CompareAnswer) -> bool:
    """Whether something is not said because the machine was not equally fast for both sides."""
    return _most_unlike(answer) is not None


def _most_unlike(answer: CompareAnswer) -> UnlikeConditions | None:
    """Of all places together, else of the place where the two sides differ most."""
    places = [
        comparison.unlike for comparison in (*answer.comparisons, *answer.capacities) if comparison.unlike is not None
    ]
    return answer.unlike or max(places, key=lambda place: place.contrast_ratio, default=None)


def slow_clause(answer: CompareAnswer) -> str:
    """What the two sides met, and when."""
    unlike = _most_unlike(answer)
    assert unlike is not None, "only asked for where there is something"
    return slow_words(unlike_figures(answer.base.name, answer.system.name, unlike))


def gate_words(gate: GateResult, answer: CompareAnswer) -> str:
    """What a rule comes to: `regression (throughput more than 5.0 % lower)`."""
    rule = f"{_metric(gate, answer)} more than {format_percent(gate.limit)} {_worse(gate)}"
    match gate.outcome:
        case GateOutcome.FAILED:
            places = [_place(*place) for place in gate.failed_at if place != ("", "")]
            where = f" at {first_few(places)}" if places else " over all together"
            return f"regression ({rule}{where})"
        case GateOutcome.PASSED:
            return f"no regression ({rule} is ruled out)"
    if not gate.places_count:
        return f"undecided ({_metric(gate, answer)} is not known of both sides)"
    if answer.sessions is Sessions.APART:
        return f"undecided ({rule} is neither shown nor ruled out: sessions of this machine were not compared)"
    if is_disturbed(answer):
        return f"undecided ({rule} can be neither shown nor ruled out)"
    further = _open_end(answer) if answer.sessions is Sessions.BASELINE else _further(gate.repetitions_needed)
    return f"undecided ({rule} is neither shown nor ruled out{further})"


def _metric(gate: GateResult, answer: CompareAnswer) -> str:
    if gate.metric is Metric.P99:
        return "p99"
    capacities = {place_of(capacity.workload, capacity.objective) for capacity in answer.capacities}
    levels = {(comparison.workload, comparison.level.label()) for comparison in answer.comparisons}
    known = {"throughput": levels, "capacity": capacities}
    failed = {"throughput": set(gate.failed_at) - capacities, "capacity": capacities & set(gate.failed_at)}
    return " or ".join(name for name, places in (failed if gate.failed_at else known).items() if places)


def _worse(gate: GateResult) -> str:
    return "higher" if gate.metric is Metric.P99 else "lower"


def _difference(answer: CompareAnswer) -> str:
    base, system, change = answer.base.name, answer.system.name, _change(answer)
    over = f" over {len(answer.comparisons)} places together" if len(answer.comparisons) > 1 else _only_place(answer)
    match answer.verdict:
        case RatioVerdict.FASTER | RatioVerdict.SLOWER:
            return f"{system} is {answer.verdict.value} than {base}{over}, {change}"
        case RatioVerdict.EQUAL:
            return f"{system} and {base} are equal within {format_percent(answer.equal_within)}{over}, {change}"
        case RatioVerdict.UNRESOLVED:
            further = _open_end(answer)
            return f"not resolved whether {system} is faster than {base}{over}, {change}{further}"
        case RatioVerdict.DISTURBED:
            return f"{system} and {base} cannot be compared{over}"
    return f"{system} against {base}{over}: {change}, not testable{_why_untestable(answer)}"


def _open_end(answer: CompareAnswer) -> str:
    """What would decide; where sessions are compared, what these could have seen."""
    if answer.basis is not SpreadKind.SESSIONS or answer.smallest_effect is None:
        return _further(answer.repetitions_needed)
    seen = f"by a factor of {format_number(answer.smallest_effect)} or more"
    return f"; only a difference {seen} would probably have been seen"


def _hours(count: float) -> str:
    return f"{format_number(count)} hours"


def _why_untestable(answer: CompareAnswer) -> str:
    if answer.basis is not SpreadKind.WITHIN_RUN and answer.sessions is Sessions.APART and answer.ratio is not None:
        return ": sessions of this machine were not compared"
    if answer.basis is SpreadKind.WITHIN_RUN:
        return " without repetitions (the interval is that within the runs)"
    return "" if answer.ratio is None else " without repetitions that vary"


def _difference_of_capacities(answer: CompareAnswer) -> str:
    base, system, change = answer.base.name, answer.system.name, _change(answer)
    first, *others = answer.capacities
    at = f" over {len(answer.capacities)} objectives together" if others else f" under {capacity_place(first)}"
    match answer.verdict:
        case RatioVerdict.FASTER | RatioVerdict.SLOWER:
            word = capacity_verdict(answer)
            return f"the capacity of {system} is {word} than that of {base}{at}, {change}"
        case RatioVerdict.EQUAL:
            return f"the capacities of {system} and {base} are {capacity_verdict(answer)}{at}, {change}"
        case RatioVerdict.UNRESOLVED:
            further = _open_end(answer)
            return f"not resolved whether the capacity of {system} is higher than that of {base}{at}, {change}{further}"
        case RatioVerdict.DISTURBED:
            return f"the capacities of {system} and {base} cannot be compared{at}"
    if answer.ratio is None:
        return f"no capacity{at} is known of {_without_capacity(answer)}"
    few = f" with {counted(first.base_repetitions, 'pair')} of ramps" if first.is_of_ramps else " with single searches"
    why = _why_untestable(answer) if answer.sessions is Sessions.APART else few
    return f"the capacity of {system} against that of {base}{at}: {change}, not testable{why}"


def _without_capacity(answer: CompareAnswer) -> str:
    sides = {answer.base.name: answer.base_value, answer.system.name: answer.system_value}
    missing = [name for name, value in sides.items() if value is None]
    return " and ".join(missing or sides)


def capacity_place(capacity_comparison: CapacityComparison) -> str:
    """A workload and what must hold there."""
    return f"{capacity_comparison.workload} with {objective_words(capacity_comparison.objective)}"


def capacity_verdict(metric_comparison: MetricComparison) -> str:
    """A verdict about capacities."""
    return _verdict(metric_comparison, "higher", "lower")


def _verdict(metric_comparison: MetricComparison, more: str = "faster", less: str = "slower") -> str:
    return verdict_word(
        metric_comparison.verdict, more, less, f"equal within {format_percent(metric_comparison.equal_within)}"
    )


def _only_place(answer: CompareAnswer) -> str:
    (cell,) = answer.comparisons
    return f" under {_place(cell.workload, cell.level.label())}"


def _exceptions(answer: CompareAnswer) -> str:
    """Places with another verdict than all together, and capacities beside levels."""
    if not answer.comparisons:
        return _unlike_capacities(answer)
    text = "".join(f"; {_capacity_clause(capacity)}" for capacity in answer.capacities)
    if len(answer.comparisons) == 1:
        return text
    for verdict in (RatioVerdict.SLOWER, RatioVerdict.FASTER, RatioVerdict.DISTURBED):
        places = [
            _place(comparison.workload, comparison.level.label())
            for comparison in answer.comparisons
            if comparison.verdict is verdict
        ]
        if places and verdict is not answer.verdict:
            text += f"; {verdict.value} at {first_few(places)}"
    return text


def _unlike_capacities(answer: CompareAnswer) -> str:
    others = [capacity for capacity in answer.capacities if capacity.verdict is not answer.verdict]
    return "".join(f"; {_capacity_clause(other)}" for other in others)


def _capacity_clause(capacity_comparison: CapacityComparison) -> str:
    change = "" if capacity_comparison.verdict is RatioVerdict.DISTURBED else f", {_change(capacity_comparison)}"
    return f"capacity under {capacity_place(capacity_comparison)}: {capacity_verdict(capacity_comparison)}{change}"


def _place(workload: str, level: str) -> str:
    return f"{workload}, {level}" if level else workload


def _change(metric_comparison: MetricComparison) -> str:
    """Such as `-6.2 % (95 % CI -8.9 % to -3.5 %)`."""
    if metric_comparison.ratio is None:
        return "nothing completed, or is known, on one side"
    value, bounds = format_percent(metric_comparison.ratio - 1, signed=True), metric_comparison.bounds
    if bounds is None:
        return value
    kind = "within the studies" if bounds.basis is SpreadKind.WITHIN_STUDY else "95 % CI"
    return f"{value} ({vague_words(bounds) if bounds.is_vague_ratio else f'{kind} {changes_span(bounds)}'})"


def _further(repetitions: int | None) -> str:
    return f"; about {counted(repetitions, 'more repetition')} of each would decide" if repetitions else ""


def note_sentence(note: Finding) -> str:
    """What to know before relying on the comparison."""
    return _NOTES[note.code]({"system": note.system, **note.figures})


def condition_sentences(answer: CompareAnswer) -> Iterator[str]:
    """What is not the same, first what should be, then what is compared."""
    groups = (("Not the same on both sides", False), ("Compared", True))
    for heading, is_compared in groups:
        differing = [condition for condition in answer.differing if condition.is_compared is is_compared]
        if differing:
            yield f"{heading}: {_changes(differing)}."


def _changes(differing: list[ConditionDifference]) -> str:
    return changes_words([(condition.what, condition.base, condition.system) for condition in differing])


def sentences(answer: CompareAnswer) -> tuple[str, ...]:
    """The answer, what is not the same, and what to know, in this order."""
    return (
        answer_sentence(answer),
        *condition_sentences(answer),
        *(note_sentence(note) for note in answer.notes),
        *(_undecided(gate) for gate in answer.gates if gate.undecided_at),
        *(_of_single_runs() for _ in answer.gates[:1] if any(gate.is_within_run for gate in answer.gates)),
    )


def _undecided(gate: GateResult) -> str:
    places = [_place(*place) for place in gate.undecided_at]
    return f"Undecided about {gate.metric.value} at {counted(len(places), 'place')}: {first_few(places)}."


def _of_single_runs() -> str:
    return "The rules of --fail-if rest on intervals within single runs here: false alarms are more frequent than 5 %."


def trials_words(answer: CompareAnswer) -> str:
    """What was compared, in one line."""
    sides = f"{_side_words(answer.base)} against {_side_words(answer.system)}"
    return f"{sides}, {_design(answer)}. Grade: {answer.grade.value}."


def _design(answer: CompareAnswer) -> str:
    """How the two were measured against each other, and what intervals follow from that."""
    if answer.at_any_look and answer.sessions not in (Sessions.APART, Sessions.BASELINE):
        how = "within the repetitions of one study" if answer.is_paired else "repetition by repetition of two studies"
        return f"{how}; repetitions went on until the answer was decided, so that intervals hold after each of them"
    if answer.is_duet:
        return "by the pairs of turns of a duet"
    return _DESIGNS[answer.sessions]


def _side_words(side: ComparedSide) -> str:
    searches = side.searches_count
    counts = [counted(side.trials_count, "trial")] if side.trials_count or not searches else []
    counts += [counted_searches(searches)] if searches else []
    return f"{side.name} ({', '.join([*counts, *side.server_versions])})"


def counted_searches(count: int) -> str:
    """Such as `1 search`, `2 searches`."""
    return f"{count:,} {'search' if count == 1 else 'searches'}"


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
    rows = (
        *(_row(comparison) for comparison in answer.comparisons),
        *(_capacity(capacity) for capacity in answer.capacities),
    )
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
    return any(comparison.p99 is not None and comparison.p99.base_repetitions > 1 for comparison in answer.comparisons)


def _ranges(answer: CompareAnswer) -> str:
    """What ranges hold for."""
    if answer.sessions is Sessions.APART:
        return "Ranges are what repetitions within the studies show: they hold for these two sessions alone."
    return (
        "Ranges are 95 % confidence intervals, each for its figure alone; verdicts are about tps, corrected for all"
        " places together."
    )


def _row(cell_comparison: CellComparison) -> tuple[Entry, ...]:
    return (
        Entry(cell_comparison.workload),
        Entry(cell_comparison.level.label() or NOT_KNOWN),
        Entry(_both(cell_comparison)),
        _entry_of_change(cell_comparison),
        Entry(f"{_verdict(cell_comparison)}{_needed(cell_comparison)}"),
        Entry(NOT_KNOWN if cell_comparison.p99 is None else _p99(cell_comparison.p99)),
    )


def _both(metric_comparison: MetricComparison) -> str:
    return " → ".join(
        NOT_KNOWN if value is None else format_number(value)
        for value in (metric_comparison.base_value, metric_comparison.system_value)
    )


def _p99(metric_comparison: MetricComparison) -> str:
    """Both, the change, and the verdict where there is a difference."""
    word = (
        f", {verdict_word(metric_comparison.verdict, 'lower', 'higher')}"
        if metric_comparison.verdict.is_difference
        else ""
    )
    change = (
        ""
        if metric_comparison.ratio is None
        else f" ({format_percent(metric_comparison.ratio - 1, signed=True)}{word})"
    )
    return f"{_both(metric_comparison)}{change}"


def _entry_of_change(comparison: MetricComparison) -> Entry:
    return Entry(NOT_KNOWN) if comparison.ratio is None else change_entry(comparison.ratio, comparison.bounds)


def change_entry(ratio: float, bounds: Bounds | None) -> Entry:
    """A ratio as change in percent, with its interval: `+4.1 % (+3.2 % to +5.0 %)`."""
    detail = None if bounds is None else vague_words(bounds) if bounds.is_vague_ratio else changes_span(bounds)
    return Entry(format_percent(ratio - 1, signed=True), detail)


def _capacity(capacity_comparison: CapacityComparison) -> tuple[Entry, ...]:
    return (
        Entry(capacity_comparison.workload),
        Entry(place_of(capacity_comparison.workload, capacity_comparison.objective)[1]),
        Entry(_both(capacity_comparison)),
        _entry_of_change(capacity_comparison),
        Entry(f"{capacity_verdict(capacity_comparison)}{_needed(capacity_comparison)}"),
        Entry(NOT_KNOWN),
    )


def _needed(metric_comparison: MetricComparison) -> str:
    is_open = metric_comparison.verdict is RatioVerdict.UNRESOLVED and metric_comparison.repetitions_needed
    return f"; {counted(metric_comparison.repetitions_needed or 0, 'more repetition')}" if is_open else ""


def compare_terminal(answer: CompareAnswer) -> Group:
    """The answer, the table, and what to know."""
    return answer_blocks((*sentences(answer), trials_words(answer)), compare_table(answer))


def compare_markdown(answer: CompareAnswer) -> str:
    """The same as text for a pull request (GitHub's dialect)."""
    first, *rest = sentences(answer)
    table = compare_table(answer)
    rows = [
        [escape_markdown(column.heading) for column in table.columns],
        ["---:" if column.numeric else "---" for column in table.columns],
        *([_entry(entry) for entry in row] for row in table.rows),
    ]
    lines = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    known = "\n".join(f"- {escape_markdown(line)}" for line in (*rest, trials_words(answer)))
    notes = escape_markdown(" ".join(table.notes))
    return "\n\n".join([f"**{escape_markdown(first)}**", lines, notes, known]) + "\n"


def _entry(entry: Entry) -> str:
    detail = f" ({escape_markdown(entry.detail)})" if entry.detail else ""
    return f"{escape_markdown(entry.text)}{detail}"
