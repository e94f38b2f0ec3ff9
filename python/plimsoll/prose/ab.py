"""What `plimsoll ab` says: what it will do, one sentence for each side against the first one, a line for each side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plimsoll.analyse.answers.answer import AbAnswer, AbComparison, AbSide
from plimsoll.analyse.findings.finding_model import Grade
from plimsoll.analyse.study.cell_model import Estimate
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.prose.phrases import confidence, plain_percent, shorter, vague_words
from plimsoll.prose.ratios import effect
from plimsoll.units import format_duration, format_ms, format_rate
from plimsoll.wording import counted, listed, repeat_noun

_CLOSE = 1.1
"""Below this ratio two decimals would hide what differs."""


def plan_words(sides: Sequence[str], *, load: str, limit_s: float, took_turns: bool, climbs: bool) -> str:
    """What is about to happen, before anything is started.

    Args:
        sides: Their names.
        load: The workload and its level, in words.
        limit_s: Longest time for all of it, seconds.
        took_turns: Servers are started, and take turns; otherwise they run already.
        climbs: The loads that they bear are compared, by ramps.
    """
    how = "on throwaway servers that take turns" if took_turns else "on running servers, in runs of one after the other"
    if climbs:
        how = "on throwaway servers, by pairs of ramps"
    base, *others = sides
    compared = f"{listed(others)} against {shorter(base, others[0])}"
    return f"{compared}: {load}, {how}; ends when decided, at the latest after about {format_duration(limit_s)}"


def ab_lines(answer: AbAnswer) -> Iterator[str]:
    """How each side compares with the first one, what would decide it where that is open, and each side's figures."""
    for comparison in answer.comparisons:
        compared = _compared(comparison, bears=answer.objective_ms_p99 is not None)
        yield f"{compared}, {format_duration(answer.duration_s)}"
    undecided = [comparison for comparison in answer.comparisons if comparison.verdict.is_open]
    if any(comparison.verdict is RatioVerdict.DISTURBED for comparison in answer.comparisons):
        yield (
            "The machine was busier beside one of the sides, so that this says nothing about them: measure again when"
            " it has nothing else to do."
        )
    yield from (_open(comparison, answer) for comparison in undecided)
    if undecided and not answer.is_interrupted:
        yield f"{_surer(answer)}."
    if not answer.took_turns:
        yield (
            "Servers that run already are not frozen: each was loaded in short runs of its own, in random order, so the"
            " noise of the machines is in these figures."
        )
    width = max((len(side.name) for side in answer.sides), default=0)
    yield from (_side(side, width) for side in answer.sides)


def _compared(ab_comparison: AbComparison, *, bears: bool) -> str:
    """Two sides, the faster one first."""
    ratio, high, low = ab_comparison.ratio, ab_comparison.system, ab_comparison.base
    if ratio.value < 1:
        ratio, high, low = ratio.inverted, low, high
    low = shorter(low, high)
    inside = _interval(ratio)
    if ab_comparison.verdict is RatioVerdict.EQUAL:
        alike = "bear the same load" if bears else "are equally fast"
        return f"{high} and {low} {alike} within {plain_percent(ab_comparison.equal_within)}{_of(ratio)}"
    how = "bears {} times the load of" if bears else "is {} times as fast as"
    return f"{_how_sure(ab_comparison)}{high} {how.format(_times(ratio.value))} {low}{inside}"


def _how_sure(ab_comparison: AbComparison) -> str:
    if ab_comparison.grade is not Grade.MEASURED:
        return "indicated: " if ab_comparison.grade is Grade.INDICATED else "disturbed: "
    return "undecided: " if ab_comparison.verdict.is_open else ""


def _of(ratio: Estimate) -> str:
    inside = _interval(ratio).removeprefix(" (").removesuffix(")")
    return f" (ratio {_times(ratio.value)}{f', {inside}' if inside else ''})"


def _interval(ratio: Estimate) -> str:
    bounds = ratio.bounds
    if bounds is None:
        return ""
    if bounds.is_vague_ratio:
        return f" ({vague_words(bounds)})"
    return f" ({confidence(bounds)} confidence {_times(bounds.low, ratio)} to {_times(bounds.high, ratio)})"


def _times(value: float, beside: Estimate | None = None) -> str:
    """A ratio with two decimals, three where it is near 1, as the one that it stands beside."""
    return f"{value:.{3 if (value if beside is None else beside.value) < _CLOSE else 2}f}"


def _open(ab_comparison: AbComparison, answer: AbAnswer) -> str:
    """What is not known of two sides, and what such a measurement could have told."""
    bears = answer.objective_ms_p99 is not None
    so_many = counted(ab_comparison.rounds, "pair" if bears else repeat_noun(is_duet=answer.took_turns))
    so_many += " of ramps" if bears else ""
    name = f"{ab_comparison.system} against {shorter(ab_comparison.base, ab_comparison.system)}: "
    start = name if len(answer.comparisons) > 1 else ""
    if ab_comparison.smallest_decided is None:
        fewest = f"; {'six' if bears else 'three'} are the fewest" if ab_comparison.rounds < 6 else ""
        return f"{start}{so_many} cannot tell it from chance{fewest}."
    least = effect(ab_comparison.smallest_decided)
    return (
        f"{start}Either may {'bear more' if bears else 'be the faster one'}. With this spread, {so_many} decide a"
        f" measured difference of {least if least.startswith('more') else f'{least} or more'}."
    )


def _surer(answer: AbAnswer) -> str:
    """Which time limit would decide it."""
    needed = answer.limit_s_needed
    if needed is None or needed <= answer.limit_s:
        limit = f"--for {round(answer.limit_s / 30)}m"
        if answer.objective_ms_p99 is not None:
            return (
                f"A longer run is surer, down to differences of about 10 %, by which starts of servers differ: {limit}"
            )
        return f"A longer run is surer: {limit}"
    return f"If the ratio stays, about --for {needed / 60:.0f}m would decide it"


def _side(ab_side: AbSide, width: int) -> str:
    """A side's own figures, its name in a column of so many characters."""
    if ab_side.knee_tps is not None:
        return f"  {ab_side.name:{width}}  {_borne(ab_side)}{_lost(ab_side)}"
    if ab_side.throughput_tps is None:
        return f"  {ab_side.name:{width}}  nothing was measured"
    p99 = "" if ab_side.response_ms_p99 is None else f"  p99 {format_ms(ab_side.response_ms_p99)}"
    return f"  {ab_side.name:{width}}  {format_rate(ab_side.throughput_tps.value):>10}{p99}{_lost(ab_side)}"


def _borne(ab_side: AbSide) -> str:
    """The rate that it held, and where its answers were late."""
    assert ab_side.knee_tps is not None, "checked by the caller"
    held = "no rate was seen to hold" if ab_side.held_tps is None else f"holds at least {format_rate(ab_side.held_tps)}"
    return f"{held}  most answers late from {format_rate(ab_side.knee_tps)} on"


def _lost(ab_side: AbSide) -> str:
    """What it may lose of committed transactions, and by which settings; empty for nothing."""
    causes = ", ".join(f"{name} = {value}" for name, value in ab_side.settings_causing_loss)
    return f"  {ab_side.durability} ({causes})" if causes else ""
