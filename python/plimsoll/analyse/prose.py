"""Phrases that answers, limits and reasons share: numbers with their bounds, lists, ratios."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.analyse.cell_model import Bounds, Estimate
from plimsoll.analyse.duration_model import Durations
from plimsoll.units import format_bytes, format_ms, format_number, format_percent, format_rate, parse_whole

_AS_FACTOR_FROM = 2.0
"""From this ratio on "2.4 times as much" is easier to grasp than "+140 %"."""


def rate_with_bounds(estimate: Estimate, unit: str) -> str:
    """Such as `1,234 tps (95 %: 1,190 to 1,280)`."""
    rate = format_rate(estimate.value, unit)
    bounds = estimate.bounds
    if bounds is None:
        return rate
    per = 60 if unit == "tpm" else 1
    span = f"{format_number(bounds.low * per)} to {format_number(bounds.high * per)}"
    return f"{rate} ({confidence(bounds)}: {span})"


def confidence(bounds: Bounds) -> str:
    """Such as `95 %`."""
    return f"{bounds.confidence * 100:.0f} %"


def p99_words(times: Durations) -> str:
    """Such as `99 % of transactions took at most 20.0 ms`; empty where that is not known."""
    if times.p99 is None:
        each = times.single_runs.get("p99")
        return f"99 % of transactions took at most {ms_span(each)} in single runs" if each else ""
    if "p99" in times.lower_bounds:
        return f"the slowest 1 % of transactions took at least {format_ms(times.p99)}: some had not ended"
    return f"99 % of transactions took at most {format_ms(times.p99)}"


def at_connections(connections: int) -> str:
    """Such as `at 16 connections`."""
    return f"at {connections:,} connection{'' if connections == 1 else 's'}"


def more(ratio: float) -> str:
    """A ratio of at least 1: `12.0 % more than` or `2.35 times as much as`."""
    if ratio < _AS_FACTOR_FROM:
        return f"{format_percent(ratio - 1)} more than"
    return f"{format_number(ratio)} times as much as"


def ratio_span(bounds: Bounds, ratio: float) -> str:
    """Bounds of such a ratio; in percent only where the ratio itself is and its upper bound is not far away."""
    if ratio < _AS_FACTOR_FROM and bounds.high < _AS_FACTOR_FROM:
        low, high = (format_percent(edge - 1, signed=True) for edge in (bounds.low, bounds.high))
        return f"{confidence(bounds)}: {low} to {high}"
    return f"{confidence(bounds)}: {format_number(bounds.low)} to {format_number(bounds.high)} times"


def ms_span(values_ms: Sequence[float]) -> str:
    """Times from the shortest to the longest: `26.3 ms to 29.1 ms`, or `26.3 ms` where they look the same."""
    return " to ".join(dict.fromkeys(format_ms(value) for value in (min(values_ms), max(values_ms))))


def effect(ratio: float) -> str:
    """The size of a difference, from a ratio above 1: `9.0 %` or `a factor of 5.71`."""
    return format_percent(ratio - 1) if ratio < _AS_FACTOR_FROM else f"a factor of {format_number(ratio)}"


def inverted(ratio: Estimate) -> Estimate:
    """The ratio seen from the other side."""
    bounds = ratio.bounds
    turned = None if bounds is None else bounds.model_copy(update={"low": 1 / bounds.high, "high": 1 / bounds.low})
    return ratio.model_copy(update={"value": 1 / ratio.value, "bounds": turned})


def listed(names: Sequence[str]) -> str:
    """Such as `a, b and c`; names with commas in them are set apart by semicolons."""
    if len(names) < 2:
        return "".join(names)
    between = "; " if any(", " in name for name in names) else ", "
    return f"{between.join(names[:-1])} and {names[-1]}"


def factor_name(name: str) -> str:
    """A factor as people read it; sizes carry their unit in the value."""
    return name.removesuffix("_bytes")


def factor_value(name: str, value: str) -> str:
    """A factor's value; sizes in a unit that can be read.

    >>> factor_value("buffer_pool_bytes", "536870912"), factor_value("sql_mode", "")
    ('512 MiB', '(empty)')
    """
    size_bytes = parse_whole(value) if name.endswith("_bytes") else None
    if size_bytes is not None:
        return format_bytes(size_bytes)
    return value or "(empty)"


def factor_words(
    factors: Sequence[tuple[str, str, str]], one_sided: Sequence[tuple[str, str | None, str | None]] = ()
) -> str:
    """What two points differ in, and what may differ too, as whole sentences with a blank before them.

    Args:
        factors: As (name, the one's value, the other's).
        one_sided: In the same form, None for the one that is not known.
    """
    text = ""
    if factors:
        pairs = [
            f"{factor_name(name)} ({factor_value(name, one)} against {factor_value(name, other)})"
            for name, one, other in factors
        ]
        text = f" They differ in {listed(pairs)}"
        text += ": which of these made the difference these trials cannot say." if len(factors) > 1 else "."
    if one_sided:
        known = listed(
            [f"{factor_name(name)} ({factor_value(name, one or other or '')})" for name, one, other in one_sided]
        )
        text += f" Known of one of them only, so that it may differ too: {known}."
    return text
