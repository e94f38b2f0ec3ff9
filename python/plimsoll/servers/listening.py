"""Which process of this machine serves a port, for a machine that does not hold the connection's other end.

A host that watches a server for another machine sees no end of that machine's connections, so the process is found by
the port on which it listens. Deliberately not here: what a connection of one's own tells (`locality`).
"""

from __future__ import annotations

from pathlib import Path

import psutil

from plimsoll.servers.far_end import same_directory
from plimsoll.servers.locality import Locality, is_server


def find_listening(port: int, data_dir: str) -> Locality:
    """The server that listens on a port of this machine.

    Args:
        port: The port on which it was reached.
        data_dir: Its data directory, as the server says.

    Raises:
        OSError, psutil.Error: The kernel does not show connections, or the process has ended.
    """
    found = {
        one.pid
        for one in psutil.net_connections("tcp")
        if one.status == "LISTEN" and one.laddr and one.laddr.port == port
    }
    pids = sorted(pid for pid in found if pid is not None)
    if len(pids) != 1:
        what = "no process" if not pids else f"{len(pids)} processes"
        return Locality(is_here=None, reason=f"{what} of the host listens on port {port}, or it is not shown to us")
    process = psutil.Process(pids[0])
    name = process.name()
    if not is_server(name, process.cmdline()):
        reason = f"port {port} of the host is served by {name}, which may forward connections to another machine"
        return Locality(is_here=None, reason=reason)
    is_same = data_dir.startswith("/") and same_directory(data_dir, pids[0])
    reason = f"{name} listens on port {port} of the host"
    return Locality(is_here=True, reason=reason, pid=pids[0], data_dir=Path(data_dir) if is_same else None)


def boot_id() -> str | None:
    """Of the kernel that runs now: the same for everything on one machine, containers included; None if not shown."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip() or None
    except OSError:
        return None
