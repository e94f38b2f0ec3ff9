"""Every kind of warning, in the order in which all outputs show them, and warnings made of doubts in that order.

A kind belongs to the catalogue because the module of its subject defines it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from plimsoll.analyse.findings import (
    client,
    curves,
    machine,
    options,
    recording_warnings,
    repetitions,
    runs,
    servers,
    systems,
)
from plimsoll.analyse.findings.doubts import (
    Doubt,
    Observation,
    PlacedWarning,
    Severity,
    Voids,
    WarningKind,
    warning_of,
)

_SUBJECTS = (
    recording_warnings,
    curves,
    runs,
    machine,
    options,
    servers,
    systems,
    client,
    repetitions,
)
"""Of what takes the same from the figures, the first is shown first."""

_DEFINED = [value for module in _SUBJECTS for value in vars(module).values()]

KINDS: Mapping[str, WarningKind] = {
    kind.code: kind for voids in Voids for kind in _DEFINED if isinstance(kind, WarningKind) and kind.voids is voids
}
"""By code, the gravest first."""

OBSERVATIONS: tuple[type[Observation], ...] = tuple(
    dict.fromkeys(
        observation
        for observation in _DEFINED
        if isinstance(observation, type) and issubclass(observation, Observation) and hasattr(observation, "seen")
    )
)
"""Everything that can be seen."""


def voids(code: str) -> Voids:
    """What a warning takes from the figures; nothing for codes that are not known.

    >>> voids("host-busy-elsewhere").name, voids("from-a-later-version").name
    ('MACHINE', 'NOTHING')
    """
    return KINDS[code].voids if code in KINDS else Voids.NOTHING


def severity_of(code: str) -> Severity:
    """How grave a warning is; least for codes that are not known.

    >>> severity_of("client-saturated").name, severity_of("from-a-later-version").name
    ('GRAVE', 'CONTEXT')
    """
    return voids(code).severity


def rank_of(code: str) -> tuple[int, str]:
    """For sorting: the gravest first, codes that are not known last, by name."""
    return _RANKS.get(code, len(_RANKS)), code


_RANKS = {code: index for index, code in enumerate(KINDS)}


def placed_warnings(doubts: Iterable[Doubt]) -> tuple[PlacedWarning, ...]:
    """One warning for each code, the gravest first."""
    by_code: dict[str, list[Doubt]] = {}
    for doubt in doubts:
        by_code.setdefault(doubt.kind.code, []).append(doubt)
    return tuple(
        warning_of(by_code[code], KINDS[code].advice if code in KINDS else "") for code in sorted(by_code, key=rank_of)
    )
