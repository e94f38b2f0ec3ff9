"""Where systems of a matrix come from in the study file, so that faults are told where the user wrote what is wrong.

Deliberately not here: how they are made (`matrix`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.spec.factors import Combination, Factor, FactorValue

BASE_FACTOR = "system"
"""The factor that base systems are, where there are several."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What a system of a matrix came from.

    Attributes:
        base: Index of the base system in the file.
        factors: All of the study.
        combination: Its value of each.
        base_name: Name of the base system, where there are several.
    """

    base: int
    factors: tuple[Factor, ...]
    combination: Combination
    base_name: str | None = None

    @property
    def chosen(self) -> tuple[tuple[Factor, FactorValue], ...]:
        """Each factor with its value."""
        return tuple(zip(self.factors, self.combination, strict=True))

    @property
    def values(self) -> dict[str, str]:
        """Its value of each factor as people read it, by the factor's name."""
        base = {} if self.base_name is None else {BASE_FACTOR: self.base_name}
        return {**base, **{factor.name: value.label for factor, value in self.chosen}}


def placed(faults: Iterable[str], origins: Sequence[Origin | None]) -> tuple[str, ...]:
    """Faults of systems with their places in the file, each once.

    A value is wrong in each system that has it. What is wrong whatever the value is told of the factor.

    Args:
        faults: A line each, that of a system begins with `system[` and its index in the study.
        origins: Of all systems of the study; None for one that was written out.
    """
    found = dict.fromkeys(_placed(line, origins) for line in faults)
    whose = {
        value.place: factor
        for origin in origins
        if origin is not None
        for factor in origin.factors
        for value in factor.values
    }
    return tuple(dict.fromkeys(f"{place}{rest}" for place, rest in _of_factors(found, whose)))


def _placed(line: str, origins: Sequence[Origin | None]) -> tuple[str, str]:
    """The place of a fault, and what is to be said of it."""
    matched = re.match(r"system\[(\d+)\]", line)
    origin = origins[int(matched[1])] if matched is not None and int(matched[1]) < len(origins) else None
    if matched is None or origin is None:
        return "", line
    rest = line[matched.end() :]
    for factor, value in origin.chosen:
        length = len(factor.key) + 1
        if rest.startswith(f".{factor.key}") and rest[length : length + 1] in (".", "[", ":"):
            return value.place, rest[length:]
    return f"system[{origin.base}]", rest


def _of_factors(found: Mapping[tuple[str, str], None], whose: Mapping[str, Factor]) -> Iterator[tuple[str, str]]:
    for place, rest in found:
        factor = whose.get(place)
        is_of_all = factor is not None and all((value.place, rest) in found for value in factor.values)
        yield factor.place if factor is not None and is_of_all else place, rest
