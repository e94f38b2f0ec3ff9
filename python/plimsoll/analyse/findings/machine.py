"""Warnings about a machine: limits, other load, memory and processors; and the values that pre-flight checks look at.

`Readiness` has the facts of a machine and its servers, found out elsewhere. Checks of servers are in
`servers`.

Processors whose speed depends on more than the load: governor, turbo, SMT, instances with credits, slow clocks.
Sources: kernel documentation on cpufreq, SMT and clocksource; Amazon, Microsoft, Google and Alibaba on their burstable
instance types. Azure and Google do not show the type in the firmware, so their burstable ones are not seen here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from plimsoll.analyse.findings.client import ClientSharesCpus
from plimsoll.analyse.findings.doubts import Doubt, Observation, Place, Voids, WarningKind
from plimsoll.record.environment import HostFacts, InstanceFacts, StorageFacts
from plimsoll.units import format_bytes, format_percent, parse_whole


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

LIMIT_TOO_LOW = WarningKind(
    "limit-too-low",
    Voids.CERTAINTY,
    "Raise the limit to what is needed, or use lower levels or fewer tables.",
    "Connections or statements beyond the limit fail, so the level is not what it says.",
)


class Limit(Observation, kind=LIMIT_TOO_LOW, seen="limit"):
    """Less is allowed than is needed."""

    name: str
    limit: int
    wanted: int

    def __str__(self) -> str:
        return f"{self.name}: {self.limit:,} are allowed, {self.wanted:,} are needed"


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
        yield facts.place.doubt(Limit(name="open files of this user", limit=facts.open_files_max, wanted=wanted))


def of_servers(facts: Readiness) -> Iterator[Doubt]:
    """Connections and prepared statements that a server would refuse."""
    if facts.demand is None:
        return
    for server in facts.servers:
        for name, wanted in _wanted(facts.demand).items():
            limit = parse_whole(server.variables.get(name, ""))
            if limit is not None and wanted > limit:
                yield facts.place.doubt(Limit(name=f"{name} of {server.name}", limit=limit, wanted=wanted))


def _wanted(demand: Demand) -> dict[str, int]:
    wanted = {"max_connections": demand.connections + OWN_CONNECTIONS}
    return wanted | ({"max_prepared_stmt_count": demand.prepared_statements} if demand.prepared_statements else {})


LITTLE_SPACE = WarningKind(
    "little-space",
    Voids.CERTAINTY,
    "Free space, or choose another data_dir, --to or PLIMSOLL_DATA_DIR.",
    "A run may stop because the disk is full.",
)


class FreeSpace(Observation, kind=LITTLE_SPACE, seen="free-space"):
    """A file system is nearly full."""

    path: str
    free_bytes: int
    device: str

    def __str__(self) -> str:
        return f"{format_bytes(self.free_bytes)} are free in {self.path}"


def free_space(facts: Readiness) -> Iterator[Doubt]:
    """Little space on a file system that data, copies or recordings will lie on; each device is told once."""
    reported = set()
    for storage in facts.storage:
        key = storage.device or storage.path
        if storage.free_bytes is not None and storage.free_bytes < _FREE_BYTES_WANTED and key not in reported:
            reported.add(key)
            yield facts.place.doubt(FreeSpace(path=storage.path or "", free_bytes=storage.free_bytes, device=key or ""))


HOST_BUSY_ELSEWHERE = WarningKind(
    "host-busy-elsewhere",
    Voids.MACHINE,
    "Find and stop what else runs there, or measure on a quiet host.",
    "Figures are too low, and differ from run to run.",
)

_BUSY_RATIO = 0.1
STEAL_RATIO = 0.02
"""From this share of stolen time on there is a doubt, before load and during it."""


class BusyBefore(Observation, kind=HOST_BUSY_ELSEWHERE, seen="busy-before"):
    """Something else took the processors before any load."""

    busy_cpu_ratio: float
    sample_s: float

    def __str__(self) -> str:
        busy = format_percent(self.busy_cpu_ratio)
        return f"before any load, {busy} of the processors' time was taken by something else"


class BusyElsewhere(Observation, kind=HOST_BUSY_ELSEWHERE, seen="busy-elsewhere"):
    """Something else took the processors during a trial."""

    other_cpu_ratio: float

    def __str__(self) -> str:
        other = format_percent(self.other_cpu_ratio)
        return f"{other} of the processors' time went neither to the server nor to the client"


class Stolen(Observation, kind=HOST_BUSY_ELSEWHERE, seen="stolen"):
    """The hypervisor took the processors away during a trial."""

    steal_cpu_ratio: float

    def __str__(self) -> str:
        return f"the hypervisor took {format_percent(self.steal_cpu_ratio)} of the processors' time (steal)"


class StolenBefore(Stolen, seen="stolen-before"):
    """The same before any load."""

    def __str__(self) -> str:
        return f"before any load, {super().__str__()}"


def other_load(facts: Readiness) -> Iterator[Doubt]:
    """Something else runs."""
    if facts.moment is not None and facts.moment.busy_ratio > _BUSY_RATIO:
        busy = facts.moment.busy_ratio
        yield facts.place.doubt(BusyBefore(busy_cpu_ratio=busy, sample_s=facts.moment.sample_s), busy)


def steal(facts: Readiness) -> Iterator[Doubt]:
    """The hypervisor gives processor time to others: there are more virtual than physical CPUs."""
    if facts.moment is not None and facts.moment.steal_ratio > STEAL_RATIO:
        stolen = facts.moment.steal_ratio
        yield facts.place.doubt(StolenBefore(steal_cpu_ratio=stolen), stolen)


def shared_cpus(facts: Readiness) -> Iterator[Doubt]:
    """Client and server may run on the same CPUs and so take time from each other."""
    for placement in facts.placements:
        if placement.shared_cpus:
            count = len(placement.shared_cpus)
            seen = ClientSharesCpus(instance=placement.instance, shared_count=count, cpus=placement.shared_cpus)
            yield facts.place.doubt(seen, float(count))


SWAP_LIKELY = WarningKind(
    "swap-likely",
    Voids.CERTAINTY,
    "Set vm.swappiness = 1 (sysctl), or turn swap off while you measure (swapoff -a).",
    "Parts of the buffer pool may be swapped out: throughput drops and recovers without a cause.",
)


class Swap(Observation, kind=SWAP_LIKELY, seen="swap"):
    """The kernel swaps early."""

    swap_bytes: int
    swappiness: int

    def __str__(self) -> str:
        return f"there are {format_bytes(self.swap_bytes)} of swap, and vm.swappiness is {self.swappiness:,}"


SWAPPINESS_MAX = 10
"""Up to this the kernel hardly swaps before the page cache is gone; distributions set 60."""

MEMORY_OVERCOMMITTED = WarningKind(
    "memory-overcommitted",
    Voids.MACHINE,
    "Set innodb_buffer_pool_size so that all buffer pools take at most 80 % of memory.",
    "The kernel swaps, or kills the server when memory runs out.",
)


class PoolsAndMemory(Observation, kind=MEMORY_OVERCOMMITTED, seen="pools-and-memory"):
    """All buffer pools take too much of the machine's memory."""

    buffer_pool_bytes: int
    memory_bytes: int

    def __str__(self) -> str:
        pools, memory = format_bytes(self.buffer_pool_bytes), format_bytes(self.memory_bytes)
        return f"buffer pools take {pools} of {memory} of memory"


class PoolAndLimit(Observation, kind=MEMORY_OVERCOMMITTED, seen="pool-and-limit"):
    """A buffer pool takes too much of its server's memory limit."""

    buffer_pool_bytes: int
    limit_bytes: int

    def __str__(self) -> str:
        pool, limit = format_bytes(self.buffer_pool_bytes), format_bytes(self.limit_bytes)
        return f"the buffer pool takes {pool} of the server's memory limit, {limit}"


_POOL_RATIO_MAX = 0.9
"""Connections, dictionary and the kernel need memory beside buffer pools."""


def swap(facts: Readiness) -> Iterator[Doubt]:
    """The kernel may swap parts of the buffer pool out in favour of its page cache."""
    host = facts.host
    if host.swap_bytes and host.swappiness is not None and host.swappiness > SWAPPINESS_MAX:
        yield facts.place.doubt(Swap(swap_bytes=host.swap_bytes, swappiness=host.swappiness))


HUGE_PAGES_ALWAYS = WarningKind(
    "huge-pages-always",
    Voids.CERTAINTY,
    "Write madvise or never to /sys/kernel/mm/transparent_hugepage/enabled and start the servers again.",
    "The kernel rearranges memory in the background: response times have stalls.",
)


class HugePages(Observation, kind=HUGE_PAGES_ALWAYS, seen="huge-pages"):
    """Transparent huge pages are set to always."""

    def __str__(self) -> str:
        return "transparent huge pages are set to always"


def huge_pages(facts: Readiness) -> Iterator[Doubt]:
    """With `always` the kernel joins pages in the background, and requests wait for it."""
    if facts.host.transparent_huge_pages == "always":
        yield facts.place.doubt(HugePages())


def pools_and_memory(facts: Readiness) -> Iterator[Doubt]:
    """Buffer pools leave too little of the machine's memory, or of what a server's control group allows."""
    pools = [size for server in facts.servers if (size := buffer_pool_bytes(server)) is not None]
    memory = facts.host.memory_bytes
    if memory is not None and pools and sum(pools) > _POOL_RATIO_MAX * memory:
        yield facts.place.doubt(PoolsAndMemory(buffer_pool_bytes=sum(pools), memory_bytes=memory))
    for server in facts.servers:
        limit = None if server.placement is None else server.placement.memory_limit_bytes
        pool = buffer_pool_bytes(server)
        if limit is not None and pool is not None and pool > _POOL_RATIO_MAX * limit:
            yield facts.place.doubt(PoolAndLimit(buffer_pool_bytes=pool, limit_bytes=limit))


DATA_LARGER_THAN_BUFFER_POOL = WarningKind(
    "data-larger-than-buffer-pool",
    Voids.NOTHING,
    "Enlarge the buffer pool, or measure with the ratio of data to memory that production has.",
    "Figures hold for this ratio of data to memory, and depend on storage.",
)
DATA_IN_PAGE_CACHE = WarningKind(
    "data-in-page-cache",
    Voids.NOTHING,
    "Set innodb_flush_method to O_DIRECT, or use more data than the host has memory.",
    "Reads come from the kernel's page cache, which production may not have room for.",
)


class DataAndBufferPool(Observation, kind=DATA_LARGER_THAN_BUFFER_POOL, seen="data-and-buffer-pool"):
    """Data does not fit the buffer pool."""

    data_bytes: int
    buffer_pool_bytes: int

    def __str__(self) -> str:
        return f"{format_bytes(self.data_bytes)} of data, {format_bytes(self.buffer_pool_bytes)} of buffer pool"


class DataAndMemory(Observation, kind=DATA_IN_PAGE_CACHE, seen="data-and-memory"):
    """Data fits the kernel's page cache instead."""

    data_bytes: int
    buffer_pool_bytes: int
    memory_bytes: int
    innodb_flush_method: str

    def __str__(self) -> str:
        return (
            f"{format_bytes(self.data_bytes)} of data, {format_bytes(self.buffer_pool_bytes)} of buffer pool,"
            f" {format_bytes(self.memory_bytes)} of memory in the host, innodb_flush_method ="
            f" {self.innodb_flush_method}"
        )


def data_and_memory(facts: Readiness) -> Iterator[Doubt]:
    """Data does not fit the buffer pool, and perhaps fits the kernel's page cache instead."""
    memory_bytes = facts.host.memory_bytes
    for instance in facts.servers:
        pool_bytes = buffer_pool_bytes(instance)
        if instance.data_bytes is None or pool_bytes is None or instance.data_bytes <= pool_bytes:
            continue
        data_bytes = instance.data_bytes
        weight = data_bytes / pool_bytes
        yield facts.place.doubt(DataAndBufferPool(data_bytes=data_bytes, buffer_pool_bytes=pool_bytes), weight)
        method = instance.variables.get("innodb_flush_method", "")
        if memory_bytes and data_bytes < memory_bytes - pool_bytes and not method.startswith("O_DIRECT"):
            seen = DataAndMemory(
                data_bytes=data_bytes,
                buffer_pool_bytes=pool_bytes,
                memory_bytes=memory_bytes,
                innodb_flush_method=method or "unknown",
            )
            yield facts.place.doubt(seen, weight)


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


BURSTABLE_INSTANCE = WarningKind(
    "burstable-instance",
    Voids.MACHINE,
    "Measure on an instance type with a fixed share of its processors.",
    "Throughput falls, often to a tenth, when the credits are used up.",
)


class Burstable(Observation, kind=BURSTABLE_INSTANCE, seen="burstable"):
    """The type of the instance has credits."""

    product_name: str

    def __str__(self) -> str:
        return f"the instance type is {self.product_name}, whose processor time is limited by credits"


def burstable(facts: Readiness) -> Iterator[Doubt]:
    """The instance has processor time only as long as its credits last."""
    product = facts.host.product_name
    if product is not None and _BURSTABLE.match(product.strip()):
        yield facts.place.doubt(Burstable(product_name=product.strip()))


CPU_FREQUENCY_VARIES = WarningKind(
    "cpu-frequency-varies",
    Voids.CERTAINTY,
    "Set the governor to performance (cpupower frequency-set -g performance).",
    "Processors that idle are slowed down: low levels look worse than they are.",
)


class Governor(Observation, kind=CPU_FREQUENCY_VARIES, seen="governor"):
    """The frequency governor saves power."""

    governor: str

    def __str__(self) -> str:
        return f"the frequency governor is {self.governor}"


def governor(facts: Readiness) -> Iterator[Doubt]:
    """Another governor than `performance` slows idle processors down."""
    name = facts.host.cpu_governor
    if name is not None and name != "performance":
        yield facts.place.doubt(Governor(governor=name))


TURBO_ON = WarningKind(
    "turbo-on",
    Voids.NOTHING,
    "Turn turbo off for the comparison of small differences, or measure long enough to be warm.",
    "Speed depends on temperature and on how many cores are busy.",
)


class Turbo(Observation, kind=TURBO_ON, seen="turbo"):
    """Processors run above their base frequency."""

    def __str__(self) -> str:
        return "processors may run above their base frequency"


def turbo(facts: Readiness) -> Iterator[Doubt]:
    """Processors run above their base frequency until they are hot or many."""
    if facts.host.cpu_turbo:
        yield facts.place.doubt(Turbo())


SMT_ON = WarningKind(
    "smt-on",
    Voids.NOTHING,
    "Count cores and not hardware threads when you size, and give client and server whole cores.",
    "A second thread on a core adds about a quarter of a core, not a whole one.",
)


class Smt(Observation, kind=SMT_ON, seen="smt"):
    """There are more logical CPUs than cores."""

    threads_count: int
    cores_count: int

    def __str__(self) -> str:
        return f"{self.threads_count:,} hardware threads share {self.cores_count:,} cores"


def smt(facts: Readiness) -> Iterator[Doubt]:
    """More logical CPUs than cores: the second thread of a core adds far less than a core does."""
    cores, threads = facts.host.cpu_cores, facts.host.cpu_threads
    if cores is not None and threads is not None and threads > cores and facts.host.cpu_smt is not False:
        yield facts.place.doubt(Smt(threads_count=threads, cores_count=cores))


SLOW_CLOCK = WarningKind(
    "slow-clock",
    Voids.CERTAINTY,
    "Use tsc where the machine offers it (boot with clocksource=tsc).",
    "Each time that is taken costs a system call or more, of the client and of the server.",
)


class Clock(Observation, kind=SLOW_CLOCK, seen="clock"):
    """The clock cannot be read in user space."""

    clock_source: str

    def __str__(self) -> str:
        return f"the clock source is {self.clock_source}"


def clock(facts: Readiness) -> Iterator[Doubt]:
    """A clock that takes long to read costs each transaction, of the client and of the server."""
    source = facts.host.clock_source
    if source is not None and source not in STEADY_CLOCKS:
        yield facts.place.doubt(Clock(clock_source=source))
