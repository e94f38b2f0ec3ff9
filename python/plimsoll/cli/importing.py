"""`plimsoll import`: results of others become recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Make recordings of published results.",
)


@app.callback()
def _root() -> None:
    """Keeps `table` a subcommand: logs of other tools will be others."""


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
    from plimsoll.importers.trials import write_import

    options = TableOptions(
        maps=_pairs(mapping or []), workload=workload, system=system, throughput_unit=throughput_unit
    )
    result = import_table(file, study_name=to.name, options=options)
    written = write_import(to, result)
    for line in (*result.report, *written.report):
        typer.echo(line)
    known = f", {written.present_count} were there already" if written.present_count else ""
    typer.echo(f"{len(written.paths)} recordings added to {to}{known}; next: plimsoll guide {to}")


def _pairs(mapping: list[str]) -> tuple[tuple[str, str], ...]:
    from plimsoll.errors import SpecError

    wrong = [pair for pair in mapping if "=" not in pair]
    if wrong:
        raise SpecError(*(f"--map: must be NAME=COLUMN, is {pair!r}" for pair in wrong))
    return tuple((name, column) for name, column in (pair.split("=", 1) for pair in mapping))
