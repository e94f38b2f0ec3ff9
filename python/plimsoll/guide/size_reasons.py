"""Why a system sustains a load or not, one or two sentences. What they say, `plimsoll.analyse.answers.size` finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from plimsoll.analyse.answers.size_evidence import LEFT_RATIO_ALLOWED
from plimsoll.analyse.answers.size_model import Fit, LoadAsked, SizeEvidence, SystemFit
from plimsoll.analyse.study.points import Fault
from plimsoll.prose.capacity import ADVICE, slow_machine_words
from plimsoll.prose.phrases import ms_span, rate_with_interval
from plimsoll.record.level import Level
from plimsoll.units import format_ms, format_percent, format_rate
from plimsoll.wording import counted


def reason_sentence(system_fit: SystemFit, asked: LoadAsked) -> str:
    """Why a system fits or not."""
    if system_fit.evidence is SizeEvidence.CAPACITY:
        return capacity_reason(system_fit, asked)
    seen = system_fit.reason.known
    if system_fit.throughput_tps is None:
        first, last = seen["measured"]
        so = "many" if (seen["connections"] or 0) > last else "few"
        levels = f"measured from {first} to {last}" if first != last else f"measured at {at_words(first)} only"
        return f"Not measured at so {so} connections: asked for {seen['connections']}, {levels}."
    sustained = _sustained(system_fit, asked)
    beyond = " Higher levels were not measured." if seen.get("is_last_level") else ""
    return _REASONS.get(system_fit.reason.code, _fits)(system_fit, asked, sustained) + beyond


def _sustained(system_fit: SystemFit, asked: LoadAsked) -> str:
    """What it sustains; in a closed loop what so many clients get through, who send nothing while they wait."""
    assert system_fit.throughput_tps is not None, "it was measured"
    rate = rate_with_interval(system_fit.throughput_tps, asked.rate_unit)
    if system_fit.evidence is not SizeEvidence.SATURATION:
        return f"sustains {rate} {_where(system_fit, asked)}"
    clients = (
        f"{counted(system_fit.connections or 0, 'client')} that {'waits' if system_fit.connections == 1 else 'wait'}"
    )
    return f"completes at most {rate} with {clients} for each answer{_between(system_fit)}"


def _between(system_fit: SystemFit) -> str:
    if system_fit.interpolated_between is None:
        return ""
    low, high = system_fit.interpolated_between
    return f" (interpolated between {low} and {high})"


def _fits(system_fit: SystemFit, asked: LoadAsked, sustained: str) -> str:
    times = system_fit.reason.known["response_ms_p99"]
    single = " in single runs" if system_fit.response_p99_ms is None else ""
    met = f", p99 response time {ms_span(times)}{single}" if asked.response_p99_ms is not None and times else ""
    plan = ": do not plan by this figure" if system_fit.evidence is SizeEvidence.SATURATION else ""
    return f"It {sustained}{met}{plan}."


def _disturbed(system_fit: SystemFit, asked: LoadAsked, _: str) -> str:
    assert system_fit.throughput_tps is not None, "it was measured"
    rate = rate_with_interval(system_fit.throughput_tps, asked.rate_unit)
    return (
        f"Disturbed: it completed {rate} {_where(system_fit, asked)}"
        f" {slow_machine_words(system_fit.reason.known)}. {ADVICE}"
    )


def _too_slow(_: SystemFit, asked: LoadAsked, sustained: str) -> str:
    return f"Too slow: it {sustained}; {_needed(asked)} is needed."


def _objective_not_met(system_fit: SystemFit, asked: LoadAsked, sustained: str) -> str:
    return f"It {sustained}, but {_fault(system_fit.reason.known, asked)}."


def _within_interval(system_fit: SystemFit, asked: LoadAsked, sustained: str) -> str:
    sure = format_rate(system_fit.reason.known["sure_tps"], asked.rate_unit)
    return (
        f"It {sustained}, but with 95 % confidence the next run does only {sure}; {_needed(asked)} is"
        " needed. More repetitions, or plimsoll size with --confirm, would decide."
    )


def _no_repetitions(_: SystemFit, asked: LoadAsked, sustained: str) -> str:
    return (
        f"It {sustained}, and {_needed(asked)} is needed; without repetitions nothing says whether the next run does."
        " Run at least two repetitions, or plimsoll size with --confirm."
    )


def _next_p99(system_fit: SystemFit, asked: LoadAsked, sustained: str) -> str:
    most_ms = system_fit.reason.known["most_ms_p99"]
    most = "unknown" if most_ms is None else f"up to {format_ms(most_ms)}"
    return (
        f"It {sustained}, but the p99 response time of the next run may be {most}, over the objective of"
        f" {format_ms(asked.response_p99_ms or 0.0)}. More repetitions would decide."
    )


def _few_repetitions_at_rate(system_fit: SystemFit, _asked: LoadAsked, sustained: str) -> str:
    count, needed = system_fit.reason.known["repetitions_count"], system_fit.reason.known["needed_count"]
    return (
        f"It {sustained}, in {counted(count, 'repetition')}. A system that is a little too small sometimes"
        f" keeps up, so {needed} must agree: run {needed - count} more, or plimsoll size with --confirm."
    )


def _next_run_may_fall_behind(system_fit: SystemFit, asked: LoadAsked, _: str) -> str:
    assert system_fit.throughput_tps is not None, "it has a rate"
    most_ratio = system_fit.reason.known["most_left_ratio"]
    completed = (
        f"It completed {rate_with_interval(system_fit.throughput_tps, asked.rate_unit)} {_where(system_fit, asked)}"
    )
    if most_ratio is None:
        return f"{completed}. The recordings do not say how much of the load was left over: run it again."
    return (
        f"{completed}, but in the next run up to {format_percent(most_ratio)} of the load may be left over, as on a"
        f" system that is too small by that. At most {format_percent(LEFT_RATIO_ALLOWED)} may be. Longer runs, or"
        " plimsoll size with --confirm, would decide."
    )


def _rate_not_sustained(system_fit: SystemFit, asked: LoadAsked, _: str) -> str:
    return f"Too slow: it does not sustain {_rate(system_fit, asked)}; {_needed(asked)} is needed."


def _rate_sustained_in_some(system_fit: SystemFit, asked: LoadAsked, _: str) -> str:
    seen = system_fit.reason.known
    return (
        f"It sustained {_rate(system_fit, asked)} in {seen['sustained_count']} of {seen['repetitions_count']}"
        f" repetitions; {_needed(asked)} is needed. More repetitions would decide."
    )


def _lower_rate_not_sustained(system_fit: SystemFit, asked: LoadAsked, _: str) -> str:
    lower = format_rate(system_fit.reason.known["lower_tps"], asked.rate_unit)
    return (
        f"It sustains {_rate(system_fit, asked)}, but not the lower {lower} in every repetition. Run both rates again."
    )


def _rates_end_below(system_fit: SystemFit, asked: LoadAsked, _: str) -> str:
    return (
        f"It sustains {_rate(system_fit, asked)}, the highest that was measured; {_needed(asked)} is needed. Measure"
        " higher rates, or run plimsoll size with --confirm."
    )


_REASONS: Mapping[str, Callable[[SystemFit, LoadAsked, str], str]] = {
    "disturbed": _disturbed,
    "too-slow": _too_slow,
    "objective-not-met": _objective_not_met,
    "within-interval": _within_interval,
    "no-repetitions": _no_repetitions,
    "next-p99-may-be-over": _next_p99,
    "few-repetitions-at-rate": _few_repetitions_at_rate,
    "next-run-may-fall-behind": _next_run_may_fall_behind,
    "rate-not-sustained": _rate_not_sustained,
    "rate-sustained-in-some": _rate_sustained_in_some,
    "lower-rate-not-sustained": _lower_rate_not_sustained,
    "rates-end-below": _rates_end_below,
}


_CONFIRM = "To measure it, run plimsoll size with --confirm."


def _needed(asked: LoadAsked) -> str:
    return format_rate(asked.needed_tps, asked.rate_unit)


def _rate(system_fit: SystemFit, asked: LoadAsked) -> str:
    return f"a target rate of {format_rate(system_fit.rate_tps or 0.0, asked.rate_unit)}"


def capacity_reason(system_fit: SystemFit, asked: LoadAsked) -> str:
    """Why a system fits or not, by its capacity."""
    seen, unit = system_fit.reason.known, asked.rate_unit
    objective = f"p99 response time within {format_ms(seen['objective_ms_p99'])}"
    if system_fit.reason.code == "no-rate-holds":
        return f"No rate holds {objective}."
    if system_fit.reason.code in ("held-after-ramps", "late-in-ramps"):
        return _of_ramps(system_fit, asked, objective)
    rate = "not known" if system_fit.throughput_tps is None else rate_with_interval(system_fit.throughput_tps, unit)
    capacity = f"capacity at {objective} is {rate}"
    if system_fit.reason.code == "capacity-too-low":
        return f"Too slow: its {capacity}; {_needed(asked)} is needed."
    return f"Its {capacity}{_of_capacity(system_fit, asked)}"


def _of_ramps(system_fit: SystemFit, asked: LoadAsked, objective: str) -> str:
    """What was held in one steady run after ramps, or that the load is beyond the rate at which they ended."""
    held_tps, knee_tps = system_fit.reason.known["low_tps"], system_fit.reason.known["knee_tps"]
    late = "" if knee_tps is None else f"most answers were late from about {format_rate(knee_tps, asked.rate_unit)} on"
    if system_fit.reason.code == "late-in-ramps":
        return f"Too slow: {late}; {_needed(asked)} is needed."
    if held_tps is None:
        return f"No steady run held {objective}; {late or 'no ramp reached its end'}. {_CONFIRM}"
    held = f"It held {format_rate(held_tps, asked.rate_unit)} with {objective} in one steady run"
    if system_fit.verdict is Fit.FITS:
        return f"{held}, which does not say how runs differ. {_CONFIRM}"
    return f"{held}; {late}; {_needed(asked)} is needed. {_CONFIRM}"


def _of_capacity(system_fit: SystemFit, asked: LoadAsked) -> str:
    """What a capacity means for the load, and what would decide where that is open."""
    seen = system_fit.reason.known
    sure = "unknown" if seen["sure_tps"] is None else format_rate(seen["sure_tps"], asked.rate_unit)
    match system_fit.reason.code:
        case "disturbed":
            return f", {slow_machine_words(seen)}. {ADVICE}"
        case "capacity-fits":
            return f"; with 95 % confidence it is {sure} or more, also in the next search."
        case "capacity-of-stricter-objective":
            return f". {_at_a_looser_objective(asked)}"
        case "capacity-of-one-search":
            return (
                " by one search, which does not say how searches differ. Run at least two repetitions, or plimsoll"
                " size with --confirm."
            )
        case "capacity-not-sure":
            return (
                f", but in {seen['unsure_count']} of {seen['repetitions_count']} searches no lower limit is known."
                " Longer runs (duration in the study file), or plimsoll size with --confirm,"
                " would decide."
            )
    least = "" if seen["sure_tps"] is None else f"; with 95 % confidence it is at least {sure}, also in the next search"
    return f"{least}; {_needed(asked)} is needed. More repetitions, or plimsoll size with --confirm, would decide."


def _at_a_looser_objective(asked: LoadAsked) -> str:
    """What a capacity at a strict objective does not say, and how to find it."""
    if asked.response_p99_ms is None:
        return (
            "How much it sustains without a limit for response time is not known from that: measure it at target rates,"
            " or run plimsoll size with --confirm."
        )
    objective = format_ms(asked.response_p99_ms)
    return (
        f"How much it sustains within {objective} is not known from that: search for the capacity at {objective}, or"
        " run plimsoll size with --confirm."
    )


def _where(system_fit: SystemFit, asked: LoadAsked) -> str:
    if system_fit.rate_tps is not None:
        return f"at a target rate of {format_rate(system_fit.rate_tps, asked.rate_unit)}"
    return f"at {at_words(system_fit.connections or 0)}{_between(system_fit)}"


def at_words(connections: int) -> str:
    """A number of connections."""
    return Level(connections=connections).label()


def _fault(seen: Mapping[str, Any], asked: LoadAsked) -> str:
    objective, times = format_ms(asked.response_p99_ms or 0.0), seen["response_ms_p99"]
    at_least = "at least " if seen["is_lower_bound"] else ""
    match Fault(seen["fault"]):
        case Fault.LAG_GROWS:
            return "the lag of a replica grows there, so it cannot go on"
        case Fault.FAILED:
            what = "failed, were dropped or never ended" if seen["has_unfinished"] else "failed or were dropped"
            return (
                f"{format_percent(seen['failed_ratio'])} of its transactions {what}, which counts as over {objective}"
            )
        case Fault.TIMES_UNKNOWN:
            return f"its response times are unknown, so whether p99 is within {objective} is unknown"
        case Fault.TOO_SLOW:
            return f"p99 response time is {at_least}{ms_span(times)} there, over the objective of {objective}"
        case Fault.UNFINISHED:
            return (
                "some transactions had not ended when the measurement did: p99 response time is at least"
                f" {ms_span(times)}, and whether it is within {objective} is unknown"
            )
    return f"p99 response time is {ms_span(times)} in single runs, partly within the objective of {objective}"
