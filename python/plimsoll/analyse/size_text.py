"""The sizing answer in whole sentences, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plimsoll.analyse.missing import unmeasured_systems
from plimsoll.analyse.model import Analysis, Curve, SystemSummary
from plimsoll.analyse.prose import at_connections, listed
from plimsoll.analyse.size_model import Fit, LoadAsked, ScaleOut, SystemFit
from plimsoll.analyse.throughput import WITHIN_RUN_WORDS
from plimsoll.units import format_ms, format_number, format_percent, format_rate

_SCALE_OUTS_TOLD = 2


def size_text(
    asked: LoadAsked, found: Sequence[SystemFit], tightest: SystemFit | None, scaled: Sequence[ScaleOut]
) -> tuple[str, ...]:
    """The answer, first things first."""
    return tuple(_sentences(asked, found, tightest, scaled))


def _sentences(
    asked: LoadAsked, found: Sequence[SystemFit], tightest: SystemFit | None, scaled: Sequence[ScaleOut]
) -> Iterator[str]:
    fitting = [one for one in found if one.verdict is Fit.FITS]
    load = _load(asked)
    if not fitting:
        yield f"{_none_of(len(found))} sure to carry {load}."
        yield from _undecided(found)
        yield from (one.text for one in scaled[:_SCALE_OUTS_TOLD])
        return
    yield f"{_how_many(len(fitting), len(found))} {load}."
    if any(one.cost_per_month is not None for one in fitting):
        cheapest = fitting[0]
        of_known = "Of those with a known cost the" if any(one.cost_per_month is None for one in fitting) else "The"
        yield f"{of_known} cheapest is {cheapest.system}, {format_number(cheapest.cost_per_month or 0.0)} per month."
    if tightest is not None and tightest.throughput_tps is not None and len(fitting) > 1:
        rate = format_rate(tightest.throughput_tps.value, asked.rate_unit)
        spare = format_percent(tightest.margin_ratio or 0.0)
        yield f"The tightest is {tightest.system} with {rate}, {spare} to spare."


def _none_of(all_count: int) -> str:
    return "The only system is not" if all_count == 1 else f"None of the {all_count} systems is"


def _undecided(found: Sequence[SystemFit]) -> Iterator[str]:
    undecided = [one for one in found if one.verdict is Fit.UNDECIDED]
    if undecided:
        whom = (
            "All are undecided"
            if len(undecided) == len(found) > 1
            else f"Undecided for {listed([one.system for one in undecided])}"
        )
        alike = len({one.reason for one in undecided}) == 1
        first = undecided[0]
        yield f"{whom}: {first.reason}" if alike else f"{whom}. {first.system}: {first.reason}"


def _how_many(fitting: int, all_count: int) -> str:
    if all_count == 1:
        return "The system carries"
    if fitting == all_count:
        return f"All {all_count} systems carry"
    return f"{fitting} of {all_count} systems {'carries' if fitting == 1 else 'carry'}"


def _load(asked: LoadAsked) -> str:
    text = f"{format_rate(asked.tps, asked.rate_unit)} of {asked.workload}"
    if asked.connections is not None:
        text += f" {at_connections(asked.connections)}"
    if asked.response_p99_ms is not None:
        text += f" with 99 % of transactions within {format_ms(asked.response_p99_ms)}"
    if asked.headroom > 0:
        needed = format_rate(asked.needed_tps, asked.rate_unit)
        text += f" with {format_percent(asked.headroom)} of headroom ({needed} in all)"
    return text


def assumptions(
    asked: LoadAsked, found: Sequence[SystemFit], curves: Sequence[Curve], analysis: Analysis
) -> tuple[str, ...]:
    """What the answer rests on."""
    return (
        *_about_figures(asked, found),
        *_about_systems(asked, curves, analysis.systems),
        *_about_missing(analysis),
    )


def _about_figures(asked: LoadAsked, found: Sequence[SystemFit]) -> Iterator[str]:
    yield "The load behaves like the workload that was measured: same statements, same data size, same access pattern."
    estimates = [one.throughput_tps for one in found if one.throughput_tps is not None]
    if any(one.bounds is not None for one in estimates):
        yield "Where there are bounds, the lower one decides."
    if any(one.bounds is None for one in estimates):
        yield "Figures without bounds are taken as they stand; a repetition may carry less."
    if any(one.bounds is not None and WITHIN_RUN_WORDS in one.bounds.method for one in estimates):
        yield "Some bounds come from within one run: repetitions may differ more."
    if any(one.interpolated_between for one in found):
        yield "Between two measured levels throughput and response time are taken to lie on a straight line."
    if asked.connections is None:
        yield "Each system runs at the measured level where it carries most within the objective."
    if asked.response_p99_ms is not None:
        yield "Failed, dropped and unfinished transactions count as over the objective."
    if asked.response_p99_ms is not None and any(one.response_p99_ms is not None for one in found):
        yield "The 99th percentile of response time is taken as it was measured; it has no bounds."


def _about_missing(analysis: Analysis) -> Iterator[str]:
    if names := unmeasured_systems(analysis.missing, {system.name for system in analysis.systems}):
        yield f"Planned and not measured yet, and so left out: {listed(names)}."


def _about_systems(asked: LoadAsked, curves: Sequence[Curve], systems: Sequence[SystemSummary]) -> Iterator[str]:
    if any(not curve.peak.bracketed for curve in curves) and asked.connections is None:
        yield "Some systems were fastest at the last level measured: with more connections they may carry more."
    judged = {curve.system for curve in curves}
    if rest := [system.name for system in systems if system.name not in judged]:
        yield f"Not measured under {asked.workload}, and so left out: {listed(rest)}."
    if any(system.origin != "measured" for system in systems if system.name in judged):
        yield "Published figures were not measured here, and cannot be checked."
