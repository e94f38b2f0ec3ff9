"""The doubt about turns of a duet that are short for their transactions.

Deliberately not here: how a turn's rate is found (`begun`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from plimsoll.analyse.doubts import Code, Doubt, place_of
from plimsoll.analyse.trial_summary import TrialSummary

RESPONSE_OF_TURN_RATIO = 0.1
"""Up to here the rate of a turn is right whatever response times are like and whatever transactions share."""


def check_turns(one: TrialSummary) -> Iterator[Doubt]:
    """Whether transactions took a large part of a turn."""
    response = one.histograms.get("response")
    if one.turns is None or one.turns.is_empty() or response is None or response.total == 0:
        return
    turn_s = float(np.median((one.turns["to_s"] - one.turns["from_s"]).to_numpy()))
    mean_ms = response.sum_ns / response.total / 1e6
    if mean_ms > RESPONSE_OF_TURN_RATIO * turn_s * 1000:
        yield place_of(one.trial).doubt(
            Code.TURN_SHORT, "turn-short", mean_ms / turn_s, response_ms_mean=mean_ms, turn_s=turn_s
        )
