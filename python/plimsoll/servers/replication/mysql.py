"""Replication of MySQL 8.0.26 and later, as SQL. MySQL Reference Manual, chapter "Replication"."""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.errors import TargetError
from plimsoll.servers.control import ControlConnection
from plimsoll.servers.replication.model import ReplicaStatus, ReplicationAccount, SourcePlace, first_named
from plimsoll.spec.server_options import OptionValue
from plimsoll.units import parse_whole

VERSION_MIN = (8, 0, 26)
"""The first with these names of options and statements throughout."""

_CONNECT_RETRY_S = 1
_DRAINED = "Replica has read all relay log"


class MySql:
    """See `Dialect`."""

    def options(self, server_id: int, *, is_semisync: bool) -> Mapping[str, OptionValue]:
        """GTIDs, a binary log that replicas write too, and nothing that begins by itself."""
        options: dict[str, OptionValue] = {
            "server_id": server_id,
            "log_bin": "binlog",
            "gtid_mode": True,
            "enforce_gtid_consistency": True,
            "log_replica_updates": True,
            "relay_log": "relay",
            "relay_log_recovery": True,
            "skip_replica_start": True,
        }
        if is_semisync:
            options["plugin_load_add"] = "semisync_source.so;semisync_replica.so"
        return options

    def make_account(self, source: ControlConnection, account: ReplicationAccount) -> None:
        """The password is hashed before it reaches any file."""
        name = (account.user, source.target.host or "127.0.0.1")
        source.rows("SET SESSION sql_log_bin = 0")
        try:
            source.rows("DROP USER IF EXISTS %s@%s", *name)
            source.rows("CREATE USER %s@%s IDENTIFIED BY %s", *name, account.password.get_secret_value())
            source.rows("GRANT REPLICATION SLAVE ON *.* TO %s@%s", *name)
        finally:
            source.rows("SET SESSION sql_log_bin = 1")

    def connect(
        self, replica: ControlConnection, source: SourcePlace, account: ReplicationAccount, *, is_semisync: bool
    ) -> None:
        """User and password go to START REPLICA, which keeps them in memory only."""
        self.stop(replica)
        self.forget(replica)
        if is_semisync:
            self.use_semisync(replica, 0)
            replica.rows("SET GLOBAL rpl_semi_sync_replica_enabled = ON")
        key = (
            ("GET_SOURCE_PUBLIC_KEY = 1", ())
            if source.public_key is None
            else ("SOURCE_PUBLIC_KEY_PATH = %s", (str(source.public_key),))
        )
        replica.rows(
            "CHANGE REPLICATION SOURCE TO SOURCE_HOST = %s, SOURCE_PORT = %s, SOURCE_AUTO_POSITION = 1, SOURCE_SSL = 0,"
            f" SOURCE_CONNECT_RETRY = {_CONNECT_RETRY_S}, SOURCE_RETRY_COUNT = 86400, {key[0]}",
            source.host,
            source.port,
            *key[1],
        )
        replica.rows("SET GLOBAL super_read_only = ON")
        replica.rows("START REPLICA USER = %s PASSWORD = %s", account.user, account.password.get_secret_value())

    def status(self, replica: ControlConnection) -> ReplicaStatus | None:
        """Of workers that apply, the error is told by a table of its own where the server has it."""
        row = first_named(replica, "SHOW REPLICA STATUS")
        if row is None:
            return None
        code, error = int(row["last_sql_errno"] or 0), row["last_sql_error"]
        if code:
            workers = replica.rows(
                "SELECT last_error_number, last_error_message FROM performance_schema."
                "replication_applier_status_by_worker WHERE last_error_number > 0 LIMIT 1",
                columns=2,
            )
            code, error = (int(workers[0][0]), str(workers[0][1])) if workers else (code, error)
        else:
            code, error = int(row["last_io_errno"] or 0), row["last_io_error"]
        return ReplicaStatus(
            source_host=row["source_host"],
            source_port=int(row["source_port"]),
            source_id=row["source_uuid"],
            receiver=row["replica_io_running"],
            applier=row["replica_sql_running"],
            uses_gtids=row["auto_position"] == "1",
            error_code=code,
            error=error,
            behind_s=parse_whole(row["seconds_behind_source"]),
            executed=_plain(row["executed_gtid_set"]),
            received=(_count(_union(replica, row["executed_gtid_set"], row["retrieved_gtid_set"])),),
            waits_for_more=row["replica_sql_running_state"].startswith(_DRAINED)
            and self.wait(replica, _plain(row["retrieved_gtid_set"]), 0),
        )

    def committed(self, source: ControlConnection) -> str:
        """`gtid_executed`."""
        return _plain(str(source.value("SELECT @@GLOBAL.gtid_executed")))

    def wait(self, replica: ControlConnection, gtids: str, limit_s: int) -> bool:
        """A limit of 0 only asks."""
        if limit_s == 0:
            return bool(replica.value("SELECT GTID_SUBSET(%s, @@GLOBAL.gtid_executed)", gtids))
        return bool(replica.value("SELECT WAIT_FOR_EXECUTED_GTID_SET(%s, %s)", gtids, limit_s) == 0)

    def stop_receiver(self, replica: ControlConnection) -> None:
        """Ends receiving."""
        replica.rows("STOP REPLICA IO_THREAD")

    def stop(self, replica: ControlConnection) -> None:
        """Nothing to stop is fine."""
        replica.rows("STOP REPLICA")

    def forget(self, replica: ControlConnection) -> None:
        """Its GTIDs stay."""
        replica.rows("RESET REPLICA ALL")

    def allow_writes(self, server: ControlConnection) -> None:
        """Turns off both kinds of read-only."""
        server.rows("SET GLOBAL super_read_only = OFF")
        server.rows("SET GLOBAL read_only = OFF")

    def adopt_copy(self, replica: ControlConnection) -> None:
        """Nothing: GTIDs are part of the data."""

    def server_id(self, server: ControlConnection) -> str:
        """`server_uuid`."""
        return str(server.value("SELECT @@GLOBAL.server_uuid"))

    def gtids_off(self, server: ControlConnection) -> str | None:
        """Both `gtid_mode` and the binary log are needed."""
        mode, log_bin = server.rows("SELECT @@GLOBAL.gtid_mode, @@GLOBAL.log_bin", columns=2)[0]
        if str(mode) != "ON":
            return f"gtid_mode is {mode}"
        return None if int(log_bin) else "it writes no binary log"

    def transactions(self, gtids: str) -> int:
        """The length of all ranges."""
        return _count(gtids)

    def applier_threads(self, replica: ControlConnection) -> list[int]:
        """Coordinator and workers, by the performance schema."""
        rows = replica.rows(
            "SELECT thread_os_id FROM performance_schema.threads WHERE thread_os_id IS NOT NULL"
            " AND name REGEXP '^thread/sql/(replica|slave)_(sql|worker)$'"
        )
        return [int(row[0]) for row in rows]

    def use_semisync(self, source: ControlConnection, acknowledging: int) -> None:
        """A server without the plugin says so by error 1193."""
        if acknowledging:
            source.rows("SET GLOBAL rpl_semi_sync_source_wait_for_replica_count = %s", acknowledging)
        source.rows(f"SET GLOBAL rpl_semi_sync_source_enabled = {'ON' if acknowledging else 'OFF'}")

    def semisync_clients(self, source: ControlConnection) -> int:
        """`Rpl_semi_sync_source_clients`, while the status is ON."""
        status = source.status()
        is_on = status.get("rpl_semi_sync_source_status") == "ON"
        return int(status["rpl_semi_sync_source_clients"]) if is_on else 0


def _plain(gtids: str) -> str:
    """A set without the line breaks that servers put in."""
    return "".join(gtids.split())


def _union(replica: ControlConnection, gtids: str, other: str) -> str:
    """The server simplifies a set in which ranges overlap."""
    return _plain(str(replica.value("SELECT GTID_SUBTRACT(CONCAT(%s, ',', %s), '')", _plain(gtids), _plain(other))))


def _count(gtids: str) -> int:
    """How many transactions are in a set whose ranges do not overlap.

    >>> _count("3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5:9,4e11fa47-71ca-11e1-9e33-c80aa9429562:tag:7")
    7
    """
    ranges = [part for uuid_set in gtids.split(",") for part in uuid_set.split(":")[1:] if part[:1].isdigit()]
    ends = [part.partition("-") for part in ranges]
    return sum(int(last or first) - int(first) + 1 for first, _, last in ends)


def refuse_old(version: tuple[int, int, int]) -> None:
    """Raises TargetError for a server that lacks these names."""
    if version < VERSION_MIN:
        actual, least = (".".join(map(str, numbers)) for numbers in (version, VERSION_MIN))
        raise TargetError(f"replicas need MySQL {least} or later, this is {actual}; use a later one")
