"""Replication of MariaDB 10.5 and later, as SQL. MariaDB Knowledge Base, "Global Transaction ID".

A position is the last GTID of each domain; `gtid_slave_pos` is what a replica has applied.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from plimsoll.servers.control import ControlConnection
from plimsoll.servers.replication.model import ReplicaStatus, ReplicationAccount, SourcePlace, first_named
from plimsoll.spec.server_options import OptionValue
from plimsoll.units import parse_whole

_CONNECT_RETRY_S = 1
_DRAINED = "Slave has read all relay log"


class MariaDb:
    """See `Dialect`."""

    def options(self, server_id: int, *, is_semisync: bool) -> Mapping[str, OptionValue]:
        """A binary log by rows that replicas write too, and nothing that begins by itself.

        Commits wait for replicas before they show to others, as is MySQL's default.
        """
        options: dict[str, OptionValue] = {
            "server_id": server_id,
            "log_bin": "binlog",
            "binlog_format": "ROW",
            "gtid_strict_mode": True,
            "log_slave_updates": True,
            "relay_log": "relay",
            "relay_log_recovery": True,
            "skip_slave_start": True,
        }
        if is_semisync:
            options["rpl_semi_sync_master_wait_point"] = "AFTER_SYNC"
        return options

    def make_account(self, source: ControlConnection, account: ReplicationAccount) -> None:
        """Nothing of it goes to the binary log."""
        name = (account.user, source.target.host or "127.0.0.1")
        source.rows("SET SESSION sql_log_bin = 0")
        try:
            source.rows("CREATE OR REPLACE USER %s@%s IDENTIFIED BY %s", *name, account.password.get_secret_value())
            source.rows("GRANT REPLICATION SLAVE ON *.* TO %s@%s", *name)
        finally:
            source.rows("SET SESSION sql_log_bin = 1")

    def connect(
        self, replica: ControlConnection, source: SourcePlace, account: ReplicationAccount, *, is_semisync: bool
    ) -> None:
        """The receiver reads its variable for semi-synchronous replication when it starts."""
        self.stop(replica)
        self.forget(replica)
        if is_semisync:
            self.use_semisync(replica, 0)
            replica.rows("SET GLOBAL rpl_semi_sync_slave_enabled = ON")
        replica.rows(
            "CHANGE MASTER TO MASTER_HOST = %s, MASTER_PORT = %s, MASTER_USER = %s, MASTER_PASSWORD = %s,"
            f" MASTER_USE_GTID = slave_pos, MASTER_SSL = 0, MASTER_CONNECT_RETRY = {_CONNECT_RETRY_S}",
            source.host,
            source.port,
            account.user,
            account.password.get_secret_value(),
        )
        replica.rows("SET GLOBAL read_only = ON")
        replica.rows("START SLAVE")

    def status(self, replica: ControlConnection) -> ReplicaStatus | None:
        """Bytes of the source's log tell apart what two replicas received after the same last GTID."""
        row = first_named(replica, "SHOW SLAVE STATUS")
        if row is None:
            return None
        code, error = int(row["last_sql_errno"] or 0), row["last_sql_error"]
        if not code:
            code, error = int(row["last_io_errno"] or 0), row["last_io_error"]
        executed = str(replica.value("SELECT @@GLOBAL.gtid_slave_pos"))
        file_number = parse_whole(row["master_log_file"].rpartition(".")[2]) or 0
        return ReplicaStatus(
            source_host=row["master_host"],
            source_port=int(row["master_port"]),
            source_id=row["master_server_id"],
            receiver=row["slave_io_running"],
            applier=row["slave_sql_running"],
            uses_gtids=row["using_gtid"] != "No",
            error_code=code,
            error=error,
            behind_s=parse_whole(row["seconds_behind_master"]),
            executed=executed,
            received=(
                max(_transactions(executed), _transactions(row["gtid_io_pos"])),
                file_number,
                int(row["read_master_log_pos"] or 0),
            ),
            waits_for_more=row["slave_sql_running_state"].startswith(_DRAINED) and not _busy_workers(replica),
        )

    def committed(self, source: ControlConnection) -> str:
        """`gtid_binlog_pos`."""
        return str(source.value("SELECT @@GLOBAL.gtid_binlog_pos"))

    def wait(self, replica: ControlConnection, gtids: str, limit_s: int) -> bool:
        """A limit of 0 only asks."""
        return bool(replica.value("SELECT MASTER_GTID_WAIT(%s, %s)", gtids, limit_s) == 0)

    def stop_receiver(self, replica: ControlConnection) -> None:
        """Ends receiving."""
        replica.rows("STOP SLAVE IO_THREAD")

    def stop(self, replica: ControlConnection) -> None:
        """Nothing to stop is fine."""
        replica.rows("STOP SLAVE")

    def forget(self, replica: ControlConnection) -> None:
        """`gtid_slave_pos` stays; `master.info`, which holds the password, goes."""
        replica.rows("RESET SLAVE ALL")

    def allow_writes(self, server: ControlConnection) -> None:
        """Turns read-only off."""
        server.rows("SET GLOBAL read_only = OFF")

    def adopt_copy(self, replica: ControlConnection) -> None:
        """The copied binary log ends where the data does; the position of a replica is not part of it."""
        replica.rows("SET GLOBAL gtid_slave_pos = @@GLOBAL.gtid_binlog_pos")

    def server_id(self, server: ControlConnection) -> str:
        """`server_id`."""
        return str(server.value("SELECT @@GLOBAL.server_id"))

    def gtids_off(self, server: ControlConnection) -> str | None:
        """Every binary log has GTIDs; a replica may still follow by file and position (`ReplicaStatus.uses_gtids`)."""
        return None if int(server.value("SELECT @@GLOBAL.log_bin")) else "it writes no binary log"

    def transactions(self, gtids: str) -> int:
        """The sum of sequence numbers."""
        return _transactions(gtids)

    def applier_threads(self, replica: ControlConnection) -> list[int]:
        """The one that reads the relay log and those that apply in parallel."""
        rows = replica.rows(
            "SELECT tid FROM information_schema.processlist WHERE command IN ('Slave_SQL', 'Slave_worker')"
        )
        return [int(row[0]) for row in rows]

    def use_semisync(self, source: ControlConnection, acknowledging: int) -> None:
        """One replica acknowledges; more cannot be asked for."""
        assert acknowledging <= 1, "MariaDB waits for one replica"
        source.rows(f"SET GLOBAL rpl_semi_sync_master_enabled = {'ON' if acknowledging else 'OFF'}")

    def semisync_clients(self, source: ControlConnection) -> int:
        """`Rpl_semi_sync_master_clients`, while the status is ON."""
        status = source.status()
        is_on = status.get("rpl_semi_sync_master_status") == "ON"
        return int(status["rpl_semi_sync_master_clients"]) if is_on else 0


def _busy_workers(replica: ControlConnection) -> int:
    """How many parallel appliers are at work."""
    return int(
        replica.value(
            "SELECT COUNT(*) FROM information_schema.processlist WHERE command = 'Slave_worker'"
            " AND state NOT LIKE 'Waiting for work%%'"
        )
    )


def _transactions(position: str) -> int:
    """The sum of a position's sequence numbers over its domains.

    >>> _transactions("0-1-15,2-1-7"), _transactions("")
    (22, 0)
    """
    return sum(int(number) for number in re.findall(r"\d+-\d+-(\d+)", position))
