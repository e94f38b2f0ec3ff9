"""Links between a source and its replicas: begun, looked at, waited for, ended, turned round; the heartbeat's table.

All of it by control connections, so a server may be anybody's; only what Plimsoll manages is changed. By the
heartbeat's row the engine measures how far replicas are behind. Deliberately not here: the SQL of a family (`mysql`,
`mariadb`), starting servers, and writing that row (the engine does it).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from plimsoll.errors import TargetError
from plimsoll.servers.control import ControlConnection, connect
from plimsoll.servers.option_file import Flavour, FlavourName
from plimsoll.servers.replication import mysql
from plimsoll.servers.replication.mariadb import MariaDb
from plimsoll.servers.replication.model import Dialect, ReplicaStatus, ReplicationAccount, SourcePlace
from plimsoll.servers.replication.mysql import MySql
from plimsoll.spec.target import Target

CONNECT_LIMIT_S = 60.0
"""How long a replica may take to connect to its source."""

_POLL_S = 0.05

_WAIT_S = 1
"""Servers wait for whole seconds; an applier that stopped is noticed after one of them."""


def dialect(flavour: Flavour) -> Dialect:
    """How a family of servers replicates.

    Raises:
        TargetError: The version is too old for it.
    """
    if flavour.name is FlavourName.MARIADB:
        return MariaDb()
    mysql.refuse_old(flavour.version)
    return MySql()


def dialect_of(server: ControlConnection) -> Dialect:
    """How a running server replicates. Raises TargetError as `dialect`, and when it does not answer."""
    text = str(server.value("SELECT VERSION()"))
    name = FlavourName.MARIADB if "mariadb" in text.lower() else FlavourName.MYSQL
    numbers = [int(part) for part in text.partition("-")[0].split(".")[:3] if part.isdigit()]
    return dialect(Flavour(name, (*numbers, 0, 0, 0)[:3]))  # type: ignore[arg-type]  # three of them


def start_replica(
    replica: ControlConnection,
    source: ControlConnection,
    place: SourcePlace,
    account: ReplicationAccount,
    *,
    is_semisync: bool = False,
    limit_s: float = CONNECT_LIMIT_S,
) -> None:
    """Lets a replica follow a source, also in place of another one, and waits until it receives and applies.

    The replica must have applied a part of what the source has committed. It then refuses writes of clients.

    Args:
        replica: A managed server.
        source: A managed server, which gets the account.
        place: Where the replica reaches it.
        account: Of the system.
        is_semisync: The replica acknowledges what it received.
        limit_s: How long it may take to connect.

    Raises:
        TargetError: It does not replicate within the limit; with the server's code and message.
    """
    speaks = dialect_of(source)
    speaks.make_account(source, account)
    speaks.connect(replica, place, account, is_semisync=is_semisync)
    _until(replica, lambda status: status.is_running, limit_s, "is not connected to its source")


def replica_status(server: ControlConnection) -> ReplicaStatus | None:
    """What a server says of its replication; None when it is no replica. Raises TargetError when it does not answer."""
    return dialect_of(server).status(server)


def wait_until_applied(source: ControlConnection, replica: ControlConnection, limit_s: float) -> float:
    """Waits until a replica has applied what its source has committed by now; returns the seconds that it took.

    Raises:
        TargetError: It has not within the limit, or it stopped replicating; with the server's code and message.
    """
    speaks, began_s = dialect_of(source), time.monotonic()
    gtids = speaks.committed(source)
    while not speaks.wait(replica, gtids, _WAIT_S):
        status = speaks.status(replica)
        if status is None or status.applier != "Yes" or status.error_code:
            raise _stopped(replica, status)
        if time.monotonic() - began_s >= limit_s:
            behind = "" if status.behind_s is None else f" It is {status.behind_s:.0f} s behind."
            raise TargetError(
                f"{replica.target}: the replica has not applied what its source had committed {limit_s:.0f} s"
                f" before.{behind} Lower the load, or give the replica more of the machine"
            )
    return time.monotonic() - began_s


def disconnect(replica: ControlConnection) -> None:
    """Ends replication, and forgets the source and the password. The replica still refuses writes, and has its GTIDs.

    What was received and not yet applied is discarded. Raises TargetError when the replica does not answer.
    """
    speaks = dialect_of(replica)
    speaks.stop(replica)
    speaks.forget(replica)


def promote(replica: ControlConnection, limit_s: float) -> float:
    """Makes a replica a source: it applies what it has received, and then lets clients write.

    Returns:
        Seconds that it took.

    Raises:
        TargetError: It has not applied everything within the limit, or its applier stopped. It is then no source.
    """
    speaks, began_s = dialect_of(replica), time.monotonic()
    if speaks.status(replica) is not None:
        speaks.stop_receiver(replica)
        _until(replica, lambda status: status.waits_for_more, limit_s, "has not applied what it received")
        speaks.stop(replica)
        speaks.forget(replica)
    speaks.allow_writes(replica)
    return time.monotonic() - began_s


def most_advanced(replicas: Sequence[ControlConnection]) -> int:
    """Which of the replicas of one source has received most, as its index; the first of equals.

    Raises:
        TargetError: One does not answer, or is no replica.
    """
    received = []
    for replica in replicas:
        if (status := replica_status(replica)) is None:
            raise _stopped(replica, None)
        received.append(status.received)
    return max(range(len(received)), key=lambda index: (received[index], -index))


def use_semisync(source: ControlConnection, acknowledging: int, limit_s: float = CONNECT_LIMIT_S) -> None:
    """Lets commits on a source wait for replicas that are connected; 0 turns it off.

    Raises:
        TargetError: Fewer replicas acknowledge within the limit, or the server lacks the plugin (error 1193).
    """
    speaks, began_s = dialect_of(source), time.monotonic()
    speaks.use_semisync(source, acknowledging)
    while (replica_count := speaks.semisync_clients(source)) < acknowledging:
        if time.monotonic() - began_s >= limit_s:
            speaks.use_semisync(source, 0)
            raise TargetError(
                f"{source.target}: {replica_count} of {acknowledging} replicas acknowledge commits after"
                f" {limit_s:.0f} s"
            )
        time.sleep(_POLL_S)


def _until(replica: ControlConnection, wanted: Callable[[ReplicaStatus], bool], limit_s: float, what: str) -> None:
    """Waits until a replica's status is as wanted.

    Raises:
        TargetError: It stopped, or `what` still holds after the limit.
    """
    speaks, began_s = dialect_of(replica), time.monotonic()
    while True:
        status = speaks.status(replica)
        if status is None or (status.applier != "Yes" and status.error_code):
            raise _stopped(replica, status)
        if wanted(status):
            return
        if time.monotonic() - began_s >= limit_s:
            why = f": error {status.error_code}: {status.error}" if status.error_code else ""
            raise TargetError(
                f"{replica.target}: the replica {what} after {limit_s:.0f} s{why}", code=status.error_code or None
            )
        time.sleep(_POLL_S)


def _stopped(replica: ControlConnection, status: ReplicaStatus | None) -> TargetError:
    if status is None:
        return TargetError(f"{replica.target}: is no replica")
    return TargetError(
        f"{replica.target}: the replica does not follow its source: {status.fault}", code=status.error_code or None
    )


TABLE = "plimsoll_heartbeat"
COMMENT = "plimsoll heartbeat"
"""What the comment of the engine's own table begins with."""


def drop_heartbeat(target: Target) -> None:
    """Drops the table in the target's database if the engine made it; nothing if there is none.

    Raises:
        TargetError: The server cannot be reached, or does not allow it.
    """
    with connect(target) as control:
        comment = control.value(
            "SELECT TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = %s",
            TABLE,
        )
        if str(comment or "").startswith(COMMENT):
            control.rows(f"DROP TABLE {TABLE}")
