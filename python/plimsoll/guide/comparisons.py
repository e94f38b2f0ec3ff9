"""How two peaks compare, as sentences: the verdict, its interval, and what would decide where it is open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.analyse.cell_model import EQUAL_WITHIN, Estimate
from plimsoll.analyse.log_ratio import MOST_FURTHER_REPETITIONS
from plimsoll.analyse.model import Difference, DifferenceVerdict
from plimsoll.guide.said import Said
from plimsoll.prose.phrases import counted, effect, factor_words, higher, plain_percent, ratio_interval
from plimsoll.units import format_rate


def comparison_sentence(said: Said) -> str:
    """Two peaks, the higher one first, with the verdict."""
    finding, figures = said.finding, said.figures
    high, low = str(finding.system), figures["base"]
    ratio: Estimate = figures["ratio"]
    interval = ratio_interval(ratio)
    inside = f" ({interval})" if interval else ""
    if figures["verdict"] == DifferenceVerdict.DISTURBED:
        place, _, plural = _compared_figures(said)
        return f"{place}nothing can be said of how {plural} of {high} and {low} compare: disturbed.{_differing(said)}"
    if (turns := _turns(said)) is not None and figures["verdict"] != DifferenceVerdict.UNTESTABLE:
        return f"{_of_turns(said, turns)}{_but(said)}.{_differing(said)}"
    place, noun, plural = _compared_figures(said)
    text = f"{place}{noun} of {high} is {higher(ratio.value)} {low}{inside}"
    if figures["verdict"] == DifferenceVerdict.UNTESTABLE:
        text = f"{place}{noun} of {high} is {higher(ratio.value)} {low} ({peaks_words(said)}). {_untestable(figures)}"
    elif figures["verdict"] == DifferenceVerdict.UNRESOLVED:
        text = _unresolved(said, inside)
    elif figures["verdict"] == DifferenceVerdict.EQUAL:
        share = plain_percent(figures.get("equal_within", EQUAL_WITHIN))
        text = f"{place}{plural} of {high} and {low} are equal within {share}{inside}"
    return f"{text}{_but(said)}{_compared_at(said)}.{_differing(said)}"


def _untestable(figures: Mapping[str, Any]) -> str:
    if "environments" not in figures:
        return "How much repetitions vary is unknown, so chance cannot be ruled out"
    return (
        f"The environments {' and '.join(figures['environments'])} were measured in turn, one of them only once, so"
        " whatever changed in between may be the cause"
    )


def _but(said: Said) -> str:
    """What the faster system may lose, where it is decided that it is faster."""
    durability = said.figures.get("less_durable")
    is_decided = said.figures["verdict"] in (DifferenceVerdict.FASTER, DifferenceVerdict.SLOWER)
    return f", but {said.finding.system} {durability}" if durability and is_decided else ""


def _differing(said: Said) -> str:
    """What the systems differ in, if that is more than the durability that `_but` has told."""
    differing, one_sided = said.figures["differing"], said.figures["one_sided"]
    is_told = bool(_but(said)) and [name for name, *_ in differing] == ["durability"]
    return factor_words(() if is_told else differing, one_sided)


def _compared_figures(said: Said) -> tuple[str, str, str]:
    """Where two systems are compared and by what, in the singular and in the plural; one level has no peak."""
    finding, base = said.finding, said.figures["base"]
    levels = {
        cell.level.order: cell.level
        for curve in said.analysis.curves
        if curve.workload == finding.workload and curve.system in (finding.system, base) and not curve.kind.is_at_rate
        for cell in curve.cells
    }
    if len(levels) != 1:
        return f"{finding.workload}: ", "the peak", "the peaks"
    (level,) = levels.values()
    return f"{finding.workload}: at {level.label()}, ", "throughput", "throughputs"


def _turns(said: Said) -> Difference | None:
    """The pairs of turns behind a comparison of peaks; None where the systems did not take turns."""
    finding = said.finding
    pair, own = {finding.system, said.figures["base"]}, said.figures.get("system_level")
    for one in said.analysis.differences:
        is_of_pair = one.workload == finding.workload and {one.base, one.system} == pair
        is_turns = one.duet is not None and is_of_pair and one.level is not None
        if is_turns and (own is None or one.level == own):
            return one
    return None


def _of_turns(said: Said, turns: Difference) -> str:
    """Two systems that took turns, the faster one first, with the verdict and what it rests on."""
    finding, figures = said.finding, said.figures
    high, low = str(finding.system), figures["base"]
    ratio: Estimate = figures["ratio"]
    assert turns.duet is not None, "only such comparisons are chosen"
    assert turns.level is not None, "only such comparisons are chosen"
    rests_on = f"{counted(turns.duet.pair_count, 'pair')} of turns in {counted(len(turns.duet.rounds), 'round')}"
    inside = f" ({', '.join(filter(None, (ratio_interval(ratio), rests_on)))})"
    place = f"{finding.workload}: at {turns.level.label()},"
    faster = f"{higher(ratio.value)} {low}"
    if figures["verdict"] == DifferenceVerdict.UNRESOLVED:
        return (
            f"{place} it is not resolved whether {high} and {low} differ. Throughput of {high} is"
            f" {faster}{inside}. {_would_decide(figures, 'round')}"
        )
    if figures["verdict"] == DifferenceVerdict.EQUAL:
        share = plain_percent(figures.get("equal_within", EQUAL_WITHIN))
        return f"{place} {high} and {low} are equal within {share}{inside}"
    return f"{place} {high} is faster: its throughput is {faster}{inside}"


def _would_decide(figures: Mapping[str, Any], outer: str) -> str:
    """What such a study can find, where that is known, and how many more of its outermost unit would decide."""
    needed, detectable = figures.get("repetitions_needed"), figures["smallest_effect"]
    more = f"more than {MOST_FURTHER_REPETITIONS} further {outer}s would be needed to decide"
    if needed:
        more = f"about {counted(needed, f'more {outer}')} would decide"
    if detectable is None:
        return f"{more[0].upper()}{more[1:]}"
    return f"The minimum detectable effect (80 % power) is {effect(detectable)}; {more}"


def _unresolved(said: Said, inside: str) -> str:
    """Which difference is open, and what would decide it."""
    finding, figures = said.finding, said.figures
    high, low = str(finding.system), figures["base"]
    place, _, plural = _compared_figures(said)
    ratio: Estimate = figures["ratio"]
    more = _would_decide(figures, "block" if "environments" in figures else "repetition")
    alone = ratio.bounds is not None and ratio.bounds.low > 1.0
    corrected = " It excludes 0 % for this comparison alone, but not with all comparisons counted." if alone else ""
    return (
        f"{place}it is not resolved whether {plural} of {high} and {low} differ. That of {high} is"
        f" {higher(ratio.value)} {low}{inside}.{corrected} {more}"
    )


def _compared_at(said: Said) -> str:
    """At which level two peaks were compared, where that is not the highest of both."""
    figures, workload = said.figures, said.finding.workload
    levels = figures.get("system_level"), figures.get("base_level")
    if levels[0] is None or levels[0] != levels[1]:
        return ""
    peaks = [said.curve(system, workload).peak for system in (str(said.finding.system), figures["base"])]
    if all(peak is not None and peak.level.order == levels[0].order for peak in peaks):
        return ""
    return f"; both were compared at {levels[0].label()}, which is near the peak of both"


def peaks_words(said: Said) -> str:
    """Both peaks with their levels."""
    finding, figures = said.finding, said.figures
    of_both = (
        (finding.system, finding.workload),
        (figures["base"], figures.get("base_workload", finding.workload)),
    )
    peaks = [said.curve(str(system), workload).peak for system, workload in of_both]
    return " against ".join(
        f"{format_rate(peak.throughput_tps.value, said.unit)} at {peak.level.label()}" for peak in peaks if peak
    )
