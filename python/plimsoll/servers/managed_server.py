"""A managed server: made in a directory of its own, started, stopped, reset to saved data and removed.

Also what kind of server is wanted, what machine its production profile is sized to, and its buffer pool: its size as a
share of the data, and whether it holds what it held before. Whatever happens to this process, its guardian ends the
server and removes the directory. Deliberately not here: the option file's content (`option_file`), the guardian
(`guardian`), the directory (`directory`), any load.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import SecretStr

from plimsoll.errors import HostError, SpecError, TargetError
from plimsoll.record.environment import StorageFacts
from plimsoll.servers import data_copy
from plimsoll.servers.command import ServerCommand, find_server, initialise_words
from plimsoll.servers.control import connect
from plimsoll.servers.data_copy import Copied
from plimsoll.servers.directory import InstanceDirectory, default_base_dir
from plimsoll.servers.facts import usable_memory_bytes
from plimsoll.servers.guardian_pipe import Guard
from plimsoll.servers.option_file import (
    LOOPBACK,
    Flavour,
    InstancePaths,
    MachineSizes,
    OptionFile,
    Profile,
    account_statements,
    account_target,
    make_option_file,
    place_words,
)
from plimsoll.servers.placement import InstancePlacement, set_up
from plimsoll.servers.private_file import write_private
from plimsoll.servers.server_process import ServerProcess, explain_log
from plimsoll.servers.settle import StatusSource
from plimsoll.servers.storage import FlushTimes, measure_flush, storage_facts
from plimsoll.spec.paths import Role, StartState
from plimsoll.spec.server_options import OptionValue, checked_options
from plimsoll.spec.system import POOL_BYTES_MIN
from plimsoll.spec.target import Target
from plimsoll.units import format_bytes

_PORT_TRIES = 3


class ManagedServer:
    """One instance in its directory. Use it as a context to have it removed at the end."""

    def __init__(
        self,
        *,
        name: str,
        spec: ManagedSpec,
        command: ServerCommand,
        directory: InstanceDirectory,
        guard: Guard,
        machine: MachineSizes | None = None,
        flush: FlushTimes | None = None,
        address: str = LOOPBACK,
    ) -> None:
        """Use `create`, which also fills the directory."""
        self.name = name
        self.spec = spec
        self.command, self.directory = command, directory
        flush = flush or measure_flush(directory.path)
        self.flush_ms_median = flush.ms_median
        self._storage_of_roles = data_copy.storage_of_roles(directory)
        self._machine = machine or measure_machine(directory.path, flush)
        self._guard = guard
        limit = spec.placement.share.memory_limit_bytes
        self._process = ServerProcess(name, guard, directory.error_log, memory_limit_bytes=limit)
        self._password, self._has_accounts = SecretStr(secrets.token_urlsafe(24)), False
        self.pool_bytes: int | None = None
        self._address, self._port = address, free_port(address)
        self._placement: dict[str, Any] | None = None

    @classmethod
    def create(
        cls,
        *,
        name: str,
        spec: ManagedSpec,
        base_dir: Path | None = None,
        machine: MachineSizes | None = None,
        flush: FlushTimes | None = None,
        throwaway: bool = True,
        address: str = LOOPBACK,
    ) -> ManagedServer:
        """Finds the server, makes the instance's directory and initialises its data. It does not run yet.

        Args:
            spec: What kind of server is wanted.
            name: Of the instance; part of its directory's name.
            base_dir: Where directories are made when the spec states no `data_dir`; None for the default.
            machine: What the production profile is sized to, so that servers which are compared are sized alike; None
                measures now (`measure_machine`).
            flush: How long small writes take there, where others write meanwhile; None measures now.
            throwaway: Whether the directory is removed when this process is gone.
            address: Of this machine, on which it listens.

        Raises:
            SpecError: Profile or options are wrong; all faults at once.
            HostError: No such server here, or the place cannot be used.
            TargetError: The data could not be initialised; the message has the tail of the log.
        """
        checked_options(spec.options)  # whoever states them: they must not lead the server out of its directory
        spec.checked_profile()
        command = find_server(spec.server)
        base = spec.data_dir or base_dir or default_base_dir()
        kept: dict[str, Any] = {"throwaway": throwaway, "allow_tmpfs": spec.allow_tmpfs, "role_bases": spec.role_dirs}
        directory, guard = InstanceDirectory.create(base, name, **kept), None
        try:
            guard = Guard(directory)
            made: dict[str, Any] = {"directory": directory, "guard": guard, "machine": machine, "flush": flush}
            server = cls(name=name, spec=spec, command=command, address=address, **made)
            if not spec.is_copy:
                server._initialise()
        except BaseException:
            if guard is not None:
                guard.close()
            directory.remove()
            raise
        return server

    @property
    def flavour(self) -> Flavour:
        """Which server it is."""
        return self.command.flavour

    @property
    def target(self) -> Target:
        """How clients reach it: over TCP, as an account of its own."""
        key = self.flavour.server_key(self.directory.data)
        return account_target(self._password, host=self._address, port=self._port, server_key=key)

    @property
    def socket_target(self) -> Target:
        """How Plimsoll itself reaches it: by its socket."""
        return account_target(self._password, socket=self.directory.socket)

    @property
    def pid(self) -> int:
        """The server's process number; it must be running."""
        assert self._process.pid is not None, "the server is not running"
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not been seen to end."""
        return self._process.pid is not None

    @property
    def storage(self) -> StorageFacts:
        """Where its data lies, and how long the device takes to make a write durable."""
        facts = storage_facts(self.directory.path)
        return facts.model_copy(update={"flush_ms_median": self.flush_ms_median})

    @property
    def storage_of_roles(self) -> dict[str, StorageFacts]:
        """Where that lies which has a path of its own, by what it is."""
        return self._storage_of_roles

    @property
    def data_dir(self) -> Path:
        """Its data directory."""
        return self.directory.data

    def use_pool(self, size_bytes: int) -> None:
        """Sets the size of its buffer pool for the next start, bytes."""
        self.pool_bytes = size_bytes

    @property
    def option_file(self) -> OptionFile:
        """Its option file, as it is in force."""
        return make_option_file(
            flavour=self.flavour,
            profile=self.spec.checked_profile(),
            paths=self._paths(),
            machine=self._machine,
            buffer_pool_bytes=self.spec.buffer_pool_bytes,
            options=self.spec.options,
            derived={**self.spec.derived, **(pool_options(self.pool_bytes) if self.pool_bytes else {})},
            as_root=os.geteuid() == 0,
        )

    def start(self, *, limit_s: float = 120) -> None:
        """Starts the server and waits until it answers; its caches are then as its spec says of the start.

        Raises:
            TargetError: It ended, or did not answer within the limit; the message has the tail of its log.
            HostError: It could not be started at all.
        """
        assert not self.is_running, "the server is running"
        self._placement = self._placement or set_up(self.spec.placement, self.directory.path)
        if self.spec.start == "cold":
            data_copy.drop_caches(self.directory)
        for tries_left in reversed(range(_PORT_TRIES)):
            self._write_option_file()
            try:
                words = [*self._place_words(), *self._account_words()]
                self._process.launch(self.command.words(self.directory.option_file, *words), self._placement)
                self._process.wait_until_answers(self.socket_target, self.directory.data, limit_s)
                break
            except TargetError:
                self.stop(grace_s=5)
                if not tries_left or "port" not in (explain_log(self._process.log_tail()) or "").split():
                    raise
                self._port = free_port(self._address)
        self._has_accounts = True
        self._account_file.unlink(missing_ok=True)
        if self.spec.start == "warm":
            with connect(self.socket_target) as control:
                wait_until_loaded(control)

    def check(self) -> None:
        """Makes sure that the server still runs.

        Raises:
            TargetError: It ended; the message has the tail of its log and what that means.
            HostError: The guardian ended, and the server with it.
        """
        if self.is_running:
            self._process.raise_if_ended(0)

    def stop(self, *, grace_s: float = 120) -> None:
        """Stops the server cleanly, and by force when that takes longer than the grace. Nothing to do is fine.

        Raises:
            HostError: It cannot be ended, or the guardian is gone (and with it the server).
        """
        self._process.stop(grace_s)

    def kill(self) -> None:
        """Kills the server, with all that was started for it, as a crash does. Raises as `stop`."""
        self._process.kill()

    def freeze(self) -> None:
        """Stops the running server where it is, until `thaw`; connections stay open. Raises HostError if it ended."""
        self._guard.freeze()

    def thaw(self) -> None:
        """Lets a frozen server go on; nothing for one that runs. Raises as `freeze`."""
        self._guard.thaw()

    def remove(self) -> None:
        """Ends the server and removes its directory and nothing else. May be called again.

        Raises:
            HostError: Something cannot be removed.
        """
        try:
            self.stop(grace_s=5)
        finally:
            self._process.pid = None
            self.directory.close_lock()
            self._guard.close()
            self.directory.remove()

    def save_data(self, is_ended: Callable[[], bool] = lambda: False) -> Copied:
        """Keeps a copy of the data as it is now; as `data_copy.save`."""
        assert not self.is_running, "data can only be copied while the server is stopped"
        return data_copy.save(self.directory, is_ended)

    def restore_data(self, is_ended: Callable[[], bool] = lambda: False) -> Copied:
        """Sets the data back to what was saved; as `data_copy.restore`. The server must be stopped."""
        assert not self.is_running, "data can only be copied while the server is stopped"
        return data_copy.restore(self.directory, is_ended)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    @property
    def _account_file(self) -> Path:
        return self.directory.path / "accounts.sql"

    def _initialise(self, limit_s: float = 300) -> None:
        self._write_option_file()
        self._process.launch(initialise_words(self.command, self.directory.option_file, self._place_words()))
        self._process.wait_until_done(limit_s, "initialising its data")
        self.renew_accounts()

    def renew_accounts(self) -> None:
        """Lets the next start make this server's account, as data that came from elsewhere needs it."""
        self._has_accounts = False
        made = account_statements(self.flavour, self._password, self.directory.data, self._address)
        write_private(self._account_file, made)

    def _place_words(self) -> list[str]:
        return place_words(self.flavour, self._paths(), as_root=os.geteuid() == 0)

    def _account_words(self) -> list[str]:
        """Accounts are made by the first start, before the server lets anybody in."""
        return [] if self._has_accounts else [f"--init-file={self._account_file}"]

    def _paths(self) -> InstancePaths:
        return self.directory.paths(self._port, self._address)

    def _write_option_file(self) -> None:
        write_private(self.directory.option_file, self.option_file.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagedSpec:
    """What kind of server is wanted.

    Attributes:
        server: `"mariadb"`, `"mysql"`, or the full command of a server as text or words.
        profile: Base of its options: `production`, `server-defaults` or `bare`.
        buffer_pool_bytes: None lets the profile choose.
        options: The user's server options, names in one spelling; they win.
        derived: Options that follow from other keys of a study file; over those of the profile, below the user's.
        start: `cold` drops its files from the page cache before each start; `warm` waits after it until the buffer pool
            holds what it held when the server was stopped. None does neither.
        data_dir: Folder below which the instance's directory is made; None for the default.
        role_dirs: The same for what does not lie with the data.
        allow_tmpfs: Data in memory is wanted, though durability then means nothing.
        placement: What of the machine it may use.
        is_copy: Its data will be a copy of another server's (`data_copy.seed`), so none is initialised.
    """

    server: str | Sequence[str] = "mariadb"
    profile: str = Profile.PRODUCTION
    buffer_pool_bytes: int | None = None
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    derived: Mapping[str, OptionValue] = field(default_factory=dict)
    start: StartState | None = None
    data_dir: Path | None = None
    role_dirs: Mapping[Role, Path] = field(default_factory=dict)
    allow_tmpfs: bool = False
    placement: InstancePlacement = field(default_factory=InstancePlacement)
    is_copy: bool = False

    def checked_profile(self) -> Profile:
        """The profile.

        Raises:
            SpecError: There is none of this name.
        """
        try:
            return Profile(self.profile)
        except ValueError:
            known = ", ".join(profile.value for profile in Profile)
            raise SpecError(f"profile: must be one of {known}, is {self.profile!r}") from None


def measure_machine(directory: Path, flush: FlushTimes | None = None) -> MachineSizes:
    """Measures what the production profile is sized to. Takes up to a second.

    Args:
        directory: An existing folder on the device that will hold the data.
        flush: Its flush times when they are known; None measures them.

    Raises:
        HostError: The directory cannot be written to.
    """
    return MachineSizes(
        memory_bytes=usable_memory_bytes(),
        free_bytes=storage_facts(directory).free_bytes,
        flush_ms_min=(flush or measure_flush(directory)).ms_min,
    )


MIB = 2**20

_CHUNKS = 256
_LOADED = ("load completed", "cannot open", "load aborted")
"""How a server says that it has loaded its buffer pool, or that there is nothing to load."""


def pool_bytes_of(data_bytes: int, ratio: float, about: str = "") -> int:
    """A share of the data's size as a size that servers take as it is: a whole number of chunks.

    Args:
        data_bytes: Of tables and indexes.
        ratio: Size of the pool over that.
        about: How the size of the data is known, in words, such as `at most`; empty where it was measured.

    Raises:
        HostError: It is too small for a server.
    """
    wanted = int(data_bytes * ratio)
    if wanted < POOL_BYTES_MIN:
        raise HostError(
            f"pool_ratio: {ratio:g} of {f'{about} ' if about else ''}{format_bytes(data_bytes)} of data is"
            f" {format_bytes(wanted)}, and a buffer pool has at least {format_bytes(POOL_BYTES_MIN)}; make the tables"
            " larger or raise pool_ratio"
        )
    chunk = _chunk_bytes(wanted)
    return wanted // chunk * chunk


def pool_options(pool_bytes: int) -> dict[str, OptionValue]:
    """Options for a pool of exactly this size; servers round it up to chunks, which are 128 MiB unless stated."""
    return {"innodb_buffer_pool_size": pool_bytes, "innodb_buffer_pool_chunk_size": _chunk_bytes(pool_bytes)}


def _chunk_bytes(pool_bytes: int) -> int:
    return max(pool_bytes // _CHUNKS // MIB, 1) * MIB


def wait_until_loaded(
    control: StatusSource,
    *,
    limit_s: float = 600.0,
    poll_s: float = 0.1,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Waits until a server that loads its buffer pool at its start has done so.

    Args:
        control: A connection to it.
        limit_s: How long at most.
        poll_s: Time between two looks.
        clock: Monotonic seconds.
        sleep: Waits for seconds.

    Raises:
        TargetError: It did not within the limit, or stopped answering.
    """
    until_s, status = clock() + limit_s, ""
    while clock() < until_s:
        rows = control.rows("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_load_status'")
        status = str(rows[0][1]) if rows else ""
        if not rows or any(mark in status.lower() for mark in _LOADED):
            return
        sleep(poll_s)
    raise TargetError(
        f'start = "warm": the buffer pool was not loaded within {limit_s:.0f} s; the server says: {status}'
    )


def free_port(address: str = "127.0.0.1") -> int:
    """A TCP port of an address of this machine that was free a moment ago."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as probe:
        probe.bind((address, 0))
        port: int = probe.getsockname()[1]
        return port
