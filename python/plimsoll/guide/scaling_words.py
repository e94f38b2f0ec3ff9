"""What a scalability law says of a curve, in words: how well it fits, where its peak is, how far it may be continued.

Deliberately not here: tables and charts (`scalability`), and how laws are fitted (`plimsoll.analyse.scalability`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from plimsoll.analyse.cell_model import Estimate
from plimsoll.analyse.scaling_fit import Law
from plimsoll.analyse.scaling_model import (
    Caution,
    LawFit,
    Scalability,
    ScalingVerdict,
    SuperlinearReason,
    SuperlinearStep,
)
from plimsoll.analyse.where_time import OTHERS_RATIO
from plimsoll.guide.numbers import show_change
from plimsoll.prose.phrases import listed
from plimsoll.units import format_percent

LAWS = {Law.LINEAR: "linear scaling", Law.AMDAHL: "Amdahl's law", Law.USL: "the universal scalability law"}
CAUTIONS: Mapping[Caution, str] = {
    Caution.DOES_NOT_FIT: "no law fits",
    Caution.TOO_FEW_LEVELS: "there are too few levels",
    Caution.WIDE_BAND: "the confidence band is too wide",
    Caution.ONE_REPETITION: "there is only one repetition",
    Caution.CLIENT_SATURATED: "the client was saturated",
    Caution.CLIENT_ON_SERVER_HOST: "the client shared the processors",
    Caution.SUPERLINEAR: "a step is superlinear",
}
_REASONS: Mapping[SuperlinearReason, str] = {
    SuperlinearReason.BATCHING: "likely batching, such as group commit: transactions took less processor time",
    SuperlinearReason.IDLE_STATES: (
        "likely idle states or halt polling: transactions took no less processor time, and the processors were idle"
    ),
    SuperlinearReason.OTHERS: (
        f"no reason is given, because other processes used {format_percent(OTHERS_RATIO)} or more of the busy"
        " processor time"
    ),
    SuperlinearReason.UNKNOWN: "processor time does not say why",
}


def scalability_sentences(found: Sequence[Scalability]) -> Iterator[str]:
    """Each curve; those that no law fits, for the same cautions, together: the table of nearest laws has figures."""
    groups = without_law(found)
    for cautions, own in groups.items():
        others = [CAUTIONS[one] for one in cautions if one is not Caution.DOES_NOT_FIT]
        because = f": {listed(others)}" if others else ""
        whose = "None of the laws fits any curve" if len(own) == len(found) else f"No law fits {len(own)} of the curves"
        yield f"{whose}; the nearest ones are in the table. Do not extrapolate{because}."
        yield from (f"{_place(one)}: {' '.join(steps)}" for one in own if (steps := _steps(one)))
    told = [one for own in groups.values() for one in own]
    yield from (scalability_sentence(one) for one in found if one not in told)


def without_law(found: Sequence[Scalability]) -> dict[tuple[Caution, ...], list[Scalability]]:
    """Curves that no law fits, by their cautions, where several have the same."""
    groups: dict[tuple[Caution, ...], list[Scalability]] = {}
    for one in found:
        if one.verdict is ScalingVerdict.DOES_NOT_FIT:
            groups.setdefault(one.cautions, []).append(one)
    return {cautions: own for cautions, own in groups.items() if len(own) > 1}


def scalability_sentence(one: Scalability) -> str:
    """Law, peak, how far to continue it, superlinear steps."""
    return " ".join((f"{_place(one)}: {_law(one)}{_peak(one)}.", _continued(one), *_steps(one)))


def _place(one: Scalability) -> str:
    return f"{one.workload}, {one.system}"


def _steps(one: Scalability) -> list[str]:
    """What sibling threads change, and steps that are superlinear: of this curve alone."""
    siblings = [_siblings(one.sibling_gain)] if one.sibling_gain is not None else []
    return [*siblings, *(_step(step) for step in one.superlinear)]


def _law(one: Scalability) -> str:
    if one.fit is None:
        return "too few levels to fit a scalability model"
    if one.verdict is ScalingVerdict.DOES_NOT_FIT:
        miss = format_percent(one.fit.residual_ratio_max)
        return f"no law fits: {LAWS[one.fit.law]}, the nearest one, misses a level by {miss}"
    return f"{LAWS[one.fit.law]} fits best{parameters(one.fit)}"


def _siblings(gain: Estimate) -> str:
    """What the second hardware thread of each core adds."""
    shown = show_change(gain)
    interval = f" (95 % CI {shown.bounds})" if shown.bounds else ""
    return f"Sibling threads change throughput by {shown.value}{interval} against a core for each connection."


def parameters(fit: LawFit) -> str:
    """Contention and coherency with their intervals, in brackets; empty where a law has neither."""
    known = (("contention", fit.sigma, fit.sigma_bounds), ("coherency", fit.kappa, fit.kappa_bounds))
    shown = [f"{name} {value:.2g} ({edges[0]:.2g} to {edges[1]:.2g})" for name, value, edges in known if edges]
    return f" ({', '.join(shown)})" if shown else ""


def _peak(one: Scalability) -> str:
    last = one.levels[-1].level.label()
    match one.verdict:
        case ScalingVerdict.PEAK_INSIDE:
            low, high = one.peak_low or 0.0, one.peak_high or 0.0
            return f"; peak at {one.peak_connections or 0.0:,.0f} connections (95 % CI {low:,.0f} to {high:,.0f})"
        case ScalingVerdict.PEAK_OUTSIDE:
            return f"; the peak is outside the measured range, above {last}"
        case ScalingVerdict.NOT_RESOLVED:
            upper = "no peak at all" if one.peak_high is None else f"{one.peak_high:,.0f}"
            return f"; the peak is not resolved (95 % CI {one.peak_low or 1.0:,.0f} connections to {upper})"
    return ""


def _continued(one: Scalability) -> str:
    if one.cautions:
        return f"Do not extrapolate: {listed([CAUTIONS[caution] for caution in one.cautions])}."
    return f"The curve may be continued to {2 * one.levels[-1].level.connections:,} connections at most."


def _step(step: SuperlinearStep) -> str:
    gain = format_percent(step.per_connection_ratio.value - 1, signed=True)
    return (
        f"From {step.from_connections:,} to {step.to_connections:,} connections throughput per connection rose"
        f" ({gain}): {_REASONS[step.reason]}."
    )
