"""`plimsoll export`: recordings in formats that other tools read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli import complete
from plimsoll.cli.options import StudyFolderArgument

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Write recordings in formats of other tools.")


@app.callback()
def _root() -> None:
    """Keeps `hdr` a subcommand: other formats will be others."""


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
) -> None:
    """Write the histograms of each trial as an HdrHistogram log, second by second.

    Trials without histograms, such as imports, are left out. Needs the extra: pip install 'plimsoll[hdr]'.

    Example: plimsoll export hdr results/flush --to hlogs --measure service
    """
    from plimsoll.errors import HostError
    from plimsoll.record.hdr_log import write_hdr_log
    from plimsoll.record.store import read_study

    recordings = [one for one in read_study(study).recordings if one.outcome.account is not None]
    try:
        to.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(f"{to}: cannot be made: {error.strerror}; choose another folder with --to") from None
    for recording in recordings:
        write_hdr_log(recording, to / f"{recording.trial.trial_id}.hlog", measure=measure)
    typer.echo(f"{len(recordings)} logs in {to}")
