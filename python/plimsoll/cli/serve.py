"""`plimsoll serve`: studies, runs, guides and what runs now as pages in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli import complete
from plimsoll.cli.streams import say_first

ADDRESS = "Address"


def serve(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="[FOLDER]", autocompletion=complete.studies, help="Folder with studies below it. Default: here."
        ),
    ] = Path(),
    port: Annotated[
        int, typer.Option("--port", min=0, max=65_535, help="Port; 0 for any that is free.", rich_help_panel=ADDRESS)
    ] = 5665,
    host: Annotated[
        str | None,
        typer.Option(
            "--host",
            metavar="ADDRESS",
            help="Listen at another address than loopback, so that other machines can ask. Needs --token-env. There is"
            " no encryption: put a proxy with TLS in front.",
            rich_help_panel=ADDRESS,
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--name",
            metavar="HOST",
            help="Name by which browsers reach the page, such as that of a proxy: other names are refused. Repeatable.",
            rich_help_panel=ADDRESS,
        ),
    ] = None,
    token_env: Annotated[
        str | None,
        typer.Option(
            "--token-env",
            metavar="NAME",
            help="Environment variable that holds the token with which every address begins. Default: a random one.",
            rich_help_panel=ADDRESS,
        ),
    ] = None,
) -> None:
    """Show studies, runs and guides in a browser, and what runs now, second by second.

    It prints an address of this machine; whoever knows the address can read, and nobody can change anything. It needs
    no network, and ends with Ctrl-C.

    Examples:

      plimsoll serve

      plimsoll serve results --port 8000

      plimsoll serve results --host 0.0.0.0 --name bench.example --token-env PLIMSOLL_TOKEN
    """
    say_first(f"looking into {folder}")
    import socket

    from plimsoll.errors import SpecError
    from plimsoll.serve.process import LOOPBACK, address_of, bound
    from plimsoll.serve.process import serve as serve_pages

    if not folder.is_dir():
        raise SpecError(f"{folder}: No such file or directory; name a folder with studies below it")
    if host is not None and token_env is None:
        raise SpecError("--host: needs --token-env: whoever can reach that address must know a secret of yours")
    token = _token(token_env)
    names = [] if host is None else [host, socket.gethostname()]
    with bound(host or LOOPBACK, port) as listening:
        typer.echo(address_of(listening, token))
        serve_pages(folder, listening, token, frozenset(map(str.lower, names + (name or []))))


def _token(variable: str | None) -> str:
    """The token that a variable holds, which no child inherits; else a random one.

    Raises:
        SpecError: It holds none, or one that is easily guessed or no part of an address.
    """
    import os
    import re
    import secrets

    from plimsoll.errors import SpecError
    from plimsoll.serve.process import TOKEN_LEAST

    if variable is None:
        return secrets.token_urlsafe(24)
    token = os.environ.pop(variable, "")
    if not re.fullmatch(r"[A-Za-z0-9_-]+", token) or len(token) < TOKEN_LEAST:
        raise SpecError(
            f"--token-env {variable}: must hold at least {TOKEN_LEAST} letters, digits, - or _;"
            " try: openssl rand -hex 16"
        )
    return token
