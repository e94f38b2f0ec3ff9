"""Another machine as a host, reached over the user's OpenSSH.

An agent runs there while the connection lasts (decision 53): the same functions that run here run there. It needs the
version of Python that Plimsoll runs on here; nothing is installed.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from plimsoll import strict_json
from plimsoll.clocks import ClockOffset
from plimsoll.errors import HostError
from plimsoll.hosts import remote_files, remote_objects
from plimsoll.hosts.channel import Channel
from plimsoll.hosts.host import Collecting, Server, Wanted
from plimsoll.hosts.openssh import OpenSsh, last_line
from plimsoll.hosts.remote_collecting import RemoteCollecting
from plimsoll.hosts.remote_server import RemoteServer
from plimsoll.hosts.shipping import PROBE, Interpreter, archive, this_interpreter
from plimsoll.private_folder import PrivateFolder
from plimsoll.servers.managed_spec import ManagedSpec
from plimsoll.servers.option_file import MachineSizes
from plimsoll.servers.storage import FlushTimes

P = ParamSpec("P")
T = TypeVar("T")

_RECONNECT_PAUSE_S = 2.0
_CONNECTION = "SSH_CONNECTION"
_BOOTSTRAP = (Path(__file__).parent / "bootstrap.py").read_text(encoding="utf-8")


class SshHost:
    """A host over SSH."""

    is_here = False

    def __init__(self, destination: str, *, python: str = "python3", address: str | None = None) -> None:
        """Connects, and checks that the host has what is needed.

        Args:
            destination: As ssh takes it.
            python: The interpreter there: its name, or its path.
            address: Where servers there listen, and clients reach them; None for where this connection leads to.

        Raises:
            HostError: It cannot be reached, or has no such Python; the message says what to do.
        """
        self.name = destination
        self.connection_number = 0
        self._python, self._address = python, address
        self._ssh = OpenSsh(destination)
        self._folder = PrivateFolder("ssh")
        self._errors = self._folder.path / "errors"
        self._lock = threading.Lock()
        try:
            self._channel = self._connect()
        except BaseException:
            self._ssh.close()
            self._folder.close()
            raise

    @property
    def address(self) -> str:
        """Where servers there listen, and clients reach them."""
        assert self._address is not None, "known since the connection"
        return self._address

    def call(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a function there, see `Host.call`."""
        return cast(T, self._channel.call(function, *args, **kwargs))

    def create_server(
        self, *, name: str, spec: ManagedSpec, machine: MachineSizes | None = None, flush: FlushTimes | None = None
    ) -> Server:
        """Makes a server there, see `Host.create_server`."""
        asked = {"name": name, "spec": spec, "address": self.address, "machine": machine, "flush": flush}
        number = self._channel.make(remote_objects.create_server, **asked)
        return RemoteServer(self._channel, number, self._folder.path)

    def collect(self, wanted: Wanted) -> Collecting:
        """Begins to watch the host and servers on it, see `Host.collect`."""
        return RemoteCollecting(self._channel, wanted)

    def clock(self) -> ClockOffset:
        """Compares clocks, see `Host.clock`."""
        return self._channel.clock()

    def reconnect(self, limit_s: float) -> None:
        """Waits until a host that was lost is back, see `Host.reconnect`."""
        until_s = time.monotonic() + limit_s
        with self._lock:
            while self._channel.is_lost:
                self._channel.close(limit_s=1)
                try:
                    self._channel = self._connect()
                except HostError:
                    if time.monotonic() > until_s:
                        raise
                    time.sleep(_RECONNECT_PAUSE_S)

    def disconnect(self) -> None:
        """Ends the connection for now, see `Host.disconnect`."""
        with self._lock:
            self._channel.close()
            self._ssh.disconnect()

    def close(self) -> None:
        """Ends the connection, see `Host.close`."""
        self._channel.close()
        self._ssh.close()
        self._folder.close()

    def _connect(self) -> Channel:
        self._check_python()
        with self._errors.open("wb") as errors:
            process = self._ssh.start([self._python, "-I", "-c", _BOOTSTRAP], errors)
        packed = archive()
        channel = Channel(self.name, process, self._reason, opening=b"%d\n" % len(packed) + packed)
        try:
            channel.call(remote_files.hold, f"from {socket.gethostname()}, process {os.getpid()}")
            led_to = channel.call(remote_files.connected_to)
        except BaseException:
            channel.close(limit_s=1)
            raise
        self._address = self._address or checked_address(self.name, led_to)
        self.connection_number += 1
        return channel

    def _check_python(self) -> None:
        """Makes sure that what is copied can run there.

        Raises:
            HostError: It cannot; with the cure.
        """
        cure = f'install Python, or name it in the study file: host = {{ ssh = "{self.name}", python = "/path" }}'
        try:
            said = self._ssh.output([self._python, "-I", "-c", PROBE], cure=cure)
        except HostError as error:
            raise HostError(f"{self.name}: {error}") from None
        there, here = _interpreter(said), this_interpreter()
        if there != here:
            raise HostError(
                f"{self.name}: {self._python} is Python {there.python} ({there.machine}, {there.libc or '?'})."
                f" Plimsoll runs on Python {here.python} ({here.machine}, {here.libc}) here and needs"
                f' the same there. Name it in the study file, such as python = "python{here.python}", or run Plimsoll'
                f" with Python {there.python}"
            )

    def _reason(self) -> str:
        with contextlib.suppress(OSError):
            said = last_line(self._errors.read_bytes())
            return f": {said}" if said else ""
        return ""


def _interpreter(said: str) -> Interpreter:
    """What the probe printed; a login script may have printed before it.

    Raises:
        HostError: It is none.
    """
    try:
        told: dict[str, Any] = strict_json.read(said.strip().splitlines()[-1])
        return Interpreter(str(told["python"]), str(told["machine"]), str(told["libc"]))
    except (ValueError, KeyError, IndexError, TypeError):
        raise HostError(f"the host's Python printed {said[:80]!r} where its version was expected") from None


def checked_address(host: str, led_to: str | None) -> str:
    """The address of the host's end of the connection, where servers can listen.

    Raises:
        HostError: sshd does not say.
    """
    cure = f'name the address: host = {{ ssh = "{host}", address = "…" }}'
    if led_to is None:
        raise HostError(f"{host}: sshd does not say which address the connection leads to ({_CONNECTION}); {cure}")
    try:
        return str(ipaddress.ip_address(led_to))
    except ValueError:
        raise HostError(f"{host}: {led_to[:60]!r} is no address; {cure}") from None
