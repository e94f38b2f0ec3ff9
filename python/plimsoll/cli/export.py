"""`plimsoll export`: recordings in formats that other tools read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from plimsoll.cli import complete
from plimsoll.cli.options import StudyFolderArgument

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Write recordings in formats of other tools.")

TablesOption = Annotated[
    Path, typer.Option("--to", metavar="FOLDER", help="Where the two tables go; files of these names are replaced.")
]
WholeOption = Annotated[
    bool, typer.Option("--all-intervals", help="Also the warm-up, and what followed the measured window.")
]
UnplannedOption = Annotated[
    bool, typer.Option("--unplanned", help="Also recordings that the study's plan no longer holds.")
]


@app.command("csv")
def csv(
    study: StudyFolderArgument, to: TablesOption, whole: WholeOption = False, unplanned: UnplannedOption = False
) -> None:
    """Write a study as two flat tables, trials.csv and intervals.csv.

    One row for each trial, and one for each interval and type of transaction. As in a guide, only the measured windows
    of complete trials of the plan are in it. docs/export.md describes the columns.

    Example: plimsoll export csv results/flush --to tables
    """
    _export_tables(study, to, "csv", whole=whole, unplanned=unplanned)


@app.command("parquet")
def parquet(
    study: StudyFolderArgument, to: TablesOption, whole: WholeOption = False, unplanned: UnplannedOption = False
) -> None:
    """Write a study as two flat tables, trials.parquet and intervals.parquet.

    The same as plimsoll export csv, with types.

    Example: plimsoll export parquet results/flush --to tables
    """
    _export_tables(study, to, "parquet", whole=whole, unplanned=unplanned)


def _export_tables(study: Path, to: Path, kind: Literal["csv", "parquet"], *, whole: bool, unplanned: bool) -> None:
    from plimsoll.guide.exports import export_tables
    from plimsoll.units import printable

    written = export_tables(study, to, kind, whole=whole, unplanned=unplanned)
    for line in written.left_out:
        typer.echo(printable(f"left out: {line}"), err=True)
    trials, intervals = written.paths
    typer.echo(f"{written.trials_count:,} trials in {trials}, {written.intervals_count:,} rows in {intervals}")


@app.command("hdr")
def hdr(
    study: StudyFolderArgument,
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="Where one .hlog for each trial goes.")],
    measure: Annotated[
        str,
        typer.Option(
            "--measure", autocompletion=complete.measures, help="response, service, pool_wait or dispatch_delay."
        ),
    ] = "response",
    unplanned: UnplannedOption = False,
) -> None:
    """Write the histograms of each trial as an HdrHistogram log, second by second, warm-up included.

    Trials without histograms, such as imports, are left out. Needs the extra: pip install 'plimsoll[hdr]'.

    Example: plimsoll export hdr results/flush --to hlogs --measure service
    """
    from plimsoll.errors import HostError
    from plimsoll.guide.exports import chosen_recordings
    from plimsoll.record.hdr_log import write_hdr_log

    found, _ = chosen_recordings(study, unplanned=unplanned)
    recordings = [one for one in found if one.outcome.account is not None]
    try:
        to.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(f"{to}: cannot be made: {error.strerror}; choose another folder with --to") from None
    for recording in recordings:
        write_hdr_log(recording, to / f"{recording.trial.trial_id}.hlog", measure=measure)
    typer.echo(f"{len(recordings)} logs in {to}")
