"""The first line of a command that reaches or starts servers: said before the imports that a person would wait for.

It names users and hosts, never a password. Commands with progress go on with that. Deliberately not here: wrong URLs,
which are told of where targets are read.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from pathlib import Path

from plimsoll.units import printable


def say_first(text: str, *, is_quiet: bool = False) -> None:
    """Says what begins, on standard error.

    Args:
        text: Without the dots behind it.
        is_quiet: Nothing is said: the command prints its result alone.
    """
    if not is_quiet:
        print(f"{printable(text)} ...", file=sys.stderr, flush=True)


def say_connecting(*targets: str, is_quiet: bool = False) -> None:
    """Says which servers are reached; nothing where a URL is wrong."""
    from plimsoll.errors import SpecError
    from plimsoll.spec.target import parse_target  # of what it needs, the command line has imported the most already

    try:
        accounts = [f"{one.user}@{one.endpoint}" for one in map(parse_target, targets)]
    except SpecError:
        return
    say_first(f"connecting to {_listed(accounts)}", is_quiet=is_quiet)


def say_starting(*servers: str, is_quiet: bool = False) -> None:
    """Says which servers are started, by the names of their programs."""
    say_first(f"starting {_listed(map(_program, servers))}", is_quiet=is_quiet)


def say_reaching(target: str | None, server: str, *, is_quiet: bool = False) -> None:
    """Says which server is reached, or started where the target is `managed`; nothing without a target."""
    if target is None:
        return
    if target == "managed":
        say_starting(server, is_quiet=is_quiet)
    else:
        say_connecting(target, is_quiet=is_quiet)


def _program(server: str) -> str:
    """The name of a server's program; its own options, and what loads it, are left out.

    >>> _program("/opt/mysql/bin/mysqld --no-defaults"), _program("mariadb")
    ('mysqld', 'mariadb')
    """
    from plimsoll.spec.server_program import server_word  # help names no server

    try:
        words = shlex.split(server)
        return Path(server_word(words) or words[0]).name
    except (ValueError, IndexError):  # an open quote, or nothing: told of where the command is read
        return "a server"


def _listed(names: Iterable[str]) -> str:
    return " and ".join(names)
