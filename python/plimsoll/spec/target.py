"""How to reach a server: a URL, the encryption of its connections, and where its password comes from.

A target is never shown with its password, which comes from the URL, an environment variable, an option file or a
prompt, and is never written. Modes and keys of encryption are those of MySQL's own clients, also what protects a
password where a connection is not encrypted. Deliberately not here: connecting, and reading the files of keys and
certificates, which whoever connects does.
"""

from __future__ import annotations

import configparser
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, cast, get_args
from urllib.parse import parse_qs, unquote, urlsplit

from pydantic import SecretStr

from plimsoll.errors import Fault, Loc, SpecError
from plimsoll.regular_file import text_regular


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """How connections are encrypted.

    Attributes:
        mode: `preferred` encrypts over TCP where the server offers it, and never over a unix socket; `required`
            always, whoever the server is; `verify-ca` with a server that an authority in `ca` vouches for;
            `verify-identity` when it does so for the target's name.
        ca: File of the authorities' certificates, PEM.
        cert: File of the client's certificate, PEM.
        key: File of its private key, PEM.
        server_public_key_path: File of the server's public key, PEM: it encrypts a password that the server asks for
            itself over a connection that is not encrypted.
        get_server_public_key: Whoever answers is asked for that key, and may learn the password by sending their own.
    """

    mode: TlsMode = "preferred"
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    server_public_key_path: Path | None = None
    get_server_public_key: bool = False

    @property
    def verifies(self) -> bool:
        """Whether the server must show who it is."""
        return self.mode in {"verify-ca", "verify-identity"}

    @property
    def is_demanded(self) -> bool:
        """Whether there is no connection without encryption."""
        return self.verifies or self.mode == "required"


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

    def with_tls(self, options: Mapping[str, str | None]) -> Target:
        """The same target, encrypted as options say; `options` has the keys that `tls_of` reads.

        Raises:
            SpecError: What they say makes no sense, or the URL has said something about it already.
        """
        if not any(options.values()):
            return self
        if self.tls != Tls():
            raise SpecError(
                Fault(("tls",), f"is in the URL and in an option; say all of {', '.join(KEYS)} in one place")
            )
        return replace(self, tls=tls_of(options))

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
        raise _target_error(f"host or port cannot be read; write {form}; {cure}") from None
    if parts.scheme not in {"mysql", "mariadb"}:
        raise _target_error(f"must begin with mysql://, is {parts.scheme or 'without a scheme'!r}; write {form}")
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
        raise _target_error(*(f"{fault}; write {form}" for fault in faults))
    decoded = (unquote(parts.username or ""), parts.hostname or "", socket, unquote(database), *tls.values())
    if hidden := [text for text in decoded if not text.isprintable()]:
        raise _target_error(f"must not contain control characters or others that are not to be seen: {hidden[0]!a}")
    return Target(
        user=unquote(parts.username or ""),
        password=SecretStr(unquote(parts.password or "")),
        host=parts.hostname,
        port=port,
        socket=Path(socket) if socket else None,
        database=unquote(database),
        tls=_url_tls(tls),
    )


def _target_error(*reasons: str) -> SpecError:
    return SpecError(*(Fault(("target",), reason) for reason in reasons))


def _url_tls(options: Mapping[str, str]) -> Tls:
    try:
        return tls_of(options)
    except SpecError as error:
        raise _target_error(*error.lines) from None


TlsMode = Literal["disabled", "preferred", "required", "verify-ca", "verify-identity"]
MODES: tuple[TlsMode, ...] = get_args(TlsMode)
KEYS = ("tls", "ca", "cert", "key", "server_public_key_path", "get_server_public_key")
"""What a URL, a study file and the command line call it."""


def tls_texts(values: Mapping[str, str | bool | None]) -> dict[str, str | None]:
    """Values of a study file or of options as `tls_of` reads them."""
    return {key: str(value).lower() if isinstance(value, bool) else value for key, value in values.items()}


def tls_of(options: Mapping[str, str | None]) -> Tls:
    """Reads what was said under `KEYS`; a missing or empty text says nothing.

    Raises:
        SpecError: A mode that does not exist, or a file that its mode has no use for; all at once.
    """
    given = {key: text for key, text in options.items() if text}
    mode = given.get("tls", "preferred")
    if faults := tuple(_faults(mode, given)):
        raise SpecError(*faults)
    get_key = given.pop("get_server_public_key", "false") == "true"
    files = {key: Path(text).expanduser().absolute() for key, text in given.items() if key != "tls"}
    return Tls(mode=cast("TlsMode", mode), get_server_public_key=get_key, **files)


def _faults(mode: str, given: Mapping[str, str]) -> Iterator[Fault]:
    """A file that is named and not used would look like safety that is not there."""
    if mode not in MODES:
        yield Fault(("tls",), f"must be one of {', '.join(MODES)}, is {mode!r}")
        return
    verifies, encrypts = mode.startswith("verify"), mode not in {"disabled", "preferred"}
    if verifies and "ca" not in given:
        yield Fault(
            ("ca",),
            f"{mode} needs the file of the authority that signed the server's certificate;"
            " those that this system trusts are in /etc/ssl/certs/ca-certificates.crt on Debian",
        )
    if "ca" in given and not verifies:
        yield Fault(("ca",), f"nothing is verified with tls={mode}; say tls=verify-ca or tls=verify-identity")
    if ("cert" in given) != ("key" in given):
        missing, there = ("key", "cert") if "cert" in given else ("cert", "key")
        yield Fault((missing,), f"is missing; {there} is of no use without it")
    if ("cert" in given or "key" in given) and not encrypts:
        yield Fault(("cert",), f"is not shown with tls={mode}; say tls=required, verify-ca or verify-identity")
    yield from _key_faults(mode, given, encrypts=encrypts)


def _key_faults(mode: str, given: Mapping[str, str], *, encrypts: bool) -> Iterator[Fault]:
    path, get = "server_public_key_path", "get_server_public_key"
    if (value := given.get(get, "false")) not in ("true", "false"):
        yield Fault((get,), f"must be true or false, is {value!r}")
    if path in given and value == "true":
        yield Fault((get,), f"any key that comes would be as good as that of {path}; leave one of them out")
    unused = path if path in given else get if value == "true" else None
    if unused and encrypts:
        yield Fault((unused,), f"is not used with tls={mode}, which encrypts the whole connection; leave it out")


def with_secrets(
    target: Target,
    *,
    password_env: str | None = None,
    defaults_file: str | None = None,
    prompt: Callable[[str], str] | None = None,
) -> Target:
    """The target with its password.

    Args:
        target: From a URL; a password in it wins.
        password_env: Name of an environment variable.
        defaults_file: Path of an option file with a [client] section, the convention of MySQL's own clients.
        prompt: Asks a person; called when given and nothing else has a password.

    Raises:
        SpecError: The variable is not set, or the file cannot be read or has no password.
    """
    if target.password.get_secret_value():
        return target
    if password_env is not None:
        return target.with_password(taken(password_env, key=("password_env",)))
    if defaults_file is not None:
        return target.with_password(_password_from(Path(defaults_file).expanduser()))
    if prompt is not None:
        return target.with_password(prompt(f"Password of {target.user} at {target.endpoint}: "))
    return target


_FILE_BYTES_MAX = 2**20

_TAKEN: dict[str, str] = {}
"""Passwords by the variable that they were taken from."""


def taken(variable: str, *, key: Loc) -> str:
    """The value of a variable, which is then no longer in the environment that child processes inherit.

    Whoever may look at a process on this machine may read its environment, and servers and engines need no password
    there.

    Args:
        variable: Its name.
        key: The path of what named it, for the message.

    Raises:
        SpecError: There is no such variable.
    """
    if variable in os.environ:
        _TAKEN[variable] = os.environ.pop(variable)
    if variable not in _TAKEN:
        # The name is not repeated: whoever gives the password in its place must not find it in a log.
        reason = (
            "the environment has no variable of the name that was given; set it and export it, and give its name, not"
            " the password itself"
        )
        raise SpecError(Fault(key, reason))
    return _TAKEN[variable]


def _password_from(path: Path) -> str:
    parser = configparser.RawConfigParser(allow_no_value=True, strict=False, delimiters=("=",))
    try:
        text = text_regular(path, _FILE_BYTES_MAX)
        parser.read_string("\n".join(line for line in text.splitlines() if not line.lstrip().startswith("!")))
    except OSError as error:
        raise _file_error(f"{path} cannot be read: {error.strerror}") from None
    except (configparser.Error, UnicodeDecodeError):
        raise _file_error(f"{path} is not an option file with sections such as [client]") from None
    password = parser.get("client", "password", fallback=None)
    if password is None:
        raise _file_error(f"{path} has no password in its [client] section; add password = …")
    return password.strip().strip("\"'")


def _file_error(reason: str) -> SpecError:
    return SpecError(Fault(("defaults_file",), reason))


def known_secret(variable: str | None) -> dict[str, str]:
    """The variable of a password with its value, for a child process of the user's own that needs it; empty for none.

    It was taken out of the environment that other children inherit.
    """
    if variable is None:
        return {}
    value = _TAKEN.get(variable, os.environ.get(variable))
    return {} if value is None else {variable: value}
