"""The findings of an answer as sentences: what systems sustain, how they differ, pools, costs.

Deliberately not here: which findings there are (`plimsoll.analyse.answer`), and limitations (`limits`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from plimsoll.analyse.cell_model import Cell, Estimate
from plimsoll.analyse.curve_model import Curve
from plimsoll.analyse.finding_model import Finding
from plimsoll.analyse.grade import Grade
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.warning_model import Evidence
from plimsoll.guide.comparisons import comparison_sentence, peaks_words
from plimsoll.guide.effects_answer import effects_answer_sentence
from plimsoll.guide.limits import LIMITS
from plimsoll.guide.pools import SHARED_PROCESSORS, SINGLE_FIGURES, pool_sentence
from plimsoll.guide.said import Said
from plimsoll.prose.capacity import capacities_compared_sentence, capacity_answer_sentence, no_capacity_sentence
from plimsoll.prose.cost import costs_sentence
from plimsoll.prose.disturbance import disturbance_sentence
from plimsoll.prose.evidence import evidence_text
from plimsoll.prose.phrases import (
    counted,
    factor_words,
    higher,
    listed,
    lost_words,
    p99_words,
    plain,
    rate_with_interval,
)
from plimsoll.record.level import Level
from plimsoll.units import format_ms, format_percent

_FIGURES = frozenset(("peak", "sustained-rate", "within-objective", "capacity"))


def answer_sentence(finding: Finding, analysis: Analysis) -> str:
    """A finding of the answer as one or more sentences."""
    text = ANSWER[finding.code](Said(finding, analysis))
    if finding.code not in _FIGURES or finding.grade is not Grade.INDICATED:
        return text
    first, stop, rest = text.partition(". ")
    return f"{first.removesuffix('.')} (indicated).{f' {rest}' if stop else ''}"


def limit_sentence(finding: Finding) -> str:
    """A limitation as one or more sentences."""
    return LIMITS[finding.code](finding.known)


def _incomplete(said: Said) -> str:
    figures = said.figures
    names = [*figures["systems"], *(f"{system} under {workload}" for system, workload in figures["system_workloads"])]
    unmeasured = f" Nothing was measured for {listed(names)}." if names else ""
    ran, planned = figures["ran_count"], figures["planned_count"]
    return f"This study is not complete: {ran:,} of {planned:,} planned trials have run.{unmeasured}"


def _lag_grows(said: Said) -> str:
    places = [f"{replicas} under {workload} from {level} on" for _, workload, level, replicas in said.figures["places"]]
    return (
        f"The lag of a replica grows: {listed(places)}. What was measured there is not sustained, and is no capacity."
    )


def _stalled(said: Said) -> str:
    finding, figures = said.finding, said.figures
    seen = evidence_text(Evidence(seen="stalled", figures=finding.figures))
    place = f"{finding.system} at {_level(finding).label(said.unit)} (repetition {figures['repetition'] + 1})"
    hidden = " Percentiles of response time hardly show it." if figures["is_hidden"] else ""
    rest = figures["more_trials_count"]
    others = f" {counted(rest, 'more trial')} of this workload stalled as well." if rest else ""
    return f"{finding.workload}: {seen}, on {place}.{hidden}{others}"


def _level(finding: Finding) -> Level:
    assert finding.level is not None, "such findings are about a level"
    return finding.level


def _peak(said: Said) -> str:
    finding, figures = said.finding, said.figures
    cell = said.curve(finding.system or "", finding.workload).peak_cell
    grows = cell is not None and bool(cell.growing_replicas)
    completes = "completed" if cell is not None and cell.is_disturbed else "completes"
    verb = {"most": f"{completes} the most:", "highest-figure": "has the highest figure:"}.get(
        figures["standing"], completes
    )
    estimate: Estimate = figures["throughput_tps"]
    is_vague = estimate.bounds is not None and estimate.bounds.is_vague
    is_whole = figures["is_inside_range"] or figures.get("is_only_level") or is_vague
    at_least = "" if is_whole else "at least "
    throughput = rate_with_interval(estimate, said.unit)
    times = _times(cell) if cell is not None else ""
    lost = lost_words(figures)
    place = _level(finding).label()
    lag = ". The lag of a replica grows there, so it is no capacity" if grows else ""
    return f"{finding.workload}: {finding.system} {verb} {at_least}{throughput} at {place}{times}{lost}{lag}."


def _times(cell: Cell) -> str:
    if words := p99_words(cell.response_ms):
        return f", {words}"
    if cell.response_ms.mean is not None:
        return f", mean response time {format_ms(cell.response_ms.mean)}"
    return "; response times are unknown"


def _sustained_rate(said: Said) -> str:
    finding, figures = said.finding, said.figures
    beyond = _fell_behind(said)
    curve = next(one for one in said.analysis.curves if _is_of(one, finding) and one.kind.is_at_rate)
    if finding.level is None:
        return f"{finding.workload}: {finding.system} fell behind at the lowest rate that was tried: {beyond}."
    cell = curve.cell_at(finding.level)
    words = "" if cell is None else p99_words(cell.response_ms)
    sustained = f"{finding.level.figure(said.unit)} {said.unit}{f', {words}' if words else ''}"
    if figures["next_level"] is None:
        return f"{finding.workload}: {finding.system} sustains every rate that was tried, up to {sustained}."
    return f"{finding.workload}: {finding.system} sustains {sustained}. It fell behind at the next rate: {beyond}."


def _is_of(curve: Curve, finding: Finding) -> bool:
    return (curve.system, curve.workload) == (finding.system, finding.workload)


def _fell_behind(said: Said) -> str:
    figures, unit = said.figures, said.unit
    level: Level | None = figures["next_level"]
    if level is None:
        return ""
    done = rate_with_interval(figures["next_throughput_tps"], unit)
    dropped = figures["next_dropped_count"]
    lost = f", and {dropped:,} transactions were dropped" if dropped else ""
    return f"of {level.figure(unit)} {unit} it completed {done}{lost}"


def _within_objective(said: Said) -> str:
    finding, figures = said.finding, said.figures
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
        return f"{start} sustains {level.figure(said.unit)} {said.unit}{beyond}{lost}."
    rate = rate_with_interval(figures["throughput_tps"], said.unit)
    return f"{start} completes {rate} at {level.label()}{beyond}{lost}."


def _objective_missed(said: Said) -> str:
    finding, figures = said.finding, said.figures
    who = "neither system" if figures["systems_count"] == 2 else f"none of the {figures['systems_count']} systems"
    nearest = ""
    if finding.level is not None and figures["response_ms_p99"] is not None:
        lowest, place = format_ms(figures["response_ms_p99"]), finding.level.label(said.unit)
        nearest = f"; the lowest p99 is {lowest}, on {finding.system} at {place}"
    within = format_ms(figures["objective_ms_p99"])
    return f"{finding.workload}: {who} keeps p99 response time within {within} at any level that was measured{nearest}."


def _side_by_side(said: Said) -> str:
    finding, figures = said.finding, said.figures
    times = [
        f"{'at least ' if system in figures['lower_bounds'] else ''}{format_ms(p99_ms)} on {system}"
        for system, p99_ms in zip(figures["systems"], figures["response_ms_p99"], strict=True)
    ]
    rate = f"{_level(finding).figure(said.unit)} {said.unit}"
    return f"{finding.workload}: at {rate}, which all systems sustain, p99 response time is {listed(times)}."


def _other_peaks(said: Said) -> str:
    finding, figures = said.finding, said.figures
    low, high = (format_percent(figures[name]) for name in ("lowest_ratio", "highest_ratio"))
    tied = listed(figures["undecided"])
    undecided = f" Not resolved whether they differ from {finding.system}: {tied}." if tied else ""
    return (
        f"{finding.workload}: the peaks of the other {figures['others_count']} systems are {low} to {high} of that of"
        f" {finding.system}.{undecided}"
    )


def _across_workloads(said: Said) -> str:
    finding, figures = said.finding, said.figures
    factors = factor_words(figures["differing"], figures["one_sided"])
    return (
        f"If {finding.workload} and {figures['base_workload']} are the same work: the peak of {finding.system} is"
        f" {higher(figures['ratio'])} {figures['base']} ({peaks_words(said)}).{factors}"
    )


def _pool(said: Said) -> str:
    finding = said.finding
    curve = said.curve(str(finding.system), finding.workload)
    return f"{finding.workload}: connection pool for {finding.system}: {pool_sentence(curve)}."


def _pool_per_core(said: Said) -> str:
    per_core = said.figures["per_core"]
    words = {
        1: "cores (one connection for each processor core)",
        2: "twice the cores (two connections for each processor core)",
    }
    pool = words.get(per_core, f"{plain(per_core)} connections for each processor core")
    if not said.figures["is_advice"]:
        return (
            f"{said.finding.workload}: on every system the highest figure is that with connections = {pool}."
            f" {SINGLE_FIGURES}."
        )
    return (
        f"{said.finding.workload}: connection pool = {pool} on every system. No other level gives more than 5 % more."
        f"{' ' + SHARED_PROCESSORS if said.figures.get('client_shared_processors') else ''}"
    )


def _durability(said: Said) -> str:
    """Systems by class of durability, the durable ones first."""
    known = {one.name: one.durability for one in said.analysis.systems if one.durability is not None}
    classes: dict[str, list[str]] = {}
    for system, name in said.figures["durability"]:
        classes.setdefault(name, []).append(system)
    described = []
    for name, systems in sorted(classes.items(), key=lambda one: bool(known[one[1][0]].causes)):
        causes = dict.fromkeys(f"{what} = {value}" for one in systems for what, value in known[one].causes)
        keeps = f"{'keeps' if len(systems) == 1 else 'keep'} every committed transaction"
        described.append(f"{listed(systems)} {name} ({', '.join(causes)})" if causes else f"{listed(systems)} {keeps}")
    return (
        f"Durability differs: {'; '.join(described)}. A less durable system may gain write throughput at the cost of"
        " lost transactions."
    )


ANSWER: Mapping[str, Callable[[Said], str]] = {
    "disturbed": lambda said: disturbance_sentence(said.figures, said.finding.workload or ""),
    "incomplete": _incomplete,
    "lag-grows": _lag_grows,
    "stalled": _stalled,
    "peak": _peak,
    "sustained-rate": _sustained_rate,
    "within-objective": _within_objective,
    "objective-missed": _objective_missed,
    "capacity": lambda said: capacity_answer_sentence(said.finding, said.unit),
    "no-capacity": lambda said: no_capacity_sentence(said.finding, said.unit),
    "capacity-compared": lambda said: capacities_compared_sentence(said.finding),
    "effects": effects_answer_sentence,
    "response-times-side-by-side": _side_by_side,
    "other-peaks": _other_peaks,
    "comparison": comparison_sentence,
    "comparison-across-workloads": _across_workloads,
    "pool": _pool,
    "pool-per-core": _pool_per_core,
    "costs": lambda said: costs_sentence(said.finding),
    "cheapest": lambda said: costs_sentence(said.finding),
    "durability-differs": _durability,
    "nothing-completed": lambda _: "No trial was completed, so nothing can be said about throughput.",
}
