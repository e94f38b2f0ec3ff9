"""Running servers that a study names as a source and its replicas: whether they are that, before anything is loaded.

Everything is only looked at: replication of a user's servers is never changed. Deliberately not here: tables and
accounts of the source (`running_servers`), and reads on replicas.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from plimsoll.errors import TargetError
from plimsoll.run.instance import Instance
from plimsoll.run.keeper import ANSWER_LIMIT_S, tables_there
from plimsoll.run.replicated import checksums_of
from plimsoll.servers.control import ControlConnection, connect
from plimsoll.servers.replication.links import dialect_of, wait_until_applied
from plimsoll.servers.replication.model import Dialect
from plimsoll.spec.secrets import with_secrets
from plimsoll.spec.statements import data_sets
from plimsoll.spec.study import StudySpec
from plimsoll.spec.system import SystemSpec
from plimsoll.spec.target import Target

APPLIED_LIMIT_S = 60.0
"""How far a replica may be behind before a study begins, seconds."""

_RIGHTS = {"MySQL": "REPLICATION CLIENT", "MariaDB": "REPLICA MONITOR, BINLOG MONITOR"}


def role_targets(spec: SystemSpec) -> tuple[Target, ...]:
    """How the running servers of a system are reached, the source first; with the password.

    Raises:
        SpecError: The password is not where the study says.
    """
    found = (spec.parsed_target(), *spec.parsed_replicas())
    return tuple(with_secrets(one, password_env=spec.password_env, defaults_file=spec.defaults_file) for one in found)


def named_targets(spec: SystemSpec) -> dict[str, Target]:
    """The same by the name of the instance. Raises as `role_targets`."""
    return {f"{spec.name}/{number}": one for number, one in enumerate(role_targets(spec))}


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
            stack.enter_context(connect(one, read_limit_s=ANSWER_LIMIT_S)) for one in (source, replica)
        )
        flavours = [_family(one) for one in (of_source, of_replica)]
        if flavours[0] != flavours[1]:
            yield f"is {flavours[1]}, and the source is {flavours[0]}; name servers of one family"
            return
        if (fault := _not_following(dialect_of(of_source), of_source, of_replica)) is not None:
            yield fault
            return
        wait_until_applied(of_source, of_replica, APPLIED_LIMIT_S)
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
