"""Doubts about comparisons of systems that are not alike in what is no factor.

Differences of variables have a doubt of their own (`curve_checks`), those of durability are part of the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from plimsoll.analyse.doubts import Code, Doubt, Place
from plimsoll.analyse.equivalence.model import Aspect, Equivalence

CODES: Mapping[Aspect, Code] = {
    Aspect.MACHINES: Code.MACHINES_DIFFER,
    Aspect.DEFINITIONS: Code.DATA_DIFFERS,
    Aspect.CHARACTER_SETS: Code.DATA_DIFFERS,
    Aspect.ROWS: Code.DATA_DIFFERS,
    Aspect.STATISTICS: Code.PLANS_DIFFER,
    Aspect.PLANS: Code.PLANS_DIFFER,
}
_WEIGHTS = {Aspect.CHARACTER_SETS: 2.0, Aspect.DEFINITIONS: 1.0, Aspect.PLANS: 1.0}


def check_equivalence(found: Sequence[Equivalence]) -> Iterator[Doubt]:
    """One doubt for each aspect with differences that no factor explains."""
    for one in found:
        code = CODES.get(one.aspect)
        if code is not None and one.differences:
            yield Place().doubt(
                code,
                f"{one.aspect.value}-differ",
                _WEIGHTS.get(one.aspect, 0.0),
                differences=tuple((each.what, *each.values.values()) for each in one.differences),
                systems=tuple(one.differences[0].values),
                differences_count=len(one.differences),
            )
