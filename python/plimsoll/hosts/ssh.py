"""Another machine as a host, reached over the user's OpenSSH: its agent, its servers, and its telemetry.

An agent runs there while the connection lasts (decision 53): the same functions that run here run there. It needs the
version of Python that Plimsoll runs on here; nothing is installed. Plimsoll's own modules and a few packages are sent
as one compressed archive, which is unpacked into a directory of Plimsoll's own and removed at the end. Compiled
packages fit one version of Python on one kind of processor, so the host needs the same (`Interpreter`).

Servers are asked for their counters by this machine, so that no password and no key leaves it. Other telemetry is
collected there and fetched once an interval, so that a running trial sees what its servers do. Times are put onto this
machine's clock by the offset that was found when it began (`Channel.clock`).
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import ipaddress
import os
import platform
import socket
import sys
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import polars as pl

from plimsoll import strict_json
from plimsoll.clocks import ClockOffset
from plimsoll.errors import HostError, PlimsollError
from plimsoll.hosts import remote_functions
from plimsoll.hosts.channel import Channel
from plimsoll.hosts.host import Collecting, Server, WatchRequest
from plimsoll.hosts.local import LocalCollecting, telemetry_frame
from plimsoll.hosts.openssh import OpenSsh, last_line
from plimsoll.private_folder import PrivateFolder
from plimsoll.record.environment import StorageFacts
from plimsoll.servers.data_copy import Copied
from plimsoll.servers.facts import host_facts
from plimsoll.servers.managed_server import ManagedServer, ManagedSpec
from plimsoll.servers.option_file import MachineSizes, OptionFile
from plimsoll.servers.storage import FlushTimes
from plimsoll.spec.target import Target
from plimsoll.telemetry.sampler import Columns, Sample

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
        number = self._channel.make(remote_functions.create_server, **asked)
        return RemoteServer(self._channel, number, self._folder.path)

    def collect(self, wanted: WatchRequest) -> Collecting:
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
            channel.call(remote_functions.hold, f"from {socket.gethostname()}, process {os.getpid()}")
            led_to = channel.call(remote_functions.connected_to)
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
            output = self._ssh.output([self._python, "-I", "-c", PROBE], cure=cure)
        except HostError as error:
            raise HostError(f"{self.name}: {error}") from None
        there, here = _interpreter(output), this_interpreter()
        if there != here:
            raise HostError(
                f"{self.name}: {self._python} is Python {there.python} ({there.machine}, {there.libc or '?'})."
                f" Plimsoll runs on Python {here.python} ({here.machine}, {here.libc}) here and needs"
                f' the same there. Name it in the study file, such as python = "python{here.python}", or run Plimsoll'
                f" with Python {there.python}"
            )

    def _reason(self) -> str:
        with contextlib.suppress(OSError):
            message = last_line(self._errors.read_bytes())
            return f": {message}" if message else ""
        return ""


def _interpreter(output: str) -> Interpreter:
    """What the probe printed; a login script may have printed before it.

    Raises:
        HostError: It is none.
    """
    try:
        facts: dict[str, Any] = strict_json.read(output.strip().splitlines()[-1])
        return Interpreter(str(facts["python"]), str(facts["machine"]), str(facts["libc"]))
    except (ValueError, KeyError, IndexError, TypeError):
        raise HostError(f"the host's Python printed {output[:80]!r} where its version was expected") from None


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


class RemoteServer:
    """One server on a host. Whatever fails there is raised here; a lost connection is a HostError."""

    def __init__(self, channel: Channel, number: int, folder: Path) -> None:
        """Takes a server that an agent made.

        Args:
            channel: To the agent.
            number: Of the server there.
            folder: Here, for a copy of the server's public key.
        """
        self._channel, self._number, self._folder = channel, number, folder

    @property
    def target(self) -> Target:
        """How clients reach it: over TCP, as an account of its own. The key of its password is read from the host."""
        target: Target = self._channel.method(self._number, vars(ManagedServer)["target"])
        if (there := target.tls.server_public_key_path) is None:
            return target
        here = self._folder / f"server-key-{self._number}.pem"
        here.write_text(self._channel.call(remote_functions.text_of, there))
        return replace(target, tls=replace(target.tls, server_public_key_path=here))

    @property
    def pid(self) -> int:
        """The server's process number on the host; it must be running."""
        return int(self._channel.method(self._number, vars(ManagedServer)["pid"]))

    @property
    def data_dir(self) -> Path:
        """Its data directory, on the host."""
        return Path(self._channel.method(self._number, vars(ManagedServer)["data_dir"]))

    @property
    def option_file(self) -> OptionFile:
        """Its option file, as it is in force."""
        option_file: OptionFile = self._channel.method(self._number, vars(ManagedServer)["option_file"])
        return option_file

    @property
    def storage(self) -> StorageFacts:
        """Where its data lies on the host."""
        storage: StorageFacts = self._channel.method(self._number, vars(ManagedServer)["storage"])
        return storage

    @property
    def storage_of_roles(self) -> dict[str, StorageFacts]:
        """Where that lies which has a path of its own."""
        storages: dict[str, StorageFacts] = self._channel.method(self._number, vars(ManagedServer)["storage_of_roles"])
        return storages

    def start(self, *, limit_s: float = 120) -> None:
        """Starts it and waits until it answers."""
        self._channel.method(self._number, ManagedServer.start, limit_s=limit_s)

    def stop(self, *, grace_s: float = 120) -> None:
        """Stops it cleanly, and by force after the grace; nothing where the host was lost, which ended it."""
        with self._unless_lost():
            self._channel.method(self._number, ManagedServer.stop, grace_s=grace_s)

    @contextmanager
    def _unless_lost(self) -> Iterator[None]:
        """What cannot be asked of a host that is lost needs not be done: its guardian did it."""
        try:
            yield
        except HostError:
            if not self._channel.is_lost:
                raise

    def freeze(self) -> None:
        """Stops it where it is."""
        self._channel.method(self._number, ManagedServer.freeze)

    def thaw(self) -> None:
        """Lets it go on."""
        self._channel.method(self._number, ManagedServer.thaw)

    def remove(self) -> None:
        """Ends it and removes its directory; nothing where the host was lost, whose guardian did that."""
        with self._unless_lost():
            self._channel.method(self._number, ManagedServer.remove)
            self._channel.drop(self._number)

    def save_data(self, is_ended: Callable[[], bool] = lambda: False) -> Copied:  # noqa: ARG002  (not told to the host)
        """Keeps a copy of the data as it is now; a copy on another host is not broken off."""
        copied: Copied = self._channel.method(self._number, ManagedServer.save_data)
        return copied

    def restore_data(self, is_ended: Callable[[], bool] = lambda: False) -> Copied:  # noqa: ARG002  (as `save_data`)
        """Sets the data back to what was saved, as `save_data`."""
        copied: Copied = self._channel.method(self._number, ManagedServer.restore_data)
        return copied

    def use_pool(self, size_bytes: int) -> None:
        """Sets the size of its buffer pool for the next start."""
        self._channel.method(self._number, ManagedServer.use_pool, size_bytes=size_bytes)


_STOP_LIMIT_S = 10.0


class RemoteCollecting:
    """A collector on a host; begins at once."""

    def __init__(self, channel: Channel, wanted: WatchRequest) -> None:
        self._channel, self._wanted = channel, wanted
        self.clock = channel.clock()
        asked = [replace(instance, pid=None, data_dir=None) for instance in wanted.instances]
        name = channel.call(host_facts).name or ""
        self._counters = LocalCollecting(replace(wanted, instances=asked), host=name, of_host=False)
        self._number = channel.make(
            remote_functions.watch,
            instances=tuple(replace(instance, target=None) for instance in wanted.instances),
            interval_s=wanted.interval_s,
            origin_unix_s=self.clock.ahead_s % wanted.interval_s,
        )
        self._rows, self._lock = list[pl.DataFrame](), threading.Lock()
        self._faults: tuple[str, ...] = ()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._fetch_until_stopped, name="plimsoll-telemetry", daemon=True)
        self._thread.start()

    @property
    def faults(self) -> tuple[str, ...]:
        """What could not be sampled, once for each sampler."""
        return (*self._counters.faults, *self._faults)

    def take(self) -> pl.DataFrame:
        """Samples since they were last taken, times on this machine's clock."""
        with self._lock:
            rows, self._rows = self._rows, []
        return pl.concat([self._counters.take(), *rows]).sort("unix_s", maintain_order=True)

    def stop(self) -> None:
        """Ends it; the last samples can still be taken."""
        self._stopped.set()
        self._counters.stop()
        self._thread.join(_STOP_LIMIT_S)

    def _fetch_until_stopped(self) -> None:
        try:
            while not self._stopped.wait(self._wanted.interval_s):
                self._fetch()
            self._channel.method(self._number, remote_functions.Watching.stop)
            self._fetch()
            self._faults = self._channel.method(self._number, vars(remote_functions.Watching)["faults"])
            self._channel.drop(self._number)
        except PlimsollError as error:  # telemetry ends no trial
            self._faults = (*self._faults, str(error))

    def _fetch(self) -> None:
        columns: Columns = self._channel.method(self._number, remote_functions.Watching.take)
        if len({len(column) for column in asdict(columns).values()}) > 1:
            raise HostError("telemetry came in columns of different lengths")
        with self._lock:
            self._rows.append(telemetry_frame(columns, driver=self._wanted.driver, ahead_s=self.clock.ahead_s))
        for host, instance, source, metric, value in zip(
            columns.host, columns.instance, columns.source, columns.metric, columns.value, strict=True
        ):
            self._wanted.saw(host, instance, Sample(source, metric, value))


OWN = (
    "__init__.py",
    "errors.py",
    "interruption.py",
    "private_folder.py",
    "regular_file.py",
    "strict_json.py",
    "units.py",
    "analyse",
    "record",
    "spec",
    "servers",
    "telemetry",
    "hosts",
)
"""Modules and packages of Plimsoll that run on hosts."""

PACKAGES = (
    "annotated_types",
    "cffi",
    "_cffi_backend",
    "cryptography",
    "nacl",
    "psutil",
    "pydantic",
    "pydantic_core",
    "pymysql",
    "typing_extensions",
    "typing_inspection",
)
"""What these use."""

_LEFT_OUT = frozenset({"__pycache__", "tests"})


@dataclass(frozen=True, slots=True)
class Interpreter:
    """What compiled packages fit.

    Attributes:
        python: Major and minor version.
        machine: Kind of processor, as `uname -m` calls it.
        libc: Name of the C library.
    """

    python: str
    machine: str
    libc: str


PROBE = (
    "import json,platform,sys;"
    "print(json.dumps({'python':'%d.%d'%sys.version_info[:2],'machine':platform.machine(),"
    "'libc':platform.libc_ver()[0]}))"
)
"""A program that prints an `Interpreter` on any version of Python 3."""


def this_interpreter() -> Interpreter:
    """The one that runs now."""
    return Interpreter(f"{sys.version_info[0]}.{sys.version_info[1]}", platform.machine(), platform.libc_ver()[0])


@cache
def archive() -> bytes:
    """All of it, as tar compressed by gzip: some megabytes."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz", compresslevel=3) as tar:
        package_root = Path(__file__).parents[1]
        for name in OWN:
            tar.add(package_root / name, f"plimsoll/{name}", filter=_wanted)
        for package in PACKAGES:
            if (place := _place_of(package)) is not None:
                tar.add(place, place.name, filter=_wanted)
    return written.getvalue()


def _place_of(package: str) -> Path | None:
    """Its folder, or its file where it is a single one; None for one that is not here."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return None
    origin = Path(spec.origin)
    return origin.parent if origin.name == "__init__.py" else origin


def _wanted(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    name = entry.name.rpartition("/")[2]
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return None if name in _LEFT_OUT or name.endswith(".pyi") else entry
