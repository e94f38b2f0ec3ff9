"""A server that an agent started on its host, as `servers.managed.ManagedServer` is for one here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from plimsoll.errors import HostError
from plimsoll.hosts import remote_files
from plimsoll.hosts.channel import Channel
from plimsoll.record.environment import StorageFacts
from plimsoll.servers.data_copy import Copied
from plimsoll.servers.managed import ManagedServer
from plimsoll.spec.target import Target


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
        found: Target = self._channel.method(self._number, vars(ManagedServer)["target"])
        if (there := found.tls.server_public_key_path) is None:
            return found
        here = self._folder / f"server-key-{self._number}.pem"
        here.write_text(self._channel.call(remote_files.text_of, there))
        return replace(found, tls=replace(found.tls, server_public_key_path=here))

    @property
    def pid(self) -> int:
        """The server's process number on the host; it must be running."""
        return int(self._channel.method(self._number, vars(ManagedServer)["pid"]))

    @property
    def data_dir(self) -> Path:
        """Its data directory, on the host."""
        return Path(self._channel.method(self._number, vars(ManagedServer)["data_dir"]))

    @property
    def option_file_text(self) -> str:
        """Its option file, as it is in force."""
        return str(self._channel.method(self._number, vars(ManagedServer)["option_file_text"]))

    @property
    def storage(self) -> StorageFacts:
        """Where its data lies on the host."""
        found: StorageFacts = self._channel.method(self._number, vars(ManagedServer)["storage"])
        return found

    @property
    def storage_of_roles(self) -> dict[str, StorageFacts]:
        """Where that lies which has a path of its own."""
        found: dict[str, StorageFacts] = self._channel.method(self._number, vars(ManagedServer)["storage_of_roles"])
        return found

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
        found: Copied = self._channel.method(self._number, ManagedServer.save_data)
        return found

    def restore_data(self, is_ended: Callable[[], bool] = lambda: False) -> Copied:  # noqa: ARG002  (as `save_data`)
        """Sets the data back to what was saved, as `save_data`."""
        found: Copied = self._channel.method(self._number, ManagedServer.restore_data)
        return found

    def use_pool(self, size_bytes: int) -> None:
        """Sets the size of its buffer pool for the next start."""
        self._channel.method(self._number, ManagedServer.use_pool, size_bytes=size_bytes)
