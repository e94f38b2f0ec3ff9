"""What replication is in terms that both families of servers share, and rows by the names of their columns.

Deliberately not here: the SQL of a family (`mysql`, `mariadb`), and what is done in which order (`links`).
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from pydantic import SecretStr

from plimsoll.servers.control import ControlConnection
from plimsoll.servers.option_file import LOOPBACK
from plimsoll.spec.server_options import OptionValue
from plimsoll.spec.target import Target

USER = "plimsoll_replica"
"""Who replicates from a managed server. The account exists only there and can be used over loopback only."""


@dataclass(frozen=True, slots=True)
class ReplicationAccount:
    """The account that the replicas of a system use, with a random password that is in no argument and no option file.

    MySQL keeps the password in memory. MariaDB keeps it in `master.info` in the replica's own data directory until
    replication is forgotten (`links.disconnect`).
    """

    user: str = USER
    password: SecretStr = field(default_factory=lambda: SecretStr(secrets.token_urlsafe(24)))


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePlace:
    """Where a replica reaches its source.

    Attributes:
        public_key: File of the source's RSA key, which encrypts the password; None for a server that has none.
    """

    host: str = LOOPBACK
    port: int
    public_key: Path | None = None


def place_of(source: Target, *, port: int | None = None) -> SourcePlace:
    """Where a managed source listens, or the port of a relay that leads there."""
    assert source.host is not None, "a source listens on a port"
    return SourcePlace(
        host=source.host if port is None else LOOPBACK,
        port=port or source.port,
        public_key=source.tls.server_public_key_path,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaStatus:
    """What a replica says of itself.

    Attributes:
        source_host: Where it connects to.
        source_port: Of the source.
        source_id: `server_uuid` of the source (MySQL), or its `server_id` (MariaDB); empty before it was connected.
        receiver: State of the thread that fetches: `Yes`, `No` or `Connecting`.
        applier: State of the threads that apply: `Yes` or `No`.
        uses_gtids: It follows its source by GTIDs.
        error_code: Of the error that stopped a thread; 0 for none.
        error: The server's message.
        behind_s: Seconds that the server says it is behind; None while it does not know.
        executed: GTIDs that it has applied.
        received: How far it has received, as numbers that grow: of two replicas of one source the larger has more.
        waits_for_more: The applier has applied everything that was received.
    """

    source_host: str
    source_port: int
    source_id: str
    receiver: str
    applier: str
    uses_gtids: bool
    error_code: int = 0
    error: str = ""
    behind_s: float | None = None
    executed: str = ""
    received: tuple[int, ...] = ()
    waits_for_more: bool = False

    @property
    def is_running(self) -> bool:
        """Whether it receives and applies."""
        return self.receiver == "Yes" and self.applier == "Yes"

    @property
    def fault(self) -> str | None:
        """Why it does not replicate, with the server's code and message; None when it does."""
        if self.error_code:
            what = "its applier stopped" if self.applier == "No" else "it cannot receive from its source"
            return f"{what}: error {self.error_code}: {self.error}"
        if self.applier == "No":
            return "its applier does not run"
        return None if self.receiver == "Yes" else "it is not connected to its source"


class Dialect(Protocol):
    """The replication of one family of servers, as SQL."""

    def options(self, server_id: int, *, is_semisync: bool) -> Mapping[str, OptionValue]:
        """Options that each server of a replicated system needs, source and replicas alike.

        Args:
            server_id: Unique among the servers that replicate from each other, from 1.
            is_semisync: What semi-synchronous replication needs is there too; `use_semisync` turns it on.
        """

    def make_account(self, source: ControlConnection, account: ReplicationAccount) -> None:
        """Makes the account on a source, and writes nothing of it to the binary log."""

    def connect(
        self, replica: ControlConnection, source: SourcePlace, account: ReplicationAccount, *, is_semisync: bool
    ) -> None:
        """Lets a replica follow a source from what it has applied on, and accept no more writes of others."""

    def status(self, replica: ControlConnection) -> ReplicaStatus | None:
        """What a server says of its replication; None when it is no replica."""

    def committed(self, source: ControlConnection) -> str:
        """GTIDs of everything in a source's binary log."""

    def wait(self, replica: ControlConnection, gtids: str, limit_s: int) -> bool:
        """Waits until a replica has applied GTIDs; whether it has."""

    def stop_receiver(self, replica: ControlConnection) -> None:
        """Ends receiving; what was received is still applied."""

    def stop(self, replica: ControlConnection) -> None:
        """Ends receiving and applying; the transactions that are being applied are finished."""

    def forget(self, replica: ControlConnection) -> None:
        """Makes a stopped replica a server of its own, which keeps its GTIDs. Its relay log is removed."""

    def allow_writes(self, server: ControlConnection) -> None:
        """Lets clients write."""

    def adopt_copy(self, replica: ControlConnection) -> None:
        """Tells a server that runs on a copy of a source's data up to where that goes."""

    def server_id(self, server: ControlConnection) -> str:
        """What replicas name their source by, see `ReplicaStatus.source_id`."""

    def gtids_off(self, server: ControlConnection) -> str | None:
        """Why a server does not replicate by GTIDs; None when it does."""

    def transactions(self, gtids: str) -> int:
        """How many transactions GTIDs stand for, counted from the beginning."""

    def applier_threads(self, replica: ControlConnection) -> list[int]:
        """Threads of the server's process that apply, as the kernel numbers them; none where it does not say."""

    def use_semisync(self, source: ControlConnection, acknowledging: int) -> None:
        """Lets commits wait for so many replicas; 0 turns it off."""

    def semisync_clients(self, source: ControlConnection) -> int:
        """How many replicas acknowledge; 0 where it is off."""


def first_named(control: ControlConnection, statement: str) -> dict[str, str] | None:
    """The first row as text, by column in lower case, NULL as nothing; None when there is no row.

    Raises:
        TargetError: As `ControlConnection.rows`.
    """
    reply = control.reply(statement, ())
    if not reply.rows:
        return None
    names = [name.lower() for name, _ in reply.columns]
    return {name: "" if value is None else str(value) for name, value in zip(names, reply.rows[0], strict=True)}
