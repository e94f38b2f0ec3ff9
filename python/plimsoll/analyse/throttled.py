"""Whether the server was stopped because its control group had used up its quota of processor time.

A quota may be a factor of the study; that it took effect is still worth saying, since throughput is then the quota's.

Deliberately not here: how that is counted (`plimsoll.telemetry.cgroup`).
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.analyse.doubts import Code, Doubt, place_of
from plimsoll.analyse.trial_summary import TrialSummary

THROTTLED_RATIO = 0.01
"""Below a hundredth of the time it moves throughput by less than repetitions usually differ."""


def check_throttled(one: TrialSummary) -> Iterator[Doubt]:
    """The doubt that the quota, not the server, set the figures of a trial."""
    throttled_s = one.resources.per_s.get("throttled_s", 0.0)
    if throttled_s > THROTTLED_RATIO:
        # Version 1 and 2 add up what each CPU of the group was stopped for, so it may be more than all of the time.
        yield place_of(one.trial).doubt(
            Code.SERVER_THROTTLED, "server-throttled", throttled_s, throttled_s_per_s=throttled_s
        )
