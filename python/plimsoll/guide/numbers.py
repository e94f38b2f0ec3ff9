"""How estimates are shown in tables and charts: the figure, and its confidence interval apart from it.

Deliberately not here: how plain quantities are shown (`plimsoll.units`), estimates within sentences
(`plimsoll.prose`), and where figures are placed (`tables`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from plimsoll.analyse.cell_model import Bounds, Estimate, SpreadKind
from plimsoll.analyse.duration_model import Durations
from plimsoll.analyse.model import Analysis
from plimsoll.prose.phrases import listed, vague_words
from plimsoll.units import format_number, format_significant

NOT_KNOWN = "–"
"""Stands where a figure is not known."""

SINGLE_RUNS = "†"
"""Stands behind percentiles that are of single runs."""

SINGLE_RUNS_NOTE = (
    "Percentiles marked † are those of single runs, the lowest and the highest: their source has no histograms, which"
    " percentiles of all runs together would need."
)


@dataclass(frozen=True, slots=True)
class Shown:
    """An estimate as text; its unit stands in a heading.

    Attributes:
        value: Such as `1,245`.
        bounds: Such as `1,190 to 1,300`; None when there are none.
    """

    value: str
    bounds: str | None


def per_unit(per_second: float, rate_unit: str) -> float:
    """A throughput in the unit in which it is shown.

    Args:
        per_second: Transactions per second.
        rate_unit: `tps` or `tpm`.
    """
    return per_second * 60 if rate_unit == "tpm" else per_second


def show_rate(throughput_tps: Estimate, rate_unit: str) -> Shown:
    """A throughput in its unit.

    >>> from plimsoll.analyse.cell_model import Bounds
    >>> show_rate(Estimate(value=1245, bounds=Bounds(low=1190, high=1300, method="t")), "tps")
    Shown(value='1,245', bounds='1,190 to 1,300')
    """
    bounds = _range(throughput_tps.bounds, lambda tps: format_number(per_unit(tps, rate_unit)))
    return Shown(format_number(per_unit(throughput_tps.value, rate_unit)), bounds)


def show_ratio(ratio: Estimate) -> Shown:
    """A plain ratio such as a scale factor: `3.99 (3.79 to 4.21)`."""
    return Shown(format_number(ratio.value), _range(ratio.bounds, format_number))


def show_cost(cost: Estimate) -> Shown:
    """A calculated amount of money, without its currency.

    >>> show_cost(Estimate(value=0.06912))
    Shown(value='0.0691', bounds=None)
    """
    return Shown(format_significant(cost.value), _range(cost.bounds, format_significant))


def show_change(ratio: Estimate) -> Shown:
    """A ratio of two throughputs as change in percent: `+37.5 % (+32.0 to +43.6 %)`."""
    bounds = None
    if ratio.bounds is not None:
        edges = f"{_change(ratio.bounds.low)} to {_change(ratio.bounds.high)} %"
        bounds = vague_words(ratio.bounds) if ratio.bounds.is_vague else edges
    return Shown(f"{_change(ratio.value)} %", bounds)


def show_share(ratio: float | None) -> str:
    """A share 0..1 as whole percent without the sign, for columns headed `%`."""
    return NOT_KNOWN if ratio is None else f"{ratio * 100:.0f}"


def show_ms(milliseconds: float | None, *, is_lower_bound: bool = False) -> str:
    """A time for columns headed `ms`.

    >>> show_ms(12.34), show_ms(1560.0, is_lower_bound=True)
    ('12.3', '≥ 1,560')
    """
    if milliseconds is None:
        return NOT_KNOWN
    return f"≥ {format_number(milliseconds)}" if is_lower_bound else format_number(milliseconds)


def show_statistic(times: Durations, name: str) -> str:
    """One statistic of response or service times, for columns headed `ms`; of single runs the range, marked as such.

    >>> show_statistic(Durations(p99=12.34), "p99")
    '12.3'
    >>> show_statistic(Durations(single_runs={"p99": (29.1, 26.3)}), "p99")
    '26.3 to 29.1 †'
    """
    each, of_all = times.single_runs.get(name), getattr(times, name)
    if of_all is not None or not each:
        return show_ms(of_all, is_lower_bound=name in times.lower_bounds)
    edges = dict.fromkeys(format_number(value) for value in (min(each), max(each)))
    return f"{' to '.join(edges)} {SINGLE_RUNS}"


def explain_bounds(analysis: Analysis) -> str:
    """What the ranges beside the figures are, said once for all of them."""
    found = [cell.throughput_tps.bounds for curve in analysis.curves for cell in curve.cells]
    known = [bounds for bounds in found if bounds is not None]
    if not found and analysis.capacities:
        return ""  # of capacities alone: their section says what their ranges are
    if not known:
        return "No figure has a confidence interval."
    confidence = " and ".join(f"{share * 100:.4g} %" for share in sorted({bounds.confidence for bounds in known}))
    parts = [part for kind, words in _RESTS_ON.items() if (part := _rests_on(kind, words, known, of=len(found)))]
    missing = len(found) - len(known)
    if missing:
        parts.append(f"{missing:,} {'has' if missing == 1 else 'have'} none")
    of_all = "" if len(known) == len(found) and len(parts) == 1 else f"Of {len(found):,} throughputs, "
    return f"Ranges beside figures are {confidence} confidence intervals (CI). {of_all}{listed(parts)}."


_RESTS_ON = {
    SpreadKind.POOLED: (
        "the variation between their own repetitions and those of the systems that were measured alike at the same"
        " level",
        None,
    ),
    SpreadKind.REPETITIONS: ("the variation between their own repetitions", None),
    SpreadKind.BLOCKS: ("the variation between blocks of environments", None),
    SpreadKind.WITHIN_RUN: ("the variation within single runs", "repetitions may vary more"),
    None: ("several of these together", None),
}
"""What an interval may rest on, and what to know of it."""


def _rests_on(
    kind: SpreadKind | None, words: tuple[str, str | None], known: Sequence[Bounds], *, of: int
) -> str | None:
    own = [bounds for bounds in known if bounds.basis is kind]
    if not own:
        return None
    degrees = [round(bounds.degrees) for bounds in own if bounds.degrees is not None]
    edges = " to ".join(dict.fromkeys(f"{edge:,}" for edge in (min(degrees), max(degrees)))) if degrees else None
    notes = [f"{edges} degree{'' if edges == '1' else 's'} of freedom" if edges else None, words[1]]
    inside = "; ".join(note for note in notes if note)
    whose = "that of 1 is" if len(own) == 1 else f"those of {len(own):,} are"
    whose = "They are" if len(own) == of else whose
    return f"{whose} based on {words[0]}{f' ({inside})' if inside else ''}"


def _range(bounds: Bounds | None, show: Callable[[float], str]) -> str | None:
    if bounds is None:
        return None
    return vague_words(bounds) if bounds.is_vague else f"{show(bounds.low)} to {show(bounds.high)}"


def _change(ratio: float) -> str:
    return f"{(ratio - 1) * 100:+.1f}"
