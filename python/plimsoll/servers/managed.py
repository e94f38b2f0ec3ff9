"""A managed server: made in a directory of its own, started, stopped, reset to saved data and removed.

Whatever happens to this process, its guardian ends the server and removes the directory. Deliberately not here: the
option file's content (`option_file`), the guardian (`guardian`), the directory (`directory`), any load.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import SecretStr

from plimsoll.errors import TargetError
from plimsoll.record.model import StorageFacts
from plimsoll.servers import data_copy
from plimsoll.servers.accounts import account_statements, account_target
from plimsoll.servers.answering import answers
from plimsoll.servers.command import ServerCommand, find_server, initialise_words
from plimsoll.servers.directory import InstanceDirectory, default_base_dir
from plimsoll.servers.error_log import explain_exit, explain_log, read_tail
from plimsoll.servers.guarded import Guard
from plimsoll.servers.managed_spec import ManagedSpec, measure_machine
from plimsoll.servers.option_file import Flavour, MachineSizes, option_file_text, place_words
from plimsoll.servers.private_file import write_private
from plimsoll.servers.storage import measure_flush, storage_facts
from plimsoll.spec.server_options import checked_options
from plimsoll.spec.target import Target

__all__ = ["ManagedServer", "ManagedSpec", "measure_machine"]

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
    ) -> None:
        """Use `create`, which also fills the directory."""
        self.name = name
        self.spec = spec
        self.command = command
        self.directory = directory
        flush = measure_flush(directory.path)
        self.flush_ms_median = flush.ms_median
        self._machine = machine or measure_machine(directory.path, flush)
        self._guard = guard
        self._password = SecretStr(secrets.token_urlsafe(24))
        self._port = free_port()
        self._pid: int | None = None
        self._has_accounts = False
        self._log_offset = 0

    @classmethod
    def create(
        cls,
        *,
        name: str,
        spec: ManagedSpec,
        base_dir: Path | None = None,
        machine: MachineSizes | None = None,
        throwaway: bool = True,
    ) -> ManagedServer:
        """Finds the server, makes the instance's directory and initialises its data. It does not run yet.

        Args:
            spec: What kind of server is wanted.
            name: Of the instance; part of its directory's name.
            base_dir: Where directories are made when the spec states no `data_dir`; None for the default.
            machine: What the production profile is sized to, so that servers which are compared are sized alike; None
                measures now (`measure_machine`).
            throwaway: Whether the directory is removed when this process is gone.

        Raises:
            SpecError: Profile or options are wrong; all faults at once.
            HostError: No such server here, or the place cannot be used.
            TargetError: The data could not be initialised; the message has the tail of the log.
        """
        checked_options(spec.options)
        spec.checked_profile()
        command = find_server(spec.server)
        base = spec.data_dir or base_dir or default_base_dir()
        directory = InstanceDirectory.create(base, name, throwaway=throwaway, allow_tmpfs=spec.allow_tmpfs)
        guard = None
        try:
            guard = Guard(directory)
            server = cls(name=name, spec=spec, command=command, directory=directory, guard=guard, machine=machine)
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
        """How clients reach it: TCP on this machine, as an account of its own."""
        return account_target(self._password, port=self._port, server_key=self.flavour.server_key(self.directory.data))

    @property
    def socket_target(self) -> Target:
        """How Plimsoll itself reaches it: by its socket."""
        return account_target(self._password, socket=self.directory.socket)

    @property
    def pid(self) -> int:
        """The server's process number; it must be running."""
        assert self._pid is not None, "the server is not running"
        return self._pid

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not been seen to end."""
        return self._pid is not None

    @property
    def storage(self) -> StorageFacts:
        """Where its data lies, and how long the device takes to make a write durable."""
        facts = storage_facts(self.directory.path)
        return facts.model_copy(update={"flush_ms_median": self.flush_ms_median})

    @property
    def option_file_text(self) -> str:
        """Its option file, as it is in force."""
        return option_file_text(
            flavour=self.flavour,
            profile=self.spec.checked_profile(),
            paths=self.directory.paths(self._port),
            machine=self._machine,
            buffer_pool_bytes=self.spec.buffer_pool_bytes,
            options=self.spec.options,
            as_root=_is_root(),
        )

    def start(self, *, limit_s: float = 120) -> None:
        """Starts the server and waits until it answers.

        Raises:
            TargetError: It ended, or did not answer within the limit; the message has the tail of its log.
            HostError: It could not be started at all.
        """
        assert not self.is_running, "the server is running"
        for tries_left in reversed(range(_PORT_TRIES)):
            self._write_option_file()
            try:
                words = [*self._place_words(), *self._account_words()]
                self._launch(self.command.words(self.directory.option_file, *words))
                self._wait_until_answers(limit_s)
                break
            except TargetError:
                self.stop(grace_s=5)
                if not tries_left or "port" not in (explain_log(self.error_log_tail()) or "").split():
                    raise
                self._port = free_port()
        self._has_accounts = True
        self._account_file.unlink(missing_ok=True)

    def check(self) -> None:
        """Makes sure that the server still runs.

        Raises:
            TargetError: It ended; the message has the tail of its log and what that means.
            HostError: The guardian ended, and the server with it.
        """
        if self._pid is not None:
            self._raise_if_ended(0)

    def stop(self, *, grace_s: float = 120) -> None:
        """Stops the server cleanly, and by force when that takes longer than the grace. Nothing to do is fine.

        Raises:
            HostError: It cannot be ended, or the guardian is gone (and with it the server).
        """
        if self._pid is None:
            return
        self._pid = None
        self._guard.stop(grace_s)

    def remove(self) -> None:
        """Ends the server and removes its directory and nothing else. May be called again.

        Raises:
            HostError: Something cannot be removed.
        """
        try:
            self.stop(grace_s=5)
        finally:
            self._pid = None
            self.directory.close_lock()
            self._guard.close()
            self.directory.remove()

    def save_data(self) -> None:
        """Keeps a copy of the data as it is now. The server must be stopped.

        Raises:
            HostError: Not enough free space, or the copy failed.
        """
        assert not self.is_running, "data can only be copied while the server is stopped"
        data_copy.replace_tree(self.directory.data, self.directory.pristine)

    def restore_data(self) -> None:
        """Sets the data back to what `save_data` kept. The server must be stopped.

        Raises:
            HostError: Nothing was saved, not enough free space, or the copy failed.
        """
        assert not self.is_running, "data can only be copied while the server is stopped"
        data_copy.replace_tree(self.directory.pristine, self.directory.data)

    def error_log_tail(self, lines: int = 15) -> str:
        """The last lines of what the server printed since it was last started."""
        return read_tail(self.directory.error_log, offset=self._log_offset, lines=lines)

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
        self._launch(initialise_words(self.command, self.directory.option_file, self._place_words()))
        code = self._guard.wait(limit_s)
        self._pid = None
        if code is None:
            self._guard.stop(0)
            raise TargetError(
                f"server {self.name}: its data was not initialised within {limit_s:.0f} s{self._log_note()}"
            )
        if code != 0:
            raise TargetError(f"server {self.name}: initialising its data {explain_exit(code)}{self._log_note()}")
        write_private(self._account_file, account_statements(self.flavour, self._password, self.directory.data))

    def _place_words(self) -> list[str]:
        return place_words(self.flavour, self.directory.paths(self._port), as_root=_is_root())

    def _account_words(self) -> list[str]:
        """Accounts are made by the first start, before the server lets anybody in."""
        return [] if self._has_accounts else [f"--init-file={self._account_file}"]

    def _write_option_file(self) -> None:
        write_private(self.directory.option_file, self.option_file_text)

    def _launch(self, words: list[str]) -> None:
        log = self.directory.error_log
        self._log_offset = log.stat().st_size if log.exists() else 0
        self._pid = self._guard.start(words, log)

    def _wait_until_answers(self, limit_s: float) -> None:
        until_s = time.monotonic() + limit_s
        while time.monotonic() < until_s:
            self._raise_if_ended(0.05)
            if answers(self.socket_target, self.directory.data):
                return
        raise TargetError(f"server {self.name}: did not answer within {limit_s:.0f} s{self._log_note()}")

    def _raise_if_ended(self, limit_s: float) -> None:
        code = self._guard.wait(limit_s)
        if code is not None:
            self._pid = None
            raise TargetError(f"server {self.name}: {explain_exit(code)}{self._log_note()}")

    def _log_note(self) -> str:
        tail, meaning = self.error_log_tail(), explain_log(self.error_log_tail(lines=1000))
        return (f": {meaning}" if meaning else "") + (f"\nThe end of its error log:\n{tail}" if tail else "")


def free_port() -> int:
    """A TCP port of 127.0.0.1 that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _is_root() -> bool:
    return os.geteuid() == 0
