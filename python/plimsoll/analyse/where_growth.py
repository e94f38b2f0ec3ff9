"""Which wait grew most from the lowest level to the highest, and which others may have grown as much.

Growth is read within each repetition that has both levels. Another part is named beside the first where a paired t test
of the two growths leaves open which is larger (5 %), and it grew by at least a quarter as much. With one repetition
nothing can be tested, so every part that grew by a quarter as much is named.

Response time must have grown by a quarter, or nothing is said to grow.

Deliberately not here: how response time is divided (`where_level`), whether a resource is busy (`where_time`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from plimsoll.analyse.cell_model import Bounds, SpreadKind
from plimsoll.analyse.scaling_fit import Floats
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.analyse.where_level import trial_parts
from plimsoll.analyse.where_model import WhereLevel, WherePart, WhereVerdict
from plimsoll.analyse.within_run import quantile_t

GROWN_RATIO = 0.25
RIVAL_RATIO = 0.25
"""A part that grew by less than so much of the largest growth is not in question, however few repetitions there are."""

_WAITS = tuple(part for part in WherePart if part is not WherePart.SERVER_CPU)
_METHOD = "t on the repetitions' own growth"

Growth = Mapping[str, object]
"""Fields of a `WhereTime`."""

Trials = Sequence[TrialSummary]


def growing(lowest: WhereLevel, highest: WhereLevel, trials: tuple[Trials, Trials]) -> Growth:
    """Which part of response time grew most.

    Args:
        lowest: The lowest level.
        highest: The highest level.
        trials: Those of each.
    """
    if lowest.response_ms is None or highest.response_ms is None or not highest.parts_ms:
        return {"verdict": WhereVerdict.UNKNOWN}
    if highest.level == lowest.level or highest.response_ms < lowest.response_ms * (1 + GROWN_RATIO):
        return {"verdict": WhereVerdict.NOTHING_GROWS}
    grown = _paired(*trials)
    if not grown.size:
        grown = _differences(lowest.parts_ms, highest.parts_ms)[None, :]
    means = grown.mean(axis=0)
    first = int(means.argmax())
    part = _WAITS[first]
    rivals = [other for other in np.argsort(-means) if other != first and _may_be_first(grown, first, int(other))]
    in_question = (part, *(_WAITS[other] for other in rivals))
    is_counted = part is not WherePart.UNEXPLAINED
    return {
        "verdict": WhereVerdict.WAIT_GROWS if is_counted else WhereVerdict.UNEXPLAINED_WAIT_GROWS,
        "part": part,
        "rival_parts": in_question[1:],
        "growth_ms": float(means[first]),
        "growth_bounds": _bounds(grown[:, first]),
        "table": next(iter(highest.waiters), None) if WherePart.ROW_LOCKS in in_question else None,
    }


def _paired(low: Trials, high: Trials) -> Floats:
    """Growth of each part in each repetition that has both levels, (repetitions, parts), milliseconds."""
    before = {one.trial.repetition: trial_parts(one) for one in low}
    after = {one.trial.repetition: trial_parts(one) for one in high}
    both = [number for number in before if before[number] and after.get(number)]
    return np.array([_differences(before[number], after[number]) for number in both])


def _differences(before: Mapping[WherePart, float], after: Mapping[WherePart, float]) -> Floats:
    return np.array([after.get(part, 0.0) - before.get(part, 0.0) for part in _WAITS])


def _may_be_first(grown: Floats, first: int, other: int) -> bool:
    """Whether the repetitions leave open which of two parts grew more."""
    leads = grown[:, first] - grown[:, other]
    if float(grown[:, other].mean()) < RIVAL_RATIO * float(grown[:, first].mean()):
        return False
    return leads.size < 2 or bool(leads.mean() <= _width(leads))


def _width(values: Floats) -> float:
    return quantile_t(0.975, values.size - 1) * float(values.std(ddof=1)) / math.sqrt(values.size)


def _bounds(values: Floats) -> Bounds | None:
    if values.size < 2:
        return None
    mean, width = float(values.mean()), _width(values)
    return Bounds(
        low=mean - width, high=mean + width, basis=SpreadKind.REPETITIONS, degrees=values.size - 1, method=_METHOD
    )
