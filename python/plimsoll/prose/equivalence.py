"""Differences between systems that no factor explains, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

Figures = Mapping[str, Any]
_TOLD_MAX = 3
_VALUE_CHARACTERS_MAX = 60

_ASPECTS = {
    "definitions": "table definitions",
    "character-sets": "character sets or collations",
    "rows": "numbers of rows",
    "statistics": "index statistics",
    "plans": "execution plans",
    "machines": "CPUs or memory of the environments",
}


def differences_in_words(differences: Iterable[tuple[str, Mapping[str, str | None]]]) -> str:
    """Differences with the systems by value, such as `CPUs is 2 (metal), 1 (virtual)`."""
    return "; ".join(_one(what, list(values.values()), tuple(values)) for what, values in differences)


def _words(aspect: str) -> Callable[[Figures], str]:
    def said(seen: Figures) -> str:
        told = "; ".join(_one(what, values, seen["systems"]) for what, *values in seen["differences"][:_TOLD_MAX])
        rest = seen["differences_count"] - _TOLD_MAX
        return f"{_ASPECTS[aspect]} differ: {told}{f'; and {rest} more' if rest > 0 else ''}"

    return said


def _one(what: str, values: list[str | None], systems: tuple[str, ...]) -> str:
    """A difference with the systems by value."""
    by_value: dict[str, list[str]] = {}
    for system, value in zip(systems, values, strict=True):
        by_value.setdefault(_shown(value), []).append(system)
    told = [f"{value} ({', '.join(own)})" for value, own in by_value.items()]
    return f"{what} is {', '.join(told)}"


def _shown(value: str | None) -> str:
    if value is None:
        return "missing"
    return value if len(value) <= _VALUE_CHARACTERS_MAX else f"{value[: _VALUE_CHARACTERS_MAX - 1]}…"


EQUIVALENCE_EVIDENCE: Mapping[str, Callable[[Figures], str]] = {
    f"{aspect}-differ": _words(aspect) for aspect in _ASPECTS
}
