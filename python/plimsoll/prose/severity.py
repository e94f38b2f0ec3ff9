"""How grave warnings are, by what they void (`plimsoll.analyse.doubts`): a new code needs nothing here."""

from __future__ import annotations

from enum import Enum

from plimsoll.analyse.doubts import Voids, voids


class Severity(Enum):
    """What warnings of a kind mean for the figures, the gravest first."""

    GRAVE = "Figures may mean something else than they seem to"
    UNCERTAIN = "Figures are less certain than they seem"
    CONTEXT = "What to know about the measurement"


_LESS_GRAVE = {Voids.CERTAINTY: Severity.UNCERTAIN, Voids.NOTHING: Severity.CONTEXT}


def severity_of(code: str) -> Severity:
    """How much a warning takes from the figures; least for codes that are not known.

    >>> severity_of("client-saturated").name, severity_of("from-a-later-version").name
    ('GRAVE', 'CONTEXT')
    """
    return _LESS_GRAVE.get(voids(code), Severity.GRAVE)
