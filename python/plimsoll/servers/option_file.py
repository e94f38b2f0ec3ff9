"""What a managed server is started with: its option file, and the statements that make its one account. Pure.

The option file follows from profile, machine and the user's options. Three profiles are the base; what the user states
wins. Options that would let the server reach outside of its own directory are refused (`spec.server_options`).

The statements are run by `--init-file`, before the server lets anybody in: one account with a random password, and
never a root user without a password that somebody could reach. They delete accounts, so they begin with a check that
the server runs on the data directory that Plimsoll made. Deliberately not here: files, processes, measuring the
machine.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pydantic import SecretStr

from plimsoll.spec.server_options import OptionValue, bare_name, value_text, variables_stated
from plimsoll.spec.target import Target, Tls

MIB = 2**20
GIB = 2**30

PROFILE_CONNECTIONS = 2048
"""How many connections a managed server lets in, unless its options say otherwise."""

SERVER_CONNECTIONS = 151
"""How many a server lets in by its own default, MySQL and MariaDB alike."""


class FlavourName(StrEnum):
    """The two families of servers; Percona Server counts as MySQL."""

    MARIADB = "mariadb"
    MYSQL = "mysql"


@dataclass(frozen=True, slots=True)
class Flavour:
    """Which server it is, as far as its options depend on it.

    Attributes:
        version: Major, minor and patch.
    """

    name: FlavourName
    version: tuple[int, int, int]

    def server_key(self, data_dir: Path) -> Path | None:
        """The file with the public key that encrypts passwords for this server; None where there is no such key."""
        return data_dir / "public_key.pem" if self.name is FlavourName.MYSQL else None


class Profile(StrEnum):
    """The base of a managed server's options."""

    PRODUCTION = "production"
    SERVER_DEFAULTS = "server-defaults"
    BARE = "bare"


@dataclass(frozen=True, slots=True, kw_only=True)
class InstancePaths:
    """Where an instance keeps its things, and where it listens. What is None lies in the data directory."""

    data_dir: Path
    socket: Path
    pid_file: Path
    temporary_dir: Path
    port: int
    address: str = "127.0.0.1"
    redo_dir: Path | None = None
    undo_dir: Path | None = None
    binlog_dir: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineSizes:
    """What the production profile is sized to.

    Attributes:
        memory_bytes: Of this machine, or of the control group that this process may use.
        free_bytes: Of the file system that holds the redo log; None when unknown.
        flush_ms_min: Shortest time of a small write with flush on the data's device; None when not measured.
        instances: So many servers of one system share it, and divide what is taken of it.
    """

    memory_bytes: int
    free_bytes: int | None = None
    flush_ms_min: float | None = None
    instances: int = 1


UNDO_TABLESPACES = 3
"""Of MariaDB where undo has a path of its own, as is its default from 11.0 on."""

BINLOG = "binlog"
"""How files of the binary log begin."""

_IO_CAPACITY_MIN = 100
"""Servers take no less."""

_PLAIN_VALUE = re.compile(r"[A-Za-z0-9_.,:=+@%/-]*")


@dataclass(frozen=True, slots=True)
class OptionFile:
    """What a server is started with.

    Attributes:
        text: Of the file.
        options: What the text states: values as text, by the variables that they are for.
    """

    text: str
    options: dict[str, str]


def make_option_file(
    *,
    flavour: Flavour,
    profile: Profile,
    paths: InstancePaths,
    machine: MachineSizes,
    buffer_pool_bytes: int | None = None,
    options: Mapping[str, OptionValue] | None = None,
    derived: Mapping[str, OptionValue] | None = None,
    as_root: bool = False,
) -> OptionFile:
    """An instance's option file. Later lines win, and the user's are last.

    Args:
        flavour: Which server it is; their options differ.
        profile: The base.
        paths: Where everything is.
        machine: What the production profile is sized to.
        buffer_pool_bytes: Of all servers together that share the machine; None lets the profile choose.
        options: The user's, names in one spelling.
        derived: What follows from other keys of the study file than `options`; over those of the profile.
        as_root: The server is to run as root, which it refuses unless told.
    """
    stated, place = dict(options or {}), _place_options(flavour, paths, as_root=as_root)
    base = _profile_options(flavour, profile, machine, buffer_pool_bytes) | dict(derived or {})
    if paths.undo_dir is not None and flavour.name is FlavourName.MARIADB:
        base["innodb_undo_tablespaces"] = UNDO_TABLESPACES  # without any, undo is part of the system tablespace
    if paths.binlog_dir is not None or "log_bin" in (derived or {}):
        base.pop("skip_log_bin", None)
    if paths.binlog_dir is not None:
        base.pop("log_bin", None)
    for name in stated:
        base.pop(name.removeprefix("skip_"), None)
        base.pop(f"skip_{name}", None)
    lines = [
        "# Written by Plimsoll for one server of its own; removed with it.",
        "[mysqld]",
        *_lines(place),
        f"# profile {profile.value}",
        *_lines(base),
        "# stated for this system",
        *_lines(stated),
        "",
    ]
    return OptionFile("\n".join(lines), variables_stated([*place.items(), *base.items(), *stated.items()]))


def place_words(flavour: Flavour, paths: InstancePaths, *, as_root: bool = False) -> list[str]:
    """Arguments that repeat where the instance lies and listens; they come last on the command line, so they win.

    A server skips an option file that anybody may write to, and then takes its built-in data directory, which may be
    another server's. With these arguments no lost option file can lead it there.
    """
    place = _place_options(flavour, paths, as_root=as_root)
    return [f"--{name}={'OFF' if value is False else value}" for name, value in place.items()]


def default_buffer_pool_bytes(memory_bytes: int) -> int:
    """A quarter of memory in steps of 128 MiB, at least 128 MiB and at most 4 GiB.

    A throwaway server must not surprise the machine that it shares with the client: who wants more says so.
    """
    return max(128 * MIB, min(memory_bytes // 4, 4 * GIB) // (128 * MIB) * (128 * MIB))


def _place_options(flavour: Flavour, paths: InstancePaths, *, as_root: bool) -> dict[str, OptionValue]:
    place: dict[str, OptionValue] = {
        "datadir": str(paths.data_dir),
        "socket": str(paths.socket),
        "pid_file": str(paths.pid_file),
        "tmpdir": str(paths.temporary_dir),
        "bind_address": paths.address,
        "port": paths.port,
    }
    if paths.redo_dir is not None:
        place["innodb_log_group_home_dir"] = str(paths.redo_dir)
    if paths.undo_dir is not None:
        place["innodb_undo_directory"] = str(paths.undo_dir)
    if paths.binlog_dir is not None:
        place["log_bin"] = str(paths.binlog_dir / BINLOG)
    if flavour.name is FlavourName.MYSQL and paths.temporary_dir.parent != paths.data_dir.parent:
        place["loose_innodb_temp_tablespaces_dir"] = str(paths.temporary_dir)
    if flavour.name is FlavourName.MYSQL:
        place |= {"loose_mysqlx": False, "secure_file_priv": "NULL"}
    if as_root:
        place["user"] = "root"
    return place


def _profile_options(
    flavour: Flavour, profile: Profile, machine: MachineSizes, buffer_pool_bytes: int | None
) -> dict[str, OptionValue]:
    if profile is Profile.SERVER_DEFAULTS:
        return (
            {}
            if buffer_pool_bytes is None
            else {"innodb_buffer_pool_size": _each(buffer_pool_bytes, machine.instances)}
        )
    pool = buffer_pool_bytes or default_buffer_pool_bytes(machine.memory_bytes)
    common: dict[str, OptionValue] = {
        "innodb_buffer_pool_size": _each(pool, machine.instances),
        "innodb_flush_method": "O_DIRECT",
        **_redo_options(flavour, _each(profile_redo_bytes(pool, machine.free_bytes), machine.instances)),
        "local_infile": True,
        "skip_name_resolve": True,
        # Load must be limited by the server and not by its door.
        "max_connections": PROFILE_CONNECTIONS,
        "max_prepared_stmt_count": 1048576,
    }
    return common | (_bare() if profile is Profile.BARE else _production(flavour, machine))


def _each(total_bytes: int, instances: int) -> int:
    """What each of several servers gets of the whole, in steps of 1 MiB and at least 8 MiB; one gets it as it is."""
    return total_bytes if instances == 1 else max(total_bytes // instances // MIB, 8) * MIB


def _production(flavour: Flavour, machine: MachineSizes) -> dict[str, OptionValue]:
    capacity = max(io_capacity(machine.flush_ms_min) // machine.instances, _IO_CAPACITY_MIN)
    options: dict[str, OptionValue] = {
        "innodb_doublewrite": True,
        "innodb_flush_log_at_trx_commit": 1,
        "innodb_io_capacity": capacity,
        "innodb_io_capacity_max": 2 * capacity,
        "log_bin": BINLOG,
        "sync_binlog": 1,
        "server_id": 1,
        # Long studies would fill the disk with binary logs that nobody reads.
        "max_binlog_size": 256 * MIB,
        **_binary_log_expiry(flavour),
    }
    if flavour.name is FlavourName.MARIADB:
        options["binlog_format"] = "ROW"
    return options


def _binary_log_expiry(flavour: Flavour) -> dict[str, OptionValue]:
    """A quarter of an hour; older servers count in days only, MySQL before 8.0 and MariaDB before 10.6."""
    seconds_since = (8, 0, 1) if flavour.name is FlavourName.MYSQL else (10, 6, 1)
    return {"binlog_expire_logs_seconds": 900} if flavour.version >= seconds_since else {"expire_logs_days": 1}


def _bare() -> dict[str, OptionValue]:
    return {
        "skip_log_bin": True,
        "innodb_doublewrite": False,
        "innodb_flush_log_at_trx_commit": 2,
        "performance_schema": False,
    }


def _redo_options(flavour: Flavour, redo_bytes: int) -> dict[str, OptionValue]:
    if flavour.name is FlavourName.MYSQL and flavour.version >= (8, 0, 30):
        return {"innodb_redo_log_capacity": redo_bytes}
    one_file = flavour.name is FlavourName.MARIADB and flavour.version >= (10, 5, 0)
    return {"innodb_log_file_size": redo_bytes if one_file else redo_bytes // 2}


def profile_redo_bytes(pool_bytes: int, free_bytes: int | None) -> int:
    """Half the buffer pool, 256 MiB to 8 GiB, and never more than a tenth of the free space (but 64 MiB)."""
    wanted = min(max(pool_bytes // 2, 256 * MIB), 8 * GIB)
    allowed = wanted if free_bytes is None else max(free_bytes // 10, 64 * MIB)
    return min(wanted, allowed) // (16 * MIB) * (16 * MIB)


def io_capacity(flush_ms_min: float | None) -> int:
    """Pages per second that InnoDB may write in the background, from how long the device takes for a flush.

    A disk that turns takes 4 ms and more, a solid-state disk about 1 ms, an NVMe device with a protected cache far
    less than 0.2 ms. Unmeasured counts as a solid-state disk.
    """
    if flush_ms_min is None:
        return 1000
    steps = ((4.0, 200), (1.0, 1000), (0.2, 4000))
    return next((capacity for at_least_ms, capacity in steps if flush_ms_min >= at_least_ms), 10_000)


def _lines(options: Mapping[str, OptionValue]) -> list[str]:
    return [_line(name, value) for name, value in options.items()]


def _line(name: str, value: OptionValue) -> str:
    if _PLAIN_VALUE.fullmatch(str(value)):
        return option_word(name, value)
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'{name}="{escaped}"'


def option_word(name: str, value: OptionValue) -> str:
    """An option as an argument says it, without dashes."""
    if isinstance(value, bool) and bare_name(name) != name and not name.startswith("loose_"):
        return name if value else f"{name}=0"
    return f"{name}={value_text(value)}"


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
