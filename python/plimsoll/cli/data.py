"""`plimsoll prepare`, `check` and `cleanup`: the tables of a workload, made, compared and removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from plimsoll.cli.help import with_groups
from plimsoll.cli.options import ANY_DATA, NO_LOGIN, DataOptions, Login, TargetOption
from plimsoll.cli.streams import say_connecting

if TYPE_CHECKING:
    from plimsoll.drive.protocol import Done


@with_groups
def prepare(
    target: TargetOption,
    data: DataOptions = ANY_DATA,
    loaders: Annotated[int, typer.Option("--loaders", min=1, help="Number of connections that load rows.")] = 2,
    inserts: Annotated[
        bool, typer.Option("--inserts", help="Use INSERT even if the server allows LOAD DATA LOCAL.")
    ] = False,
    login: Login = NO_LOGIN,
) -> None:
    """Create the tables of a workload and load their rows.

    Existing tables that fit are used as they are; other tables of the same name are refused. After an interruption, the
    same command continues: it compares existing rows, keeps them, and sends only the missing ones.

    Example: plimsoll prepare --target mysql://bench@127.0.0.1/sbtest --tables 4 --table-size 1000000

    Example: plimsoll prepare --target mysql://bench@127.0.0.1/tpcc --workload tpcc --warehouses 100
    """
    say_connecting(target)
    from plimsoll.drive.plans import data_line

    resolved, spec = login.target(target), data.spec
    line = data_line(spec, resolved, loaders=loaders, method="inserts" if inserts else "auto")
    done = _done("prepare", line)
    typer.echo(f"{done.rows_count:,} rows in {len(spec.table_names)} table(s), {done.duration_ns / 1e9:.1f} s")


@with_groups
def check(
    target: TargetOption,
    data: DataOptions = ANY_DATA,
    loaders: Annotated[int, typer.Option("--loaders", min=1, help="Number of connections that compare rows.")] = 2,
    count_only: Annotated[
        bool, typer.Option("--count-only", help="Count the rows without comparing their contents.")
    ] = False,
    login: Login = NO_LOGIN,
) -> None:
    """Check that tables hold the rows that prepare loaded. Give it the same options as prepare.

    The server computes a checksum over every row, so it reads each table once and sends no rows. With --count-only it
    only counts rows; that also works for tables that Plimsoll did not create. Exit code 4 means that rows are missing
    or different, which is normal after a workload that writes. For tpcc, the twelve consistency conditions are checked
    instead; they must hold after a load as well.

    Example: plimsoll check --target mysql://bench@127.0.0.1/sbtest --tables 4 --table-size 1000000

    Example: plimsoll check --target mysql://bench@127.0.0.1/sbtest --count-only

    Example: plimsoll check --target mysql://bench@127.0.0.1/bank --workload bank.toml

    Example: plimsoll check --target mysql://bench@127.0.0.1/tpcc --workload tpcc --warehouses 100
    """
    say_connecting(target)
    from plimsoll.drive.plans import data_line
    from plimsoll.spec.tpcc import TpccSpec

    resolved, spec = login.target(target), data.spec
    line = data_line(spec, resolved, loaders=loaders)
    command: Literal["check", "verify"] = "check" if count_only else "verify"
    done = _done(command, line)
    if isinstance(spec, TpccSpec):
        how = "is there" if count_only else "is there, and the twelve consistency conditions hold"
        typer.echo(f"All of {spec.warehouses:,} warehouse(s) {how}, {done.duration_ns / 1e9:.1f} s")
        return
    how = "are there" if count_only else "are there, each as it was made"
    typer.echo(f"{done.rows_count:,} rows in {len(spec.table_names)} table(s) {how}, {done.duration_ns / 1e9:.1f} s")


@with_groups
def cleanup(
    target: TargetOption,
    data: DataOptions = ANY_DATA,
    foreign: Annotated[
        bool, typer.Option("--drop-foreign", help="Also drop tables of these names that Plimsoll did not create.")
    ] = False,
    login: Login = NO_LOGIN,
) -> None:
    """Drop the tables that prepare created. Give it the same options as prepare.

    A table that Plimsoll did not create is kept, unless --drop-foreign is given. The heartbeat of replicas goes too.

    Example: plimsoll cleanup --target mysql://bench@127.0.0.1/sbtest --tables 4
    """
    say_connecting(target)
    from plimsoll.drive.plans import data_line
    from plimsoll.servers.replication.links import drop_heartbeat

    resolved, spec = login.target(target), data.spec
    line = data_line(spec, resolved, loaders=1, drop_foreign=foreign)
    _done("cleanup", line)
    drop_heartbeat(resolved)
    typer.echo("the tables are gone")


def _done(command: Literal["prepare", "check", "verify", "cleanup"], line: dict[str, Any]) -> Done:
    """Lets the engine do it, with its progress on the terminal."""
    from plimsoll.cli.progress import load_progress
    from plimsoll.drive.engine import LocalDriver, run_data_command

    with load_progress() as progress:
        return run_data_command(LocalDriver(), command, line, progress=progress.show, warn=progress.warn)
