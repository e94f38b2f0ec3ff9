"""The servers of a system as the load engine gets them: each source with its replicas.

The only place where the roles of servers meet the plan of a load.
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.drive.plans import GroupServers
from plimsoll.run.instance import Instance, replicas_of, sources_of
from plimsoll.spec.reads import Reads


def load_servers(instances: Sequence[Instance], reads: Reads | None) -> list[GroupServers]:
    """A group of connections for each source.

    Args:
        instances: Of the system; replicas belong to its only source.
        reads: How reads are spread over replicas; None keeps them on the source.
    """
    replicas = {one.name: one.target for one in replicas_of(instances)}
    return [
        GroupServers(instance=one.name, source=one.target, replicas=replicas, reads=reads if replicas else None)
        for one in sources_of(instances)
    ]
