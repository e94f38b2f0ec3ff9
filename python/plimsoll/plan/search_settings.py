"""How a search for a capacity goes: its objective, and how long and how many its runs are."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.record.capacity import CapacityObjective, RunRole
from plimsoll.spec.levels import SWEEP_CONNECTIONS

LEAST_ARRIVALS = 300
LEAST_S = 5.0
"""No run at a rate is shorter, in arrivals and in seconds: 1 % of fewer arrivals is next to nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """How a search goes.

    Attributes:
        objective: What must hold.
        connections: Levels of the sweep; the fastest serves all rates.
        sweep_s: Measured length of a run of the sweep, seconds.
        probe_s: Of a run of the approach.
        steady_s: Of a steady run.
        steady_runs: How many there are.
        made_again: So many runs at a rate that met a disturbed machine are made again.
    """

    objective: CapacityObjective
    connections: tuple[int, ...] = SWEEP_CONNECTIONS
    sweep_s: float = 5.0
    probe_s: float = 10.0
    steady_s: float = 20.0
    steady_runs: int = 12
    made_again: int = 4

    def length_s(self, role: RunRole, rate_tps: float | None) -> float:
        """Measured length of a run of this role, seconds; at a low rate as long as enough arrivals take."""
        if rate_tps is None:
            return self.sweep_s
        wanted_s = self.steady_s if role is RunRole.STEADY else self.probe_s
        return max(wanted_s, LEAST_S, float(round(LEAST_ARRIVALS / rate_tps)))


def settings_of(objective: CapacityObjective, connections: tuple[int, ...], *, steady_s: float) -> SearchSettings:
    """A search whose steady runs are so long, seconds; those of the approach half of it, of the sweep a quarter."""
    return SearchSettings(
        objective=objective,
        connections=connections,
        sweep_s=max(float(round(steady_s / 4)), 1.0),
        probe_s=max(float(round(steady_s / 2)), LEAST_S),
        steady_s=max(steady_s, LEAST_S),
    )
