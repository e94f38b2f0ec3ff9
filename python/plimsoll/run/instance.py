"""A running server of a system, and where it runs."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from plimsoll.hosts.host import Host
from plimsoll.hosts.local import HERE
from plimsoll.record.environment import StorageFacts
from plimsoll.servers.control import ControlConnection
from plimsoll.servers.listening import find_listening
from plimsoll.servers.locality import locate
from plimsoll.servers.storage import storage_facts
from plimsoll.spec.shares import shares
from plimsoll.spec.statements import Workload
from plimsoll.spec.target import Target
from plimsoll.telemetry.exporters.sampler import Exporter

ServerRole = Literal["source", "replica"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A running server of a system.

    Attributes:
        name: Unique within its system.
        role: A `replica` repeats the data of the one source of its system.
        host: The machine through which it is watched; this one, unless the study file names another.
        is_here: It is a process of this machine; None when unknown.
        place: How that was found, or why it is unknown, as part of a sentence.
        unwatched: Why its process cannot be watched though it is here; None when it can.
        pid: Its process; None when it is not this machine's or not known.
        data_dir: Where its data lies on this machine; None when not known.
        is_managed: Plimsoll started it, and may set its variables.
        option_file: Text of its option file; None when Plimsoll did not write it.
        storage: Where its data lies; None when not known.
        exporters: Pages that tell how it and its machine do.
        storage_of_roles: Where that lies which has a path of its own: `redo`, `binlog`, `undo`, `tmp`.
    """

    name: str
    target: Target
    role: ServerRole = "source"
    host: Host = HERE
    is_here: bool | None = None
    place: str = "nobody has looked yet"
    unwatched: str | None = None
    pid: int | None = None
    data_dir: Path | None = None
    is_managed: bool = False
    option_file: str | None = None
    storage: StorageFacts | None = None
    storage_of_roles: Mapping[str, StorageFacts] = field(default_factory=dict)
    exporters: tuple[Exporter, ...] = ()


def sources_of(instances: Sequence[Instance]) -> tuple[Instance, ...]:
    """Those that divide the data and the load of a system."""
    return tuple(one for one in instances if one.role == "source")


def replicas_of(instances: Sequence[Instance]) -> tuple[Instance, ...]:
    """Those that repeat the data of the source."""
    return tuple(one for one in instances if one.role == "replica")


def parts_of(instances: Sequence[Instance], workload: Workload) -> tuple[Workload, ...]:
    """The part of a workload's data that each instance has; replicas have that of the only source."""
    count = len(sources_of(instances))
    parts = shares(workload, count)
    return (*parts, *parts * (len(instances) - count))


def located(instance: Instance, control: ControlConnection) -> Instance:
    """The instance with what its connection tells about where it runs.

    A host that the study names looks for the server itself, since the connection does not end there.

    Raises:
        TargetError: It does not answer.
        HostError: The host that the study names is lost.
    """
    variables, host = control.variables(), instance.host
    if host.is_here:
        found = locate(control, variables)
    else:
        found = host.call(find_listening, instance.target.port, variables.get("datadir", ""))
        is_here = None if found.is_here is None else False
        found = replace(found, is_here=is_here, reason=f"{found.reason} ({host.name})")
    storage = None
    if found.data_dir is not None:
        with contextlib.suppress(OSError):
            storage = host.call(storage_facts, found.data_dir)
    return replace(
        instance,
        is_here=found.is_here,
        place=found.reason,
        unwatched=found.unwatched,
        pid=found.pid,
        data_dir=found.data_dir,
        storage=storage,
    )
