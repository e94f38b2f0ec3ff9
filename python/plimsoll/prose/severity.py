"""How grave warnings are, from the order of `plimsoll.analyse.doubts.Code`: a new code needs nothing here."""

from __future__ import annotations

from enum import Enum

from plimsoll.analyse.doubts import Code


class Severity(Enum):
    """What warnings of a kind mean for the figures, the gravest first."""

    GRAVE = "Figures may mean something else than they seem to"
    UNCERTAIN = "Figures are less certain than they seem"
    CONTEXT = "What to know about the measurement"


_BEGIN = {Severity.UNCERTAIN: Code.SINGLE_REPETITION, Severity.CONTEXT: Code.INTERVALS_LATE}
"""The first code of each severity but the gravest."""


def severity_of(code: str) -> Severity:
    """How much a warning takes from the figures; least for codes that are not known.

    >>> severity_of("client-saturated").name, severity_of("from-a-later-version").name
    ('GRAVE', 'CONTEXT')
    """
    order = [one.value for one in Code]
    place = order.index(code) if code in order else len(order)
    reached = [severity for severity, first in _BEGIN.items() if place >= order.index(first.value)]
    return reached[-1] if reached else Severity.GRAVE
