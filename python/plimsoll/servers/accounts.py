"""Who may log in to a managed server: one account with a random password.

The statements run by `--init-file`, before the server lets anybody in: it never has a root user without a password that
somebody could reach. They delete accounts, so they begin with a check that the server runs on the data directory that
Plimsoll made. Deliberately not here: running them (`managed`).
"""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import SecretStr

from plimsoll.servers.option_file import Flavour, FlavourName
from plimsoll.spec.target import Target
from plimsoll.spec.tls import Tls

ACCOUNT = "plimsoll"
DATABASE = "sbtest"
LOOPBACK = "127.0.0.1"


def account_target(
    password: SecretStr,
    *,
    host: str = LOOPBACK,
    port: int | None = None,
    socket: Path | None = None,
    server_key: Path | None = None,
) -> Target:
    """How to reach a server as that account: by its socket, or by an address of its machine.

    In plain, either way: MySQL makes certificates for itself, MariaDB 10 does not, and systems must be measured alike.
    Over the port MySQL asks for the password once, which only its own key may encrypt: another process could have the
    port by then.

    Args:
        password: The account's.
        host: The address on which it listens.
        port: Where it listens; None for the socket.
        socket: Its path.
        server_key: File of the server's public key; None for a server that has none.
    """
    plain = Tls(mode="disabled", server_public_key_path=server_key)
    if port is None:
        return Target(user=ACCOUNT, database=DATABASE, password=password, socket=socket, tls=plain)
    return Target(user=ACCOUNT, database=DATABASE, password=password, host=host, port=port, tls=plain)


def account_statements(flavour: Flavour, password: SecretStr, data_dir: Path, address: str = LOOPBACK) -> str:
    """SQL, one statement a line: one account is left, which may do everything, and its database.

    None of it goes to the binary log: each server of a replicated system has a password of its own.

    It can be used from this machine only, except where the server listens on another address than loopback.

    In data that an earlier study kept, both are there already, with a password that nobody knows any more.

    On any other data directory the `PREPARE` is a syntax error, and both families of servers read an init file no
    further than its first error. The deletion has the condition too, so that it does not depend on that alone.

    Args:
        flavour: Which server it is.
        password: Of the account.
        address: On which the server listens.
        data_dir: The server's own data directory.
    """
    users = "mysql.global_priv" if flavour.name is FlavourName.MARIADB else "mysql.user"
    accounts = [f"'{ACCOUNT}'@'{host}'" for host in ("localhost", LOOPBACK if address == LOOPBACK else "%")]
    secret = password.get_secret_value()
    assert "'" not in secret, "generated without quotes"
    assert "\\" not in secret, "generated without backslashes"
    return "\n".join(
        [
            f"SET @ours = HEX(TRIM(TRAILING '/' FROM @@datadir)) = '{os.fsencode(data_dir).hex().upper()}';",
            "SET @guard = IF(@ours, 'DO 0', CONCAT('Plimsoll did not make ', @@datadir));",
            "PREPARE guard FROM @guard;",
            "SET SESSION sql_log_bin = 0;",
            f"DELETE FROM {users} WHERE User IN ('', 'root') AND @ours;",  # noqa: S608  (no input in it)
            "FLUSH PRIVILEGES;",
            f"CREATE DATABASE IF NOT EXISTS {DATABASE};",
            *(f"DROP USER IF EXISTS {account};" for account in accounts),
            *(f"CREATE USER {account} IDENTIFIED BY '{secret}';" for account in accounts),
            *(f"GRANT ALL PRIVILEGES ON *.* TO {account} WITH GRANT OPTION;" for account in accounts),
            "",
        ]
    )
