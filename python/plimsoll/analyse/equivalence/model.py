"""What was compared between systems, and what was not the same. Part of the analysis."""

from __future__ import annotations

from enum import StrEnum

from plimsoll.record.document import Document


class Aspect(StrEnum):
    """What is compared."""

    VARIABLES = "variables"
    DURABILITY = "durability"
    DEFINITIONS = "definitions"
    CHARACTER_SETS = "character-sets"
    ROWS = "rows"
    STATISTICS = "statistics"
    PLANS = "plans"
    MACHINES = "machines"


class AspectDifference(Document):
    """Something that is not the same in all systems.

    Attributes:
        what: Its name, such as `sbtest1.c`.
        values: By system; null where a system does not have it.
    """

    what: str
    values: dict[str, str | None]


class Equivalence(Document):
    """One aspect of the systems of a study.

    Attributes:
        aspect: Which.
        systems: Those that were compared; fewer than two where not enough is known.
        compared_count: How many things were compared.
        differences: Those that no factor explains.
        expected: Names of those that a factor of the study explains, or a default of another flavour or version.
        unknown: Systems of which nothing is known.
    """

    aspect: Aspect
    systems: tuple[str, ...] = ()
    compared_count: int = 0
    differences: tuple[AspectDifference, ...] = ()
    expected: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
