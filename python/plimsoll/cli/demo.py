"""`plimsoll demo`: a real study of two configurations on throwaway servers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="Where recordings and guide are kept.")] = Path(
        "demo-study"
    ),
) -> None:
    """Measure what durability costs, in about six minutes.

    It starts throwaway MariaDB servers below /var/tmp, measures both configurations read-only and read/write with 1,
    4, 16 and 32 connections, three times each, removes the servers and writes a sizing guide.

    Interrupted, it goes on where it stopped when it is run again; finished, it shows its result again.

    Example: plimsoll demo
    """
    from importlib.resources import as_file, files

    from plimsoll.cli.running import run_and_show
    from plimsoll.spec.study import read_study

    with as_file(files("plimsoll.cli") / "demo.toml") as file:
        raise typer.Exit(run_and_show(file, read_study(file), to))
