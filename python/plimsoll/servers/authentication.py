"""To whom a control connection tells the password: as the load does, in PyMySQL's words.

Over a connection that is neither encrypted nor a unix socket a server may ask for the password itself, encrypted by its
public key (`caching_sha2_password`). Whoever answers in its place could send a key of their own and read it.

Deliberately not here: which methods there are (`login_methods`), encryption of the whole connection (`encryption`), and
what users say (`spec.tls`).
"""

from __future__ import annotations

from typing import Any

from cryptography.hazmat.primitives.serialization import load_pem_public_key
from pymysql import err

from plimsoll.errors import SpecError
from plimsoll.regular_file import read_regular
from plimsoll.servers.login_methods import OwnMethodsConnection
from plimsoll.spec.target import Target
from plimsoll.spec.tls import Tls

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
