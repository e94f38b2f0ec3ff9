"""Running a study for a person: progress while it runs, the result and the guide's path at the end."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.console import Console

from plimsoll.cli.fitted import show
from plimsoll.cli.progress import study_display
from plimsoll.errors import PlimsollError, RecordError
from plimsoll.guide.build import build_guide
from plimsoll.guide.terminal import render_terminal
from plimsoll.run.status import study_status
from plimsoll.run.status_text import how_far
from plimsoll.run.study import run_study
from plimsoll.spec.study import StudySpec
from plimsoll.units import printable

INVALID = 4


def run_and_show(file: Path, spec: StudySpec, folder: Path, *, quiet: bool = False) -> int:
    """Runs what is missing, then shows the analysis and writes the guide.

    Returns:
        0, or 4 when trials failed or are invalid: the guide then lacks them and says so.

    Raises:
        PlimsollError, KeyboardInterrupt: It stopped before its end; what is missing was told.
    """
    try:
        with study_display(quiet=quiet) as display:
            result = run_study(file, spec, folder, display.show)
    except (KeyboardInterrupt, PlimsollError):
        if display.has_begun:
            _tell_how_far(folder)
        raise
    analysis, paths = build_guide(folder)
    show(render_terminal(analysis))
    typer.echo(f"Guide: {paths[0]}")
    if result.failed_count:
        Console(stderr=True).print(
            f"plimsoll: {result.failed_count} trials failed; run the same command again to repeat them", soft_wrap=True
        )
        return INVALID
    return 0


def _tell_how_far(folder: Path) -> None:
    """Names what has not run, for the person who stopped it or who mends what did."""
    try:
        lines = how_far(study_status(folder))
    except RecordError:
        return  # it was moved or removed, which is told already
    for line in (*lines, "to go on, run the same command again"):
        Console(stderr=True).print(printable(line), soft_wrap=True, markup=False, highlight=False)
