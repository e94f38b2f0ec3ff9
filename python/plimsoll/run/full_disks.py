"""Notices that servers answer nothing because a disk of theirs is full, within seconds and with the name of the disk.

Deliberately not here: how a full disk is told (`servers.full_disk`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from plimsoll.errors import HostError
from plimsoll.hosts.host import Host, Server
from plimsoll.run.instance import Instance
from plimsoll.servers.full_disk import full_disk

STILL_S = 3.0
"""Disks are looked at after so long without any progress, seconds: progress itself costs nothing."""

Place = tuple[Host, Path]
"""A managed server's host, and its data directory there."""


def places_of(*systems: Iterable[Instance]) -> list[Place]:
    """Where servers that Plimsoll started have their data, of all these systems."""
    instances = [instance for system in systems for instance in system]
    return [(one.host, one.data_dir) for one in instances if one.is_managed and one.data_dir is not None]


class FullDisks:
    """Compares what was done with what had been done before, and looks at disks while that does not change."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._done: object = None
        self._clock, self._since_s = clock, clock()

    def seen(self, done: object, places: Callable[[], Iterable[Place]]) -> None:
        """Takes in how far the work is.

        Args:
            done: Differs from the last one where something was done; None for nothing.
            places: Gives the servers that do it.

        Raises:
            HostError: Nothing was done for a while, and a disk is full.
        """
        if done is not None and done != self._done:
            self._done, self._since_s = done, self._clock()
        elif self._clock() - self._since_s >= STILL_S:
            refuse_full(places())


def refuse_full(places: Iterable[Place]) -> None:
    """Refuses servers of which a disk is full.

    Raises:
        HostError: One is; the first one is named.
    """
    for host, data_dir in places:
        if (fault := host.call(full_disk, data_dir)) is not None:
            raise HostError(fault if host.is_here else f"{host.name}: {fault}")


def stop_server(server: Server, host: Host) -> None:
    """Stops a server cleanly, and at once where it would wait for space on a full disk and never end."""
    try:
        refuse_full([(host, server.data_dir)])
    except HostError:
        server.stop(grace_s=0)
    else:
        server.stop()
