"""The load that a plan offers: levels, ramps, and repetitions that were reduced to fit a budget.

A level is one offered load, from the study file to the guide; what differs between kinds of load is asked here. A
further kind is one more `LevelKind` and what its properties say of it. A ramp is load at a rate that rises by the same
share each second, until most answers are late. Deliberately not here: anything that was measured at a level.
"""

from __future__ import annotations

import math
from enum import StrEnum

from plimsoll.record.document import Document
from plimsoll.units import format_exact


class LevelKind(StrEnum):
    """Who sets the pace: each connection, a rate, or terminals that share connections."""

    CLOSED = "closed"
    RATE = "rate"
    TERMINALS = "terminals"

    @property
    def is_at_rate(self) -> bool:
        """The load comes whether or not the server keeps up.

        The best level is then the highest rate that was sustained, and throughput says little: it is what was asked
        for. Otherwise the best level is that with the highest throughput, and throughput may be scaled and compared.
        """
        return self is LevelKind.RATE

    @property
    def axis(self) -> str:
        """What varies from level to level, for axes and headings."""
        return "Target rate" if self.is_at_rate else "Connections"

    @property
    def client(self) -> str:
        """Who waits for an answer before it goes on."""
        return "terminal" if self is LevelKind.TERMINALS else "connection"


class Level(Document):
    """One offered load.

    Attributes:
        connections: Of all instances together; at a rate those that serve it. 0 when not known.
        connections_per_instance: Where connections were stated for each instance; None when in total.
        rate_tps: Target rate, transactions per second; None where clients go at their own pace.
        terminals: That share the connections, where the workload has terminals; None for others.
    """

    connections: int
    connections_per_instance: int | None = None
    rate_tps: float | None = None
    terminals: int | None = None

    @property
    def kind(self) -> LevelKind:
        """Who sets the pace."""
        if self.rate_tps is not None:
            return LevelKind.RATE
        return LevelKind.CLOSED if self.terminals is None else LevelKind.TERMINALS

    @property
    def offered(self) -> float:
        """What varies from level to level of a kind: connections, or transactions per second."""
        return self.connections if self.rate_tps is None else self.rate_tps

    @property
    def order(self) -> tuple[bool, float]:
        """Levels with the same order are the same level; those of a kind rise by it."""
        return self.kind.is_at_rate, self.offered

    def figure(self, rate_unit: str = "tps") -> str:
        """What varies, without its unit, for columns and axes.

        >>> Level(connections=1024).figure(), Level(connections=16, rate_tps=12.5).figure("tpm")
        ('1,024', '750')
        """
        if self.rate_tps is None:
            return f"{self.connections:,}"
        return format_exact(self.rate_tps * (60 if rate_unit == "tpm" else 1))

    def label(self, rate_unit: str = "tps") -> str:
        """The level in words; empty when it is not known.

        >>> Level(connections=1).label(), Level(connections=16, rate_tps=500.0).label(), Level(connections=0).label()
        ('1 connection', 'target rate 500 tps', '')
        """
        if self.rate_tps is not None:
            return f"target rate {self.figure(rate_unit)} {rate_unit}"
        return f"{self.connections:,} connection{'' if self.connections == 1 else 's'}" if self.connections else ""


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


REPETITIONS_MIN = 3
"""With fewer no interval is finite, and nobody believes a study of two."""


class FittedBudget(Document):
    """How a plan was made to fit its budget.

    Attributes:
        budget_s: What the study allows, seconds.
        repetitions_asked: As the study file says; in a duet rounds.
        repetitions: As planned.
        asked_s: What the study file's repetitions would take, seconds.
    """

    budget_s: float
    repetitions_asked: int
    repetitions: int
    asked_s: float
