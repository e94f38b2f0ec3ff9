"""Options about how connections to a target are encrypted, and what protects a password where they are not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli import complete

if TYPE_CHECKING:
    from plimsoll.spec.target import Target

TlsOption = Annotated[
    str | None,
    typer.Option(
        "--tls",
        metavar="MODE",
        autocompletion=complete.tls_modes,
        help="disabled, preferred (the default), required, verify-ca or verify-identity: see docs/encryption.md.",
    ),
]
CaOption = Annotated[
    str | None, typer.Option("--ca", metavar="FILE", help="Authorities that vouch for the server, PEM.")
]
CertOption = Annotated[
    str | None, typer.Option("--cert", metavar="FILE", help="Certificate that is shown to the server, PEM.")
]
KeyOption = Annotated[str | None, typer.Option("--key", metavar="FILE", help="Its private key, PEM.")]
ServerKeyOption = Annotated[
    str | None,
    typer.Option(
        "--server-public-key-path",
        metavar="FILE",
        help="The server's public key, PEM, for a password that it asks for over a connection that is not encrypted.",
    ),
]
GetServerKeyOption = Annotated[
    bool,
    typer.Option(
        "--get-server-public-key", help="Take any such key that comes: whoever answers may read the password."
    ),
]

Encryption = dict[str, str | bool | None]
"""What the options say, by the keys of `spec.tls`; None or false for what was not given."""


def encrypted(target: Target, encryption: Encryption) -> Target:
    """The target, encrypted as the options say.

    Raises:
        SpecError: What they say makes no sense; the messages name the options.
    """
    from plimsoll.errors import SpecError
    from plimsoll.spec.tls import said_of

    try:
        return target.with_tls(said_of({key: value or None for key, value in encryption.items()}))
    except SpecError as error:
        raise SpecError(*(_as_option(fault) for fault in error.faults)) from None


def _as_option(fault: str) -> str:
    key, _, wrong = fault.partition(":")
    return f"--{key.replace('_', '-')}:{wrong}"


def refuse_for_managed(encryption: Encryption) -> None:
    """Refuses options that a managed server has no use for.

    Raises:
        SpecError: One was given.
    """
    from plimsoll.errors import SpecError

    if given := [key.replace("_", "-") for key, value in encryption.items() if value]:
        raise SpecError(f"--{given[0]}: a managed server is reached in plain, on this machine; leave it out")
