"""`plimsoll import`: results of others become recordings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from plimsoll.cli.help import Command, Group
from plimsoll.units import printable

if TYPE_CHECKING:
    from plimsoll.importers.trials import ImportResult, WrittenImport
    from plimsoll.spec.published import PublishedSpec

LogPattern = Annotated[
    str | None,
    typer.Option(
        "--pattern",
        metavar="PATTERN",
        help="How to read file names: {system}, {workload}, {connections}, {warehouses}, {factor:NAME} for what else"
        " distinguishes systems, {any} for the rest. A pattern with / matches folders too.",
    ),
]
LogSystem = Annotated[
    str | None,
    typer.Option("--system", metavar="NAME", help="Name of the system, if the file names do not contain it."),
]
LogWorkload = Annotated[
    str | None, typer.Option("--workload", metavar="NAME", help="The workload, if neither log nor file name states it.")
]
LogConnections = Annotated[
    int | None,
    typer.Option("--connections", metavar="N", help="Connections, if neither log nor file name states them."),
]

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Import results that other tools measured.",
)


@app.callback()
def _root() -> None:
    """Holds the subcommands, one for each kind of source."""


@app.command("table", cls=Command)
def table(
    file: Annotated[Path, typer.Argument(metavar="FILE.csv", help="A table with a header line.")],
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="The study; several imports may share one.")],
    mapping: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="COLUMN=NAME",
            help="What a column is in the schema, such as threads=connections. Repeatable.",
        ),
    ] = None,
    workload: Annotated[
        str | None, typer.Option("--workload", metavar="NAME", help="The workload, if no column states it.")
    ] = None,
    system: Annotated[
        str | None, typer.Option("--system", metavar="NAME", help="The system, if no column states it.")
    ] = None,
) -> None:
    """Import a table of results: one row is one measurement.

    Columns: system, workload, connections (or connections_per_instance), throughput_tps (or throughput_tpm),
    response_ms_p95 and the like, cpu_user_pct and the like, repetition, instance, instances, cpu, cores, memory_gib,
    cost_per_month. Map a column of another name to one of these with --map. Every other column is a factor: it
    distinguishes systems.

    A file of the same name with the ending .toml may say more: [document], as in a study file, for the guide's first
    page; [[system]] and [[workload]] for what the authors state of them; [[claim]] for what they concluded.

    Example: plimsoll import table examples/published/hp-proliant-2008.csv --to hp && plimsoll guide hp

    Example: plimsoll import table own.csv --to own --map Threads=connections --map tpmC=throughput_tpm --system db1
    """
    from plimsoll.importers.columns import TableOptions
    from plimsoll.importers.table import import_table
    from plimsoll.spec.cover import read_logo
    from plimsoll.spec.published import DOCUMENT_FILE, PublishedSpec, read_kept_document, read_published

    options = TableOptions(maps=_pairs(mapping or []), workload=workload, system=system)
    beside = _beside(file)
    published = PublishedSpec() if beside is None else read_published(beside)
    logo = read_logo(published.document, file.parent)
    if (to / DOCUMENT_FILE).exists():
        read_kept_document(to / DOCUMENT_FILE)
    written = _keep(to, lambda: import_table(file, study_name=to.name, options=options, published=published))
    _keep_document(published, logo, to, written)
    if beside is not None and not written.paths and (published.system or published.workload or published.claim):
        typer.echo(
            printable(
                f"{beside}: what it says of systems and workloads is taken together with new recordings only; import"
                f" into a new study for that, and write claims into {to / DOCUMENT_FILE}"
            ),
            err=True,
        )


@app.command("sysbench", cls=Command)
def sysbench(
    logs: Annotated[
        list[Path], typer.Argument(metavar="LOG...", help="Output of sysbench 0.4 to 1.1; files or folders.")
    ],
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="The study; several imports may share one.")],
    pattern: LogPattern = None,
    system: LogSystem = None,
    workload: LogWorkload = None,
    connections: LogConnections = None,
) -> None:
    """Import sysbench logs: interval lines and final reports, also as CSV or JSON from report hooks.

    Runs with the same system, workload and number of connections become repetitions. A log may hold several runs. It
    may be compressed with gzip, be in UTF-16, or have a timestamp or container name in front of each line.

    Example: plimsoll import sysbench logs/*.log --to study --pattern '{system}-{workload}-{connections}-{any}.log'

    Example: plimsoll import sysbench results --to study --pattern '{factor:vendor}/Tier{factor:gb}_{connections}th.log'

    Example: plimsoll import sysbench 16.log 32.log --to study --system db1 --workload oltp_read_write
    """
    from plimsoll.importers.log_places import LogOptions
    from plimsoll.importers.sysbench import import_sysbench

    options = LogOptions(pattern=pattern, system=system, workload=workload, connections=connections)
    _keep(to, lambda: import_sysbench(logs, study_name=to.name, options=options))


@app.command("tpcc", cls=Command)
def tpcc(
    logs: Annotated[
        list[Path],
        typer.Argument(
            metavar="LOG...", help="Output of go-tpc, sysbench-tpcc, tpcc-mysql or DBT-2; files or folders."
        ),
    ],
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="The study; several imports may share one.")],
    kit: Annotated[
        Literal["go-tpc", "sysbench-tpcc", "tpcc-mysql", "dbt2"] | None,
        typer.Option("--kit", help="The kit that wrote the logs. Default: recognised by content."),
    ] = None,
    pattern: LogPattern = None,
    system: LogSystem = None,
    workload: LogWorkload = None,
    connections: LogConnections = None,
    warehouses: Annotated[
        int | None,
        typer.Option("--warehouses", metavar="N", help="Warehouses, if neither log nor file name states them."),
    ] = None,
) -> None:
    """Import logs of TPC-C-derived kits: go-tpc (plain, JSON), sysbench-tpcc, tpcc-mysql, DBT-2.

    Imports NOTPM and, for each transaction type, the counts, errors, rollbacks and response times that the log has.
    Runs with the same system, workload and number of connections become repetitions. The mix logs of DBT-2 (mix-N.log)
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


def _beside(table: Path) -> Path | None:
    """The file that may describe a table; None where there is none."""
    try:
        file = table.with_suffix(".toml")
        return file if file != table and file.is_file() else None
    except (OSError, ValueError):  # what has no such name is no table either, which is told when it is read
        return None


def _keep_document(published: PublishedSpec, logo: bytes, study: Path, written: WrittenImport) -> None:
    """Keeps document and claims in the study, where they may be changed; a further table adds its claims to them."""
    from plimsoll.record.files import replace_file
    from plimsoll.spec.published import DOCUMENT_FILE, PublishedSpec, claim_text, document_text, read_kept_document

    to, cure = study / DOCUMENT_FILE, "the table itself was imported"
    claims = [claim.renamed(written.systems, written.workloads) for claim in published.claim]
    if not to.exists():
        if published.document != PublishedSpec().document or claims:
            replace_file(to, document_text(published.document, claims), cure)
        if logo:
            replace_file(study / published.document.logo, logo, cure)
    elif written.paths:
        present = read_kept_document(to).claim
        new = [claim_text(claim) for claim in claims if claim not in present]
        if new:
            replace_file(to, "\n".join((to.read_text().rstrip("\n"), "", *new)), cure)


def _keep(to: Path, read: Callable[[], ImportResult]) -> WrittenImport:
    """Reads and writes, one process at a time. A study that is measured here takes none: its guide shows its plan."""
    from plimsoll.importers.trials import write_import
    from plimsoll.run.folder import HeldFolder, refuse_for_recordings

    refuse_for_recordings(to)
    result = read()
    with HeldFolder(to):
        written = write_import(to, result)
    _tell(to, result, written)
    return written


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
        raise SpecError(*(f"--map: must be COLUMN=NAME, is {pair!r}" for pair in wrong))
    return tuple((column, name) for column, name in (pair.rsplit("=", 1) for pair in mapping))
