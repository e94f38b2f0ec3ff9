"""Options about logging in to a target: the password, how connections are encrypted, and what protects the password."""

from __future__ import annotations

import getpass
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli import complete
from plimsoll.cli.help import LOGIN

if TYPE_CHECKING:
    from plimsoll.spec.target import Target

PasswordEnvOption = Annotated[
    str | None,
    typer.Option(
        "--password-env", metavar="NAME", help="Environment variable that holds the password.", rich_help_panel=LOGIN
    ),
]
DefaultsFileOption = Annotated[
    Path | None,
    typer.Option(
        "--defaults-file",
        metavar="FILE",
        help="Option file whose [client] section holds the password.",
        rich_help_panel=LOGIN,
    ),
]
AskPasswordOption = Annotated[
    bool,
    typer.Option(
        "--ask-password",
        help="Prompt for the password.",
        rich_help_panel=LOGIN,
    ),
]
TlsOption = Annotated[
    str | None,
    typer.Option(
        "--tls",
        metavar="MODE",
        autocompletion=complete.tls_modes,
        help="disabled, preferred (the default), required, verify-ca or verify-identity; see docs/encryption.md.",
        rich_help_panel=LOGIN,
    ),
]
CaOption = Annotated[
    str | None,
    typer.Option(
        "--ca",
        metavar="FILE",
        help="Certificate authorities to trust, PEM.",
        rich_help_panel=LOGIN,
    ),
]
CertOption = Annotated[
    str | None,
    typer.Option(
        "--cert",
        metavar="FILE",
        help="Client certificate, PEM.",
        rich_help_panel=LOGIN,
    ),
]
KeyOption = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="FILE",
        help="Private key of the client certificate, PEM.",
        rich_help_panel=LOGIN,
    ),
]
ServerKeyOption = Annotated[
    str | None,
    typer.Option(
        "--server-public-key-path",
        metavar="FILE",
        help="The server's public key, PEM. It encrypts the password on a connection without TLS.",
        rich_help_panel=LOGIN,
    ),
]
GetServerKeyOption = Annotated[
    bool,
    typer.Option(
        "--get-server-public-key",
        help="Accept whatever public key the server sends. An impostor could then read the password.",
        rich_help_panel=LOGIN,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """How to log in to a target."""

    password_env: PasswordEnvOption = None
    defaults_file: DefaultsFileOption = None
    ask_password: AskPasswordOption = False
    tls: TlsOption = None
    ca: CaOption = None
    cert: CertOption = None
    key: KeyOption = None
    server_public_key_path: ServerKeyOption = None
    get_server_public_key: GetServerKeyOption = False

    @property
    def _encryption(self) -> dict[str, str | bool | None]:
        """What was given, by the keys of `spec.tls`; None for what was not."""
        keys = ("tls", "ca", "cert", "key", "server_public_key_path", "get_server_public_key")
        return {key: getattr(self, key) or None for key in keys}

    def target(self, url: str) -> Target:
        """A target with its password and encryption, from wherever the user said they are.

        Raises:
            SpecError: The URL or an option is wrong, or there is no password where it should be.
        """
        from plimsoll.errors import SpecError
        from plimsoll.spec.secrets import with_secrets
        from plimsoll.spec.target import parse_target
        from plimsoll.spec.tls import said_of

        target = parse_target(url)
        try:
            target = target.with_tls(said_of(self._encryption))
        except SpecError as error:
            raise SpecError(*(_as_option(fault) for fault in error.faults)) from None
        return with_secrets(
            target,
            password_env=self.password_env,
            defaults_file=str(self.defaults_file) if self.defaults_file else None,
            prompt=getpass.getpass if self.ask_password else None,
        )

    def refuse_for_managed(self) -> None:
        """Refuses options that a managed server has no use for.

        Raises:
            SpecError: One was given.
        """
        from plimsoll.errors import SpecError

        if given := [key.replace("_", "-") for key, value in self._encryption.items() if value]:
            raise SpecError(
                f"--{given[0]}: a managed server is reached on this machine without encryption; leave it out"
            )


NO_LOGIN = Login()


def _as_option(fault: str) -> str:
    key, _, wrong = fault.partition(":")
    return f"--{key.replace('_', '-')}:{wrong}"
