"""`plimsoll import`: results of others become recordings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from plimsoll.units import printable

if TYPE_CHECKING:
    from plimsoll.importers.trials import ImportResult, WrittenImport

LogPattern = Annotated[
    str | None,
    typer.Option(
        "--pattern",
        metavar="PATTERN",
        help="What the files' names say, with {system}, {workload}, {connections}, {warehouses}, {factor:NAME} for what"
        " else tells systems apart, and {any} for the rest. With / in it, of folders too.",
    ),
]
LogSystem = Annotated[
    str | None, typer.Option("--system", metavar="NAME", help="The system, where no file's name says it.")
]
LogWorkload = Annotated[
    str | None, typer.Option("--workload", metavar="NAME", help="The workload, where neither log nor name says it.")
]
LogConnections = Annotated[
    int | None,
    typer.Option("--connections", metavar="N", help="Their number, where neither log nor name says it."),
]

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Make recordings of results of others.",
)


@app.callback()
def _root() -> None:
    """Holds the subcommands, one for each kind of source."""


@app.command("table")
def table(
    file: Annotated[Path, typer.Argument(metavar="FILE.csv", help="A table with a header line.")],
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="The study; several imports may share one.")],
    mapping: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="NAME=COLUMN", help="What a column means, such as level=threads. Repeatable."),
    ] = None,
    workload: Annotated[
        str | None, typer.Option("--workload", metavar="NAME", help="The workload, where no column says it.")
    ] = None,
    system: Annotated[
        str | None, typer.Option("--system", metavar="NAME", help="The system, where no column says it.")
    ] = None,
    throughput_unit: Annotated[
        Literal["tps", "tpm"] | None,
        typer.Option("--throughput-unit", metavar="tps|tpm", help="Where the column's name does not say it."),
    ] = None,
) -> None:
    """Import a table of results: level and throughput, and whatever else it has.

    Columns are recognised by their names or mapped; the rest are factors that tell systems apart.

    Example: plimsoll import table examples/published/hp-proliant-2008.csv --to hp && plimsoll guide hp
    """
    from plimsoll.importers.columns import TableOptions
    from plimsoll.importers.table import import_table

    options = TableOptions(
        maps=_pairs(mapping or []), workload=workload, system=system, throughput_unit=throughput_unit
    )
    _keep(to, lambda: import_table(file, study_name=to.name, options=options))


@app.command("sysbench")
def sysbench(
    logs: Annotated[
        list[Path], typer.Argument(metavar="LOG...", help="What sysbench 0.4 to 1.1 printed; folders of it too.")
    ],
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="The study; several imports may share one.")],
    pattern: LogPattern = None,
    system: LogSystem = None,
    workload: LogWorkload = None,
    connections: LogConnections = None,
) -> None:
    """Import logs of sysbench: interval lines and final reports, also in the CSV and JSON of its report hooks.

    Several runs of one system, workload and number of connections are repetitions. A log may hold several runs. It may
    be packed by gzip, be in UTF-16, or have times or names of containers before its lines.

    Example: plimsoll import sysbench logs/*.log --to study --pattern '{system}-{workload}-{connections}-{any}.log'

    Example: plimsoll import sysbench results --to study --pattern '{factor:vendor}/Tier{factor:gb}_{connections}th.log'

    Example: plimsoll import sysbench 16.log 32.log --to study --system db1 --workload oltp_read_write
    """
    from plimsoll.importers.log_places import LogOptions
    from plimsoll.importers.sysbench import import_sysbench

    options = LogOptions(pattern=pattern, system=system, workload=workload, connections=connections)
    _keep(to, lambda: import_sysbench(logs, study_name=to.name, options=options))


@app.command("tpcc")
def tpcc(
    logs: Annotated[
        list[Path],
        typer.Argument(
            metavar="LOG...", help="What go-tpc, sysbench-tpcc, tpcc-mysql or DBT-2 printed; folders of it too."
        ),
    ],
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="The study; several imports may share one.")],
    kit: Annotated[
        Literal["go-tpc", "sysbench-tpcc", "tpcc-mysql", "dbt2"] | None,
        typer.Option("--kit", help="The kit of all logs; recognised by their content when not given."),
    ] = None,
    pattern: LogPattern = None,
    system: LogSystem = None,
    workload: LogWorkload = None,
    connections: LogConnections = None,
    warehouses: Annotated[
        int | None,
        typer.Option("--warehouses", metavar="N", help="Their number, where neither log nor name says it."),
    ] = None,
) -> None:
    """Import logs of kits with a TPC-C-derived workload: go-tpc (plain, JSON), sysbench-tpcc, tpcc-mysql, DBT-2.

    Counts, errors, rollbacks and response times of each type of transaction where a log has them, and NOTPM.
    Several runs of one system, workload and number of connections are repetitions. The mix logs of DBT-2 (mix-N.log)
    in one folder are one run.

    Example: plimsoll import tpcc logs/*.log --to study --pattern '{system}-{connections}-{any}.log'

    Example: plimsoll import tpcc results/driver/mix-*.log --to study --system db1 --connections 32 --warehouses 100
    """
    from plimsoll.importers.log_places import LogOptions
    from plimsoll.importers.tpcc import import_tpcc

    options = LogOptions(
        pattern=pattern, system=system, workload=workload, connections=connections, warehouses=warehouses
    )
    _keep(to, lambda: import_tpcc(logs, study_name=to.name, options=options, kit=kit))


def _keep(to: Path, read: Callable[[], ImportResult]) -> None:
    """Reads and writes, one process at a time. A study that is measured here takes none: its guide shows its plan."""
    from plimsoll.importers.trials import write_import
    from plimsoll.run.folder import refuse_for_recordings
    from plimsoll.run.held import HeldFolder

    refuse_for_recordings(to)
    result = read()
    with HeldFolder(to):
        written = write_import(to, result)
    _tell(to, result, written)


def _tell(to: Path, result: ImportResult, written: WrittenImport) -> None:
    """The report on standard output, what was skipped on standard error; names come from files of others."""
    for line in result.skipped:
        typer.echo(printable(line), err=True)
    for line in (*result.report, *written.report):
        typer.echo(printable(line))
    known = f", {written.present_count} were there already" if written.present_count else ""
    count = len(written.paths)
    typer.echo(f"{count} recording{'' if count == 1 else 's'} added to {to}{known}; next: plimsoll guide {to}")


def _pairs(mapping: list[str]) -> tuple[tuple[str, str], ...]:
    from plimsoll.errors import SpecError

    wrong = [pair for pair in mapping if "=" not in pair]
    if wrong:
        raise SpecError(*(f"--map: must be NAME=COLUMN, is {pair!r}" for pair in wrong))
    return tuple((name, column) for name, column in (pair.split("=", 1) for pair in mapping))
