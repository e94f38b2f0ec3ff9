"""What of its machine a server may use, as it was found in effect. Part of a recording's environment."""

from __future__ import annotations

from pydantic import Field

from plimsoll.record.document import Document


class PlacementFacts(Document):
    """Read back from the kernel while the server ran.

    Attributes:
        cpus: CPUs that its threads may run on, all threads together.
        cores: How many cores these belong to; None when unknown.
        cpus_by: `cgroup` where a cpuset of its own holds it there, `affinity` where only its threads' masks do; None
            where it may use all CPUs.
        cpu_quota: Processor time per second, in CPUs; None for no limit.
        memory_limit_bytes: None for no limit.
        io_limits: By device (`major:minor`) and name: bytes or operations per second.
        scheduling: Class with the priority of the real-time classes: `other`, `fifo:10`; several, in order, where
            threads differ.
        nice: Of most of its threads.
        nice_others: Of the rest: MySQL gives some of its threads -20 where it has the right to.
    """

    cpus: tuple[int, ...] | None = None
    cores: int | None = None
    cpus_by: str | None = None
    cpu_quota: float | None = None
    memory_limit_bytes: int | None = None
    io_limits: dict[str, int] = Field(default_factory=dict)
    scheduling: str | None = None
    nice: int | None = None
    nice_others: tuple[int, ...] = ()

    @property
    def processors(self) -> float | None:
        """How many CPUs it could use at once; None when unknown."""
        known = [limit for limit in (len(self.cpus) if self.cpus else None, self.cpu_quota) if limit is not None]
        return float(min(known)) if known else None
