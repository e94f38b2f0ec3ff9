"""What pre-flight checks look at: a machine, its servers, and what is wanted of them. Values, found out elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from plimsoll.analyse.doubts import Doubt, Place
from plimsoll.record.environment import HostFacts, InstanceFacts, StorageFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A machine just before load.

    Attributes:
        busy_ratio: Share of all processors' time that something else took, 0..1; neither idle, iowait nor steal.
        steal_ratio: Share that the hypervisor took, 0..1.
        sample_s: Over how long, seconds.
        steal_ratio_since_boot: The share that the hypervisor took since the machine started; None when not known.
    """

    busy_ratio: float
    steal_ratio: float
    sample_s: float
    steal_ratio_since_boot: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What is wanted of servers and of this machine.

    Attributes:
        connections: The most at the same time, of one server.
        prepared_statements: The most at the same time, of one server; 0 for none.
        writes: Some workload changes rows.
    """

    connections: int
    prepared_statements: int = 0
    writes: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedCpus:
    """Logical CPUs that a server and the client may both run on, where both are on this machine.

    Attributes:
        instance: The server.
        shared_cpus: Rising; empty when each has CPUs of its own.
    """

    instance: str
    shared_cpus: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """Everything that is known before load. What is None, or empty, is not known and gives no doubt.

    Attributes:
        place: What doubts are about.
        host: The machine of the servers.
        moment: What that machine does now.
        servers: They run already.
        storage: File systems that data and recordings will lie on.
        open_files_max: Hard limit of the client for open files.
        demand: What is wanted.
        placements: Which CPUs servers and client share.
    """

    place: Place = field(default_factory=Place)
    host: HostFacts = field(default_factory=HostFacts)
    moment: Moment | None = None
    servers: tuple[InstanceFacts, ...] = ()
    storage: tuple[StorageFacts, ...] = ()
    open_files_max: int | None = None
    demand: Demand | None = None
    placements: tuple[SharedCpus, ...] = ()


ReadinessCheck = Callable[[Readiness], Iterator[Doubt]]
