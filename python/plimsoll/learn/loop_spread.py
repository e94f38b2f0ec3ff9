"""How much the number of statements varies from transaction to transaction, as a profile's loops say it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from plimsoll.learn.profile_model import Profile, TypeProfile


def statements_spread(profile: Profile, names: Sequence[str]) -> float:
    """The standard deviation of statements for each transaction of some types.

    Rounds of loops are taken as independent. Types together vary by their means, too.

    Args:
        profile: Of the load.
        names: Of the types.
    """
    types = [one for one in profile.types if one.name in names]
    total = sum(one.share for one in types)
    if not total:
        return 0.0
    mean = sum(one.share * one.statements for one in types) / total
    return math.sqrt(sum(one.share * (_variance(one) + (one.statements - mean) ** 2) for one in types) / total)


def _variance(one: TypeProfile) -> float:
    return sum((loop.last - loop.first + 1) ** 2 * _of_rounds(loop.rounds) for loop in one.loops)


def _of_rounds(rounds: Mapping[int, int]) -> float:
    total = sum(rounds.values())
    if not total:
        return 0.0
    mean = sum(number * seen for number, seen in rounds.items()) / total
    return sum(seen * (number - mean) ** 2 for number, seen in rounds.items()) / total
