"""What is left of the time that a study may take: one clock for all of its runs.

Deliberately not here: whether a plan fits its budget (`budget`), and what is done with time that is left (`course`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from plimsoll.run.data_events import DeviceShared
from plimsoll.run.events import EnvironmentChanged, MachineMeasured, ReadinessJudged, StudyBegan, read_events
from plimsoll.run.folder import EVENTS_FILE
from plimsoll.run.hook_events import HookBegan, HookEnded

_SAID_BEFORE = (DeviceShared, EnvironmentChanged, HookBegan, HookEnded, MachineMeasured, ReadinessJudged)
"""Events that come before a run begins as well."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Time that a study may take, all its runs together.

    Attributes:
        budget_s: In all; None without a budget.
        began_s: On the clock: when it would have begun if it had run without a break.
    """

    budget_s: float | None
    began_s: float
    clock: Callable[[], float] = time.monotonic

    @classmethod
    def of(cls, budget_s: float | None, ran_s: float = 0.0, clock: Callable[[], float] = time.monotonic) -> Budget:
        """The budget of a study whose earlier runs took `ran_s` seconds and that goes on now."""
        return cls(budget_s, clock() - ran_s, clock)

    @property
    def used_s(self) -> float:
        """Seconds that the study has run, with or without a budget."""
        return self.clock() - self.began_s

    @property
    def left_s(self) -> float | None:
        """Seconds; None without a budget."""
        return None if self.budget_s is None else self.budget_s - self.used_s

    def part(self, count: int) -> Budget:
        """Its share of what is left, of so many that come one after the other."""
        left_s = self.left_s
        return self if left_s is None else Budget(self.used_s + left_s / count, self.began_s, self.clock)

    def has_room_for(self, seconds: float) -> bool:
        """Whether so much more fits."""
        return self.left_s is None or seconds <= self.left_s

    def at_most(self, seconds: float) -> float:
        """How long something takes that ends with the budget, seconds."""
        return seconds if self.left_s is None else min(seconds, max(self.left_s, 0.0))

    def share_s(self, trials_count: int, other_s: float) -> float:
        """What each of the trials that are left may measure, seconds; infinite without a budget.

        Args:
            trials_count: That are left, the next one included.
            other_s: What each takes besides being measured.
        """
        left_s = self.left_s
        return math.inf if left_s is None else max(left_s / max(trials_count, 1) - other_s, 0.0)


def ran_s(folder: Path) -> float:
    """How long a study has run, all its runs together, seconds.

    A run lasts from its begin to its last event. What the next run says before it begins, after a break of any length,
    is no part of it.
    """
    began, last, total = None, 0.0, 0.0
    for stamped in read_events(folder / EVENTS_FILE):
        if isinstance(stamped.event, StudyBegan):
            total += last - began if began is not None else 0.0
            began = last = stamped.unix_s
        elif not isinstance(stamped.event, _SAID_BEFORE):
            last = stamped.unix_s
    return total + (last - began if began is not None else 0.0)
