"""`plimsoll learn schema`: the tables of a server as a file, for learning where the server cannot be reached."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.first_line import say_connecting
from plimsoll.cli.groups import with_groups
from plimsoll.cli.login import NO_LOGIN, Login


@with_groups
def schema(
    target: Annotated[
        str, typer.Option("--target", metavar="URL", help="The server. Its database is read unless you name others.")
    ],
    to: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where the schema is written, mode 0600.")],
    databases: Annotated[
        list[str] | None, typer.Option("--database", metavar="NAME", help="A database to read. Repeatable.")
    ] = None,
    login: Login = NO_LOGIN,
) -> None:
    """Write definitions and figures of a server's tables into a file, for plimsoll learn --schema.

    Reads definitions, row counts, and figures of a sample of rows: lengths, shares of NULL, numbers of different
    values, smallest and largest numbers and dates. No text of a row is kept. The file has names: keep it as private as
    the schema itself. Each statement is given up after 2 seconds.

    Examples:

      plimsoll learn schema --target mysql://reader@db1/shop --ask-password -o schema.json

      plimsoll learn --from slow.log --schema schema.json -o prod
    """
    say_connecting(target)
    from plimsoll.errors import SpecError
    from plimsoll.prose.phrases import counted
    from plimsoll.run.reading_schema import read_schema, tables_of
    from plimsoll.run.schema_files import write_schema
    from plimsoll.servers.control import connect

    url = login.target(target)
    names = databases or [url.database]
    with connect(url) as control:
        tables = {one for name in names for one in tables_of(control, name)}
        if not tables:
            raise SpecError(f"--database: there are no tables in {', '.join(names)} that this account can see")
        found = read_schema(control, tables, progress=lambda name: typer.echo(f"reading {name}", err=True))
    write_schema(to, found)
    typer.echo(f"Schema: {to} ({counted(len(found.tables), 'table')})")
