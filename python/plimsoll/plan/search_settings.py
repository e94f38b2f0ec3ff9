"""How a search for a capacity goes: its objective, and how long and how many its runs are."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.record.capacity import RESOLUTION_RATIO, CapacityObjective, CapacityRun, RunRole, RunVerdict
from plimsoll.spec.levels import SWEEP_CONNECTIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """How a search goes.

    Attributes:
        objective: What must hold.
        connections: Levels of the sweep; the fastest serves all rates.
        sweep_s: Measured length of a run of the sweep, seconds.
        probe_s: Of a run that brackets or bisects.
        confirm_s: Of a confirmation.
        confirmations: How many must hold.
        resolution: By what a rate is lowered where it is not confirmed, as a ratio less 1.
        bisections: Runs that narrow the bracket.
        extended: An undecided run is repeated up to so many times its length.
        runs_max: The search gives up after so many runs at a rate.
    """

    objective: CapacityObjective
    connections: tuple[int, ...] = SWEEP_CONNECTIONS
    sweep_s: float = 5.0
    probe_s: float = 10.0
    confirm_s: float = 30.0
    confirmations: int = 3
    resolution: float = RESOLUTION_RATIO
    bisections: int = 6
    extended: int = 2
    runs_max: int = 60

    def length_s(self, role: RunRole) -> float:
        """Measured length of a run of this role before it is extended, seconds."""
        lengths = {RunRole.SWEEP: self.sweep_s, RunRole.CONFIRM: self.confirm_s, RunRole.ABOVE: self.confirm_s}
        return lengths.get(role, self.probe_s)

    def is_final(self, run: CapacityRun) -> bool:
        """Whether a run counts as it is, because it is decided or must not be extended further."""
        is_extended = run.duration_s * 2 > self.extended * self.length_s(run.role) * 1.01
        return run.verdict is not RunVerdict.UNDECIDED or is_extended or run.role is RunRole.CONFIRM


def settings_of(objective: CapacityObjective, connections: tuple[int, ...], *, confirm_s: float) -> SearchSettings:
    """A search whose confirmations are so long, seconds; the runs that look for the rate take a third of it."""
    probe_s = max(float(round(confirm_s / 3)), 1.0)
    sweep_s = max(float(round(confirm_s / 6)), 1.0)
    return SearchSettings(
        objective=objective, connections=connections, sweep_s=sweep_s, probe_s=probe_s, confirm_s=confirm_s
    )
