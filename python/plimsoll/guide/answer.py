"""The findings of an answer as sentences: what systems sustain, how they differ, pools, costs, limitations.

`guide.json` is the analysis with these sentences. Deliberately not here: which findings and limitations there are
(`plimsoll.analyse`), and how two systems compare (`comparisons`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from plimsoll.analyse.answers.answer import grade_of_pool
from plimsoll.analyse.findings.doubts import PlacedWarning
from plimsoll.analyse.findings.finding_model import Finding, Grade
from plimsoll.analyse.findings.runs import Stalled
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.cell_model import Cell, Estimate
from plimsoll.analyse.study.curve_model import Curve, PoolReason
from plimsoll.analyse.study.throughput import REPETITIONS_NEEDED
from plimsoll.guide.comparisons import comparison_sentence, peaks_words
from plimsoll.guide.cost import costs_sentence
from plimsoll.guide.effects import effects_answer_sentence
from plimsoll.guide.words import FindingContext, advice_of
from plimsoll.prose.capacity import (
    capacities_compared_sentence,
    capacity_answer_sentence,
    disturbance_sentence,
    no_capacity_sentence,
)
from plimsoll.prose.phrases import factor_words, fitted_words, lost_words, p99_words, plain, rate_with_interval
from plimsoll.prose.ratios import higher
from plimsoll.record.level import FittedBudget, Level
from plimsoll.units import format_duration, format_ms, format_percent
from plimsoll.wording import counted, listed

_FIGURES = frozenset(("peak", "sustained-rate", "within-objective", "capacity"))


def answer_sentence(finding: Finding, analysis: Analysis) -> str:
    """A finding of the answer as one or more sentences."""
    text = ANSWER[finding.code](FindingContext(finding, analysis))
    if finding.code not in _FIGURES or finding.grade is not Grade.INDICATED:
        return text
    first, stop, rest = text.partition(". ")
    figure, unknown, _ = first.removesuffix(".").partition(_TIMES_UNKNOWN)
    return f"{figure}{INDICATED}{unknown}.{f' {rest}' if stop else ''}"


def limit_sentence(finding: Finding) -> str:
    """A limitation as one or more sentences."""
    return LIMITS[finding.code](finding.known)


def _incomplete(context: FindingContext) -> str:
    figures = context.figures
    names = [*figures["systems"], *(f"{system} under {workload}" for system, workload in figures["system_workloads"])]
    unmeasured = f" Nothing was measured for {listed(names)}." if names else ""
    ran, planned = figures["ran_count"], figures["planned_count"]
    return f"This study is not complete: {ran:,} of {planned:,} planned trials have run.{unmeasured}"


def _lag_grows(context: FindingContext) -> str:
    places = [
        f"{replicas} under {workload} from {level} on" for _, workload, level, replicas in context.figures["places"]
    ]
    return (
        f"The lag of a replica grows: {listed(places)}. What was measured there is not sustained, and is no capacity."
    )


def _stalled(context: FindingContext) -> str:
    finding, figures = context.finding, context.figures
    seen = Stalled(**{field.name: figures[field.name] for field in fields(Stalled)})
    place = f"{finding.system} at {_level(finding).label(context.unit)} (repetition {figures['repetition'] + 1})"
    hidden = " Percentiles of response time hardly show it." if figures["is_hidden"] else ""
    rest = figures["more_trials_count"]
    others = f" {counted(rest, 'more trial')} of this workload stalled as well." if rest else ""
    return f"{finding.workload}: {seen}, on {place}.{hidden}{others}"


def _level(finding: Finding) -> Level:
    assert finding.level is not None, "such findings are about a level"
    return finding.level


def _peak(context: FindingContext) -> str:
    finding, figures = context.finding, context.figures
    cell = context.curve(finding.system or "", finding.workload).peak_cell
    grows = cell is not None and bool(cell.growing_replicas)
    completes = "completed" if cell is not None and cell.is_disturbed else "completes"
    verb = {"most": f"{completes} the most:", "highest-figure": "has the highest figure:"}.get(
        figures["standing"], completes
    )
    estimate: Estimate = figures["throughput_tps"]
    is_vague = estimate.bounds is not None and estimate.bounds.is_vague
    is_whole = figures["is_inside_range"] or figures.get("is_only_level") or is_vague
    at_least = "" if is_whole else "at least "
    throughput = rate_with_interval(estimate, context.unit)
    times = _times(cell) if cell is not None else ""
    lost = lost_words(figures)
    place = _level(finding).label()
    lag = ". The lag of a replica grows there, so it is no capacity" if grows else ""
    return f"{finding.workload}: {finding.system} {verb} {at_least}{throughput} at {place}{times}{lost}{lag}."


def _times(cell: Cell) -> str:
    if words := p99_words(cell.response_ms):
        return f", {words}"
    if cell.response_ms.p95 is not None:
        return f", p95 response time {format_ms(cell.response_ms.p95)}"
    if cell.response_ms.mean is not None:
        return f", mean response time {format_ms(cell.response_ms.mean)}"
    return _TIMES_UNKNOWN


_TIMES_UNKNOWN = "; response times are unknown"


def _sustained_rate(context: FindingContext) -> str:
    finding, figures = context.finding, context.figures
    beyond = _fell_behind(context)
    curve = next(curve for curve in context.analysis.curves if _is_of(curve, finding) and curve.kind.is_at_rate)
    if finding.level is None:
        return f"{finding.workload}: {finding.system} fell behind at the lowest rate that was tried: {beyond}."
    cell = curve.cell_at(finding.level)
    words = "" if cell is None else p99_words(cell.response_ms)
    sustained = f"{finding.level.figure(context.unit)} {context.unit}{f', {words}' if words else ''}"
    if figures["next_level"] is None:
        return f"{finding.workload}: {finding.system} sustains every rate that was tried, up to {sustained}."
    return f"{finding.workload}: {finding.system} sustains {sustained}. It fell behind at the next rate: {beyond}."


def _is_of(curve: Curve, finding: Finding) -> bool:
    return (curve.system, curve.workload) == (finding.system, finding.workload)


def _fell_behind(context: FindingContext) -> str:
    figures, unit = context.figures, context.unit
    level: Level | None = figures["next_level"]
    if level is None:
        return ""
    done = rate_with_interval(figures["next_throughput_tps"], unit)
    dropped = figures["next_dropped_count"]
    lost = f", and {dropped:,} transactions were dropped" if dropped else ""
    return f"of {level.figure(unit)} {unit} it completed {done}{lost}"


def _within_objective(context: FindingContext) -> str:
    finding, figures = context.finding, context.figures
    start = (
        f"{finding.workload}: with p99 response time within {format_ms(figures['objective_ms_p99'])}, {finding.system}"
    )
    level = finding.level
    if level is None:
        if figures["unknown"] is None:
            return f"{start} sustains no level that was measured."
        why = "some transactions had not ended" if figures["unknown"] == "unfinished" else "response times are unknown"
        return f"{start} has no known capacity: {why}."
    beyond = ", perhaps more at levels that were not measured" if figures["is_last_level"] else ""
    lost = lost_words(figures)
    if level.kind.is_at_rate:
        return f"{start} sustains {level.figure(context.unit)} {context.unit}{beyond}{lost}."
    rate = rate_with_interval(figures["throughput_tps"], context.unit)
    return f"{start} completes {rate} at {level.label()}{beyond}{lost}."


def _objective_missed(context: FindingContext) -> str:
    finding, figures = context.finding, context.figures
    who = "neither system" if figures["systems_count"] == 2 else f"none of the {figures['systems_count']} systems"
    nearest = ""
    if finding.level is not None and figures["response_ms_p99"] is not None:
        lowest, place = format_ms(figures["response_ms_p99"]), finding.level.label(context.unit)
        nearest = f"; the lowest p99 is {lowest}, on {finding.system} at {place}"
    within = format_ms(figures["objective_ms_p99"])
    return f"{finding.workload}: {who} keeps p99 response time within {within} at any level that was measured{nearest}."


def _side_by_side(context: FindingContext) -> str:
    finding, figures = context.finding, context.figures
    times = [
        f"{'at least ' if system in figures['lower_bounds'] else ''}{format_ms(p99_ms)} on {system}"
        for system, p99_ms in zip(figures["systems"], figures["response_ms_p99"], strict=True)
    ]
    rate = f"{_level(finding).figure(context.unit)} {context.unit}"
    return f"{finding.workload}: at {rate}, which all systems sustain, p99 response time is {listed(times)}."


def _other_peaks(context: FindingContext) -> str:
    finding, figures = context.finding, context.figures
    low, high = (format_percent(figures[name]) for name in ("lowest_ratio", "highest_ratio"))
    tied = listed(figures["undecided"])
    undecided = f" Not resolved whether they differ from {finding.system}: {tied}." if tied else ""
    return (
        f"{finding.workload}: the peaks of the other {figures['others_count']} systems are {low} to {high} of that of"
        f" {finding.system}.{undecided}"
    )


def _across_workloads(context: FindingContext) -> str:
    finding, figures = context.finding, context.figures
    factors = factor_words(figures["differing"], figures["one_sided"])
    return (
        f"If {finding.workload} and {figures['base_workload']} are the same work: the peak of {finding.system} is"
        f" {higher(figures['ratio'])} {figures['base']} ({peaks_words(context)}).{factors}"
    )


def _pool(context: FindingContext) -> str:
    finding = context.finding
    curve = context.curve(str(finding.system), finding.workload)
    return f"{finding.workload}: connection pool for {finding.system}: {pool_sentence(curve)}."


def _pool_per_core(context: FindingContext) -> str:
    per_core = context.figures["per_core"]
    words = {
        1: "cores (one connection for each processor core)",
        2: "twice the cores (two connections for each processor core)",
    }
    pool = words.get(per_core, f"{plain(per_core)} connections for each processor core")
    is_indicated = context.finding.grade is Grade.INDICATED
    return (
        f"{context.finding.workload}: connection pool = {pool} on every system{INDICATED if is_indicated else ''}."
        f" {SINGLE_FIGURES if context.figures['are_single_figures'] else 'No other level gives more than 5 % more'}."
        f"{' ' + SHARED_PROCESSORS if context.figures.get('client_shared_processors') else ''}"
    )


def _durability(context: FindingContext) -> str:
    """Systems by class of durability, the durable ones first."""
    known = {system.name: system.durability for system in context.analysis.systems if system.durability is not None}
    classes: dict[str, list[str]] = {}
    for system, name in context.figures["durability"]:
        classes.setdefault(name, []).append(system)
    described = []
    for name, systems in sorted(classes.items(), key=lambda item: bool(known[item[1][0]].causes)):
        causes = dict.fromkeys(f"{what} = {value}" for system in systems for what, value in known[system].causes)
        keeps = f"{'keeps' if len(systems) == 1 else 'keep'} every committed transaction"
        described.append(f"{listed(systems)} {name} ({', '.join(causes)})" if causes else f"{listed(systems)} {keeps}")
    return (
        f"Durability differs: {'; '.join(described)}. A less durable system may gain write throughput at the cost of"
        " lost transactions."
    )


ANSWER: Mapping[str, Callable[[FindingContext], str]] = {
    "disturbed": lambda context: disturbance_sentence(context.figures, context.finding.workload or ""),
    "incomplete": _incomplete,
    "lag-grows": _lag_grows,
    "stalled": _stalled,
    "peak": _peak,
    "sustained-rate": _sustained_rate,
    "within-objective": _within_objective,
    "objective-missed": _objective_missed,
    "capacity": lambda context: capacity_answer_sentence(context.finding, context.unit),
    "no-capacity": lambda context: no_capacity_sentence(context.finding, context.unit),
    "capacity-compared": lambda context: capacities_compared_sentence(context.finding),
    "effects": effects_answer_sentence,
    "response-times-side-by-side": _side_by_side,
    "other-peaks": _other_peaks,
    "comparison": comparison_sentence,
    "comparison-across-workloads": _across_workloads,
    "pool": _pool,
    "pool-per-core": _pool_per_core,
    "costs": lambda context: costs_sentence(context.finding),
    "cheapest": lambda context: costs_sentence(context.finding),
    "durability-differs": _durability,
    "nothing-completed": lambda _: "No trial was completed, so nothing can be said about throughput.",
}

SHARED_PROCESSORS = "The client used part of the processors: with the client on another host, the pool may be larger."

INDICATED = " (indicated)"
"""Behind what follows from figures that do not say how much another run would differ."""

SINGLE_FIGURES = "No other level has a higher figure, and the figures do not say how runs differ"

FEWER = "; fewer were not measured"

_IN_THE_TABLE = f"The pool of each system{INDICATED} is in the table of systems at a glance. {SINGLE_FIGURES}."
_SMALL_NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four"}


def pool_sentences(curves: Sequence[Curve]) -> tuple[str, ...]:
    """How large a connection pool should be, a sentence for each system; one for all that are published figures."""
    if len(curves) > 1 and all(map(_is_inside_single_figures, curves)):
        return (_IN_THE_TABLE,)
    return tuple(f"{curve.system}: {pool_sentence(curve)}." for curve in curves)


def _is_inside_single_figures(curve: Curve) -> bool:
    """Whether single figures show their highest between lower and higher levels."""
    is_single = curve.pool is not None and curve.pool.reason is PoolReason.SINGLE_FIGURES
    return is_single and curve.peak is not None and curve.peak.is_inside_range and not _is_first(curve)


def _is_first(curve: Curve) -> bool:
    """Whether the pool is the lowest level, and fewer connections were not measured."""
    lowest = curve.cells[0].level.connections
    return curve.pool is not None and curve.pool.connections == lowest > 1


def pool_sentence(curve: Curve) -> str:
    """How large a connection pool should be on one system, without the system's name and a full stop."""
    pool, peak = curve.pool, curve.peak
    if pool is None or peak is None or pool.reason is PoolReason.UNKNOWN:
        return "unknown: nothing completed at any level"
    shared = f". {SHARED_PROCESSORS.rstrip('.')}" if pool.client_shared_processors else ""
    last = curve.cells[-1].level
    rising = ""
    if peak.level.order == last.order:
        rising = f". Throughput still rose at {peak.level.label()}, the last level: the right size may be larger"
    if pool.between is not None:
        return f"not resolved: {_between(curve, pool.between)}{rising}{shared}"
    beyond = {
        PoolReason.SINGLE_FIGURES: f"{FEWER if _is_first(curve) else ''}. {SINGLE_FIGURES}{rising}",
        PoolReason.ONLY_LEVEL: "; no other level was measured",
        PoolReason.STILL_RISING: rising,
        PoolReason.OBJECTIVE: "; more connections are not known to keep the objective",
        PoolReason.LOWEST_LEVEL: FEWER,
        PoolReason.NO_GAIN: "; no other level gives more than 5 % more",
    }
    indicated = INDICATED if grade_of_pool(pool) is Grade.INDICATED else ""
    size = f"{counted(pool.connections, 'connection')}{_per_core(pool.per_core)}{indicated}"
    return f"{size}{beyond.get(pool.reason, '')}{shared}"


def _between(curve: Curve, levels: tuple[int, int]) -> str:
    """Which levels may be enough, and what would narrow that down."""
    low, high = levels
    text = (
        f"perhaps {counted(high, 'connection')}"
        if low == high
        else f"between {low:,} and {counted(high, 'connection')}"
    )
    if any(cell.throughput_tps.trial_count == 1 for cell in curve.cells):
        return f"{text}. Levels that were measured once do not show how runs differ; three repetitions narrow this down"
    return (
        f"{text}. No level is shown to give at least 95 % of the highest throughput; more repetitions narrow this down"
    )


def has_pool_advice(curve: Curve) -> bool:
    """Whether there is a pool to speak of: a curve of one level says nothing about its size."""
    return curve.pool is not None and curve.pool.reason is not PoolReason.ONLY_LEVEL


def _per_core(per_core: float | None) -> str:
    if per_core is None:
        return ""
    if per_core >= 1 or per_core == 0:
        number = _SMALL_NUMBERS.get(int(per_core)) if per_core == int(per_core) else None
        return f", {number or plain(per_core)} per core"
    return f", one for every {plain(1 / per_core)} cores"


Figures = Mapping[str, Any]


def _curves(figures: Figures) -> str:
    return listed([f"{system} ({workload})" for system, workload in figures["curves"]])


def _whom(figures: Figures) -> str:
    return "every system" if figures["is_every_system"] else listed(figures["systems"])


def _share(figures: Figures, all_have: str, some_have: str) -> str:
    count, of = figures["cells_count"], figures["all_count"]
    return all_have if count == of else f"{count} of {of} throughputs have {some_have}"


def _comparisons(figures: Figures) -> str:
    count, of = figures["undecided_count"], figures["all_count"]
    where = "the comparison of peaks" if of == 1 else f"{count} of {of} comparisons of peaks"
    if figures.get("is_duet"):
        return f"Whether systems differ is not resolved in {where}. More rounds narrow the confidence intervals."
    return (
        f"Whether systems differ is not resolved in {where}. More repetitions narrow the confidence intervals; longer"
        " trials do so only where seconds within a run vary more than repetitions."
    )


def _slow_overload(figures: Figures) -> str:
    return (
        f"A rate less than {format_percent(figures['excess_ratio'])} above what a system sustains does not show as"
        f" overload within {format_duration(figures['load_s'])} of load: it may count as sustained, but would not be"
        " in the long run."
    )


def _rates_served_by(figures: Figures) -> str:
    counts = listed([f"{count:,}" for count in figures["connections"]])
    return (
        f"Rates were served by {counts} connections. With more or fewer connections other rates may be sustained."
        " Response times have no confidence intervals."
    )


def _closed_loop(figures: Figures) -> str:
    who, when = figures["client"], "a pause after" if figures["has_pauses"] else "when"
    return (
        f"Each {who} sent its next transaction {when} the last was done. Response times hold for a fixed number of"
        f" {who}s, not for users who arrive at their own pace."
    )


def _one_level(figures: Figures) -> str:
    counts = listed([f"{count:,}" for count in figures["connections"]])
    noun = "connection" if counts == "1" else "connections"
    return (
        f"Only one level was measured, {counts} {noun}: with more or fewer connections, throughput and the difference"
        " between systems may be others."
    )


def _measured_once(figures: Figures) -> str:
    names, few = figures["environments"], figures["few"]
    once = "each only once" if len(few) == len(names) else f"{listed(few)} only once"
    return (
        f"The environments {listed(names)} were measured in turn, {once}: whatever changed from one to the next (the"
        " hour, neighbours, a start of the machine) counts as a difference between them. Comparisons between"
        " environments have no confidence interval until each was measured in at least two blocks, with another"
        " environment in between."
    )


LIMITS: Mapping[str, Callable[[Figures], str]] = {
    "repetitions-fitted": lambda figures: (
        f"{fitted_words(FittedBudget(**figures))}. Fewer repetitions find larger differences only."
    ),
    "between-rates": lambda _: (
        "Nothing is known between the highest rate that a system sustains and the next rate that was tried."
    ),
    "highest-rate-unknown": lambda figures: (
        f"How much more {_curves(figures)} would sustain is unknown: no rate that was tried was too high."
    ),
    "slow-overload": _slow_overload,
    "rates-served-by": _rates_served_by,
    "published-figures": lambda _: (
        "Published figures are used as they stand: how they were measured, whether the client was the limit, and"
        " whether the systems were steady cannot be checked here."
    ),
    "response-times-unknown": lambda figures: (
        f"Response times are unknown for {_whom(figures)}: no objective for response time can be judged there."
    ),
    "p99-unknown": lambda figures: (
        f"The 99th percentile of response time is unknown for {_whom(figures)}: no objective for response time can be"
        " judged there."
    ),
    "no-intervals": lambda figures: (
        f"{_share(figures, 'No throughput has a confidence interval', 'no confidence interval')}, because the"
        " variation between repetitions is unknown. Small differences mean nothing."
    ),
    "intervals-within-run": lambda figures: (
        f"{_share(figures, 'All throughputs have confidence intervals', 'confidence intervals')} from within single"
        f" runs only. Repetitions may vary more, so no system is called faster. At least {REPETITIONS_NEEDED}"
        " repetitions would show the variation."
    ),
    "environments-once": _measured_once,
    "environments-in-turn": lambda figures: (
        f"The environments {listed(figures['environments'])} were measured in turn, in at least"
        f" {figures['blocks_count']} blocks each. Systems of different environments are compared by blocks, and not by"
        " repetitions: more blocks narrow their confidence intervals, more repetitions in a block hardly do. The"
        " confidence interval of a system's own throughput holds for the blocks that were measured."
    ),
    "comparisons-undecided": _comparisons,
    "client-saturated": lambda _: (
        "At some levels the load generator used so much processor time that the server alone would sustain more: see"
        " the warning client-saturated."
    ),
    "client-on-server-host": lambda _: (
        "The client ran on the server's host: absolute figures are too low, and with a separate client host the peak"
        " may be at another level."
    ),
    "one-level": _one_level,
    "peak-unknown": lambda figures: (
        f"The peak of {'every curve' if figures['is_every_curve'] else _curves(figures)} is unknown: throughput was"
        " highest at the last level that was measured."
    ),
    "short-windows": lambda figures: (
        f"The longest window was {format_duration(figures['window_s_max'])}. Effects of checkpoints, purging, a full"
        " redo log or throttled storage after minutes or hours were not seen."
    ),
    "data-in-memory": lambda _: (
        "All data fitted the buffer pool. These figures say nothing about data larger than memory, where storage"
        " decides."
    ),
    "closed-loop": _closed_loop,
}


def render_json(analysis: Analysis) -> str:
    """`guide.json`."""
    return worded(analysis).model_dump_json(indent=2) + "\n"


def worded(analysis: Analysis) -> Analysis:
    """The same analysis with the text of each finding."""
    return analysis.model_copy(
        update={
            "answer": tuple(
                finding.model_copy(update={"text": answer_sentence(finding, analysis)}) for finding in analysis.answer
            ),
            "limits": tuple(limit.model_copy(update={"text": limit_sentence(limit)}) for limit in analysis.limits),
            "warnings": tuple(map(_worded, analysis.warnings)),
        }
    )


def _worded(placed: PlacedWarning) -> PlacedWarning:
    return placed.model_copy(update={"advice": advice_of(placed)})
