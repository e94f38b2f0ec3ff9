"""`plimsoll learn check`: runs a learned workload and compares it with the log that it was learned from."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli import complete
from plimsoll.cli.first_line import say_first
from plimsoll.cli.learn_options import WorkDirOption
from plimsoll.cli.options import JsonOption
from plimsoll.cli.reports import Report, show_and_write

if TYPE_CHECKING:
    from plimsoll.learn.fidelity_model import Fidelity
    from plimsoll.run.fidelity import Check
    from plimsoll.run.learned_folder import LearnedFolder


def check(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="What plimsoll learn wrote.")],
    server: Annotated[
        str | None,
        typer.Option(
            "--server",
            autocompletion=complete.servers,
            help="mariadb, mysql, or a full command. Default: the kind of server that wrote the log.",
        ),
    ] = None,
    connections: Annotated[
        int | None,
        typer.Option(
            "--connections",
            min=1,
            max=100_000,
            help="Number of connections. Default: transactions that were open at a time in the log, on average.",
        ),
    ] = None,
    duration: Annotated[str, typer.Option("--duration", help="Length of the run that counts, such as 60s.")] = "60s",
    warm_up: Annotated[str, typer.Option("--warm-up", help="Load before that.")] = "5s",
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**63 - 1, help="Seed of all randomness.")] = 1,
    work_dir: WorkDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a learned workload on a throwaway server and compare the server's log with the one it was learned from.

    Compares the mix, statements per transaction, rows, pages, handler reads, deadlocks and the shape of response times.
    Writes fidelity.json, fidelity.html and fidelity.md into the folder, and a summary into its workload.toml. The
    server, its data and its log are removed. Deviations are shown; they are no errors.

    Examples:

      plimsoll learn check prod

      plimsoll learn check prod --server mysql --connections 16 --duration 5m
    """
    say_first(f"reading {folder}", is_quiet=as_json)
    from plimsoll.cli.option_values import duration_s
    from plimsoll.run.fidelity import Check, usual_connections, usual_server
    from plimsoll.run.learned_folder import read_learned

    learned = read_learned(folder)
    count, source = usual_connections(learned.demand) if connections is None else (connections, "given")
    wanted = Check(
        server=server or usual_server(learned),
        connections=count,
        connections_from=source,
        warm_up_s=duration_s(warm_up, "--warm-up"),
        duration_s=duration_s(duration, "--duration"),
        seed=seed,
        work_dir=work_dir,
    )
    show_and_write(_report(_checked(learned, wanted), folder), folder, as_json=as_json)


def _checked(learned: LearnedFolder, wanted: Check) -> Fidelity:
    from plimsoll.cli.failures import INTERRUPTED
    from plimsoll.cli.load_progress import load_progress
    from plimsoll.cli.trial import show_interval
    from plimsoll.run.fidelity import Watcher, check_learned
    from plimsoll.run.single import Interrupted

    with load_progress() as progress:
        watcher = Watcher(
            loads=progress.show,
            warns=progress.warn,
            seen=lambda interval: show_interval(interval, connections=wanted.connections),
            reads=progress.show,
        )
        try:
            return check_learned(learned, wanted, watcher)
        except Interrupted as interrupted:
            print(f"nothing was compared: interrupted after {interrupted.load_s:.1f} s of load", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None


def _report(found: Fidelity, folder: Path) -> Report:
    from plimsoll.guide.fidelity_page import fidelity_page
    from plimsoll.run.learned_folder import WORKLOAD, checked_workload

    return Report(
        name="fidelity",
        what="comparison",
        shown=fidelity_page(found, is_brief=True),
        page=fidelity_page(found),
        document=found.model_dump_json(indent=1),
        more={WORKLOAD: checked_workload(folder, found)},
    )
