"""Limitations as sentences. Which there are, `plimsoll.analyse.limits` finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from plimsoll.analyse.throughput import REPETITIONS_NEEDED
from plimsoll.prose.budget import fitted_words
from plimsoll.prose.phrases import listed
from plimsoll.record.fitted import FittedBudget
from plimsoll.units import format_duration, format_percent

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
