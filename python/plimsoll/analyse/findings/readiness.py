"""Pre-flight checks of limits, other load, memory and processors, and the values that all checks look at.

`Readiness` has the facts of a machine and its servers, found out elsewhere. Checks of servers are in
`readiness_checks`.

Processors whose speed depends on more than the load: governor, turbo, SMT, instances with credits, slow clocks.
Sources: kernel documentation on cpufreq, SMT and clocksource; Amazon, Microsoft, Google and Alibaba on their burstable
instance types. Azure and Google do not show the type in the firmware, so their burstable ones are not seen here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from plimsoll.analyse.findings.doubts import Code, Doubt, Place
from plimsoll.analyse.findings.finding_model import Figure
from plimsoll.record.environment import HostFacts, InstanceFacts, StorageFacts
from plimsoll.units import parse_whole


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

OWN_CONNECTIONS = 8
"""Those that look and watch beside the load, with room to spare."""

_FILES_BESIDE_CONNECTIONS = 256
_FREE_BYTES_WANTED = 5 * 2**30


def open_files(facts: Readiness) -> Iterator[Doubt]:
    """Each connection is an open file of the client."""
    if facts.demand is None or facts.open_files_max is None:
        return
    wanted = facts.demand.connections + _FILES_BESIDE_CONNECTIONS
    if facts.open_files_max < wanted:
        yield facts.place.doubt(
            Code.LIMIT_TOO_LOW, "limit", name="open files of this user", limit=facts.open_files_max, wanted=wanted
        )


def of_servers(facts: Readiness) -> Iterator[Doubt]:
    """Connections and prepared statements that a server would refuse."""
    if facts.demand is None:
        return
    for server in facts.servers:
        for name, wanted in _wanted(facts.demand).items():
            limit = parse_whole(server.variables.get(name, ""))
            if limit is not None and wanted > limit:
                told = f"{name} of {server.name}"
                yield facts.place.doubt(Code.LIMIT_TOO_LOW, "limit", name=told, limit=limit, wanted=wanted)


def _wanted(demand: Demand) -> dict[str, int]:
    wanted = {"max_connections": demand.connections + OWN_CONNECTIONS}
    return wanted | ({"max_prepared_stmt_count": demand.prepared_statements} if demand.prepared_statements else {})


def free_space(facts: Readiness) -> Iterator[Doubt]:
    """Little space on a file system that data, copies or recordings will lie on; each device is told once."""
    told = set()
    for one in facts.storage:
        key = one.device or one.path
        if one.free_bytes is not None and one.free_bytes < _FREE_BYTES_WANTED and key not in told:
            told.add(key)
            yield facts.place.doubt(
                Code.LITTLE_SPACE, "free-space", path=one.path or "", free_bytes=one.free_bytes, device=key or ""
            )


_BUSY_RATIO = 0.1
_STEAL_RATIO = 0.02
"""The same share of stolen time that is a doubt during a trial (`curve_checks`)."""


def other_load(facts: Readiness) -> Iterator[Doubt]:
    """Something else runs."""
    if facts.moment is not None and facts.moment.busy_ratio > _BUSY_RATIO:
        busy = facts.moment.busy_ratio
        yield facts.place.doubt(
            Code.HOST_BUSY_ELSEWHERE, "busy-before", busy, busy_cpu_ratio=busy, sample_s=facts.moment.sample_s
        )


def steal(facts: Readiness) -> Iterator[Doubt]:
    """The hypervisor gives processor time to others: there are more virtual than physical CPUs."""
    if facts.moment is not None and facts.moment.steal_ratio > _STEAL_RATIO:
        stolen = facts.moment.steal_ratio
        yield facts.place.doubt(Code.HOST_BUSY_ELSEWHERE, "stolen-before", stolen, steal_cpu_ratio=stolen)


def shared_cpus(facts: Readiness) -> Iterator[Doubt]:
    """Client and server may run on the same CPUs and so take time from each other."""
    for one in facts.placements:
        if one.shared_cpus:
            yield facts.place.doubt(
                Code.CLIENT_ON_SERVER_HOST,
                "client-shares-cpus",
                float(len(one.shared_cpus)),
                instance=one.instance,
                shared_count=len(one.shared_cpus),
                cpus=one.shared_cpus,
            )


SWAPPINESS_MAX = 10
"""Up to this the kernel hardly swaps before the page cache is gone; distributions set 60."""

_POOL_RATIO_MAX = 0.9
"""Connections, dictionary and the kernel need memory beside buffer pools."""


def swap(facts: Readiness) -> Iterator[Doubt]:
    """The kernel may swap parts of the buffer pool out in favour of its page cache."""
    host = facts.host
    if host.swap_bytes and host.swappiness is not None and host.swappiness > SWAPPINESS_MAX:
        yield facts.place.doubt(Code.SWAP_LIKELY, "swap", swap_bytes=host.swap_bytes, swappiness=host.swappiness)


def huge_pages(facts: Readiness) -> Iterator[Doubt]:
    """With `always` the kernel joins pages in the background, and requests wait for it."""
    if facts.host.transparent_huge_pages == "always":
        yield facts.place.doubt(Code.HUGE_PAGES_ALWAYS, "huge-pages")


def pools_and_memory(facts: Readiness) -> Iterator[Doubt]:
    """Buffer pools leave too little of the machine's memory, or of what a server's control group allows."""
    pools = [size for one in facts.servers if (size := buffer_pool_bytes(one)) is not None]
    memory = facts.host.memory_bytes
    if memory is not None and pools and sum(pools) > _POOL_RATIO_MAX * memory:
        yield facts.place.doubt(
            Code.MEMORY_OVERCOMMITTED, "pools-and-memory", buffer_pool_bytes=sum(pools), memory_bytes=memory
        )
    for one in facts.servers:
        limit = None if one.placement is None else one.placement.memory_limit_bytes
        pool = buffer_pool_bytes(one)
        if limit is not None and pool is not None and pool > _POOL_RATIO_MAX * limit:
            yield facts.place.doubt(
                Code.MEMORY_OVERCOMMITTED, "pool-and-limit", buffer_pool_bytes=pool, limit_bytes=limit
            )


def data_and_memory(facts: Readiness) -> Iterator[Doubt]:
    """Data does not fit the buffer pool, and perhaps fits the kernel's page cache instead."""
    memory_bytes = facts.host.memory_bytes
    for instance in facts.servers:
        pool_bytes = buffer_pool_bytes(instance)
        if instance.data_bytes is None or pool_bytes is None or instance.data_bytes <= pool_bytes:
            continue
        weight = instance.data_bytes / pool_bytes
        sizes: dict[str, Figure] = {"data_bytes": instance.data_bytes, "buffer_pool_bytes": pool_bytes}
        yield facts.place.doubt(Code.DATA_LARGER_THAN_BUFFER_POOL, "data-and-buffer-pool", weight, **sizes)
        method = instance.variables.get("innodb_flush_method", "")
        if memory_bytes and instance.data_bytes < memory_bytes - pool_bytes and not method.startswith("O_DIRECT"):
            sizes |= {"memory_bytes": memory_bytes, "innodb_flush_method": method or "unknown"}
            yield facts.place.doubt(Code.DATA_IN_PAGE_CACHE, "data-and-memory", weight, **sizes)


def buffer_pool_bytes(instance: InstanceFacts) -> int | None:
    """Size of the buffer pool; None when the server's variables are unknown."""
    return parse_whole(instance.variables.get("innodb_buffer_pool_size", "")) or None


STEADY_CLOCKS = ("tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page", "riscv_clocksource")
"""Read in user space, in some tens of nanoseconds; others need a system call or a slow device."""

_BURSTABLE = re.compile(
    r"^t\d[a-z]*\.\w+$|^(standard_)?b\d+[a-z]*(_v\d+)?$|^(e2-(micro|small|medium)|f1-micro|g1-small)$|^ecs\.t\d\S*$",
    re.IGNORECASE,
)
"""Amazon t2.micro to t4g.2xlarge, Azure B1s to B20as_v2, Google's shared cores, Alibaba ecs.t5 and t6."""


def burstable(facts: Readiness) -> Iterator[Doubt]:
    """The instance has processor time only as long as its credits last."""
    product = facts.host.product_name
    if product is not None and _BURSTABLE.match(product.strip()):
        yield facts.place.doubt(Code.BURSTABLE_INSTANCE, "burstable", product_name=product.strip())


def governor(facts: Readiness) -> Iterator[Doubt]:
    """Another governor than `performance` slows idle processors down."""
    name = facts.host.cpu_governor
    if name not in (None, "performance"):
        yield facts.place.doubt(Code.CPU_FREQUENCY_VARIES, "governor", governor=name)


def turbo(facts: Readiness) -> Iterator[Doubt]:
    """Processors run above their base frequency until they are hot or many."""
    if facts.host.cpu_turbo:
        yield facts.place.doubt(Code.TURBO_ON, "turbo")


def smt(facts: Readiness) -> Iterator[Doubt]:
    """More logical CPUs than cores: the second thread of a core adds far less than a core does."""
    cores, threads = facts.host.cpu_cores, facts.host.cpu_threads
    if cores is not None and threads is not None and threads > cores and facts.host.cpu_smt is not False:
        yield facts.place.doubt(Code.SMT_ON, "smt", threads_count=threads, cores_count=cores)


def clock(facts: Readiness) -> Iterator[Doubt]:
    """A clock that takes long to read costs each transaction, of the client and of the server."""
    source = facts.host.clock_source
    if source is not None and source not in STEADY_CLOCKS:
        yield facts.place.doubt(Code.SLOW_CLOCK, "clock", clock_source=source)
