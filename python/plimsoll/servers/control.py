"""The control connection: asks a server about itself, never drives load. PyMySQL's errors become ours, with a cure.

It is encrypted by the same settings as the load, and logs in by the three methods that the load engine knows, and by no
other. PyMySQL also knows methods that show the password to whoever asks for it (`mysql_clear_password`, `dialog`,
`sha256_password`), or a hash of it that is easily undone (`mysql_old_password`). Whoever answers in the server's place
could ask for one of them. Over a connection that is neither encrypted nor a unix socket a server may ask for the
password itself, encrypted by its public key (`caching_sha2_password`). Whoever answers in its place could send a key of
their own and read it.

Deliberately not here: what is asked (`facts`, `settle`, telemetry), what users say (`spec.target`), and the load, which
is the engine's.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import ssl
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pymysql
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from pymysql import err
from pymysql.connections import Connection
from pymysql.constants import FIELD_TYPE
from pymysql.err import OperationalError

from plimsoll.errors import SpecError, TargetError
from plimsoll.regular_file import read_regular
from plimsoll.spec.target import Target, Tls
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
            rows = list(cursor.fetchall())
        if any(len(row) < columns for row in rows):
            raise _wrong_protocol(self.target)
        return rows

    def reply(self, statement: str, values: Sequence[object]) -> Reply:
        """Runs a statement with a value for each `?` in it. Raises as `rows`."""
        text = statement.replace("%", "%%").replace("?", "%s") if values else statement
        with _translated(self.target), self._connection.cursor() as cursor:
            cursor.execute(text, tuple(values) or None)
            description = cursor.description or ()
            columns = tuple(
                (column[0], column[1] in _WHOLE or (column[1] in _DECIMAL and column[5] == 0)) for column in description
            )
            return Reply(columns, tuple(cursor.fetchall()), cursor.rowcount, cursor.lastrowid or 0)

    def value(self, statement: str, *arguments: object) -> Any:
        """The first column of the first row; None when there is no row. Raises as `rows`."""
        rows = self.rows(statement, *arguments)
        return rows[0][0] if rows else None

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
    if wording := _own_words(target, code, text, error):
        return TargetError(f"{target}: {wording}", code=code)
    state = _SQLSTATES.get(code)
    message = f"the server says {code}" + (f" ({state})" if state else "") + f": {text}"
    cure = _CURES.get(code)
    return TargetError(f"{target}: {message}" + (f"; {cure}" if cure else ""), code=code, sqlstate=state)


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


class OwnMethodsConnection(Connection):
    """A connection that refuses every other method. Two methods of PyMySQL's own are the only places for it."""

    _auth_plugin_name: str

    def _request_authentication(self) -> None:
        """Answers the greeting. Its method may only be the server's default: an account's own comes by a switch."""
        if self._auth_plugin_name not in _FOR_GREETINGS:
            self._auth_plugin_name = _FOR_GREETINGS[0]
        super()._request_authentication()  # type: ignore[misc]  # the stubs leave it out

    def _process_auth(self, plugin_name: bytes, *more: Any) -> Any:
        """Answers a switch to another method."""
        if plugin_name not in _KNOWN:
            raise OperationalError(UNKNOWN_METHOD, plugin_name.decode("ascii", "replace"))
        return super()._process_auth(plugin_name, *more)  # type: ignore[misc]  # the stubs leave it out


NO_KEY = 2061
"""MySQL's number for a method that refused to go on."""

NO_KEY_CURE = (
    "the server asks for the password itself, and whoever answers in its place could read it, since the connection is"
    " not encrypted; encrypt it (tls=required or better), name the server's public key (server_public_key_path=FILE, a"
    " copy of public_key.pem in its data directory), or take any key that comes (get_server_public_key=true)"
)

_KEY_REQUEST = b"\x02"
"""With this a client of `caching_sha2_password` asks for the key. No command is as short."""


class KeylessConnection(OwnMethodsConnection):
    """Takes no public key from whoever answers."""

    def write_packet(self, payload: bytes) -> None:
        """Sends a packet, unless it asks for a key."""
        if payload == _KEY_REQUEST:
            raise err.OperationalError(NO_KEY, "the password is asked for")
        super().write_packet(payload)


def connection_class(tls: Tls) -> type[OwnMethodsConnection]:
    """What opens a control connection."""
    return OwnMethodsConnection if tls.get_server_public_key else KeylessConnection


def login_arguments(target: Target) -> dict[str, Any]:
    """Arguments of a connection of PyMySQL that protect the password.

    Raises:
        SpecError: The file of the server's public key cannot be used.
    """
    return {
        "user": target.user,
        "password": target.password.get_secret_value(),
        "server_public_key": _server_key(target.tls),
    }


def _server_key(tls: Tls) -> bytes | None:
    path = tls.server_public_key_path
    if path is None:
        return None
    try:
        pem = read_regular(path)
        load_pem_public_key(pem)
    except OSError as error:
        raise SpecError(f"server_public_key_path: {path} cannot be read: {error.strerror}") from None
    except ValueError:
        raise SpecError(f"server_public_key_path: {path} holds no public key in PEM format") from None
    return pem


def connect_arguments(target: Target) -> dict[str, Any]:
    """Arguments of `pymysql.connect` that encrypt as the target wants it.

    Raises:
        SpecError: A file of certificates or keys cannot be used.
    """
    tls = target.tls
    if tls.mode == "disabled" or (tls.mode == "preferred" and target.socket is not None):
        return {"ssl_disabled": True}
    # Saying nothing is PyMySQL's preferred mode; a context is demanded of the server, and nothing is sent without it.
    return {"ssl": _context(tls)} if tls.is_demanded else {}


def why_refused(error: ssl.SSLError) -> str:
    """What went wrong between the two ends, and the cure."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return (
            f"its certificate is not trusted ({error.verify_message}): set ca to the certificate of the authority that"
            " signed it, and connect by a name in the certificate, or use tls=verify-ca, which accepts any name"
        )
    return (
        f"the TLS handshake failed ({error.reason or error}): does the server support TLS 1.2 or 1.3? Does it"
        " require a client certificate (cert and key)?"
    )


def _context(tls: Tls) -> ssl.SSLContext:
    """Trusts whom the engine trusts: names count as subjectAltName, and a server's own certificate in `ca` will do."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.check_hostname = tls.mode == "verify-identity"
    context.hostname_checks_common_name = False
    context.verify_mode = ssl.CERT_REQUIRED if tls.verifies else ssl.CERT_NONE
    context.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VerifyFlags.VERIFY_X509_STRICT
    if tls.ca is not None:
        _use("ca", tls.ca, lambda: context.load_verify_locations(cafile=tls.ca))
    if tls.cert is not None and tls.key is not None:
        cert, key = tls.cert, tls.key
        _use("key", key, lambda: key.open("rb").close())  # OpenSSL does not say which of the two it could not read
        # An encrypted key would be asked for on the terminal; the engine cannot read it either.
        _use("cert", cert, lambda: context.load_cert_chain(cert, key, password=""))
    return context


def _use(name: str, path: Path, action: Callable[[], None]) -> None:
    try:
        action()
    except ssl.SSLError as error:
        raise SpecError(f"{name}: {path} cannot be used: {error.reason or error}; it must be in PEM format") from None
    except OSError as error:
        raise SpecError(f"{name}: {path} cannot be read: {error.strerror}") from None


UNKNOWN_METHOD = 2059
"""MySQL's number for an authentication method that a client does not have."""

_KNOWN = (b"mysql_native_password", b"caching_sha2_password", b"client_ed25519")
_FOR_GREETINGS = ("mysql_native_password", "caching_sha2_password")
