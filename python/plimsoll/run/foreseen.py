"""What pre-flight checks can know of managed servers before any is started: from the option file that each will have.

Options that no file states have the server's own default, where that is the same in all versions that matter. Sizes of
tables are estimates. Deliberately not here: what only a running server tells (`readiness`).
"""

from __future__ import annotations

import re
from pathlib import Path

from plimsoll.analyse.readiness.model import Readiness
from plimsoll.analyse.stated_options import stated_options
from plimsoll.hosts.host import Host
from plimsoll.hosts.local import HERE
from plimsoll.plan.disk import data_bytes
from plimsoll.record.environment import HostFacts, InstanceFacts
from plimsoll.record.placement import PlacementFacts
from plimsoll.run.demand import demand_of
from plimsoll.run.managed import managed_spec
from plimsoll.servers.command import find_server
from plimsoll.servers.directory import default_base_dir, nearest_existing
from plimsoll.servers.facts import usable_memory_bytes
from plimsoll.servers.option_file import (
    MIB,
    SERVER_CONNECTIONS,
    Flavour,
    FlavourName,
    InstancePaths,
    MachineSizes,
    option_file_text,
)
from plimsoll.servers.storage import storage_facts
from plimsoll.spec.study import StudySpec
from plimsoll.spec.system import ServerSpec, SystemSpec
from plimsoll.units import parse_size_bytes

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
    text = option_file_text(
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
    variables = _defaults(flavour) | {name: _in_bytes(value) for name, value in stated_options(text).items()}
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
