"""How to reach a server: parsed from a URL, never shown with its password.

Deliberately not here: connecting, and where passwords come from besides the URL (`secrets`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from pydantic import SecretStr

from plimsoll.errors import SpecError
from plimsoll.spec.tls import KEYS, Tls, tls_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """How to reach one server, as whom, and in which database.

    Attributes:
        host: Name or address; None when a socket is used.
        port: TCP port; ignored when a socket is used.
        socket: Path of a unix socket on this machine; None when TCP is used.
        password: Never shown: not by `repr`, not by `str`.
        tls: How its connections are encrypted.
    """

    user: str
    database: str
    host: str | None = None
    port: int = 3306
    socket: Path | None = None
    password: SecretStr = field(default_factory=lambda: SecretStr(""))
    tls: Tls = field(default_factory=Tls)

    @property
    def endpoint(self) -> str:
        """Where it listens, for messages: a path, or host and port."""
        return str(self.socket) if self.socket else f"{self.host}:{self.port}"

    def with_password(self, password: str) -> Target:
        """The same target with a password."""
        return replace(self, password=SecretStr(password))

    def with_tls(self, said: Mapping[str, str | None]) -> Target:
        """The same target, encrypted as options say; `said` has the keys that `tls_of` reads.

        Raises:
            SpecError: What they say makes no sense, or the URL has said something about it already.
        """
        if not any(said.values()):
            return self
        if self.tls != Tls():
            raise SpecError(f"tls: is in the URL and in an option; say all of {', '.join(KEYS)} in one place")
        return replace(self, tls=tls_of(said))

    def __str__(self) -> str:
        """The target without its password."""
        return f"mysql://{self.user}@{self.endpoint}/{self.database}"


def parse_target(url: str) -> Target:
    """Reads `mysql://user[:password]@host[:port]/database` or `mysql://user@/database?socket=/path`.

    Behind the `?` may stand `tls`, `ca` and the other keys of `tls_of` too.

    Raises:
        SpecError: The URL is no such target. The message does not repeat a password.
    """
    form = "mysql://user@host:3306/database or mysql://user@/database?socket=/path"
    try:
        parts = urlsplit(url)
        port = parts.port or 3306
    except ValueError:  # its text would repeat what stands behind the colon, which may be part of a password
        cure = "a / : ? # @ of a password must be written as %2F %3A %3F %23 %40"
        raise SpecError(f"target: host or port cannot be read; write {form}; {cure}") from None
    if parts.scheme not in {"mysql", "mariadb"}:
        raise SpecError(f"target: must begin with mysql://, is {parts.scheme or 'without a scheme'!r}; write {form}")
    database = parts.path.strip("/")
    asked = parse_qs(parts.query, keep_blank_values=True)
    socket = asked.pop("socket", [""])[-1]
    tls = {key: asked.pop(key)[-1] for key in KEYS if key in asked}
    faults = [
        message
        for wrong, message in (
            (not parts.username, "the user is missing"),
            (not database, "the database is missing"),
            (not parts.hostname and not socket, "host or ?socket= is missing"),
            (bool(parts.hostname) and bool(socket), "host and ?socket= exclude each other"),
            (bool(asked), f"behind the ? only {', '.join(('socket', *KEYS))} are known"),
            (bool(parts.fragment), "# and what follows it mean nothing here"),
        )
        if wrong
    ]
    if faults:
        raise SpecError(*(f"target: {fault}; write {form}" for fault in faults))
    decoded = (unquote(parts.username or ""), parts.hostname or "", socket, unquote(database), *tls.values())
    if hidden := [text for text in decoded if not text.isprintable()]:
        raise SpecError(f"target: must not contain control characters or others that are not to be seen: {hidden[0]!a}")
    return Target(
        user=unquote(parts.username or ""),
        password=SecretStr(unquote(parts.password or "")),
        host=parts.hostname,
        port=port,
        socket=Path(socket) if socket else None,
        database=unquote(database),
        tls=_url_tls(tls),
    )


def _url_tls(said: Mapping[str, str]) -> Tls:
    try:
        return tls_of(said)
    except SpecError as error:
        raise SpecError(*(f"target: {fault}" for fault in error.faults)) from None
