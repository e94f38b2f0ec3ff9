"""`plimsoll capture`: how to make a server log everything for a while."""

from __future__ import annotations

from typing import Annotated

import typer


def capture(
    kind: Annotated[
        str, typer.Option("--print", metavar="KIND", help="The server: mysql, percona, mariadb, rds or aurora.")
    ],
) -> None:
    """Print how to switch logging of every statement on, and off again.

    Nothing is run: read the statements, run them yourself, and switch the log off again. Comments say what it costs
    and what the log reveals. plimsoll learn reads the log.

    Examples:

      plimsoll capture --print mariadb
    """
    from plimsoll.errors import SpecError
    from plimsoll.servers.capture import CAPTURES, COST, REVEALS

    if (instructions := CAPTURES.get(kind)) is None:
        raise SpecError(f"--print: must be one of {', '.join(CAPTURES)}, is {kind!r}")
    mark = "--" if instructions.commands is None else "#"
    lines = [f"{mark} {instructions.title}: log every statement."]
    lines += [f"{mark} {line}" for line in (*instructions.note, *COST, *REVEALS)]
    if instructions.commands is not None:
        on, off = instructions.commands
        lines += ["", "# Switch it on:", *on, "", "# Switch it off again:", *(f"# {command}" for command in off)]
        lines += ["", "# Fetch the log:", instructions.fetch]
    else:
        lines += ["", "-- 1. Note these values, to put them back:", instructions.shown]
        lines += ["", "-- 2. Switch the log on:", *instructions.on, "", "-- 3. The file:", instructions.fetch]
        lines += [
            "",
            "-- 4. Switch it off again, with the values that you noted:",
            *(f"-- {statement}" for statement in instructions.off),
        ]
    typer.echo("\n".join(lines))
