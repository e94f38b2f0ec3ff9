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
def plan(
    study: StudyArgument,
    to: ToOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show which trials a study consists of, their order, the time and disk it takes, and which are finished already.

    Nothing is started.

    Example: plimsoll study plan study.toml
    """
    from plimsoll.cli.fitted import echo_fitted, show
    from plimsoll.cli.plan_table import plan_table, planned_lines
    from plimsoll.run.folder import resolve
    from plimsoll.run.planning import plan_study

    _, spec, folder = resolve(study, to)
    planned = plan_study(spec, folder)
    if as_json:
        typer.echo(planned.plan.model_dump_json(indent=2))
    else:
        show(plan_table(planned.plan))
        for line in planned_lines(spec, planned, folder):
            echo_fitted(line)


@app.command("run")
def run(
    study: StudyArgument,
    to: ToOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, only the result.")] = False,
) -> None:
    """Run what is missing of a study, then write its guide.

    Stop it at any time: finished trials are kept, the running one is kept as interrupted and counts nowhere, and the
    same command goes on where it stopped.

    Example: plimsoll study run study.toml --to results/flush
    """
    from plimsoll.cli.running import run_and_show
    from plimsoll.run.folder import resolve

    file, spec, folder = resolve(study, to)
    raise typer.Exit(run_and_show(file, spec, folder, quiet=quiet))


@app.command("status")
def status(
    folder: StudyFolderArgument, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False
) -> None:
    """Say how far a study is: whether it runs, was killed, was stopped or is finished, what runs now and what is left.

    Every recording is read and compared with the digests that were taken when it was written.

    Example: plimsoll study status results/flush
    """
    from plimsoll.run.status import study_status
    from plimsoll.run.status_text import lines_of
    from plimsoll.units import printable

    found = study_status(folder)
    if as_json:
        typer.echo(found.model_dump_json(indent=2))
        return
    for line in lines_of(found):
        typer.echo(printable(line))
