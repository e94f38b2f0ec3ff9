"""Whether both sides of a comparison met like conditions, in each place and over all of them.

Two studies may have trials of one id, so what trials met is kept by side. Deliberately not here: how that is judged
(`disturbance`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from plimsoll.analyse.capacities import deciding_runs
from plimsoll.analyse.capacity_conditions import met_in_ramps
from plimsoll.analyse.capacity_model import SystemCapacity
from plimsoll.analyse.compare_model import MetricComparison
from plimsoll.analyse.compared_cells import CellKey
from plimsoll.analyse.compared_side import Side
from plimsoll.analyse.disturbance import met_by, together, unlike
from plimsoll.analyse.disturbance_model import Disturbance, UnlikeConditions
from plimsoll.analyse.model import DifferenceVerdict
from plimsoll.analyse.ramps import unlike_sides
from plimsoll.analyse.trial_summary import TrialSummary

Compared = TypeVar("Compared", bound=MetricComparison)


@dataclass(frozen=True, slots=True)
class _Met:
    """What the trials of one side met, each with its trial."""

    trials: tuple[tuple[TrialSummary, Disturbance | None], ...] = field(repr=False)

    def in_ramps(self, one: SystemCapacity) -> dict[tuple[int, int], Disturbance]:
        return met_in_ramps([one], {trial.trial.trial_id: met for trial, met in self.trials if met is not None})

    def where(self, counts: Callable[[TrialSummary], bool]) -> Disturbance | None:
        return together(met for one, met in self.trials if counts(one))


@dataclass(frozen=True, slots=True)
class ComparedConditions:
    """What both sides met."""

    base: _Met
    system: _Met

    def at(self, keys: Iterable[CellKey]) -> UnlikeConditions | None:
        """At some workloads and levels together; None where the conditions were alike, or are not known."""
        wanted = set(keys)

        def counts(one: TrialSummary) -> bool:
            return one.trial.search_id is None and (one.trial.workload.name, one.trial.level.order) in wanted

        return unlike(self.base.where(counts), self.system.where(counts))

    def of_capacities(
        self, base: Iterable[SystemCapacity], system: Iterable[SystemCapacity]
    ) -> UnlikeConditions | None:
        """Of the runs that capacities of both sides rest on."""
        ids = [deciding_runs(one) for one in (base, system)]
        return unlike(
            self.base.where(lambda one: one.trial.trial_id in ids[0]),
            self.system.where(lambda one: one.trial.trial_id in ids[1]),
        )

    def of_ramps(self, base: SystemCapacity, system: SystemCapacity) -> UnlikeConditions | None:
        """Of the ramps of both sides, pair by pair."""
        return unlike_sides(self.base.in_ramps(base), self.system.in_ramps(system))


def compared_conditions(base: Side, system: Side) -> ComparedConditions:
    """Judges the trials of both sides against each other."""
    of_base, of_system = ([*side.answering, *side.ramps] for side in (base, system))
    trials, count = [*of_base, *of_system], len(of_base)
    met = list(zip(trials, met_by(trials), strict=True))
    return ComparedConditions(_Met(tuple(met[:count])), _Met(tuple(met[count:])))


def withheld(one: Compared, conditions: UnlikeConditions | None) -> Compared:
    """A comparison without verdict and interval where both sides met unlike conditions."""
    if conditions is None:
        return one
    nothing = dict.fromkeys(("low", "high", "repetitions_needed", "smallest_effect", "basis"))
    return one.model_copy(
        update={**nothing, "method": "", "verdict": DifferenceVerdict.DISTURBED, "unlike": conditions}
    )
