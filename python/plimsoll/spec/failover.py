"""What a test of failover is to do: which replication, which fault, how often, and who chooses the next source.

Deliberately not here: doing it (`plimsoll.run.failover`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from plimsoll.spec.hooks import HookSpec
from plimsoll.spec.server_options import OptionValue


class FailoverFault(StrEnum):
    """What befalls the source while transactions are written."""

    KILL = "kill"
    CUT_OFF = "cut-off"


class Replication(StrEnum):
    """What a commit waits for."""

    ASYNC = "async"
    SEMISYNC = "semisync"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailoverSpec:
    """A whole test.

    Attributes:
        fault: What befalls the source.
        replicas: How many there are.
        replication: What a commit waits for.
        semisync_replicas: How many must acknowledge a commit; of no meaning without semi-synchronous replication.
        replication_delay_s: One way, between source and replicas, seconds.
        options: Of each server; they win over everything.
        faults: How many.
        connections: That write at once.
        load_s: A fault comes after half to all of it.
        seed: Of the instants of faults, and of what is written.
        promote: Chooses the replica that becomes the source; None for the most advanced one.
    """

    fault: FailoverFault
    replicas: int
    replication: Replication
    semisync_replicas: int
    replication_delay_s: float
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    faults: int
    connections: int
    load_s: float
    seed: int
    promote: HookSpec | None = None

    @property
    def is_semisync(self) -> bool:
        """Commits wait for replicas."""
        return self.replication is Replication.SEMISYNC

    @property
    def acknowledging(self) -> int:
        """How many replicas a commit waits for."""
        return self.semisync_replicas if self.is_semisync else 0

    def faults_found(self, *, is_mariadb: bool) -> tuple[str, ...]:
        """What cannot be done, each with the name of its option."""
        found = []
        if self.semisync_replicas > self.replicas:
            found.append(
                f"--semisync-replicas: must be at most --replicas ({self.replicas}), is {self.semisync_replicas}"
            )
        if self.semisync_replicas > 1 and not self.is_semisync:
            found.append("--semisync-replicas: has no meaning with --replication async; leave it out")
        if self.semisync_replicas > 1 and is_mariadb:
            found.append(f"--semisync-replicas: MariaDB waits for one replica, not for {self.semisync_replicas}")
        return tuple(found)
