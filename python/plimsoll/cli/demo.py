"""`plimsoll demo`: two configurations of throwaway servers: which is faster, and what each can carry."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.streams import say_first

STUDIES = ("duet", "capacity")
"""Each has a study file beside this one, and a folder of this name."""


FolderOption = Annotated[Path, typer.Option("--to", metavar="FOLDER", help="Folder for the recordings and the guides.")]


def demo(to: FolderOption = Path("demo-study")) -> None:
    """Measure what durability costs, in about six minutes.

    It starts two throwaway MariaDB servers below /var/tmp: one that never loses a transaction, one that may lose the
    last second. They take turns under a load of writes, which says how much faster the second one is (a duet). Then
    the rate of each rises in turn until most answers take longer than 50 ms, which says how much more load it bears. It
    removes the servers and writes two guides.

    Run it again after an interruption and it continues where it stopped. Run it again after it has finished and it
    shows the result.

    Example: plimsoll demo
    """
    say_first(f"running two studies of MariaDB servers, in {to}")
    from importlib.resources import as_file, files

    from plimsoll.cli.running import run_and_guide
    from plimsoll.cli.streams import show
    from plimsoll.guide.terminal import render_answer
    from plimsoll.spec.study import read_study

    worst, guides = 0, []
    for name in STUDIES:
        with as_file(files("plimsoll.cli") / f"demo_{name}.toml") as file:
            guide = run_and_guide(file, read_study(file), to / name)
        guides.append(guide)
        worst = max(worst, guide.exit_code)
    for guide in guides:
        show(render_answer(guide.analysis))
        typer.echo(f"Guide: {guide.path}\n")
    raise typer.Exit(worst)
