"""Sentences of a guide that follow from single values of an analysis.

Deliberately not here: the answer and the limits, which the analysis states itself.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from plimsoll.analyse.model import (
    Analysis,
    Curve,
    Difference,
    DifferenceVerdict,
    PlacedWarning,
    SystemSummary,
    WorkloadSummary,
)
from plimsoll.analyse.prose import listed
from plimsoll.guide.numbers import NOT_KNOWN, show_levels
from plimsoll.units import format_bytes, format_exact, format_percent, parse_whole

WHOLE_STUDY = "whole study"

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)

_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def clean(text: str) -> str:
    """Text that cannot steer a terminal or turn the direction of what follows: names come from files of others.

    Control characters become U+FFFD, except line feed and tab.
    """
    return "".join("\ufffd" if _steers(character) else character for character in text)


def cleaned(analysis: Analysis) -> Analysis:
    """The same analysis with all its texts cleaned."""
    return Analysis.model_validate(_clean_all(analysis.model_dump()))


def verdict_words(difference: Difference) -> str:
    """What a comparison shows, in words."""
    match difference.verdict:
        case DifferenceVerdict.FASTER:
            return f"{difference.system} carries more"
        case DifferenceVerdict.SLOWER:
            return f"{difference.system} carries less"
        case DifferenceVerdict.UNTESTABLE:
            return "cannot be tested: no bounds"
        case DifferenceVerdict.UNDECIDED:
            return "cannot be told apart"


def effect_words(difference: Difference) -> str:
    """How small a difference these trials would have found."""
    if difference.smallest_effect is None:
        return NOT_KNOWN
    return format_percent(difference.smallest_effect - 1)


def other_factor_words(difference: Difference) -> str:
    """What else differs between the two, as name and both values."""
    return "; ".join(
        f"{name}: {base or 'not stated'} → {system or 'not stated'}" for name, base, system in difference.other_factors
    )


def factor_name(name: str) -> str:
    """A factor as a heading; sizes carry their unit in the value."""
    return name.removesuffix("_bytes")


def factor_words(name: str, value: str | None) -> str:
    """A factor's value; sizes in a unit that can be read."""
    if value is None:
        return NOT_KNOWN
    size_bytes = parse_whole(value) if name.endswith("_bytes") else None
    return value if size_bytes is None else format_bytes(size_bytes)


def place_words(placed: PlacedWarning, analysis: Analysis) -> str:
    """What a warning is about; what holds for all systems, workloads or levels does not list them."""
    levels = {cell.connections for curve in analysis.curves for cell in curve.cells}
    parts = [
        _some(placed.systems, {system.name for system in analysis.systems}, "all systems"),
        _some(placed.workloads, {workload.name for workload in analysis.workloads}, "all workloads"),
    ]
    if placed.connections:
        noun = "connection" if placed.connections == (1,) else "connections"
        every = len(levels) > 1 and levels <= set(placed.connections)
        parts.append("all levels" if every else f"{show_levels(placed.connections)} {noun}")
    if placed.rates_tps:
        rates = {cell.rate_tps for curve in analysis.rate_curves for cell in curve.cells}
        every = len(rates) > 1 and rates <= set(placed.rates_tps)
        shown = listed([format_exact(rate_tps) for rate_tps in placed.rates_tps])
        parts.append("all rates" if every else f"{shown} tps wanted")
    return " · ".join(part for part in parts if part) or WHOLE_STUDY


def pool_sentence(curve: Curve) -> str:
    """How large a connection pool should be on one system; the workload is named above it."""
    advice = curve.pool.text.removeprefix(f"{curve.workload}: ").removeprefix(f"{curve.system}: ")
    return sentence(f"{curve.system}: {advice}")


def sentence(text: str) -> str:
    """A remark as a sentence: with a capital, unless it begins with a name, and with an end.

    >>> sentence("there is one trial"), sentence("innodb_io_capacity differs.")
    ('There is one trial.', 'innodb_io_capacity differs.')
    """
    text = text.strip()
    first = text.split(" ", 1)[0]
    if first.isalpha() and first.islower():
        text = text[0].upper() + text[1:]
    return text if not text or text[-1] in ".!?…" else f"{text}."


def workload_words(workload: WorkloadSummary) -> str:
    """What clients did, in one line; empty when the source does not say."""
    options = ", ".join(f"{name} {value}" for name, value in workload.options.items())
    parts = (workload.kind, options, _types_words(workload.types), _working_set_words(workload.working_set))
    return "; ".join(part for part in parts if part)


def _types_words(types: Mapping[str, float]) -> str:
    """Which transactions completed, the most frequent first; nothing where there is one type only.

    >>> _types_words({"look": 0.9, "transfer": 0.1})
    'of the transactions 90.0 % were look, 10.0 % transfer'
    """
    shares = [f"{share:.1%}".replace("%", " %") for share in types.values()]
    listed = ", ".join(
        f"{share} {'were ' if index == 0 else ''}{name}"
        for index, (share, name) in enumerate(zip(shares, types, strict=True))
    )
    return f"of the transactions {listed}" if listed else ""


def _working_set_words(working_set: Mapping[str, int]) -> str:
    """How the accesses spread over the rows; nothing where each row is as likely as any other.

    >>> _working_set_words({"50": 4_900, "90": 220_000, "99": 360_000})
    'half of the accesses go to 4,900 rows, 90 % to 220,000 rows, 99 % to 360,000 rows'
    """
    half, most = working_set.get("50"), working_set.get("99")
    if half is None or most is None or half * 99 > most * 45:
        return ""
    shares = {"50": "half of the accesses go to", "90": "90 % to", "99": "99 % to"}
    return ", ".join(f"{shares[share]} {count:,} rows" for share, count in working_set.items() if share in shares)


def unknown_sentences(systems: Iterable[SystemSummary]) -> tuple[str, ...]:
    """What the recordings of some systems do not say, one sentence for all systems that lack the same."""
    everyone = list(systems)
    groups = grouped([system for system in everyone if system.unknown], lambda system: system.unknown)
    return tuple(
        f"Not known for {_name_systems(group, len(everyone))}: {'; '.join(unknown)}." for unknown, group in groups
    )


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> list[tuple[Key, list[Item]]]:
    """Items with the same key together, in the order in which keys first occur."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.items())


def _name_systems(systems: Sequence[SystemSummary], total: int) -> str:
    if len(systems) == total and total > 1:
        return "any system"
    return "; ".join(system.name for system in systems)


def _some(names: Sequence[str], every: set[str], all_of_them: str) -> str:
    return all_of_them if len(every) > 1 and every <= set(names) else "; ".join(names)


def _steers(character: str) -> bool:
    if character in "\n\t":
        return False
    return character in _BIDI or unicodedata.category(character) in ("Cc", "Cs")


def _clean_all(value: object) -> object:
    match value:
        case str():
            return clean(value)
        case dict():
            return {_clean_all(key): _clean_all(item) for key, item in value.items()}
        case tuple() | list():
            return tuple(_clean_all(item) for item in value)
        case _:
            return value
