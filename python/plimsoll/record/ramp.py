"""A ramp: load at a rate that rises by the same share each second, until most answers are late."""

from __future__ import annotations

import math

from plimsoll.record.document import Document

GROWTH = 0.3
"""By what share of itself the rate rises in a second, as the exponent of its growth."""

INTERVAL_S = 0.1
"""Length of an interval of a ramp, seconds: the rate rises by 3 % meanwhile."""


class Ramp(Document):
    """How the rate rises.

    Attributes:
        from_tps: Its first rate, transactions per second.
        longest_s: It ends after so long, even where answers are in time, seconds.
    """

    from_tps: float
    longest_s: float

    def rate_tps(self, at_s: float) -> float:
        """The rate so long after it began, transactions per second.

        >>> round(Ramp(from_tps=100.0, longest_s=12.0).rate_tps(10.0))
        2009
        """
        return self.from_tps * math.exp(GROWTH * at_s)


def seconds_until(times: float) -> float:
    """After how many seconds a rate has risen to so many times its first."""
    return math.log(times) / GROWTH
