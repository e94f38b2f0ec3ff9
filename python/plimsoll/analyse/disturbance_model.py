"""How much slower than at its best a machine was while something was measured; part of the analysis."""

from __future__ import annotations

from typing import Any

from plimsoll.record.document import Document

SLOW_RATIO = 1.10
"""A second in which the machine was slower than this is slow."""


class Disturbance(Document):
    """How slow the servers' machine was in the measured seconds of some trials, against the best tenth of such seconds.

    Attributes:
        watched_s: Measured seconds of which that is known.
        slow_ratio: Share of them in which it was over 10 % slower, 0..1.
        slowness: How many times as slow it was on the whole, at least 1; throughput without the disturbance would have
            been about so many times as much.
        wait_ms: How long threads of servers and load engine waited for a processor, for each completed transaction.
        best_wait_ms: The same without what exceeds the best tenth.
        steal_ratio: Share of processor time that a hypervisor took, 0..1; null where it is not known.
        from_unix_s: When the first slow second began, wall clock; null where none was slow.
        to_unix_s: When the last one ended.
    """

    watched_s: float
    slow_ratio: float
    slowness: float
    wait_ms: float | None = None
    best_wait_ms: float | None = None
    steal_ratio: float | None = None
    from_unix_s: float | None = None
    to_unix_s: float | None = None


class UnlikeConditions(Document):
    """Two sides of a comparison whose machine was not equally fast, so that nothing is said of them.

    Attributes:
        base: What the first side met.
        system: What the second side met.
    """

    base: Disturbance
    system: Disturbance

    @property
    def contrast_ratio(self) -> float:
        """How many times as slow the machine was for the one side as for the other, at least 1."""
        ratio = self.system.slowness / self.base.slowness
        return max(ratio, 1 / ratio)


def slow_figures(one: Disturbance) -> dict[str, Any]:
    """How slow a machine was, what showed it, and when."""
    names = ("slowness", "slow_ratio", "wait_ms", "best_wait_ms", "steal_ratio", "from_unix_s", "to_unix_s")
    return {name: getattr(one, name) for name in names}
