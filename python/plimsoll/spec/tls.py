"""How connections to a target are encrypted, and what protects a password where they are not, as users say it.

Modes and keys are those of MySQL's own clients.
Deliberately not here: reading the files, which whoever connects does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

from plimsoll.errors import SpecError

TlsMode = Literal["disabled", "preferred", "required", "verify-ca", "verify-identity"]
MODES: tuple[TlsMode, ...] = get_args(TlsMode)
KEYS = ("tls", "ca", "cert", "key", "server_public_key_path", "get_server_public_key")
"""What a URL, a study file and the command line call it."""


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


def said_of(values: Mapping[str, str | bool | None]) -> dict[str, str | None]:
    """Values of a study file or of options as `tls_of` reads them."""
    return {key: str(value).lower() if isinstance(value, bool) else value for key, value in values.items()}


def tls_of(said: Mapping[str, str | None]) -> Tls:
    """Reads what was said under `KEYS`; a missing or empty text says nothing.

    Raises:
        SpecError: A mode that does not exist, or a file that its mode has no use for; all at once.
    """
    given = {key: text for key, text in said.items() if text}
    mode = given.get("tls", "preferred")
    if faults := tuple(_faults(mode, given)):
        raise SpecError(*faults)
    get_key = given.pop("get_server_public_key", "false") == "true"
    files = {key: Path(text).expanduser().absolute() for key, text in given.items() if key != "tls"}
    return Tls(mode=cast("TlsMode", mode), get_server_public_key=get_key, **files)


def _faults(mode: str, given: Mapping[str, str]) -> Iterator[str]:
    """A file that is named and not used would look like safety that is not there."""
    if mode not in MODES:
        yield f"tls: must be one of {', '.join(MODES)}, is {mode!r}"
        return
    verifies, encrypts = mode.startswith("verify"), mode not in {"disabled", "preferred"}
    if verifies and "ca" not in given:
        yield (
            f"ca: {mode} needs the file of the authority that signed the server's certificate;"
            " those that this system trusts are in /etc/ssl/certs/ca-certificates.crt on Debian"
        )
    if "ca" in given and not verifies:
        yield f"ca: nothing is verified with tls={mode}; say tls=verify-ca or tls=verify-identity"
    if ("cert" in given) != ("key" in given):
        missing, there = ("key", "cert") if "cert" in given else ("cert", "key")
        yield f"{missing}: is missing; {there} is of no use without it"
    if ("cert" in given or "key" in given) and not encrypts:
        yield f"cert: is not shown with tls={mode}; say tls=required, verify-ca or verify-identity"
    yield from _key_faults(mode, given, encrypts=encrypts)


def _key_faults(mode: str, given: Mapping[str, str], *, encrypts: bool) -> Iterator[str]:
    path, get = "server_public_key_path", "get_server_public_key"
    if (said := given.get(get, "false")) not in ("true", "false"):
        yield f"{get}: must be true or false, is {said!r}"
    if path in given and said == "true":
        yield f"{get}: any key that comes would be as good as that of {path}; leave one of them out"
    unused = path if path in given else get if said == "true" else None
    if unused and encrypts:
        yield f"{unused}: is not used with tls={mode}, which encrypts the whole connection; leave it out"
