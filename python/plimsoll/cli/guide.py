"""`plimsoll guide`: the sizing guide of a study, from its recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.options import StudyFolderArgument


def guide(
    study: StudyFolderArgument,
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="FOLDER", help="Where guide.html, .md and .json go; default: the study."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the analysis as JSON and write nothing.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown and write nothing.")] = False,
) -> None:
    """Write the sizing guide of a study.

    The recordings are judged anew; the files are guide.html, guide.md and guide.json.

    Examples:

      plimsoll guide results/flush

      plimsoll guide results/flush --json | jq '.curves[].peak'
    """
    from plimsoll.cli.fitted import show
    from plimsoll.guide.build import analyse_folder, build_guide
    from plimsoll.guide.markdown import render_markdown
    from plimsoll.guide.terminal import render_terminal

    if as_json or as_markdown:
        analysis = analyse_folder(study)
        typer.echo(analysis.model_dump_json(indent=2) if as_json else render_markdown(analysis))
        return
    analysis, paths = build_guide(study, to)
    show(render_terminal(analysis))
    typer.echo(f"Guide: {paths[0]}")
