"""Capacities in words: a step, a run, a bracket, an objective, an answer.

Also what made a machine slow meanwhile, and a sized load that was offered again to confirm it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from plimsoll.analyse.findings.doubts import Voids
from plimsoll.analyse.findings.finding_model import Finding
from plimsoll.analyse.study.cell_model import Estimate
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.analyse.trial.condition_model import SLOW_RATIO, Disturbance, slow_figures
from plimsoll.prose.phrases import lost_words, plain_percent, rate_with_interval
from plimsoll.prose.ratios import higher, ratio_interval
from plimsoll.record.capacity import (
    Capacity,
    CapacityObjective,
    CapacityRun,
    RunRole,
    RunVerdict,
    held_between,
    highest_held_tps,
)
from plimsoll.record.model import TrialWarning
from plimsoll.units import format_duration, format_ms, format_number, format_percent, format_rate
from plimsoll.wording import capitalised, counted, listed

if TYPE_CHECKING:
    from plimsoll.analyse.answers.size_model import Confirmed

VERDICTS = {
    RunVerdict.HOLDS: "holds",
    RunVerdict.DOES_NOT_HOLD: "does not hold",
    RunVerdict.UNDECIDED: "undecided",
    RunVerdict.NOT_JUDGED: "closed loop",
}


class StepLike(Protocol):
    """A run to come: `plimsoll.plan.capacity.Step` is one."""

    @property
    def role(self) -> RunRole: ...  # noqa: D102

    @property
    def connections(self) -> int: ...  # noqa: D102

    @property
    def rate_tps(self) -> float | None: ...  # noqa: D102

    @property
    def duration_s(self) -> float: ...  # noqa: D102


def objective_words(objective: CapacityObjective) -> str:
    """What must hold.

    >>> objective_words(CapacityObjective(response_ms_p99=20.0, errors_ratio=0.001))
    'p99 response time within 20 ms and errors within 0.1 %'
    """
    errors = "" if objective.errors_ratio is None else f" and errors within {share_words(objective.errors_ratio)}"
    return f"p99 response time within {format_ms(objective.response_ms_p99)}{errors}"


def share_words(ratio: float) -> str:
    """A share of arrivals, with enough digits for small ones.

    >>> share_words(0.001), share_words(0.0), share_words(0.153)
    ('0.1 %', '0 %', '15.3 %')
    """
    return f"{ratio * 100:.2g} %" if 0 < ratio < 0.01 else "0 %" if ratio == 0 else format_percent(ratio)


def step_words(step: StepLike) -> str:
    """A run that begins."""
    if step.rate_tps is None:
        return f"{step.role}: {step.connections} connections in a closed loop for {step.duration_s:g} s"
    return f"{step.role}: {format_rate(step.rate_tps)} for {step.duration_s:g} s"


def run_words(run: CapacityRun) -> str:
    """A run that ended, with what it showed."""
    p99 = "" if run.response_ms_p99 is None else f", p99 {format_ms(run.response_ms_p99)}"
    if run.pair is not None:
        knee = "no knee was reached" if run.knee_tps is None else f"knee at {format_rate(run.knee_tps)}"
        return f"{run.role} {run.pair + 1}: {knee}"
    if run.rate_tps is None:
        return f"{run.role}: {run.connections} connections: {format_rate(run.throughput_tps)}{p99}"
    over = f", {share_words(run.over_ratio)} over the objective"
    lag = ", the lag of a replica grows" if run.lag_grows else ""
    again = ", on a disturbed machine: left out" if run.made_again else ""
    return f"{run.role}: {format_rate(run.rate_tps)}: {VERDICTS[run.verdict]}{p99}{over}{lag}{again}"


def bracket_words(low_tps: float, high_tps: float) -> str:
    """Where the capacity lies so far, as the end of a sentence; empty when nothing is known."""
    if low_tps > 0 and math.isfinite(high_tps):
        return f"; capacity between {format_rate(low_tps)} and {format_rate(high_tps)}"
    if low_tps > 0:
        return f"; capacity above {format_rate(low_tps)}"
    return f"; capacity below {format_rate(high_tps)}" if math.isfinite(high_tps) else ""


def capacity_sentences(
    capacity: Capacity, warnings: Sequence[TrialWarning] = (), disturbance: Disturbance | None = None
) -> Iterator[str]:
    """The answer of one search, first things first.

    Args:
        capacity: The answer.
        warnings: Doubts about it, the gravest first: where the measurement was disturbed, that is what to mend first.
        disturbance: What withholds the answer; None for nothing.
    """
    what = objective_words(capacity.objective)
    if disturbance is not None:
        yield f"Disturbed: the search ran {slow_machine_words(slow_figures(disturbance))}. {ADVICE}"
    if capacity.capacity_tps is None:
        yield from _no_capacity(capacity, what, [warning.code for warning in warnings if _is_disturbance(warning.code)])
        return
    count = sum(run.rate_tps is not None for run in capacity.runs)
    served = "" if capacity.rate_connections is None else f" at {counted(capacity.rate_connections, 'connection')}"
    if disturbance is None:
        yield f"Capacity: {format_rate(capacity.capacity_tps)}{served}, with {what}, from {counted(count, 'run')}."
        yield _limits_sentence(capacity)
        if capacity.far_below_sweep and (fastest := capacity.fastest_swept) is not None:
            yield far_below_sentence(format_rate(fastest.throughput_tps))
    else:
        yield f"It found {format_rate(capacity.capacity_tps)}{served}, with {what}: this is not the server's capacity."
    yield from _lag(capacity)


def _limits_sentence(capacity: Capacity) -> str:
    if capacity.low is not None and capacity.high is not None:
        return f"With 95 % confidence it lies between {format_rate(capacity.low)} and {format_rate(capacity.high)}."
    if capacity.low is not None:
        return (
            f"With 95 % confidence it is at least {format_rate(capacity.low)}. No upper limit is known: a higher rate"
            " held at one time than failed at another, as on a machine that is slower for a while. Search again."
        )
    high = "" if capacity.high is None else f" It is at most {format_rate(capacity.high)}, with 95 % confidence."
    return f"The runs differ too much to say how low it may be: search again, with longer runs.{high}"


def _lag(capacity: Capacity) -> Iterator[str]:
    if (rate_tps := capacity.lag_grows_tps) is not None:
        yield f"From {format_rate(rate_tps)} on the lag of a replica grows, which counts as over the objective."


def _no_capacity(capacity: Capacity, what: str, disturbed: Sequence[str]) -> Iterator[str]:
    at_rates = [run for run in capacity.runs if run.rate_tps is not None]
    kept = capacity.kept_in_closed_loop
    if capacity.is_given_up:
        yield from _given_up(capacity, what)
    elif capacity.contradicts_sweep and kept is not None:
        failed_tps = held_between(capacity.runs, capacity.objective)[1]
        yield (
            f"No capacity is known: {format_rate(failed_tps)} did not hold {what}, but"
            f" {counted(kept.connections, 'connection')} in a closed loop did {format_rate(kept.throughput_tps)} within"
            " it. At one of the two times the machine was slower: search again when it has nothing else to do."
        )
    elif capacity.low is not None:
        high = "" if capacity.high is None else f" and did not at {format_rate(capacity.high)}"
        yield f"The search did not end: {what} held at {format_rate(capacity.low)}{high}."
    elif at_rates:
        lowest_tps = min(run.rate_tps or 0.0 for run in at_rates)
        over = share_words(max(run.counted_over_ratio for run in at_rates if run.rate_tps == lowest_tps))
        lowest = f"the lowest that was measured is {format_rate(lowest_tps)}, with {over} over the objective"
        yield f"No rate was found that holds {what}: {lowest}."
        yield _advice(at_rates, disturbed)
        yield from _lag(capacity)
    else:
        yield f"No rate was measured against {what}."


def _given_up(capacity: Capacity, what: str) -> Iterator[str]:
    """Of a search that ended because most runs were disturbed: what is known, what that rests on, what would help."""
    at_rates = [run for run in capacity.runs if run.rate_tps is not None]
    left_out = sum(run.made_again for run in at_rates)
    yield (
        f"No capacity is known: {left_out} of {counted(len(at_rates), 'run')} at rates met a disturbed machine, so that"
        " the search ended early."
    )
    fastest = capacity.fastest_swept
    yield f"The objective, {what}, {_held_words(highest_held_tps(capacity.runs, capacity.objective))}."
    if fastest is not None:
        p99 = "" if fastest.response_ms_p99 is None else f", p99 {format_ms(fastest.response_ms_p99)}"
        bound = "the capacity is hardly above that if the machine was quiet then"
        if fastest.is_disturbed:
            bound = "that was on a disturbed machine too, so that the capacity may be above it"
        yield (
            f"A closed loop of {counted(fastest.connections, 'connection')} completed"
            f" {format_rate(fastest.throughput_tps)}{p99}: {bound}."
        )
    yield "Search again when the machine has nothing else to do; longer runs do not help."


def _held_words(highest_tps: float | None, unit: str = "tps") -> str:
    return f"held at {format_rate(highest_tps, unit)} in one run" if highest_tps else "held in no run"


def far_below_sentence(closed_loop: str) -> str:
    """Of an answer that is less than half of a closed loop's throughput, which is given in words."""
    return (
        f"A closed loop completed {closed_loop}, more than twice as much. Load alone hardly explains that: single"
        " answers are late for another reason as well, such as a busy machine, stalls or slow statements."
    )


def _is_disturbance(code: str) -> bool:
    """Whether a warning says that something else than the server and its load set the figures."""
    from plimsoll.analyse.findings.catalogue import voids
    from plimsoll.analyse.findings.repetitions import MACHINE_SLOWER

    return voids(code) is Voids.MACHINE or code == MACHINE_SLOWER.code


def _advice(at_rates: Sequence[CapacityRun], disturbed: Sequence[str]) -> str:
    """What to do where no rate was found that holds."""
    if disturbed:
        return (
            f"The measurement was disturbed ({', '.join(disturbed)}; see the warnings). So this says nothing about the"
            " objective: remove the cause and search again."
        )
    if any(run.verdict is RunVerdict.HOLDS for run in at_rates):
        return "Some runs held and longer or later ones did not: make runs longer, or measure on a quieter machine."
    return "Relax the objective, or check whether the server and its data are as they should be."


def capacity_answer_sentence(finding: Finding, unit: str) -> str:
    """The capacity of a system, over its searches."""
    seen = finding.known
    objective = CapacityObjective(response_ms_p99=seen["objective_ms_p99"], errors_ratio=seen["errors_ratio"])
    what, place = objective_words(objective), f"{finding.workload}: {finding.system}"
    rest = _unfinished(seen["unfinished_count"], seen.get("stopped", ()))
    if seen["searches_count"] == 0:
        return f"{place}: the capacity with {what} is not known yet.{rest}"
    if seen["capacity_tps"] is None and seen["knee_tps"] is not None:
        return f"{_climbed(seen, place, what, unit)}{rest}"
    if seen["capacity_tps"] is None and seen.get("is_disturbed"):
        return f"{place} has no known capacity with {what}: the machine was disturbed.{_known_of(seen, unit)}{rest}"
    if seen["capacity_tps"] is None:
        return f"{place} has no capacity with {what}: not every search found a rate that holds.{rest}"
    rate = rate_with_interval(seen["capacity_tps"], unit)
    if seen.get("is_disturbed"):
        return f"{place} has no capacity with {what}: the machine was disturbed. Its searches found {rate}.{rest}"
    over = _of_one_search(seen, unit)
    lost = lost_words(seen)
    grows_tps = seen.get("lag_grows_tps")
    lag = "" if grows_tps is None else f" From {format_rate(grows_tps, unit)} on the lag of a replica grows."
    if seen.get("is_far_below_sweep"):
        lag = f" {far_below_sentence(format_rate(seen['swept_tps'], unit))}{lag}"
    return f"{place} has a capacity of {rate} with {what}{lost}.{over}{lag}{rest}"


def _known_of(seen: Mapping[str, Any], unit: str) -> str:
    """The highest rate that held, and what a closed loop completed, where searches were disturbed."""
    swept_tps = seen.get("swept_tps")
    swept = f"; a closed loop completed {format_rate(swept_tps, unit)}" if swept_tps else ""
    return f" It {_held_words(seen.get('highest_held_tps'), unit)}{swept}."


def _climbed(seen: Mapping[str, Any], place: str, what: str, unit: str) -> str:
    """Of a system whose capacity was compared by ramps: what it holds at least."""
    knee = f"most answers of its ramps were late from about {format_rate(seen['knee_tps'], unit)} on"
    if seen.get("is_disturbed"):
        return f"{place}: what it holds is not known: the machine was disturbed in its steady run; {knee}."
    if seen["low_tps"] is None:
        return f"{place} held {what} in no steady run; {knee}."
    return f"{place} holds {what} at {format_rate(seen['low_tps'], unit)} in a steady run at least; {knee}."


def _of_one_search(seen: Mapping[str, Any], unit: str) -> str:
    """The interval of a single search, which does not know how searches differ; empty where repetitions say it."""
    low, high = seen["low_tps"], seen["high_tps"]
    if seen["capacity_tps"].bounds is not None or low is None:
        return ""
    if high is None:
        return f" By its own runs it is at least {format_rate(low, unit)}; they contradict each other above that."
    return f" By the runs of one search it lies between {format_rate(low, unit)} and {format_rate(high, unit)}."


def _unfinished(count: int, stopped: Sequence[str]) -> str:
    """The searches without an answer, with the reason of the first that stopped; empty where there are none."""
    cut = count - len(stopped)
    rest = f" {counted(cut, 'search')} not finished." if cut else ""
    return f"{rest} {counted(len(stopped), 'search')} stopped: {stopped[0].rstrip('.')}." if stopped else rest


def no_capacity_sentence(finding: Finding, unit: str) -> str:
    """That no rate holds on any system."""
    seen = finding.known
    objective = CapacityObjective(response_ms_p99=seen["objective_ms_p99"], errors_ratio=seen["errors_ratio"])
    who = "neither system" if seen["systems_count"] == 2 else f"none of the {seen['systems_count']} systems"
    lowest_tps = seen["lowest_tps"]
    tried = "" if lowest_tps is None else f"; the lowest rate that was tried is {format_rate(lowest_tps, unit)}"
    return f"{finding.workload}: {who} has a capacity with {objective_words(objective)}{tried}."


def capacities_compared_sentence(finding: Finding) -> str:
    """How two capacities compare, the higher one first."""
    seen = finding.known
    ratio: Estimate = seen["ratio"]
    high, low, interval = finding.system, seen["base"], ratio_interval(ratio)
    if ratio.trial_count == 1 and not seen["pairs_count"] and seen["verdict"] != RatioVerdict.DISTURBED:
        return _single_searches_compared(finding, ratio)
    inside = f" ({interval})" if interval else ""
    if seen["verdict"] == RatioVerdict.DISTURBED:
        return (
            f"{finding.workload}: the capacities of {high} and {low} cannot be compared: the measurement was disturbed."
        )
    if RatioVerdict(seen["verdict"]).is_difference:
        lost = lost_words(seen, high)
        return f"{finding.workload}: the capacity of {high} is {higher(ratio.value)} {low}{inside}{lost}."
    if seen["verdict"] == RatioVerdict.EQUAL:
        share = plain_percent(seen["equal_within"])
        return f"{finding.workload}: the capacities of {high} and {low} are equal within {share}{inside}."
    needed = seen["repetitions_needed"]
    more = f" About {counted(needed, 'more repetition')} would decide." if needed else ""
    if seen["pairs_count"]:
        more = f" That rests on {counted(seen['pairs_count'], 'pair')} of ramps: more of them make it surer."
    return (
        f"{finding.workload}: it is not resolved whether the capacities of {high} and {low} differ. That of {high} is"
        f" {higher(ratio.value)} {low}{inside}.{more}"
    )


def _single_searches_compared(finding: Finding, ratio: Estimate) -> str:
    """By the limits of one search each, which are no confidence interval of the ratio."""
    lost = lost_words(finding.known, finding.system)
    place, high, low = finding.workload, finding.system, finding.known["base"]
    if RatioVerdict(finding.known["verdict"]).is_difference and ratio.bounds is not None:
        return (
            f"{place}: the capacity of {high} is {higher(ratio.value)} {low}, as far as one search each can tell; at"
            f" the limits of the searches it is still {format_percent(ratio.bounds.low - 1)} higher{lost}."
        )
    return (
        f"{place}: it is not resolved whether the capacities of {high} and {low} differ. That of {high} is"
        f" {higher(ratio.value)} {low}, by one search each: repeat them."
    )


_STEAL_TOLD_FROM = 0.01


def disturbance_sentence(seen: Mapping[str, Any], workload: str) -> str:
    """What a disturbance withholds of the answer about a workload, and what to do."""
    systems = tuple(seen["systems"])
    if "other" in seen:
        count, of = seen["comparisons_count"], seen["compared_count"]
        where = "" if count == of else f" in {count} of {of} comparisons"
        withheld = f"disturbed: no system is called faster{where}"
    else:
        withheld = f"disturbed: what was measured of {listed(systems)} is not what {_they(systems)} can do"
    return f"{workload}: {withheld}. {capitalised(slow_words(seen), ())}. {ADVICE}"


ADVICE = "Find what else ran on the machine then, and measure again."


def slow_words(seen: Mapping[str, Any]) -> str:
    """On which side the machine was how slow, what showed it, and when."""
    other = ""
    if "other" in seen:
        other = f" ({_times(seen['other_slowness'])} while {seen['other']} was measured)"
    return f"while {seen['slower']} was measured the machine {_how_slow(seen, other)}"


def slow_machine_words(seen: Mapping[str, Any]) -> str:
    """The same of whatever the sentence is about."""
    return f"while the machine {_how_slow(seen)}"


def _how_slow(seen: Mapping[str, Any], other: str = "") -> str:
    share, limit = format_percent(seen["slow_ratio"]), plain_percent(SLOW_RATIO - 1)
    return (
        f"was {_times(seen['slowness'])} as slow as at its best{other}: over {limit} slower in {share} of the"
        f" seconds{_when(seen)}{_shown_by(seen)}"
    )


def _when(seen: Mapping[str, Any]) -> str:
    """Between which times of day; nothing where no second was slow."""
    if seen["from_unix_s"] is None or seen["to_unix_s"] is None:
        return ""
    first, last = (datetime.fromtimestamp(seen[name], UTC) for name in ("from_unix_s", "to_unix_s"))
    day = "" if first.date() == last.date() else f"{last:%Y-%m-%d} "
    return f", between {first:%Y-%m-%d %H:%M:%S} and {day}{last:%H:%M:%S} UTC"


def _shown_by(seen: Mapping[str, Any]) -> str:
    shown = []
    if seen["wait_ms"] is not None and seen["best_wait_ms"] is not None:
        shown.append(
            f"threads waited {format_ms(seen['wait_ms'])} per transaction for a processor, against"
            f" {format_ms(seen['best_wait_ms'])} at best"
        )
    if (seen["steal_ratio"] or 0.0) >= _STEAL_TOLD_FROM:
        shown.append(f"the hypervisor took {format_percent(seen['steal_ratio'])} of processor time")
    return f"; {' and '.join(shown)}" if shown else ""


def _times(slowness: float) -> str:
    return f"{format_number(slowness)} times"


def _they(systems: tuple[str, ...]) -> str:
    return "it" if len(systems) == 1 else "they"


_CONFIRMED = {
    RunVerdict.HOLDS: "held for",
    RunVerdict.DOES_NOT_HOLD: "did not hold for",
    RunVerdict.UNDECIDED: "is undecided after",
}


class LoadLike(Protocol):
    """A load at a rate to come: `plimsoll.run.single.SingleRun` is one."""

    @property
    def connections(self) -> int: ...  # noqa: D102

    @property
    def warm_up_s(self) -> float: ...  # noqa: D102

    @property
    def duration_s(self) -> float: ...  # noqa: D102


def confirming_words(system: str, rate: str, load: LoadLike, objective: CapacityObjective | None) -> str:
    """A confirmation that begins; `rate` is the target rate in words."""
    what = "" if objective is None else f", {objective_words(objective)}"
    length = f"for {format_duration(load.duration_s)} after a warm-up of {format_duration(load.warm_up_s)}"
    return f"{system}: {rate} at {counted(load.connections, 'connection')} {length}{what}"


def confirmed_sentence(confirmed: Confirmed, rate_unit: str = "tps") -> str:
    """Whether a load that was sized held when it was offered; where that is open, what would decide it."""
    rate, ran = format_rate(confirmed.rate_tps, rate_unit), format_duration(confirmed.duration_s)
    what = "" if confirmed.objective is None else f" with {objective_words(confirmed.objective)}"
    times = "" if confirmed.response_ms_p99 is None else f", p99 response time {format_ms(confirmed.response_ms_p99)}"
    over = "" if confirmed.objective is None else f", {share_words(confirmed.over_ratio)} over the objective"
    lost = f", {share_words(confirmed.errors_ratio)} failed or dropped" if confirmed.errors_ratio else ""
    behind = "" if confirmed.is_sustained else ", and the server did not keep up with the rate"
    outcome = f"{confirmed.system}: {rate}{what} {_CONFIRMED[confirmed.verdict]} {ran}{times}{over}{lost}{behind}."
    if confirmed.verdict is not RunVerdict.UNDECIDED:
        return outcome
    if confirmed.is_disturbed:
        return (
            f"{outcome} Something else slowed the machine for more than a tenth of that time, so that it is not known"
            " whether the server alone would hold it. Find what else ran, and run it again."
        )
    return (
        f"{outcome} That is too near the limit for a run of this length: it is not confirmed. Run it again for longer."
    )
