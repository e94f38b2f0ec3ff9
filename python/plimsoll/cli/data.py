"""`plimsoll prepare`, `check` and `cleanup`: the tables of a workload, made, compared and removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from plimsoll.cli import options
from plimsoll.cli.encryption import CaOption, CertOption, GetServerKeyOption, KeyOption, ServerKeyOption, TlsOption
from plimsoll.cli.options import (
    AskPasswordOption,
    DefaultsFileOption,
    DistributionOption,
    OptionsOption,
    PasswordEnvOption,
    TableSizeOption,
    TablesOption,
    TargetOption,
    WarehousesOption,
    WorkloadOption,
)

if TYPE_CHECKING:
    from plimsoll.drive.protocol import Done


def prepare(
    target: TargetOption,
    workload: WorkloadOption = "oltp_read_write",
    tables: TablesOption = None,
    table_size: TableSizeOption = None,
    warehouses: WarehousesOption = None,
    distribution: DistributionOption = None,
    option: OptionsOption = None,
    loaders: Annotated[int, typer.Option("--loaders", min=1, help="Connections that load at the same time.")] = 2,
    inserts: Annotated[
        bool, typer.Option("--inserts", help="Use INSERT even where LOAD DATA LOCAL is allowed.")
    ] = False,
    password_env: PasswordEnvOption = None,
    defaults_file: DefaultsFileOption = None,
    ask_password: AskPasswordOption = False,
    tls: TlsOption = None,
    ca: CaOption = None,
    cert: CertOption = None,
    key: KeyOption = None,
    server_public_key_path: ServerKeyOption = None,
    get_server_public_key: GetServerKeyOption = False,
) -> None:
    """Make the tables of a workload and load their rows.

    Tables that are there already and fit are used as they are; others of the same name are refused. Where loading was
    interrupted, the same command goes on: rows that are there are compared and kept, and only missing ones are sent.

    Example: plimsoll prepare --target mysql://bench@127.0.0.1/sbtest --tables 4 --table-size 1000000

    Example: plimsoll prepare --target mysql://bench@127.0.0.1/tpcc --workload tpcc --warehouses 100
    """
    from plimsoll.drive.plans import data_line

    resolved = options.resolve_target(
        target,
        password_env=password_env,
        defaults_file=defaults_file,
        ask_password=ask_password,
        encryption={
            "tls": tls,
            "ca": ca,
            "cert": cert,
            "key": key,
            "server_public_key_path": server_public_key_path,
            "get_server_public_key": get_server_public_key,
        },
    )
    spec = options.workload_of(
        workload, option, tables=tables, table_size=table_size, distribution=distribution, warehouses=warehouses
    )
    line = data_line(spec, resolved, loaders=loaders, method="inserts" if inserts else "auto")
    done = _done("prepare", line)
    typer.echo(f"{done.rows_count:,} rows in {len(spec.table_names)} table(s), {done.duration_ns / 1e9:.1f} s")


def check(
    target: TargetOption,
    workload: WorkloadOption = "oltp_read_write",
    tables: TablesOption = None,
    table_size: TableSizeOption = None,
    warehouses: WarehousesOption = None,
    distribution: DistributionOption = None,
    option: OptionsOption = None,
    loaders: Annotated[int, typer.Option("--loaders", min=1, help="Connections that compare at the same time.")] = 2,
    count_only: Annotated[
        bool, typer.Option("--count-only", help="Count rows, and do not compare what is in them.")
    ] = False,
    password_env: PasswordEnvOption = None,
    defaults_file: DefaultsFileOption = None,
    ask_password: AskPasswordOption = False,
    tls: TlsOption = None,
    ca: CaOption = None,
    cert: CertOption = None,
    key: KeyOption = None,
    server_public_key_path: ServerKeyOption = None,
    get_server_public_key: GetServerKeyOption = False,
) -> None:
    """Look whether tables hold the rows that prepare made, given the same options.

    The server sums up a checksum over every row, and no rows are sent: it reads each table once. With --count-only it
    counts them, which also takes tables that others made. Exit code 4 says that something is missing or different, as
    it is after a workload that writes. For tpcc it looks at the twelve consistency conditions instead, which hold after
    load too.

    Example: plimsoll check --target mysql://bench@127.0.0.1/sbtest --tables 4 --table-size 1000000

    Example: plimsoll check --target mysql://bench@127.0.0.1/sbtest --count-only

    Example: plimsoll check --target mysql://bench@127.0.0.1/bank --workload bank.toml

    Example: plimsoll check --target mysql://bench@127.0.0.1/tpcc --workload tpcc --warehouses 100
    """
    from plimsoll.drive.plans import data_line
    from plimsoll.spec.tpcc import TpccSpec

    resolved = options.resolve_target(
        target,
        password_env=password_env,
        defaults_file=defaults_file,
        ask_password=ask_password,
        encryption={
            "tls": tls,
            "ca": ca,
            "cert": cert,
            "key": key,
            "server_public_key_path": server_public_key_path,
            "get_server_public_key": get_server_public_key,
        },
    )
    spec = options.workload_of(
        workload, option, tables=tables, table_size=table_size, distribution=distribution, warehouses=warehouses
    )
    line = data_line(spec, resolved, loaders=loaders)
    command: Literal["check", "verify"] = "check" if count_only else "verify"
    done = _done(command, line)
    if isinstance(spec, TpccSpec):
        how = "is there" if count_only else "is there, and the twelve consistency conditions hold"
        typer.echo(f"All of {spec.warehouses:,} warehouse(s) {how}, {done.duration_ns / 1e9:.1f} s")
        return
    how = "are there" if count_only else "are there, each as it was made"
    typer.echo(f"{done.rows_count:,} rows in {len(spec.table_names)} table(s) {how}, {done.duration_ns / 1e9:.1f} s")


def cleanup(
    target: TargetOption,
    workload: WorkloadOption = "oltp_read_write",
    tables: TablesOption = None,
    table_size: TableSizeOption = None,
    warehouses: WarehousesOption = None,
    distribution: DistributionOption = None,
    option: OptionsOption = None,
    foreign: Annotated[
        bool, typer.Option("--drop-foreign", help="Also drop tables of that name that Plimsoll did not make.")
    ] = False,
    password_env: PasswordEnvOption = None,
    defaults_file: DefaultsFileOption = None,
    ask_password: AskPasswordOption = False,
    tls: TlsOption = None,
    ca: CaOption = None,
    cert: CertOption = None,
    key: KeyOption = None,
    server_public_key_path: ServerKeyOption = None,
    get_server_public_key: GetServerKeyOption = False,
) -> None:
    """Drop the tables that prepare made, given the same options.

    A table that Plimsoll did not make stays, unless --drop-foreign is given.

    Example: plimsoll cleanup --target mysql://bench@127.0.0.1/sbtest --tables 4
    """
    from plimsoll.drive.plans import data_line

    resolved = options.resolve_target(
        target,
        password_env=password_env,
        defaults_file=defaults_file,
        ask_password=ask_password,
        encryption={
            "tls": tls,
            "ca": ca,
            "cert": cert,
            "key": key,
            "server_public_key_path": server_public_key_path,
            "get_server_public_key": get_server_public_key,
        },
    )
    spec = options.workload_of(
        workload, option, tables=tables, table_size=table_size, distribution=distribution, warehouses=warehouses
    )
    line = data_line(spec, resolved, loaders=1, drop_foreign=foreign)
    _done("cleanup", line)
    typer.echo("the tables are gone")


def _done(command: Literal["prepare", "check", "verify", "cleanup"], line: dict[str, Any]) -> Done:
    """Lets the engine do it, with its progress on the terminal."""
    from plimsoll.cli.progress import load_progress
    from plimsoll.drive.engine import LocalDriver, run_data_command

    with load_progress() as progress:
        return run_data_command(LocalDriver(), command, line, progress=progress.show, warn=progress.warn)
