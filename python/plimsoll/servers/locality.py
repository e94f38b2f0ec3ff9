"""Whether a server runs on this machine, and its process and data directory if they can be watched.

An address alone says little: a tunnel or a container's port makes a local address with another machine behind it, and a
machine has addresses that its name does not show. So the connection itself is looked at: which process it ends in, as
the kernel says. A server is *here* when the connection ends in a process of this machine that is the server: its
process id is in the server's pid file, or it is called as servers are; where we may not see the process, when the
server calls its host by our name and its port is the one we connected to. It is *elsewhere* when its address is none of
ours and is reached through a network card. Everything else is unknown, with the reason.

A host that watches a server for another machine sees no end of that machine's connections, so there the process is
found by the port on which it listens. Nothing is asked of the server but its variables.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import stat
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

import psutil

from plimsoll.servers.control import ControlConnection
from plimsoll.servers.facts import started_unix_s

_SERVER_NAMES = ("mysqld", "mariadbd")
"""How processes of servers are called, at least at the beginning."""

_LISTENS_FOR_OTHERS = "systemd"
"""May open the socket of a server that it starts when somebody connects."""

_BEGINS_S = 5.0
"""A server counts its time from shortly after its process began, in whole seconds."""

_PORTS = ("port", "extra_port", "admin_port")
_ANOTHER_USER = "its process belongs to another user: run plimsoll as root or as that user to watch it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Locality:
    """Where a server runs.

    Attributes:
        is_here: On this machine; None when unknown.
        reason: How that was found, or why it is unknown, as part of a sentence; the same after the server was started
            again.
        pid: Its process; None when it is not here, or cannot be told.
        data_dir: Where its data lies on this machine; None when it is not here, or cannot be told.
        unwatched: Why a server that is here cannot be watched as a process; None when it can.
    """

    is_here: bool | None
    reason: str
    pid: int | None = None
    data_dir: Path | None = None
    unwatched: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that is known about where a server runs.

    Attributes:
        far_end: Where the connection ends.
        port: That we connected to; None for a unix socket.
        variables: Of the server.
        host_name: Of this machine.
        process_name: Of the process at the far end; None when it is not seen.
        pid_in_file: What the file says, here, that the server calls its pid file; None when there is none to be read.
        began_unix_s: When the server began, as it says; None when it does not.
        servers_here: Processes of this machine that are called as servers are, with when they began.
    """

    far_end: FarEnd
    port: int | None
    variables: Mapping[str, str]
    host_name: str
    process_name: str | None = None
    pid_in_file: int | None = None
    began_unix_s: int | None = None
    servers_here: Mapping[int, float] = field(default_factory=dict)


def locate(control: ControlConnection, variables: Mapping[str, str]) -> Locality:
    """Finds out where the server of a control connection runs; never fails.

    Args:
        control: An open connection.
        variables: The server's global variables.
    """
    try:
        evidence = _evidence(control, variables)
    except (OSError, psutil.Error, ValueError) as error:
        return Locality(is_here=None, reason=f"this machine does not show where the connection ends: {error}")
    locality = judge(evidence)
    return replace(locality, data_dir=_data_dir(variables, locality.pid)) if locality.is_here else locality


def _evidence(control: ControlConnection, variables: Mapping[str, str]) -> Evidence:
    far_end = far_end_of(control.socket)
    return Evidence(
        far_end=far_end,
        port=None if control.target.socket else control.target.port,
        variables=variables,
        host_name=socket.gethostname(),
        process_name=process_name(far_end.pid) if far_end.pid else None,
        pid_in_file=_pid_in_file(variables.get("pid_file", "")),
        began_unix_s=started_unix_s(control) if far_end.where in (Where.PROCESS, Where.HIDDEN) else None,
        servers_here=_servers_here(),
    )


def judge(evidence: Evidence) -> Locality:
    """What follows from the evidence, but for the data directory. Pure."""
    far_end = evidence.far_end
    match far_end.where:
        case Where.PROCESS:
            return _by_process(evidence)
        case Where.HIDDEN:
            return _by_name(evidence)
        case Where.FORWARDED:
            reason = f"nothing on this machine answers at {far_end.address}: it leads elsewhere, such as to a container"
            return Locality(is_here=None, reason=reason)
        case Where.BEYOND_VIRTUAL:
            through = far_end.interface or "an unknown interface"
            reason = (
                f"{far_end.address} is reached through {through}, which has no network card: behind it may be a"
                " container or virtual machine on this machine, or another machine"
            )
            return Locality(is_here=None, reason=reason)
        case Where.BEYOND_CARD:
            return Locality(is_here=False, reason=f"{far_end.address} is not an address of this machine")


def _by_process(evidence: Evidence) -> Locality:
    pid, name = evidence.far_end.pid, evidence.process_name or "unknown"
    assert pid is not None
    ends = f"the connection ends in a process of this machine called {name}"
    if name == _LISTENS_FOR_OTHERS:
        return _by_name(evidence)
    if pid != evidence.pid_in_file and not name.startswith(_SERVER_NAMES):
        reason = f"{ends}, which may not be the server: it may forward the connection"
        return Locality(is_here=None, reason=reason)
    return Locality(is_here=True, reason=ends, pid=pid)


def _by_name(evidence: Evidence) -> Locality:
    """The process at the far end is not shown to us: what the server says of itself must agree with this machine."""
    server_host = evidence.variables.get("hostname", "")
    if server_host != evidence.host_name:
        reason = (
            f"the connection ends on this machine, but the server calls its host {server_host!r} and this machine is"
            f" {evidence.host_name!r}: it may be in a container or behind a tunnel"
        )
        return Locality(is_here=None, reason=reason)
    ports = [evidence.variables.get(name) for name in _PORTS]
    if evidence.port is not None and str(evidence.port) not in ports:
        reason = (
            f"the server listens on port {ports[0]} and was reached on port {evidence.port}: something is in between"
        )
        return Locality(is_here=None, reason=reason)
    pid = _only_server(evidence)
    return Locality(
        is_here=True,
        reason=f"the connection ends on this machine, and the server calls its host {server_host!r} too",
        pid=pid,
        unwatched=_ANOTHER_USER if pid is None else None,
    )


def _only_server(evidence: Evidence) -> int | None:
    """The process that the pid file names, else the only one that began when the server says that it did."""
    servers, began_s = evidence.servers_here, evidence.began_unix_s
    if evidence.pid_in_file in servers:
        return evidence.pid_in_file
    if began_s is None:
        return None
    alike = [pid for pid, at_s in servers.items() if -_BEGINS_S <= began_s - at_s <= _BEGINS_S]
    return alike[0] if len(alike) == 1 else None


def _data_dir(variables: Mapping[str, str], pid: int | None) -> Path | None:
    """The data directory, when the path means the same here as to the server, and may be looked at."""
    data_dir = variables.get("datadir", "")
    same = None if pid is None else same_directory(data_dir, pid)
    if same is None:  # another user's: the name of the host tells whether it sees our files
        same = variables.get("hostname") == socket.gethostname()
    with contextlib.suppress(OSError, ValueError):
        if same and data_dir.startswith("/") and Path(data_dir).is_dir():
            return Path(data_dir)
    return None


def _pid_in_file(path: str) -> int | None:
    """The number in a small plain file; a server may name anything, also what would never end."""
    with contextlib.suppress(OSError, ValueError):
        status = Path(path).stat()
        if path.startswith("/") and stat.S_ISREG(status.st_mode) and status.st_size < 32:
            return int(Path(path).read_text(encoding="ascii"))
    return None


def _servers_here() -> dict[int, float]:
    processes = psutil.process_iter(["name", "cmdline", "create_time"])
    return {
        process.pid: process.info["create_time"]
        for process in processes
        if is_server(process.info["name"], process.info["cmdline"])
    }


def is_server(name: str | None, words: Sequence[str] | None) -> bool:
    """Whether a process is a database server: by its name, or by its program's where a loader or a wrapper runs it."""
    programs = (word.rpartition("/")[2] for word in words or ())
    return (name or "").startswith(_SERVER_NAMES) or any(program in _SERVER_NAMES for program in programs)


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
    for tcp_connection in psutil.net_connections(kind="tcp"):
        if tcp_connection.raddr and (_endpoint(tcp_connection.laddr), _endpoint(tcp_connection.raddr)) == (there, here):
            return FarEnd(Where.HIDDEN if tcp_connection.pid is None else Where.PROCESS, there[0], tcp_connection.pid)
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
        for interface_address in addresses:
            if (
                interface_address.family in (socket.AF_INET, socket.AF_INET6)
                and interface_address.address.partition("%")[0] == address
            ):
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


def find_listening(port: int, data_dir: str) -> Locality:
    """The server that listens on a port of this machine.

    Args:
        port: The port on which it was reached.
        data_dir: Its data directory, as the server says.

    Raises:
        OSError, psutil.Error: The kernel does not show connections, or the process has ended.
    """
    listeners = {
        connection.pid
        for connection in psutil.net_connections("tcp")
        if connection.status == "LISTEN" and connection.laddr and connection.laddr.port == port
    }
    pids = sorted(pid for pid in listeners if pid is not None)
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
