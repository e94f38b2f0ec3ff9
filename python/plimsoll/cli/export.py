"""`plimsoll export`: recordings in formats that other tools read."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer

from plimsoll.cli import complete
from plimsoll.cli.help import Command, Group
from plimsoll.cli.options import StudyFolderArgument

app = typer.Typer(
    cls=Group, no_args_is_help=True, rich_markup_mode=None, help="Export recordings in the formats of other tools."
)

TablesOption = Annotated[
    Path | None,
    typer.Option(
        "--to",
        "--output",
        metavar="FOLDER",
        help="Folder for the tables. Existing files are replaced. Default: tables in the study's folder.",
    ),
]
TableOption = Annotated[
    list[str] | None,
    typer.Option(
        "--table",
        metavar="NAME",
        autocompletion=complete.tables,
        help="Only this table: trials, intervals, percentiles, telemetry, replication, cells, comparisons or"
        " capacities. Repeatable.",
    ),
]
WholeOption = Annotated[
    bool, typer.Option("--all-intervals", help="Include the warm-up and what followed the measured window.")
]
UnplannedOption = Annotated[
    bool, typer.Option("--unplanned", help="Include recordings that are no longer in the study's plan.")
]


@app.command("csv", cls=Command)
def csv(
    study: StudyFolderArgument,
    to: TablesOption = None,
    table: TableOption = None,
    whole: WholeOption = False,
    unplanned: UnplannedOption = False,
) -> None:
    """Write a study as flat tables, one CSV file each.

    trials, percentiles and telemetry have one row per trial, quantile and sample; intervals has one per second and
    transaction type, replication one per second and replica; cells, comparisons and capacities are those of the guide.
    Like the guide, the tables cover the measured windows of complete trials in the plan. docs/export.md describes the
    columns.

    Examples:

      plimsoll export csv results/flush --to tables

      plimsoll export csv results/flush --to tables --table cells --table comparisons
    """
    _export_tables(study, to, "csv", table, whole=whole, unplanned=unplanned)


@app.command("parquet", cls=Command)
def parquet(
    study: StudyFolderArgument,
    to: TablesOption = None,
    table: TableOption = None,
    whole: WholeOption = False,
    unplanned: UnplannedOption = False,
) -> None:
    """Write a study as flat tables, one Parquet file each.

    The same tables as plimsoll export csv, with typed columns.

    Example: plimsoll export parquet results/flush --to tables
    """
    _export_tables(study, to, "parquet", table, whole=whole, unplanned=unplanned)


def _export_tables(
    study: Path,
    to: Path | None,
    kind: Literal["csv", "parquet"],
    names: list[str] | None,
    *,
    whole: bool,
    unplanned: bool,
) -> None:
    from plimsoll.api import COLUMNS, open_study
    from plimsoll.errors import SpecError
    from plimsoll.guide.files import write_tables

    unknown = [name for name in names or () if name not in COLUMNS]
    if unknown:
        raise SpecError(f"--table: must be one of {', '.join(COLUMNS)}, is {unknown[0][:60]!r}")
    with _left_out_on_stderr():
        opened = open_study(study, whole=whole, unplanned=unplanned)
        tables = {name: opened.table(name) for name in COLUMNS if not names or name in names}
    folder = study / "tables" if to is None else to
    write_tables(tables, folder, kind)
    rows = ", ".join(f"{name} ({table.height:,} rows)" for name, table in tables.items())
    typer.echo(f"{rows} in {folder}")


OutputFileOption = Annotated[
    Path, typer.Option("--to", "--output", metavar="FILE", help="The file. An existing one is replaced.")
]


@app.command("bencher", cls=Command)
def bencher(study: StudyFolderArgument, to: OutputFileOption) -> None:
    """Write a study in Bencher Metric Format: a benchmark for each system, workload and level.

    Each has throughput with its 95 % confidence interval as lower_value and upper_value, transactions per second, and
    p99, milliseconds.

    Example: plimsoll export bencher results/flush --to results.json
    """
    from plimsoll.guide.build import analyse_folder
    from plimsoll.guide.peer_formats import bencher_json
    from plimsoll.record.files import replace_file

    replace_file(to, bencher_json(analyse_folder(study)), "choose another file with --to")
    typer.echo(f"{to}")


@app.command("otava", cls=Command)
def otava(
    studies: Annotated[
        list[str],
        typer.Argument(
            metavar="STUDY...", autocompletion=complete.studies, help="Folders of studies that ask the same question."
        ),
    ],
    to: OutputFileOption,
) -> None:
    """Write a history of studies as a CSV that Apache Otava reads: a row for each study, a column for each metric.

    The columns are time, study, the labels that all studies have, and throughput (tps) and p99 (ms) of each place that
    all studies have. docs/export.md shows the configuration that goes with it.

    Example: plimsoll export otava nights/2026-* --to nights.csv
    """
    from plimsoll.analyse.answers.trend import trend
    from plimsoll.guide.peer_formats import otava_csv
    from plimsoll.guide.sides import read_past
    from plimsoll.record.files import replace_file
    from plimsoll.units import printable
    from plimsoll.wording import counted, first_few

    answer = trend(read_past(studies))
    text, left_out = otava_csv(answer)
    replace_file(to, text, "choose another file with --to")
    if left_out:
        typer.echo(printable(f"not of every study, so left out: {first_few(left_out)}"), err=True)
    typer.echo(f"{counted(len(answer.studies), 'row')} in {to}")


@contextmanager
def _left_out_on_stderr() -> Iterator[None]:
    """Damaged recordings in one line each."""
    from plimsoll.units import printable

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        typer.echo(printable(str(warning.message)), err=True)


@app.command("hdr", cls=Command)
def hdr(
    study: StudyFolderArgument,
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="Folder for the logs, one .hlog file per trial.")],
    measure: Annotated[
        str,
        typer.Option(
            "--measure", autocompletion=complete.measures, help="response, service, pool_wait or dispatch_delay."
        ),
    ] = "response",
    unplanned: UnplannedOption = False,
) -> None:
    """Write the histograms of each trial as an HdrHistogram log, second by second, warm-up included.

    Trials without histograms, such as imported ones, are left out. Requires pip install 'plimsoll[hdr]'.

    Example: plimsoll export hdr results/flush --to hlogs --measure service
    """
    from plimsoll.api import open_study
    from plimsoll.errors import HostError
    from plimsoll.record.histograms import write_hdr_log

    with _left_out_on_stderr():
        all_recordings = open_study(study, unplanned=unplanned).recordings
    recordings = [recording for recording in all_recordings if recording.outcome.account is not None]
    try:
        to.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(f"{to}: cannot be created: {error.strerror}; choose another folder with --to") from None
    for recording in recordings:
        write_hdr_log(recording, to / f"{recording.trial.trial_id}.hlog", measure=measure)
    typer.echo(f"{len(recordings)} logs in {to}")
