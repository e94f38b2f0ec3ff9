"""`plimsoll study`: new, plan, run, status."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli import complete
from plimsoll.cli.options import StudyFolderArgument

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Plan and run studies of systems, workloads and levels.",
)

StudyArgument = Annotated[
    Path,
    typer.Argument(
        metavar="STUDY", autocompletion=complete.study_files, help="A study file, or the folder of a study."
    ),
]
ToOption = Annotated[
    Path | None, typer.Option("--to", metavar="FOLDER", help="Where everything is kept; default: the study's name.")
]


@app.command("new")
def new() -> None:
    """Print a study file to begin with, every key explained.

    Example: plimsoll study new > study.toml
    """
    from importlib.resources import files

    typer.echo((files("plimsoll.cli") / "new_study.toml").read_text(encoding="utf-8"), nl=False)


@app.command("plan")
def plan(study: StudyArgument, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Show which trials a study consists of, their order, and the time and disk it takes. Nothing is started.

    Example: plimsoll study plan study.toml
    """
    from plimsoll.cli.fitted import echo_fitted, show
    from plimsoll.cli.plan_table import plan_table, planned_sheets
    from plimsoll.run.folder import resolve
    from plimsoll.run.study import plan_study

    _, spec, _ = resolve(study, None)
    planned = plan_study(spec)
    if as_json:
        typer.echo(planned.model_dump_json(indent=2))
    else:
        show(plan_table(planned))
        for line in planned_sheets(spec):
            echo_fitted(line)


@app.command("run")
def run(
    study: StudyArgument,
    to: ToOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, only the result.")] = False,
) -> None:
    """Run what is missing of a study, then write its guide.

    Stop it at any time: at most the running trial is lost, and the same command goes on where it stopped.

    Example: plimsoll study run study.toml --to results/flush
    """
    from plimsoll.cli.running import run_and_show
    from plimsoll.run.folder import resolve

    file, spec, folder = resolve(study, to)
    raise typer.Exit(run_and_show(file, spec, folder, quiet=quiet))


@app.command("status")
def status(folder: StudyFolderArgument) -> None:
    """Say how far a study is, running or not.

    Example: plimsoll study status results/flush
    """
    from plimsoll.run.status import status_lines

    for line in status_lines(folder):
        typer.echo(line)
