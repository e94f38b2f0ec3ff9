"""Everything about replicas of a study, from its cells."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.analyse.cells import MeasuredCell
from plimsoll.analyse.replication.commits import commit_costs
from plimsoll.analyse.replication.levels import servers_of_levels
from plimsoll.analyse.replication.model import Replication
from plimsoll.analyse.replication.scaling import replica_scalings


def replication_of(cells: Sequence[MeasuredCell], equal_within: float) -> Replication:
    """Levels, scaling and commits; all empty where no system has replicas.

    Args:
        cells: Of the whole study.
        equal_within: Share within which two systems count as equal.
    """
    levels = servers_of_levels(cells)
    if not levels:
        return Replication()
    return Replication(
        levels=levels,
        scaling=replica_scalings(cells, equal_within),
        commits=commit_costs(cells, equal_within),
    )
