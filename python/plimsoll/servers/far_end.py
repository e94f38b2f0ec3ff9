"""Where a connection to a server ends: which process, if it is one of this machine, and how its address is reached.

Only what the kernel says about one connection that is open; nothing is sent. Deliberately not here: what follows from
it (`locality`).
"""

from __future__ import annotations

import ipaddress
import socket
import struct
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import psutil

Connected = socket.socket


class Where(StrEnum):
    """What kind of place the far end of a connection is in."""

    PROCESS = "process"  # of this machine, and we see which
    HIDDEN = "hidden"  # of this machine, and we do not see which: it is another user's, or in a container
    FORWARDED = "forwarded"  # our own address, but nothing of this machine's network answers there
    BEYOND_CARD = "beyond-card"  # another address, through a network card
    BEYOND_VIRTUAL = "beyond-virtual"  # another address, through an interface that leads to no card


@dataclass(frozen=True, slots=True)
class FarEnd:
    """Where a connection ends.

    Attributes:
        address: As messages name it: an address, or `a unix socket`.
        pid: Of the process, where it is seen.
        interface: The network interface on our side; None for unix sockets and when unknown.
    """

    where: Where
    address: str
    pid: int | None = None
    interface: str | None = None


def far_end_of(connection: Connected, *, sys: Path = Path("/sys")) -> FarEnd:
    """Looks where an open connection ends.

    Args:
        connection: Connected over TCP or a unix socket.
        sys: Where the kernel shows devices; another folder in tests.

    Raises:
        OSError, psutil.Error: The kernel does not say.
    """
    if connection.family == socket.AF_UNIX:
        return _of_socket(connection)
    here, there = _endpoint(connection.getsockname()), _endpoint(connection.getpeername())
    for one in psutil.net_connections(kind="tcp"):
        if one.raddr and (_endpoint(one.laddr), _endpoint(one.raddr)) == (there, here):
            return FarEnd(Where.HIDDEN if one.pid is None else Where.PROCESS, there[0], one.pid)
    interface = _interface_of(here[0])
    if _is_ours(there[0]):
        return FarEnd(Where.FORWARDED, there[0], interface=interface)
    leads_out = interface is not None and has_card(interface, sys)
    return FarEnd(Where.BEYOND_CARD if leads_out else Where.BEYOND_VIRTUAL, there[0], interface=interface)


def has_card(interface: str, sys: Path = Path("/sys")) -> bool:
    """Whether a network interface leads to a device: itself, or what it is made of (bridges, bonds, VLANs)."""
    folder = sys / "class/net" / interface
    if (folder / "device").exists():
        return True
    return any(has_card(lower.name.removeprefix("lower_"), sys) for lower in folder.glob("lower_*"))


def process_name(pid: int, proc: Path = Path("/proc")) -> str | None:
    """What a process is called; None when it has ended or is not shown."""
    try:
        return (proc / f"{pid}/comm").read_text(errors="replace").strip() or None
    except OSError:
        return None


def _of_socket(connection: Connected) -> FarEnd:
    """The process that listens, by SO_PEERCRED; 0 stands for one in a container that does not show it to us."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid, _, _ = struct.unpack("3i", credentials)
    return FarEnd(Where.PROCESS if pid else Where.HIDDEN, "a unix socket", pid or None)


def _endpoint(address: object) -> tuple[str, int]:
    """Address and port; one spelling for an IPv4 address, also where the kernel shows it as one of IPv6."""
    assert isinstance(address, tuple)
    ip = ipaddress.ip_address(str(address[0]).partition("%")[0])
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return str(mapped or ip), int(address[1])


def _is_ours(address: str) -> bool:
    return ipaddress.ip_address(address).is_loopback or _interface_of(address) is not None


def _interface_of(address: str) -> str | None:
    for name, addresses in psutil.net_if_addrs().items():
        for one in addresses:
            if one.family in (socket.AF_INET, socket.AF_INET6) and one.address.partition("%")[0] == address:
                return name
    return None


def same_directory(path: str, pid: int) -> bool | None:
    """Whether a path means the same directory to a process as to us; None when we may not look."""
    try:
        theirs, ours = Path(f"/proc/{pid}/root{path}").stat(), Path(path).stat()
    except PermissionError:
        return None
    except (OSError, ValueError):
        return False
    return (theirs.st_dev, theirs.st_ino) == (ours.st_dev, ours.st_ino)
