"""The control connection: asks a server about itself, never drives load. PyMySQL's errors become ours, with a cure.

Deliberately not here: what is asked (`facts`, `settle`, telemetry), and the load, which is the engine's.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import ssl
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import pymysql
from pymysql import err
from pymysql.constants import FIELD_TYPE

from plimsoll.errors import TargetError
from plimsoll.servers.authentication import NO_KEY, NO_KEY_CURE, connection_class, login_arguments
from plimsoll.servers.encryption import connect_arguments, why_refused
from plimsoll.servers.login_methods import UNKNOWN_METHOD
from plimsoll.spec.target import Target
from plimsoll.units import parse_whole, printable

_LOG = logging.getLogger(__name__)

Row = tuple[Any, ...]

_CURES = {
    1040: "the server has no free connection: raise max_connections, or close other clients",
    1044: "the user has no privileges on this database: grant them, or name another database",
    1045: "wrong user or password: check the option file or the variable that holds the password",
    1049: "the database does not exist: create it, or name another",
    1129: "the server blocks this host after too many failed connections: run FLUSH HOSTS on the server",
    1130: "no user may connect from this host: create a user for it",
    1142: "the user lacks the privilege: grant it",
    1146: "the table does not exist: plimsoll prepare creates it",
    1203: "the user has too many connections: raise max_user_connections, or close other clients",
    1227: "the user lacks the privilege: grant it",
    1698: "this user may only log in through the operating system: use a user with a password",
}


_WHOLE = {FIELD_TYPE.TINY, FIELD_TYPE.SHORT, FIELD_TYPE.INT24, FIELD_TYPE.LONG, FIELD_TYPE.LONGLONG, FIELD_TYPE.YEAR}
_DECIMAL = {FIELD_TYPE.DECIMAL, FIELD_TYPE.NEWDECIMAL}


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server said to a statement.

    Attributes:
        columns: The name of each, and whether it holds whole numbers; none where there is no result set.
        rows: All of them.
        changed: How many rows it changed.
        insert_id: The AUTO_INCREMENT value that it generated; 0 for none.
    """

    columns: tuple[tuple[str, bool], ...]
    rows: tuple[Row, ...]
    changed: int
    insert_id: int

    @property
    def count(self) -> int:
        """Rows that were found or changed."""
        return len(self.rows) if self.columns else self.changed


class ControlConnection:
    """One connection in autocommit mode, for statements whose results are small."""

    def __init__(self, target: Target, connection: pymysql.connections.Connection[Any]) -> None:
        self.target = target
        self._connection = connection

    @property
    def socket(self) -> socket.socket:
        """What it goes through, for looking at where it ends."""
        return self._connection._sock  # type: ignore[attr-defined, no-any-return]  # PyMySQL has no other way

    def rows(self, statement: str, *arguments: object, columns: int = 1) -> list[Row]:
        """Runs a statement and returns all of its rows.

        Args:
            statement: SQL.
            arguments: Values for each `%s` of the statement.
            columns: So many each row must have at least; what answers may be anything.

        Raises:
            TargetError: The server refused the statement, answered something else, or the connection was lost.
        """
        with _translated(self.target), self._connection.cursor() as cursor:
            cursor.execute(statement, arguments or None)
            found = list(cursor.fetchall())
        if any(len(row) < columns for row in found):
            raise _wrong_protocol(self.target)
        return found

    def reply(self, statement: str, values: Sequence[object]) -> Reply:
        """Runs a statement with a value for each `?` in it. Raises as `rows`."""
        text = statement.replace("%", "%%").replace("?", "%s") if values else statement
        with _translated(self.target), self._connection.cursor() as cursor:
            cursor.execute(text, tuple(values) or None)
            said = cursor.description or ()
            columns = tuple((one[0], one[1] in _WHOLE or (one[1] in _DECIMAL and one[5] == 0)) for one in said)
            return Reply(columns, tuple(cursor.fetchall()), cursor.rowcount, cursor.lastrowid or 0)

    def value(self, statement: str, *arguments: object) -> Any:
        """The first column of the first row; None when there is no row. Raises as `rows`."""
        found = self.rows(statement, *arguments)
        return found[0][0] if found else None

    def count(self, statement: str, *arguments: object) -> int | None:
        """The value of `value` as a whole number; None when it is none: a proxy may not know it. Raises as `rows`."""
        return parse_whole(str(self.value(statement, *arguments)))

    def variables(self) -> dict[str, str]:
        """Every global variable as text, names in lower case. Raises as `rows`."""
        return {str(name).lower(): str(value) for name, value in self._pairs("SHOW GLOBAL VARIABLES")}

    def status(self) -> dict[str, str]:
        """Every global status variable as text, names in lower case. Raises as `rows`."""
        return {str(name).lower(): str(value) for name, value in self._pairs("SHOW GLOBAL STATUS")}

    def _pairs(self, statement: str) -> list[Row]:
        return [row[:2] for row in self.rows(statement, columns=2)]

    def close(self) -> None:
        """Closes the connection; never fails."""
        with contextlib.suppress(err.MySQLError, OSError):
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def connect(target: Target, *, connect_limit_s: float = 10, read_limit_s: float = 60) -> ControlConnection:
    """Opens a control connection.

    Args:
        target: The server, with the password.
        connect_limit_s: How long to wait for the connection, whole seconds.
        read_limit_s: How long to wait for any reply, whole seconds.

    Raises:
        TargetError: With MySQL's number and SQLSTATE where a server gave them, and with the cure.
        SpecError: A file of certificates or keys that the target names cannot be used.
    """
    encryption, login = connect_arguments(target), login_arguments(target)
    place: dict[str, Any] = (
        {"unix_socket": str(target.socket)} if target.socket else {"host": target.host, "port": target.port}
    )
    _LOG.debug("control connection to %s", target)
    with _translated(target):
        connection = connection_class(target.tls)(
            **place,
            **encryption,
            **login,
            database=target.database,
            connect_timeout=max(1, round(connect_limit_s)),
            read_timeout=max(1, round(read_limit_s)),
            write_timeout=max(1, round(read_limit_s)),
            charset="utf8mb4",
            autocommit=True,
        )
        return ControlConnection(target, connection)


def check_files(target: Target) -> None:
    """Reads the files of certificates and keys that a target names. Raises SpecError as `connect` does."""
    connect_arguments(target)
    login_arguments(target)


@contextlib.contextmanager
def _translated(target: Target) -> Iterator[None]:
    """Turns what PyMySQL raises into TargetError. A reply that it cannot parse comes as all sorts of errors."""
    try:
        yield
    except err.MySQLError as error:
        raise _target_error(target, error) from None
    except RuntimeError:
        raise TargetError(
            f"{target}: answered a statement with a request for a local file (LOAD DATA LOCAL); none was sent. No"
            " honest server does that: check host and port"
        ) from None
    except OSError as error:
        raise TargetError(f"{target}: {error}", code=2013) from None
    except Exception:
        raise _wrong_protocol(target) from None


def _target_error(target: Target, error: err.MySQLError) -> TargetError:
    code = error.args[0] if error.args and isinstance(error.args[0], int) else None
    text = str(error.args[-1]) if error.args else type(error).__name__
    if isinstance(error, err.InternalError) or code is None:
        return _wrong_protocol(target)
    if code == 2003 and isinstance(cause := getattr(error, "original_exception", None), ssl.SSLError):
        return TargetError(f"{target}: {why_refused(cause)}", code=code)
    if own := _own_words(target, code, text, error):
        return TargetError(f"{target}: {own}", code=code)
    state = _SQLSTATES.get(code)
    said = f"the server says {code}" + (f" ({state})" if state else "") + f": {text}"
    cure = _CURES.get(code)
    return TargetError(f"{target}: {said}" + (f"; {cure}" if cure else ""), code=code, sqlstate=state)


def _own_words(target: Target, code: int, text: str, error: err.MySQLError) -> str | None:
    """What this side noticed by itself; None when it was the server that said something."""
    if code == 2003:
        return _unreachable(target, error)
    if code == 2026:
        return (
            f"offers no encryption (TLS), and tls={target.tls.mode} requires it; enable TLS on the server, or choose"
            " tls=disabled"
        )
    if code == NO_KEY:
        return NO_KEY_CURE
    if code in {UNKNOWN_METHOD, 2006, 2013}:
        return _broken_off(target, code, text)
    return None


_SQLSTATES = {  # PyMySQL does not keep what the server sent
    1040: "08004",
    1044: "42000",
    1045: "28000",
    1049: "42000",
    1064: "42000",
    1130: "HY000",
    1142: "42000",
    1146: "42S02",
    1203: "42000",
    1227: "42000",
    1698: "28000",
}


def _broken_off(target: Target, code: int, text: str) -> str:
    if code == UNKNOWN_METHOD:
        return (
            f"the server wants to authenticate {target.user} by {printable(text)}, which is not supported; use an"
            " account with caching_sha2_password, mysql_native_password or client_ed25519"
        )
    what = "does not answer" if "timed out" in text else "closed the connection"
    return f"{what}; check host, port and the server's error log"


def _unreachable(target: Target, error: err.MySQLError) -> str:
    cause = getattr(error, "original_exception", None)
    if isinstance(cause, socket.gaierror):
        return f"the host name {target.host} is unknown; correct it"
    if isinstance(cause, ConnectionRefusedError):
        return "nothing listens there; start the server, or correct host and port"
    if isinstance(cause, FileNotFoundError):
        return "the socket does not exist; start the server, or correct the path"
    if isinstance(cause, PermissionError):
        return "no permission to use the socket"
    if isinstance(cause, TimeoutError):
        return "does not answer; check host, port and firewall"
    return f"cannot be reached: {error.args[-1]}"


def _wrong_protocol(target: Target) -> TargetError:
    return TargetError(f"{target}: the program there does not speak MySQL's protocol; correct host and port")
