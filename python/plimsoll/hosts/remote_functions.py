"""What an agent does for its other end besides calls of `servers`: it makes servers, collects telemetry, holds a lock.

It also tells what it knows of its connection, and reads small files. These functions run on the other host, so nothing
is imported here that is not sent there (`ssh`).
"""

from __future__ import annotations

import fcntl
import os
import socket
import stat
from pathlib import Path

from plimsoll.errors import HostError
from plimsoll.regular_file import read_regular
from plimsoll.servers.managed_server import ManagedServer, ManagedSpec
from plimsoll.servers.option_file import MachineSizes
from plimsoll.servers.storage import FlushTimes
from plimsoll.telemetry.sampler import Collector, Columns
from plimsoll.telemetry.standard import WatchedInstance, trial_samplers
from plimsoll.units import printable


def create_server(
    *, name: str, spec: ManagedSpec, address: str, machine: MachineSizes | None = None, flush: FlushTimes | None = None
) -> ManagedServer:
    """Makes a server that listens on an address of this machine, see `ManagedServer.create`."""
    return ManagedServer.create(name=name, spec=spec, machine=machine, flush=flush, address=address)


class Watching:
    """Telemetry of this machine and of servers on it; begins at once."""

    def __init__(self, instances: tuple[WatchedInstance, ...], interval_s: float, origin_unix_s: float) -> None:
        placed = trial_samplers(host=socket.gethostname(), instances=instances, client_pid=None)
        self._collector = Collector(placed, interval_s=interval_s, origin_unix_s=origin_unix_s)
        self._collector.start()

    @property
    def faults(self) -> tuple[str, ...]:
        """What could not be sampled."""
        return self._collector.faults

    def take(self) -> Columns:
        """Samples since they were last taken, times on this machine's clock."""
        return self._collector.take()

    def stop(self) -> None:
        """Ends it."""
        self._collector.stop()


def watch(*, instances: tuple[WatchedInstance, ...], interval_s: float, origin_unix_s: float) -> Watching:
    """Begins to watch this machine and servers on it.

    Args:
        instances: Servers that run here.
        interval_s: Time between two samples.
        origin_unix_s: A point of the grid on which samples are taken, on this machine's clock.
    """
    return Watching(instances, interval_s, origin_unix_s)


TEXT_BYTES_MAX = 65_536


def connected_to() -> str | None:
    """The address of this machine that the SSH connection leads to; None where sshd does not say."""
    words = os.environ.get("SSH_CONNECTION", "").split()
    return words[2] if len(words) == 4 else None


def hold(holder: str) -> None:
    """Keeps other studies of this user off this machine for as long as this process lives.

    Args:
        holder: Says who holds it, for whoever is refused.

    Raises:
        HostError: Another study holds it, or the lock's name is taken by something that is not this user's.
    """
    lock = _own_file(Path(f"/var/tmp/plimsoll-host-{os.geteuid()}.lock"))  # noqa: S108  (see `_own_file`)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        other = printable(os.read(lock, _HOLDER_BYTES_MAX).decode(errors="replace"))
        os.close(lock)
        raise HostError(f"another study uses this host ({other or 'unknown'}); wait until it has ended") from None
    os.ftruncate(lock, 0)
    os.write(lock, holder.encode()[:_HOLDER_BYTES_MAX])
    _held.append(lock)


_HOLDER_BYTES_MAX = 200
_held: list[int] = []
"""Descriptors of locks; they are closed when the process ends."""


def _own_file(place: Path) -> int:
    """Opens a file of a name that everybody can guess, in a folder where everybody can make files.

    Somebody else may have put a file of theirs there, a pipe, a link, or a second name of a file of this user: none of
    them is written to.

    Returns:
        A descriptor of a file of this user's alone, for reading and writing.

    Raises:
        HostError: There is something else.
    """
    cure = f"see what it is, and remove it: ls -l {place}"
    try:
        descriptor = os.open(place, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise HostError(f"{place}: cannot be opened: {error.strerror}; {cure}") from None
    facts = os.fstat(descriptor)
    fault = None
    if not stat.S_ISREG(facts.st_mode):
        fault = "is no file"
    elif facts.st_uid != os.geteuid():
        fault = f"belongs to another user (uid {facts.st_uid})"
    elif facts.st_nlink != 1:
        fault = "is another name of a file that lies elsewhere as well"
    elif facts.st_mode & 0o022:
        fault = f"may be written by others (mode {stat.S_IMODE(facts.st_mode):04o})"
    if fault is not None:
        os.close(descriptor)
        raise HostError(f"{place}: {fault}; {cure}")
    return descriptor


def text_of(place: Path) -> str:
    """A small text file. Raises OSError where it cannot be read, is no file, or is too large."""
    return read_regular(place, TEXT_BYTES_MAX).decode()
