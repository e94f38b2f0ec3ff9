"""What tells systems apart, as name and text: what users or published sources say, their size, their encryption."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plimsoll.analyse.encryption import PLAIN, TLS_FACTOR, encryption_words
from plimsoll.analyse.model import SystemSummary

UNKNOWN = "unknown"
"""Stands for a factor that a system's recordings do not state."""

_ENCRYPTION = "encryption"

FactorDifference = tuple[str, str, str]
"""Name, the base's value, the system's value."""


def factors_of(system: SystemSummary, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """All factors of a system: stated, reported, size, encryption, and `extra`, which only some point has.

    What a system is called is no factor. Empty values are as good as missing and left out.
    """
    stated = {**system.environment.reported, **system.factors, **(extra or {}), "instances": str(system.instances)}
    stated[_ENCRYPTION] = encryption_words(system.encryptions) or ""
    return {name: text.strip() for name, text in stated.items() if text.strip()}


def differing(base: Mapping[str, str], system: Mapping[str, str]) -> tuple[FactorDifference, ...]:
    """Every factor whose value is not the same, in the order in which the two state them.

    Plain connections that `tls` asks for follow from it, and are no second factor.
    """
    names: Sequence[str] = list(dict.fromkeys((*base, *system)))
    pairs = ((name, base.get(name, UNKNOWN), system.get(name, UNKNOWN)) for name in names)
    found = tuple((name, one, other) for name, one, other in pairs if one != other)
    asked = any(name == TLS_FACTOR and "disabled" in values for name, *values in found)
    return tuple(one for one in found if not (asked and one[0] == _ENCRYPTION and PLAIN in one[1:]))
