"""Servers that replicate, as users write them: replicas of a managed server, running servers, and who takes reads.

Instances divide the whole, replicas repeat it: each has all rows, and unless it is said otherwise as much memory and as
many CPUs as the source. `targets` of a system are running servers, and `reads` says which server takes the transactions
that only read. Deliberately not here: setting replicas up (`servers.replication`), and whether running servers really
replicate (`run.replicas`), which only they know.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from plimsoll.errors import Fault, SpecError
from plimsoll.spec.fields import Count, DurationS, Place, PlainValue, SizeBytes, Written
from plimsoll.spec.placement import Cpus, format_cpus
from plimsoll.spec.server_options import OptionValue, bare_name, checked_options
from plimsoll.spec.target import Target, parse_target

REPLICAS_MAX = 16

DELAY_MAX_S = 10.0
"""More than any network between servers that replicate."""

_OWN_OPTIONS = frozenset(
    {
        "binlog_format",
        "enforce_gtid_consistency",
        "gtid_domain_id",
        "gtid_mode",
        "gtid_strict_mode",
        "log_bin",
        "log_replica_updates",
        "log_slave_updates",
        "read_only",
        "relay_log",
        "relay_log_index",
        "relay_log_recovery",
        "replica_start",
        "rpl_semi_sync_master_enabled",
        "rpl_semi_sync_replica_enabled",
        "rpl_semi_sync_slave_enabled",
        "rpl_semi_sync_source_enabled",
        "rpl_semi_sync_source_wait_for_replica_count",
        "server_id",
        "slave_start",
        "super_read_only",
    }
)
"""Without what stands before them, such as `skip_`: what Plimsoll sets for each server of a replicated system."""


def _a_tuple(value: object) -> object:
    """One value stands for a list of one."""
    if isinstance(value, list):
        return tuple(value)
    return value if isinstance(value, tuple) else (value,)


class ReplicaSpec(Written):
    """In what the replicas of a system differ from its source. What is not given is as for the source.

    Attributes:
        cpus: CPUs of the replicas: a list with one entry for each, such as ["2", "3"], or one for all together, which
            is divided.
        cpu_count: Number of CPUs: a list with one for each replica, or one for all together, which is divided.
        memory_limit: Most memory of each replica, page cache included.
        buffer_pool: Size of the buffer pool of each replica.
        data_dir: Where the directories of the replicas are made.
        options: Server options of the replicas; they are added to those of the source, and override them.
    """

    cpus: Annotated[tuple[Cpus, ...], BeforeValidator(_a_tuple)] | None = None
    cpu_count: Annotated[tuple[Count, ...], BeforeValidator(_a_tuple)] | None = None
    memory_limit: Annotated[SizeBytes, Field(gt=0)] | None = None
    buffer_pool: Annotated[SizeBytes, Field(gt=0)] | None = None
    data_dir: Place | None = None
    options: dict[str, PlainValue] = Field(default_factory=dict)

    @property
    def server_options(self) -> dict[str, OptionValue]:
        """The options with names in one spelling. Raises as `checked_options`."""
        return checked_options(self.options)


class ReplicationKeys(Written):
    """Keys of `server = {…}` about replicas.

    Attributes:
        replicas: Number of replicas, 0 to 16. Each repeats the whole data set of the source.
        replication: `async`: a commit waits for no replica. `semisync`: a commit waits until replicas have received it.
        semisync_replicas: How many replicas must acknowledge a commit; 0 for none. Default: 1.
        replication_delay: Delay of the network between source and replicas, one way, such as "1ms". Default: none.
        replica: In what replicas differ from the source.
    """

    replicas: Annotated[int, Field(ge=0, le=REPLICAS_MAX)] = 0
    replication: Literal["async", "semisync"] = "async"
    semisync_replicas: Annotated[int, Field(ge=0, le=REPLICAS_MAX)] = 1
    replication_delay: Annotated[DurationS, Field(gt=0, le=DELAY_MAX_S)] | None = None
    replica: ReplicaSpec = ReplicaSpec()

    @property
    def acknowledging(self) -> int:
        """How many replicas a commit waits for."""
        return self.semisync_replicas if self.replication == "semisync" and self.replicas else 0

    @property
    def replica_factors(self) -> dict[str, str]:
        """What tells systems with replicas apart, as text; nothing without any."""
        if not self.replicas:
            return {}
        factors = {"replicas": str(self.replicas), "replication": self.replication}
        if self.replication == "semisync":
            factors["semisync_replicas"] = str(self.semisync_replicas)
        if self.replication_delay is not None:
            factors["replication_delay_s"] = f"{self.replication_delay:g}"
        replica = self.replica
        if replica.cpus is not None:
            factors["replica_cpus"] = "; ".join(format_cpus(cpu_set) for cpu_set in replica.cpus)
        if replica.cpu_count is not None:
            factors["replica_cpu_count"] = "; ".join(str(count) for count in replica.cpu_count)
        sizes = {"replica_memory_limit_bytes": replica.memory_limit, "replica_buffer_pool_bytes": replica.buffer_pool}
        factors |= {name: str(value) for name, value in sizes.items() if value is not None}
        if replica.data_dir is not None:
            factors["replica_data_dir"] = replica.data_dir
        return factors | {f"replica.{name}": str(value) for name, value in replica.options.items()}


def replication_faults(
    keys: ReplicationKeys,
    *,
    flavour: str,
    instances: int,
    cpus: tuple[int, ...] | None,
    options: Mapping[str, OptionValue],
    is_elsewhere: bool,
) -> Iterator[Fault]:
    """What is wrong with the keys about replicas.

    Args:
        keys: What was written.
        flavour: `mariadb` or `mysql`.
        instances: Number of sources.
        cpus: Of the source.
        options: The user's of the source, names in one spelling.
        is_elsewhere: The servers run on another host.
    """
    if not keys.replicas:
        about = ("replication", "semisync_replicas", "replication_delay", "replica")
        if "replicas" not in keys.model_fields_set:
            written = [name for name in about if name in keys.model_fields_set]
            yield from (Fault((name,), "this server has no replicas; say replicas = 1 or more") for name in written)
        return
    if instances > 1:
        yield Fault(
            ("replicas",),
            "instances divide the data and replicas repeat it; a system has several instances or replicas, not both",
        )
    if is_elsewhere:
        yield Fault(
            ("replicas",), "are set up on this machine only; leave host out, or name running servers by targets"
        )
    yield from _semisync_faults(keys, flavour)
    yield from _cpu_faults(keys, cpus)
    for key, names in ((("options",), options), (("replica", "options"), keys.replica.server_options)):
        yield from (
            Fault((*key, name), "Plimsoll sets it for each server of a replicated system; remove it")
            for name in names
            if bare_name(name) in _OWN_OPTIONS
        )


def _semisync_faults(keys: ReplicationKeys, flavour: str) -> Iterator[Fault]:
    key = ("semisync_replicas",)
    if keys.replication == "async":
        if "semisync_replicas" in keys.model_fields_set:
            yield Fault(key, 'commits wait for no replica; say replication = "semisync", or leave it out')
    elif keys.semisync_replicas > keys.replicas:
        yield Fault(key, f"is {keys.semisync_replicas}, and there are {keys.replicas} replicas; take at most as many")
    elif keys.semisync_replicas > 1 and flavour == "mariadb":
        yield Fault(
            key, f"MariaDB waits for one replica and cannot wait for {keys.semisync_replicas}; take 1, or MySQL"
        )


def _cpu_faults(keys: ReplicationKeys, cpus: tuple[int, ...] | None) -> Iterator[Fault]:
    replica = keys.replica
    if replica.cpus is not None and replica.cpu_count is not None:
        yield Fault(("replica", "cpu_count"), "cpus says which CPUs already; keep one of them")
    if cpus is not None and replica.cpus is None:
        yield Fault(("replica", "cpus"), "the source has CPUs of its own; say which the replicas have")
    sizes = (
        ("cpus", replica.cpus and [len(cpu_set) for cpu_set in replica.cpus]),
        ("cpu_count", replica.cpu_count and list(replica.cpu_count)),
    )
    for key, counts in sizes:
        if not counts:
            continue
        if len(counts) not in {1, keys.replicas}:
            yield Fault(
                ("replica", key),
                f"has {len(counts)} entries for {keys.replicas} replicas; give one for each, or one for all together",
            )
        elif len(counts) == 1 and counts[0] % keys.replicas:
            yield Fault(
                ("replica", key),
                f"{counts[0]} CPUs cannot be divided among {keys.replicas} replicas; take a"
                f" multiple of {keys.replicas}",
            )


WAIT_TIMEOUT_MAX_S = 3600.0
"""As long as a read may wait for its connection's last write, seconds."""

ON_SOURCE = "source"
"""What `reads` says where replicas only apply."""


class Reads(Written):
    """Reads are spread over the replicas.

    Attributes:
        policy: Which replica is chosen: each in turn, or the one on which the fewest reads run.
        per: One is chosen for each transaction, or once for each connection.
        read_your_writes: `off`: a read goes to a replica at once, and may miss what its connection wrote. `wait`: it
            waits until the replica has the connection's last write (by its GTID). `pin`: after a write the connection
            reads from the source until the replica has the write.
        wait_timeout: A read waits at most so long, seconds; then it runs on the source.
    """

    policy: Literal["round_robin", "least_outstanding"] = "round_robin"
    per: Literal["transaction", "connection"] = "transaction"
    read_your_writes: Literal["off", "wait", "pin"] = "off"
    wait_timeout: Annotated[DurationS, Field(gt=0, le=WAIT_TIMEOUT_MAX_S)] = 1.0

    def line(self) -> dict[str, Any]:
        """As the engine reads it."""
        return {
            "policy": self.policy,
            "per": self.per,
            "read_your_writes": self.read_your_writes,
            "wait_timeout_ms": max(round(self.wait_timeout * 1000), 1),
        }

    def __str__(self) -> str:
        """In words."""
        meanings = {
            "off": "own writes may be missed",
            "wait": "a read waits for the connection's last write",
            "pin": "after a write the connection reads from the source",
        }
        return f"{self.policy.replace('_', ' ')} per {self.per}; {meanings[self.read_your_writes]}"


def _read(value: object) -> object:
    """None for "source"."""
    if value == ON_SOURCE:
        return None
    if isinstance(value, str) or value is None:
        raise ValueError(f'must be "{ON_SOURCE}" or a table such as {{ policy = "round_robin" }}, is {value!r}')
    return value


ReadsOrSource = Annotated[Reads | None, BeforeValidator(_read)]
"""Written as a table, or as "source" (kept as None: all reads stay on the source, replicas only apply)."""


def reads_words(reads: Reads | None) -> str:
    """Where reads go, in words; None for the source."""
    return "on the source" if reads is None else str(reads)


class RoleTargetSpec(Written):
    """One of `targets`.

    Attributes:
        role: `source` takes writes; a `replica` follows it.
        url: URL of the running server, without password, such as "mysql://bench@db2/sbtest".
    """

    role: Literal["source", "replica"]
    url: str

    def parsed(self) -> Target:
        """The target, without a password. Raises SpecError where the URL is wrong."""
        return parse_target(self.url)


def role_target_faults(targets: Sequence[RoleTargetSpec]) -> Iterator[Fault]:
    """What is wrong with them.

    Args:
        targets: As written.
    """
    count = sum(target.role == "source" for target in targets)
    if count != 1:
        yield Fault(("targets",), f"must have exactly one with role source, has {count}")
    replicas = len(targets) - count
    if not replicas:
        yield Fault(("targets",), "has no replica; add one, or give the source as target")
    if replicas > REPLICAS_MAX:
        yield Fault(("targets",), f"has {replicas} replicas, at most {REPLICAS_MAX} are supported")
    seen: dict[str, int] = {}
    for index, role_target in enumerate(targets):
        try:
            target = role_target.parsed()
        except SpecError as error:
            yield from (Fault(("targets", index, "url"), fault.reason) for fault in error.faults)
            continue
        if target.password.get_secret_value():
            yield Fault(
                ("targets", index, "url"),
                "holds a password, and study files are kept; use password_env or defaults_file",
            )
        if (first := seen.setdefault(target.endpoint, index)) != index:
            yield Fault(("targets", index, "url"), f"is the server of targets[{first}]; name each server once")
