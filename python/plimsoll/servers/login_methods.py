"""How a control connection logs in: by the three methods that the load engine knows, and by no other.

PyMySQL also knows methods that show the password to whoever asks for it (`mysql_clear_password`, `dialog`,
`sha256_password`), or a hash of it that is easily undone (`mysql_old_password`). Whoever answers in the server's place
could ask for one of them. Deliberately not here: how these methods work, which is PyMySQL's.
"""

from __future__ import annotations

from typing import Any

from pymysql.connections import Connection
from pymysql.err import OperationalError

UNKNOWN_METHOD = 2059
"""MySQL's number for an authentication method that a client does not have."""

_KNOWN = (b"mysql_native_password", b"caching_sha2_password", b"client_ed25519")
_FOR_GREETINGS = ("mysql_native_password", "caching_sha2_password")


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
