"""Why a system sustains a load or not, one or two sentences. What they say, `plimsoll.analyse.size` finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from plimsoll.analyse.objective import Fault
from plimsoll.analyse.size_model import LoadAsked, SizeEvidence, SystemFit
from plimsoll.prose.phrases import ms_span, rate_with_interval
from plimsoll.record.level import Level
from plimsoll.units import format_ms, format_percent, format_rate


def reason_sentence(one: SystemFit, asked: LoadAsked) -> str:
    """Why a system fits or not."""
    if one.evidence is SizeEvidence.CAPACITY:
        return capacity_reason(one, asked)
    seen = one.reason.known
    if one.throughput_tps is None:
        first, last = seen["measured"]
        so = "many" if (seen["connections"] or 0) > last else "few"
        levels = f"measured from {first} to {last}" if first != last else f"measured at {at_words(first)} only"
        return f"Not measured at so {so} connections: asked for {seen['connections']}, {levels}."
    sustained = f"{rate_with_interval(one.throughput_tps, asked.rate_unit)} {_where(one)}"
    beyond = " Higher levels were not measured." if seen.get("is_last_level") else ""
    return _REASONS.get(one.reason.code, _fits)(one, asked, sustained) + beyond


def _fits(one: SystemFit, asked: LoadAsked, sustained: str) -> str:
    times = one.reason.known["response_ms_p99"]
    single = " in single runs" if one.response_p99_ms is None else ""
    met = f", p99 response time {ms_span(times)}{single}" if asked.response_p99_ms is not None and times else ""
    return f"It sustains {sustained}{met}."


def _too_slow(_: SystemFit, asked: LoadAsked, sustained: str) -> str:
    return f"Too slow: it sustains {sustained}; {_needed(asked)} is needed."


def _objective_not_met(one: SystemFit, asked: LoadAsked, sustained: str) -> str:
    return f"It sustains {sustained}, but {_fault(one.reason.known, asked)}."


def _within_interval(one: SystemFit, asked: LoadAsked, sustained: str) -> str:
    sure = format_rate(one.reason.known["sure_tps"], asked.rate_unit)
    return (
        f"It sustains {sustained}, but with 95 % confidence the next run sustains only {sure}; {_needed(asked)} is"
        " needed. More repetitions, or plimsoll size with --confirm, would decide."
    )


def _no_repetitions(_one: SystemFit, _asked: LoadAsked, sustained: str) -> str:
    return (
        f"It sustains {sustained} without repetitions, so the next run may sustain less. Run at least two repetitions,"
        " or plimsoll size with --confirm."
    )


def _next_p99(one: SystemFit, asked: LoadAsked, sustained: str) -> str:
    most_ms = one.reason.known["most_ms_p99"]
    most = "unknown" if most_ms is None else f"up to {format_ms(most_ms)}"
    return (
        f"It sustains {sustained}, but the p99 response time of the next run may be {most}, over the objective of"
        f" {format_ms(asked.response_p99_ms or 0.0)}. More repetitions would decide."
    )


def _rate_not_sustained(one: SystemFit, asked: LoadAsked, _: str) -> str:
    return f"Too slow: it does not sustain {_rate(one, asked)}; {_needed(asked)} is needed."


def _rates_end_below(one: SystemFit, asked: LoadAsked, _: str) -> str:
    return f"It sustains {_rate(one, asked)}, the highest that was measured; {_needed(asked)} is needed."


_REASONS: Mapping[str, Callable[[SystemFit, LoadAsked, str], str]] = {
    "too-slow": _too_slow,
    "objective-not-met": _objective_not_met,
    "within-interval": _within_interval,
    "no-repetitions": _no_repetitions,
    "next-p99-may-be-over": _next_p99,
    "rate-not-sustained": _rate_not_sustained,
    "lower-rate-not-sustained": _rate_not_sustained,
    "rates-end-below": _rates_end_below,
}


def _needed(asked: LoadAsked) -> str:
    return format_rate(asked.needed_tps, asked.rate_unit)


def _rate(one: SystemFit, asked: LoadAsked) -> str:
    return f"a target rate of {format_rate(one.rate_tps or 0.0, asked.rate_unit)}"


def capacity_reason(one: SystemFit, asked: LoadAsked) -> str:
    """Why a system fits or not, by its capacity."""
    seen, unit = one.reason.known, asked.rate_unit
    objective = f"p99 response time within {format_ms(seen['objective_ms_p99'])}"
    needed = format_rate(asked.needed_tps, unit)
    if one.reason.code == "no-rate-holds":
        return f"No rate holds {objective}."
    found = "not confirmed" if one.throughput_tps is None else rate_with_interval(one.throughput_tps, unit)
    capacity = f"Its capacity at {objective} is {found}"
    match one.reason.code:
        case "capacity-fits":
            return (
                f"{capacity}; with 95 % confidence the next search finds {format_rate(seen['sure_tps'], unit)} or more."
            )
        case "capacity-too-low":
            return f"Too slow: {capacity[0].lower()}{capacity[1:]}; {needed} is needed."
        case "capacity-of-one-search":
            return (
                f"{capacity} by one search, which does not say how searches differ. Run at least two repetitions, or"
                " plimsoll size with --confirm."
            )
    sure = ""
    if seen["sure_tps"] is not None:
        sure = f"; with 95 % confidence the next search finds at least {format_rate(seen['sure_tps'], unit)}"
    return f"{capacity}{sure}; {needed} is needed. More repetitions, or plimsoll size with --confirm, would decide."


def _where(one: SystemFit) -> str:
    if one.rate_tps is not None:
        return f"at a target rate of {format_rate(one.rate_tps)}"
    at = f"at {at_words(one.connections or 0)}"
    if one.interpolated_between is None:
        return at
    low, high = one.interpolated_between
    return f"{at} (interpolated between {low} and {high})"


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
