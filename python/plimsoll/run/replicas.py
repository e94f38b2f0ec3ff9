"""Replicas of a source: of a managed one set up and removed, of a user's one only looked at; what trials ask of both.

Replicas of a managed source are made, seeded with a copy of its data, and connected. Replication is set up afresh by
each start, from what a replica has applied on. Running servers that a study names as a source and its replicas are
checked before anything is loaded; replication of a user's servers is never changed. After a trial all have applied
everything, and hold the same rows as their source. Deliberately not here: the source (`systems`), the SQL
(`servers.replication`), and tables and accounts of the source (`running_servers`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from plimsoll.drive.engine import delayed
from plimsoll.errors import InvalidTrialError, TargetError
from plimsoll.hosts.host import Server
from plimsoll.run.instance import Instance, managed_spec, replicas_of, sources_of
from plimsoll.run.system_data import ANSWER_LIMIT_S, side_by_side, tables_there
from plimsoll.servers import data_copy
from plimsoll.servers.command import find_server
from plimsoll.servers.control import ControlConnection, connect
from plimsoll.servers.managed_server import ManagedServer, ManagedSpec
from plimsoll.servers.option_file import MachineSizes
from plimsoll.servers.placement import InstancePlacement, Topology, choose_cpus, divide_cpus, instance_placements
from plimsoll.servers.replication.links import dialect, dialect_of, start_replica, use_semisync, wait_until_applied
from plimsoll.servers.replication.model import Dialect, ReplicationAccount, place_of
from plimsoll.servers.storage import FlushTimes
from plimsoll.spec.placement import share_of
from plimsoll.spec.server_options import OptionValue
from plimsoll.spec.study import StudySpec
from plimsoll.spec.system import ServerSpec, SystemSpec
from plimsoll.spec.target import Target, with_secrets
from plimsoll.spec.workloads import data_sets
from plimsoll.units import format_duration

CATCH_UP_LIMIT_S = 600.0
"""How long replicas may take to apply what they lack before the first trial, seconds."""

SOURCE_ID = 1
"""`server_id` of the source; replicas have the next ones."""


def replication_options(server: ServerSpec, server_id: int) -> dict[str, OptionValue]:
    """What a server of a replicated system needs; nothing without replicas.

    Raises:
        HostError: It is not installed.
        TargetError: It is too old.
    """
    if not server.replicas:
        return {}
    speaks = dialect(find_server(server.command or server.managed).flavour)
    return dict(speaks.options(server_id, is_semisync=server.replication == "semisync"))


def replica_placements(
    server: ServerSpec, topology: Topology, avoid: Sequence[int] = ()
) -> tuple[InstancePlacement, ...]:
    """What each replica may use of this machine: other CPUs than the source, as far as CPUs were said.

    Args:
        server: What the user wrote.
        topology: Of this machine.
        avoid: CPUs of the load generator: they are chosen last.
    """
    replica_spec, count = server.each_replica, server.replicas
    if not count:
        return ()
    (source,) = instance_placements(server, 1, topology, avoid)
    parts: list[tuple[int, ...] | None] = [None] * count
    if server.replica.cpus is not None:
        written = server.replica.cpus
        parts = list(divide_cpus(written[0], count, topology) if len(written) == 1 else written)
    elif (counts := replica_cpu_counts(server)) is not None:
        left = topology
        for index, wanted in enumerate(counts):
            taken = source.cpus if index == 0 else parts[index - 1]
            left = replace(left, allowed=left.allowed - set(taken or ()))
            parts[index] = choose_cpus(wanted, left, avoid)
    limits = share_of(replica_spec, 1)
    return tuple(
        InstancePlacement(cpus=part, share=limits, scheduling=replica_spec.scheduling, nice=replica_spec.nice)
        for part in parts
    )


def replica_cpu_counts(server: ServerSpec) -> tuple[int, ...] | None:
    """How many CPUs are chosen for each replica; None where none are."""
    written = server.replica.cpu_count
    if written is None:
        is_as_source = server.cpu_count is not None and server.replica.cpus is None
        return (server.cpu_count,) * server.replicas if is_as_source and server.cpu_count else None
    return (written[0] // server.replicas,) * server.replicas if len(written) == 1 else written


class Replicas:
    """The replicas of one managed source; there may be none."""

    def __init__(self, name: str, server: ServerSpec) -> None:
        """Nothing is made yet.

        Args:
            name: Of the system.
            server: What the user wrote.
        """
        self._name, self._spec = name, server
        self._account = ReplicationAccount()
        self._relays = ExitStack()
        self._are_seeded = False
        self.servers: tuple[ManagedServer, ...] = ()

    def create(self, machine: MachineSizes, flush: FlushTimes, placements: Sequence[InstancePlacement]) -> None:
        """Makes their directories, without data, or none of them. Raises as `ManagedServer.create`.

        Args:
            machine: What the production profile of the source is sized to.
            flush: Of the source's device.
            placements: What each may use.
        """
        made = list[ManagedServer]()
        try:
            for number, placement in enumerate(placements, start=1):
                spec = replace(self._wanted(SOURCE_ID + number), placement=placement, is_copy=True)
                made.append(self._create_one(f"{self._name}/{number}", spec, machine, flush))
        except BaseException:
            for server in made:
                server.remove()
            raise
        self.servers = tuple(made)

    def _create_one(self, name: str, spec: ManagedSpec, machine: MachineSizes, flush: FlushTimes) -> ManagedServer:
        if (limit := self._spec.each_replica.memory_limit) is not None:
            machine = replace(machine, memory_bytes=min(machine.memory_bytes, limit))
        return ManagedServer.create(name=name, spec=spec, machine=machine, flush=flush)

    def _wanted(self, server_id: int) -> ManagedSpec:
        managed = managed_spec(self._spec.each_replica)
        return replace(managed, derived={**managed.derived, **replication_options(self._spec, server_id)})

    def seed(self, source: Server, *, from_saved: bool) -> None:
        """Gives them a copy of the data of the source; all servers are stopped.

        Args:
            source: The server.
            from_saved: The saved copy of its data is taken.

        Raises:
            HostError: There is too little space, or a copy failed.
        """
        assert isinstance(source, ManagedServer), "replicas are on the machine of their source"
        side_by_side([partial(self._seed_one, source, server, from_saved) for server in self.servers])
        self._are_seeded = True

    @staticmethod
    def _seed_one(source: ManagedServer, replica: ManagedServer, from_saved: bool) -> None:
        data_copy.seed(source.directory, replica.directory, from_saved=from_saved)
        replica.renew_accounts()
        if source.pool_bytes is not None:
            replica.use_pool(source.pool_bytes)

    @property
    def running(self) -> tuple[ManagedServer, ...]:
        """Those that run."""
        return tuple(server for server in self.servers if server.is_running)

    @property
    def starts(self) -> list[Callable[[], None]]:
        """Starts each of them; replication comes after the start of all servers (`follow`)."""
        return [server.start for server in self.servers]

    def follow(self, source: Server) -> None:
        """Lets all of them follow the source, which runs, and waits until they have applied everything.

        Raises:
            TargetError: One does not replicate; with the server's code and message.
            HostError: A relay cannot be had.
        """
        if not self.servers:
            return
        self._relays.close()
        with connect(source.target) as control:
            for replica in self.servers:
                with connect(replica.target) as of_replica:
                    self._follow_one(source.target, control, of_replica)
                    wait_until_applied(control, of_replica, CATCH_UP_LIMIT_S)
            if self._spec.acknowledging:
                use_semisync(control, self._spec.acknowledging)
        self._are_seeded = False

    def _follow_one(self, target: Target, source: ControlConnection, replica: ControlConnection) -> None:
        port = None
        if self._spec.replication_delay is not None:
            port = self._relays.enter_context(delayed(target, delay_s=self._spec.replication_delay))
        if self._are_seeded:
            dialect_of(replica).adopt_copy(replica)
        is_semisync = self._spec.replication == "semisync"
        start_replica(replica, source, place_of(target, port=port), self._account, is_semisync=is_semisync)

    def stop(self, grace_s: float = 120) -> None:
        """Stops them, before their source."""
        side_by_side([partial(server.stop, grace_s=grace_s) for server in self.servers])
        self._relays.close()

    def remove(self) -> None:
        """Ends them and removes their directories."""
        with ExitStack() as stack:
            stack.callback(self._relays.close)
            for server in self.servers:
                stack.callback(server.remove)
            self.servers = ()


APPLIED_LIMIT_S = 600.0
"""How long replicas may take to apply what is left when the load has ended, seconds."""

CHECKSUM_LIMIT_S = 3600.0
"""How long a server may take for the checksum of one table, seconds."""


def caught_up(instances: Sequence[Instance], limit_s: float = APPLIED_LIMIT_S) -> str:
    """Waits until every replica has applied what the source has committed; says so, for the note of a state.

    Nothing where there are no replicas.

    Raises:
        TargetError: One has not within the limit, or it stopped applying; with the server's code and message.
    """
    replicas = replicas_of(instances)
    if not replicas:
        return ""
    waited = side_by_side([partial(_wait, sources_of(instances)[0], replica, limit_s) for replica in replicas])
    return f"replicas had applied everything after {format_duration(max(waited))}"


def refuse_different_replicas(instances: Sequence[Instance], tables: Sequence[str]) -> str:
    """Makes sure that every replica holds the rows of its source, when the load has ended; says so as `caught_up`.

    CHECKSUM TABLE reads every row of the tables once on each server, at the same time on all of them.

    Raises:
        InvalidTrialError: A replica stopped, did not catch up, or holds other rows.
    """
    replicas = replicas_of(instances)
    if not replicas:
        return ""
    try:
        applied, began_s = caught_up(instances), time.monotonic()
        (of_source, *of_replicas) = checksums_of(
            [replica.target for replica in (sources_of(instances)[0], *replicas)], tables
        )
    except TargetError as error:
        raise InvalidTrialError(f"replicas: {error}") from None
    for replica, of_replica in zip(replicas, of_replicas, strict=True):
        if different := [name for name in tables if of_replica[name] != of_source[name]]:
            raise InvalidTrialError(
                f"{replica.name}: the replica holds other rows than its source in {', '.join(different)} (CHECKSUM"
                " TABLE differs after everything was applied). It does not replicate the source; set it up again"
            )
    return f"; {applied}; equal rows by CHECKSUM TABLE, {format_duration(time.monotonic() - began_s)}"


def checksums_of(targets: Sequence[Target], tables: Sequence[str]) -> list[dict[str, str]]:
    """The checksum of each table on each server as text, `None` for a table that is not there; all at the same time.

    Raises:
        TargetError: A server does not answer.
    """
    return side_by_side([partial(_checksums, target, tables) for target in targets])


def _checksums(target: Target, tables: Sequence[str]) -> dict[str, str]:
    names = ", ".join(f"`{name.replace('`', '``')}`" for name in tables)
    with connect(target, read_limit_s=CHECKSUM_LIMIT_S) as control:
        rows = control.rows(f"CHECKSUM TABLE {names}".replace("%", "%%"), columns=2) if tables else []
    return {name: str(row[1]) for name, row in zip(tables, rows, strict=True)}


def _wait(source: Instance, replica: Instance, limit_s: float) -> float:
    with ExitStack() as stack:
        both = [stack.enter_context(connect(instance.target)) for instance in (source, replica)]
        try:
            return wait_until_applied(both[0], both[1], limit_s)
        except TargetError as error:
            raise TargetError(f"{replica.name}: {error}", code=error.code, sqlstate=error.sqlstate) from None


ROLES_LIMIT_S = 60.0
"""How far a replica may be behind before a study begins, seconds."""

_RIGHTS = {"MySQL": "REPLICATION CLIENT", "MariaDB": "REPLICA MONITOR, BINLOG MONITOR"}


def role_targets(spec: SystemSpec) -> tuple[Target, ...]:
    """How the running servers of a system are reached, the source first; with the password.

    Raises:
        SpecError: The password is not where the study says.
    """
    targets = (spec.parsed_target(), *spec.parsed_replicas())
    return tuple(
        with_secrets(target, password_env=spec.password_env, defaults_file=spec.defaults_file) for target in targets
    )


def named_targets(spec: SystemSpec) -> dict[str, Target]:
    """The same by the name of the instance. Raises as `role_targets`."""
    return {f"{spec.name}/{number}": role_target for number, role_target in enumerate(role_targets(spec))}


def role_instances(spec: SystemSpec, source: Instance) -> tuple[Instance, ...]:
    """The instances of a system of running servers. Raises SpecError as `role_targets`.

    Args:
        spec: The system.
        source: Its first instance.
    """
    others = list(named_targets(spec).items())[1:]
    return (source, *(Instance(name=name, target=target, role="replica") for name, target in others))


def unfit_roles(spec: StudySpec, systems: Sequence[SystemSpec]) -> Iterator[str]:
    """A line for everything by which servers are not what `targets` says.

    Args:
        spec: The study.
        systems: Those whose servers run; others than with `targets` are passed over.
    """
    tables = [name for workload in data_sets(spec.workload) for name in workload.table_names]
    for system in systems:
        if not system.targets:
            continue
        source, *replicas = role_targets(system)
        for replica in replicas:
            try:
                yield from (f"system {system.name}: {replica}: {fault}" for fault in _faults(source, replica, tables))
            except TargetError as error:
                yield f"system {system.name}: {_with_rights(error)}"


def _faults(source: Target, replica: Target, tables: Sequence[str]) -> Iterator[str]:
    """Why a server is no replica of a source that could be measured; the first reason, or none."""
    with ExitStack() as stack:
        of_source, of_replica = (
            stack.enter_context(connect(target, read_limit_s=ANSWER_LIMIT_S)) for target in (source, replica)
        )
        flavours = [_family(control) for control in (of_source, of_replica)]
        if flavours[0] != flavours[1]:
            yield f"is {flavours[1]}, and the source is {flavours[0]}; name servers of one family"
            return
        if (fault := _not_following(dialect_of(of_source), of_source, of_replica)) is not None:
            yield fault
            return
        wait_until_applied(of_source, of_replica, ROLES_LIMIT_S)
        there = tables_there(of_source, tables)
    first, second = checksums_of([source, replica], there)
    if different := [name for name in there if first[name] != second[name]]:
        yield (
            f"holds other rows than the source in {', '.join(different)} (CHECKSUM TABLE); set the replica up again"
            " from a copy of the source"
        )


def _not_following(speaks: Dialect, source: ControlConnection, replica: ControlConnection) -> str | None:
    """Why a server does not follow this source by GTIDs; None when it does."""
    for what, server in (("the source", source), ("the replica", replica)):
        if (why := speaks.gtids_off(server)) is not None:
            return (
                f"GTIDs are off: {why} on {what}. Without them nobody can say what a replica has applied; turn on"
                " log_bin, and in MySQL gtid_mode and enforce_gtid_consistency"
            )
    if (status := speaks.status(replica)) is None:
        return "is no replica: it has no source; set replication up first, or leave it out of targets"
    if status.fault is not None:
        return f"does not replicate: {status.fault}; fix that first"
    if status.source_id != (wanted := speaks.server_id(source)):
        return (
            f"replicates from {status.source_host}:{status.source_port} ({status.source_id}), and not from"
            f" {source.target} ({wanted}); correct targets"
        )
    if not status.uses_gtids:
        return (
            "follows by file and position, not by GTIDs; use SOURCE_AUTO_POSITION = 1 (MySQL) or MASTER_USE_GTID ="
            " slave_pos (MariaDB)"
        )
    return None


def _family(server: ControlConnection) -> str:
    return "MariaDB" if "mariadb" in str(server.value("SELECT VERSION()")).lower() else "MySQL"


def _with_rights(error: TargetError) -> str:
    """What an account needs to look at replication."""
    if error.code != 1227:
        return str(error)
    rights = "; ".join(f"{name}: {right}" for name, right in _RIGHTS.items())
    return f"{error}, to look at replication ({rights})"
