"""Whether a server knows the options that it is to be started with: asked of the program itself, which then ends.

Deliberately not here: options that Plimsoll refuses (`spec.server_options`). Values that only a server with data can
judge are not found.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence

from plimsoll.servers.command import ServerCommand, find_server
from plimsoll.servers.option_file import FlavourName, option_word
from plimsoll.spec.server_options import OptionValue

_VALIDATE_SINCE = (8, 0, 16)
"""MySQL's first version with `--validate-config`; its `--help` says nothing of options that it does not know."""

_LIMIT_S = 60.0
_ERROR = re.compile(
    r"\[ERROR\] (?:\[MY-\d+\] )?(?:\[Server\] )?(?:Buffered error: )?(?:\S*(?:mysqld|mariadbd)\S*: )?(?P<said>.+)"
)
"""What either family writes, after who says it."""


def option_faults(server: str | Sequence[str], options: Mapping[str, OptionValue]) -> tuple[str, ...]:
    """What a server says against options, one line each; nothing where it takes them or cannot be asked.

    Args:
        server: As `find_server` takes it.
        options: By their names, in the spelling of option files.

    Raises:
        SpecError, HostError: As `find_server`.
    """
    command = find_server(server)
    words = [f"--{option_word(name, value)}" for name, value in options.items()]
    if not words or not (together := _said(command, words)):
        return ()
    # Servers end at the first option that they do not take: each is asked about by itself.
    told = [said for word in words if (said := _said(command, [word]))] or [together]
    return tuple(f"{command.program[-1]} refuses to start: {line}; correct the option" for line in told)


def _said(command: ServerCommand, words: Sequence[str]) -> str:
    """What the program says against these arguments; empty where it takes them."""
    if (asking := _asking(command)) is None:
        return ""
    try:
        ran = subprocess.run(
            [*command.program, "--no-defaults", *command.arguments, *_as_root(), *words, *asking],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    if ran.returncode == 0:
        return ""
    said = [found["said"].rstrip(". ") for line in ran.stderr.splitlines() if (found := _ERROR.search(line))]
    return "; ".join(line for line in said if line != "Aborting")


def _asking(command: ServerCommand) -> tuple[str, ...] | None:
    """What makes the program check its options and end; None for one that cannot."""
    if command.flavour.name is FlavourName.MARIADB:
        return ("--verbose", "--help")
    return ("--validate-config",) if command.flavour.version >= _VALIDATE_SINCE else None


def _as_root() -> tuple[str, ...]:
    return ("--user=root",) if os.geteuid() == 0 else ()
