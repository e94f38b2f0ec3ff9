"""Which servers of a trial are sources and which are replicas.

Instances of a system divide the whole: rows, connections and throughput add up over them. A replica repeats its source:
its data is the same data again, and every write is applied by each of them. A transaction is counted once, at the
server on which it ran, so that throughput adds up over all servers; data, durability and settings of a system are those
of its sources.

Deliberately not here: what each server did (`servers`).
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from plimsoll.record.environment import Environment, InstanceFacts

SOURCE, REPLICA = "source", "replica"


def with_roles(environment: Environment, tables: Sequence[pl.DataFrame | None]) -> Environment:
    """The environment with the role of each server, where rows of the recording name replicas.

    Args:
        environment: Of the trial.
        tables: Those of its tables that have columns `instance` and `role`.
    """
    replicas = {
        str(name)
        for table in tables
        if table is not None
        for name in table.filter(pl.col("role") == REPLICA)["instance"].unique()
    }
    if not replicas:
        return environment
    instances = tuple(
        one.model_copy(update={"role": REPLICA}) if one.name in replicas else one for one in environment.instances
    )
    known = {one.name for one in instances}
    added = tuple(InstanceFacts(name=name, role=REPLICA) for name in sorted(replicas - known))
    return environment.model_copy(update={"instances": (*instances, *added)})


def sources_of(environment: Environment) -> tuple[InstanceFacts, ...]:
    """The servers that hold the system's own data: all but its replicas."""
    return tuple(one for one in environment.instances if one.role == SOURCE)


def replicas_of(environment: Environment) -> tuple[InstanceFacts, ...]:
    """The servers that repeat a source."""
    return tuple(one for one in environment.instances if one.role == REPLICA)
