"""Pre-flight checks of a machine and of servers: finds the facts out, has them judged, refuses if that is wanted.

Nothing is changed anywhere. Of managed servers that do not run yet, what can be known follows from the option file that
each will have: options that no file states have the server's own default, where that is the same in all versions that
matter; sizes of tables are estimates. What a study wants of each server (connections, prepared statements, whether it
writes) is told before the study; the load engine counts exactly, before each trial, and refuses what does not fit.
Deliberately not here: what keeps a study from running at all (`preflight`), and from which value on there is a doubt
(`plimsoll.analyse.findings.machine`).
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from plimsoll.analyse.findings.catalogue import rank_of
from plimsoll.analyse.findings.doubts import Doubt, Severity
from plimsoll.analyse.findings.machine import Demand, Readiness, SharedCpus
from plimsoll.analyse.findings.servers import readiness_doubts
from plimsoll.errors import HostError
from plimsoll.hosts.host import Host
from plimsoll.hosts.local import HERE
from plimsoll.plan.disk import data_bytes
from plimsoll.record.document import Document
from plimsoll.record.environment import HostFacts, InstanceFacts, PlacementFacts
from plimsoll.record.model import TrialWarning
from plimsoll.run.instance import Instance, located, managed_spec
from plimsoll.servers.command import find_server
from plimsoll.servers.control import connect
from plimsoll.servers.directory import default_base_dir, nearest_existing
from plimsoll.servers.facts import host_facts, instance_facts, usable_memory_bytes
from plimsoll.servers.moment import machine_moment, open_files_max
from plimsoll.servers.option_file import (
    MIB,
    SERVER_CONNECTIONS,
    Flavour,
    FlavourName,
    InstancePaths,
    MachineSizes,
    make_option_file,
)
from plimsoll.servers.placement import placement_facts
from plimsoll.servers.storage import storage_facts
from plimsoll.spec.oltp import SENT_AS_TEXT
from plimsoll.spec.study import StudySpec
from plimsoll.spec.system import ServerSpec, SystemSpec
from plimsoll.spec.target import Target
from plimsoll.spec.tpcc import TpccSpec
from plimsoll.spec.workloads import StatementsSpec, Workload
from plimsoll.units import parse_size_bytes


class ReadinessFinding(Document):
    """A finding in words.

    Attributes:
        code: As warnings have it.
        severity: `grave`, `uncertain` or `context`.
        evidence: What was seen.
        consequence: What it does to figures.
        cure: What to do about it.
    """

    code: str
    severity: str
    evidence: str
    consequence: str
    cure: str

    @property
    def is_refused(self) -> bool:
        """`--strict` does not measure with it."""
        return self.severity != Severity.CONTEXT.name.lower()

    def as_warning(self) -> TrialWarning:
        """The same as events hold it."""
        return TrialWarning(code=self.code, evidence=self.evidence, advice=self.cure)


def machine_readiness(folders: Iterable[Path], demand: Demand | None = None, host: Host = HERE) -> Readiness:
    """What is known of a machine; takes half a second to see what else runs.

    Args:
        folders: Where data and recordings will lie; they need not exist.
        demand: What will be wanted.
        host: The machine.
    """
    return Readiness(
        host=host.call(host_facts),
        moment=host.call(machine_moment),
        storage=tuple(host.call(storage_facts, host.call(nearest_existing, folder)) for folder in folders),
        open_files_max=host.call(open_files_max),
        demand=demand,
    )


def servers_readiness(
    instances: Sequence[Instance],
    demand: Demand | None = None,
    host: HostFacts | None = None,
    *,
    client_cpus: Iterable[int] | None = None,
) -> Readiness:
    """What is known of running servers.

    Args:
        instances: They answer.
        demand: What will be wanted of each of them.
        host: This machine, where they share it.
        client_cpus: That the client is bound to; None for those that this process may use.

    Raises:
        TargetError: One does not answer.
    """
    here = [instance for instance in instances if instance.is_here or not instance.host.is_here]
    client = os.sched_getaffinity(0) if client_cpus is None else set(client_cpus)
    memory = host.memory_bytes if host is not None and len(here) == len(instances) else None
    return Readiness(
        host=HostFacts(memory_bytes=memory),
        servers=tuple(_variables_of(instance) for instance in instances),
        demand=demand,
        placements=tuple(
            placement
            for instance in instances
            if instance.is_here
            if (placement := shared_cpus_of(instance, client)) is not None
        ),
    )


def target_instance(name: str, target: Target, host: Host = HERE) -> Instance:
    """A running server, with where it runs.

    Raises:
        TargetError: It does not answer.
    """
    instance = Instance(name=name, target=target, host=host)
    with connect(target) as control:
        return located(instance, control)


def judged(facts: Readiness) -> tuple[ReadinessFinding, ...]:
    """Everything that is not as it should be, in words; the gravest first."""
    doubts = sorted(readiness_doubts(facts), key=lambda doubt: rank_of(doubt.kind.code))
    return tuple(in_words(doubt) for doubt in doubts)


def in_words(doubt: Doubt) -> ReadinessFinding:
    """A doubt in words."""
    return ReadinessFinding(
        code=doubt.kind.code,
        severity=doubt.kind.voids.severity.name.lower(),
        evidence=doubt.evidence.text,
        consequence=doubt.kind.consequence,
        cure=doubt.kind.advice,
    )


def refuse_strictly(findings: Iterable[ReadinessFinding]) -> None:
    """Refuses to measure with findings that make figures wrong or uncertain.

    Raises:
        HostError: There are some; all of them at once, with the cures.
    """
    refused = [f"{finding.code}: {finding.evidence}. {finding.cure}" for finding in findings if finding.is_refused]
    if refused:
        raise HostError("\n".join(["--strict refuses to measure:", *dict.fromkeys(refused)]))


def _variables_of(instance: Instance) -> InstanceFacts:
    """With the size of the whole database that the connection leads to: what a server holds competes for its memory."""
    size = "SELECT SUM(data_length + index_length) FROM information_schema.tables WHERE table_schema = DATABASE()"
    with connect(instance.target) as control:
        facts = instance_facts(control, name=instance.name, storage=instance.storage)
        pid = instance.pid
        placement = None if pid is None else instance.host.call(placement_facts, pid)
        return facts.model_copy(
            update={"role": instance.role, "data_bytes": control.count(size), "placement": placement}
        )


def shared_cpus_of(instance: Instance, client: set[int]) -> SharedCpus | None:
    """CPUs that the server's process and the client may both run on; None when not shown."""
    if instance.pid is None:
        return None
    with contextlib.suppress(OSError):
        shared = os.sched_getaffinity(instance.pid) & client
        return SharedCpus(instance=instance.name, shared_cpus=tuple(sorted(shared)))
    return None


_SIZE = re.compile(r"\d+[KMGT]", re.IGNORECASE)
_PREPARED_BY_DEFAULT = 16_382


def foreseen_readiness(spec: StudySpec, system: SystemSpec, host: Host = HERE) -> Readiness:
    """What will be known of a system's servers; nothing of one that runs already.

    Args:
        spec: The study.
        system: One of it.
        host: Where its servers will run.

    Raises:
        SpecError, HostError: Its options are wrong, or its server is not found.
    """
    if (server := system.server) is None:
        return Readiness()
    count, together = server.instances, len(spec.system) if spec.study.is_duet else 1
    variables = _variables(server, count * together, host)
    limit = None if server.memory_limit is None else server.memory_limit // count
    instance = InstanceFacts(
        name=system.name,
        variables=variables,
        data_bytes=data_bytes(spec, count) // count,
        placement=PlacementFacts(memory_limit_bytes=limit),
    )
    names = [system.name] if count == 1 else [f"{system.name}/{number}" for number in range(count)]
    replica = instance.model_copy(
        update={
            "role": "replica",
            "variables": _variables(server.each_replica, count * together, host),
            "placement": PlacementFacts(memory_limit_bytes=server.each_replica.memory_limit),
        }
    )
    replicas = [replica.model_copy(update={"name": f"{system.name}/{1 + index}"}) for index in range(server.replicas)]
    return Readiness(
        host=HostFacts(memory_bytes=host.call(usable_memory_bytes)),
        servers=(*(instance.model_copy(update={"name": name}) for name in names), *replicas),
        demand=demand_of(spec, count),
    )


def _variables(server: ServerSpec, sharing_count: int, host: Host) -> dict[str, str]:
    """Global variables of each server, as far as they follow from its option file and from defaults; sizes in bytes."""
    wanted = managed_spec(server)
    flavour = host.call(find_server, wanted.server).flavour
    base_dir = wanted.data_dir or host.call(default_base_dir)
    redo_dir = host.call(nearest_existing, wanted.role_dirs.get("redo", base_dir))
    memory_bytes = host.call(usable_memory_bytes)
    if server.memory_limit is not None:
        memory_bytes = min(memory_bytes, server.memory_limit)
    written = make_option_file(
        flavour=flavour,
        profile=wanted.checked_profile(),
        paths=_paths(base_dir),
        machine=MachineSizes(
            memory_bytes=memory_bytes, free_bytes=host.call(storage_facts, redo_dir).free_bytes, instances=sharing_count
        ),
        buffer_pool_bytes=server.buffer_pool,
        options=wanted.options,
        derived=wanted.derived,
    )
    variables = _defaults(flavour) | {name: _in_bytes(value) for name, value in written.options.items()}
    if server.pool_ratio is not None:
        variables.pop("innodb_buffer_pool_size")  # follows from the tables, which are not there yet
    return variables


def _paths(base_dir: Path) -> InstancePaths:
    """Paths of an instance that is not made; nothing that is judged follows from them."""
    place = base_dir / "foreseen"
    return InstancePaths(
        data_dir=place / "data",
        socket=place / "sock",
        pid_file=place / "server.pid",
        temporary_dir=place / "tmp",
        port=0,
    )


def _defaults(flavour: Flavour) -> dict[str, str]:
    """What servers do where no option says otherwise."""
    is_mysql = flavour.name is FlavourName.MYSQL
    if is_mysql and flavour.version >= (8, 0, 30):
        redo = {"innodb_redo_log_capacity": str(100 * MIB)}
    elif not is_mysql and flavour.version >= (10, 5, 0):
        redo = {"innodb_log_file_size": str(96 * MIB)}
    else:
        redo = {"innodb_log_file_size": str(48 * MIB), "innodb_log_files_in_group": "2"}
    return {
        "innodb_buffer_pool_size": str(128 * MIB),
        "innodb_flush_log_at_trx_commit": "1",
        "innodb_doublewrite": "ON",
        "max_connections": str(SERVER_CONNECTIONS),
        "max_prepared_stmt_count": str(_PREPARED_BY_DEFAULT),
        **redo,
    }


def _in_bytes(value: str) -> str:
    """A size with a suffix as a number; anything else as it is.

    >>> _in_bytes("2M"), _in_bytes("O_DIRECT")
    ('2097152', 'O_DIRECT')
    """
    return str(parse_size_bytes(value.upper())) if _SIZE.fullmatch(value) else value


_STATEMENTS_OF_OLTP = 9
"""Five reads and four writes for each table."""

_STATEMENTS_OF_TPCC = 60


def demand_of(spec: StudySpec, instances: int = 1) -> Demand:
    """The most that one of a system's servers is asked for."""
    connections = -(-spec.sessions_max // instances)
    each = max(statements_of(workload) for workload in spec.workload)
    return Demand(
        connections=connections,
        prepared_statements=connections * each,
        writes=any(workload.writes for workload in spec.workload),
    )


def statements_of(workload: Workload) -> int:
    """How many statements a connection prepares at most; 0 where it sends text."""
    if isinstance(workload, TpccSpec):
        return _STATEMENTS_OF_TPCC if workload.prepared is not False else 0
    if isinstance(workload, StatementsSpec):
        return _of_file(workload) if workload.is_prepared else 0
    is_prepared = workload.kind not in SENT_AS_TEXT if workload.prepared is None else workload.prepared
    return _STATEMENTS_OF_OLTP * workload.tables if is_prepared else 0


def _of_file(workload: StatementsSpec) -> int:
    """Each text of a statement with rows or lists is one of its own."""
    statements = [
        statement for transaction in workload.line()["transactions"] for statement in transaction["statements"]
    ]
    return sum(max(len(statement["variants"]), 1) for statement in statements)
