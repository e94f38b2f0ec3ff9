"""`plimsoll study`: new, plan, run, status."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli import complete, option_values
from plimsoll.cli.help import Command, Group, with_groups
from plimsoll.cli.options import LabelOption, StrictOption, StudyFolderArgument
from plimsoll.cli.streams import say_first
from plimsoll.cli.watching import UNWATCHED, WatchOptions

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Plan and run studies.",
)

StudyArgument = Annotated[
    Path,
    typer.Argument(
        metavar="STUDY", autocompletion=complete.study_files, help="A study file, or the folder of a study."
    ),
]
ToOption = Annotated[
    Path | None,
    typer.Option("--to", metavar="FOLDER", help="Folder for recordings and guide. Default: the study's name."),
]

FitBudgetOption = Annotated[
    bool,
    typer.Option("--fit-budget", help="Reduce repetitions, but not below 3, until the plan fits the study's budget."),
]


@app.command("new", cls=Command)
def new() -> None:
    """Print a study file to start from, with every key explained.

    Example: plimsoll study new > study.toml
    """
    from importlib.resources import files

    typer.echo((files("plimsoll.cli") / "new_study.toml").read_text(encoding="utf-8"), nl=False)


@app.command("plan", cls=Command)
def plan(
    study: StudyArgument,
    to: ToOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    fit_budget: FitBudgetOption = False,
) -> None:
    """Show the trials of a study, their order, the time and disk space they need, and which are finished.

    Starts nothing.

    Example: plimsoll study plan study.toml
    """
    from plimsoll.cli.plan_table import plan_table, planned_lines
    from plimsoll.cli.streams import echo_fitted, show
    from plimsoll.run.folder import resolve
    from plimsoll.run.planning import plan_study

    _, spec, folder = resolve(study, to)
    planned = plan_study(spec, folder, fit_budget=fit_budget)
    if as_json:
        typer.echo(planned.plan.model_dump_json(indent=2))
    else:
        show(plan_table(planned.plan, planned.spec))
        for line in planned_lines(planned.spec, planned, folder):
            echo_fitted(line)


@app.command("run", cls=Command)
@with_groups
def run(
    study: StudyArgument,
    to: ToOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the result without progress.")] = False,
    strict: StrictOption = False,
    fit_budget: FitBudgetOption = False,
    environment: Annotated[
        str | None,
        typer.Option(
            "--environment",
            metavar="NAME",
            help='The current environment, for studies with switch = "hand". Only its trials run.',
        ),
    ] = None,
    label: LabelOption = None,
    watch: WatchOptions = UNWATCHED,
) -> None:
    """Run the missing trials of a study, then write its guide.

    You can stop it at any time and continue with the same command. Finished trials are kept. The running trial is kept
    as interrupted and counts in no result.

    Examples:

      plimsoll study run study.toml --to results/flush

      plimsoll study run nightly.toml --to nights/2026-11-28 --label commit=3f2a91c
    """
    say_first(f"reading {study}", is_quiet=quiet)
    from plimsoll.cli.running import Running, again_command, run_and_show
    from plimsoll.run.folder import resolve

    file, spec, folder = resolve(study, to)
    how = Running(quiet=quiet, plain=watch.no_progress, strict=strict, fit_budget=fit_budget, environment=environment,
        labels=option_values.labels(label or ()))  # fmt: skip
    with watch.metrics_out(is_quiet=quiet) as totals, watch.page_of(folder):
        raise typer.Exit(run_and_show(file, spec, folder, how, again=again_command(study, to, how), totals=totals))


@app.command("status", cls=Command)
def status(
    folder: StudyFolderArgument, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False
) -> None:
    """Show the state of a study: running, killed, stopped or finished, what runs now and what is left.

    Reads every recording and verifies its checksums.

    Example: plimsoll study status results/flush
    """
    from plimsoll.run.status import lines_of, study_status
    from plimsoll.units import printable

    state = study_status(folder)
    if as_json:
        typer.echo(state.model_dump_json(indent=2))
        return
    for line in lines_of(state):
        typer.echo(printable(line))
