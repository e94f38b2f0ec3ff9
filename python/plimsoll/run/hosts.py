"""The hosts of a study: each connected to once, when it is first needed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from plimsoll.errors import HostError
from plimsoll.hosts.host import Host
from plimsoll.hosts.local import HERE
from plimsoll.hosts.ssh import SshHost
from plimsoll.servers.directory import default_base_dir
from plimsoll.servers.listening import boot_id
from plimsoll.servers.sweep import sweep
from plimsoll.spec.hosts import HostSpec
from plimsoll.spec.system import SystemSpec

HOST_WAIT_S = 600.0
"""How long a study waits for a host that was lost, seconds."""


class Hosts:
    """Use it as a context: at its end all connections do."""

    def __init__(self) -> None:
        self._hosts: dict[HostSpec, Host] = {}

    def of(self, system: SystemSpec) -> Host:
        """Where a system's servers run, or will run.

        Raises:
            HostError: It cannot be reached.
        """
        if system.host is None:
            return HERE
        if system.host not in self._hosts:
            self._hosts[system.host] = SshHost(system.host.ssh, python=system.host.python, address=system.host.address)
        return self._hosts[system.host]

    def leave(self, systems: Iterable[SystemSpec]) -> None:
        """Ends connections to hosts of systems whose environment goes away; what runs there ends in order."""
        for spec in {system.host for system in systems if system.host is not None}:
            if spec in self._hosts:
                self._hosts[spec].disconnect()

    def return_to(self, systems: Iterable[SystemSpec], limit_s: float) -> None:
        """Connects again to hosts that were left or lost; those that were never needed are connected to later.

        Raises:
            HostError: One cannot be reached within the limit.
        """
        for spec in {system.host for system in systems if system.host is not None}:
            if spec in self._hosts:
                self._hosts[spec].reconnect(limit_s)

    def is_lost(self, system: SystemSpec) -> bool:
        """Whether the host of a system's servers was lost: it is asked, for silence shows only after a while.

        False for one that was never connected to.
        """
        try:
            if system.host in self._hosts:
                self._hosts[system.host].call(boot_id)
        except HostError:
            return True
        return False

    def sweep(self, systems: Iterable[SystemSpec]) -> None:
        """Removes what killed runs left where servers of systems will be: on this machine and on each host.

        Raises:
            HostError: A host cannot be reached.
        """
        sweep(default_base_dir())
        for system in systems:
            if system.server is not None:
                host = self.of(system)
                for base_dir in (host.call(default_base_dir), *map(Path, system.server.folders)):
                    host.call(sweep, base_dir)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for host in self._hosts.values():
            host.close()
