"""`plimsoll workload`: show, check."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli import complete
from plimsoll.cli.help import Command, Group

if TYPE_CHECKING:
    from plimsoll.spec.workloads import StatementsSpec

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Work with workload files: your own tables and statements.",
)


@app.command("show", cls=Command)
def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            autocompletion=complete.shipped_workloads,
            help="key-value, order-queue, read-share or time-series.",
        ),
    ] = "key-value",
) -> None:
    """Print a workload file that comes with Plimsoll, as an example or a starting point.

    Example: plimsoll workload show order-queue > my-queue.toml
    """
    from plimsoll.errors import SpecError
    from plimsoll.spec.workloads import shipped

    if name not in shipped():
        raise SpecError(f"unknown workload {name!r}; choose one of {', '.join(shipped())}")
    typer.echo(shipped()[name].read_text(encoding="utf-8"), nl=False)


@app.command("check", cls=Command)
def check(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A workload file.")],
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-o", metavar="KEY=VALUE", help="rows.TABLE=N or parameters.NAME=VALUE; repeatable."),
    ] = None,
) -> None:
    """Check a workload file without a server, and report all errors at once.

    The load engine checks it too. A server checks the statements when a trial begins.

    Example: plimsoll workload check my-queue.toml
    """
    from plimsoll.cli.workload_file import workload_from_file
    from plimsoll.errors import SpecError

    spec = workload_from_file(file, option or (), {})
    if faults := [*_faults_by_engine(spec)]:
        raise SpecError(*(f"{file}: {fault}" for fault in faults))
    tables = ", ".join(f"{table.name} ({table.rows:,} rows)" for table in spec.definition.table)
    transactions = ", ".join(
        f"{transaction.name} (weight {transaction.weight})" for transaction in spec.definition.transaction
    )
    typer.echo(f"tables: {tables or 'none of its own'}")
    typer.echo(f"transactions: {transactions}")
    typer.echo(f"{file} is valid")


def _faults_by_engine(spec: StatementsSpec) -> Iterator[str]:
    """What the load engine says of it, in the words of its plan."""
    from plimsoll.drive.engine import LocalDriver, refuse_faults
    from plimsoll.drive.plans import data_line, sources, trial_line
    from plimsoll.errors import SpecError
    from plimsoll.spec.target import Target

    nowhere = Target(user="nobody", database="nowhere", host="localhost")
    for plan in (
        data_line(spec, nowhere, loaders=1),
        trial_line(spec, sources({"nowhere": nowhere}), connections=1, duration_s=1, seed=1),
    ):
        try:
            refuse_faults(LocalDriver(), plan)
        except SpecError as error:
            yield from error.lines
