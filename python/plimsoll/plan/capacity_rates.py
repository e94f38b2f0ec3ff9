"""What the runs of a search say about its rates: held or not, the bracket, what is sure. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.record.capacity import P99_ALLOWED_RATIO, CapacityObjective, CapacityRun, RunRole, RunVerdict

_FAR_OVER_RATIO = 10 * P99_ALLOWED_RATIO
"""A confirmation with so many arrivals over the objective failed, even where a single stall made all of them."""

_TOGETHER = 2
"""So many confirmations are judged together."""


@dataclass(frozen=True, slots=True)
class Rate:
    """What the runs of one rate say."""

    tps: float
    runs: tuple[CapacityRun, ...]
    objective: CapacityObjective

    @property
    def balance(self) -> int:
        """Above 0 where the objective held, below where it did not, 0 where one more run must tell.

        Confirmations outvote shorter runs. They fail where one of them surely does not hold, or where two or more of
        them together are over the objective.
        """
        confirmed = self.confirmations
        if any(
            run.verdict is RunVerdict.DOES_NOT_HOLD or run.counted_over_ratio > _FAR_OVER_RATIO for run in confirmed
        ):
            return -1
        if len(confirmed) >= _TOGETHER:
            return 1 if self._are_within(confirmed) else -1
        if confirmed:
            return 1
        return sum(1 if self._held(run) else -1 for run in self.runs)

    @property
    def confirmations(self) -> tuple[CapacityRun, ...]:
        """The runs that are to confirm it."""
        return tuple(run for run in self.runs if run.role is RunRole.CONFIRM)

    @property
    def tried_above(self) -> bool:
        """Whether an answer below it was tried here."""
        return any(run.role is RunRole.ABOVE for run in self.runs)

    @property
    def surely_held(self) -> bool:
        """Every run surely held."""
        return all(run.verdict is RunVerdict.HOLDS for run in self.confirmations or self.runs)

    @property
    def surely_failed(self) -> bool:
        """It did not hold, and at least one run says so for sure."""
        return self.balance < 0 and any(run.verdict is RunVerdict.DOES_NOT_HOLD for run in self.runs)

    def _held(self, run: CapacityRun) -> bool:
        if run.verdict is not RunVerdict.UNDECIDED:
            return run.verdict is RunVerdict.HOLDS
        return self.objective.allows(run.counted_over_ratio, run.errors_ratio)

    def _are_within(self, runs: Sequence[CapacityRun]) -> bool:
        """Whether all arrivals of these runs together are within the objective; all runs have one rate."""
        whole_s = sum(run.duration_s for run in runs)
        over = sum(run.counted_over_ratio * run.duration_s for run in runs) / whole_s
        return self.objective.allows(over, sum(run.errors_ratio * run.duration_s for run in runs) / whole_s)


@dataclass(frozen=True, slots=True)
class Bracket:
    """Where the capacity lies by the runs so far.

    Attributes:
        low_tps: The highest rate that held below all that did not; 0 where none held.
        high_tps: The lowest rate that did not hold; infinite where all held.
    """

    low_tps: float
    high_tps: float


def bracket_between(rates: Sequence[Rate]) -> Bracket:
    """Between the highest rate that held and the lowest that did not, shorter runs and confirmations alike."""
    high_tps = min((one.tps for one in rates if one.balance < 0), default=math.inf)
    return Bracket(max((one.tps for one in rates if one.balance > 0 and one.tps < high_tps), default=0.0), high_tps)


def near_runs(rates: Sequence[Rate]) -> list[CapacityRun]:
    """The runs that say where the objective is crossed: those around the bracket."""
    bracket = bracket_between(rates)
    edge = 1.25
    return [run for one in rates if bracket.low_tps / edge <= one.tps <= bracket.high_tps * edge for run in one.runs]


def sure_between(rates: Sequence[Rate]) -> tuple[float, float]:
    """Between the highest rate that surely held, below all that surely failed, and the lowest that surely failed."""
    highest = min((one.tps for one in rates if one.surely_failed), default=math.inf)
    held = (one.tps for one in rates if one.tps < highest and one.surely_held)
    return max(held, default=0.0), highest


def failed_confirmation_tps(rates: Sequence[Rate]) -> float:
    """The lowest rate that was not confirmed; infinite without one."""
    return min((one.tps for one in rates if one.confirmations and one.balance < 0), default=math.inf)


def count_at(rates: Sequence[Rate], tps: float) -> int:
    """How many confirmations a rate has."""
    return next(len(one.confirmations) for one in rates if one.tps == tps)
