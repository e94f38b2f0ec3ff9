"""`plimsoll guide`: the sizing guide of a study, from its recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.options import PriceFileOption, StudyFolderArgument


def guide(
    study: StudyFolderArgument,
    to: Annotated[
        Path | None,
        typer.Option(
            "--to",
            metavar="FOLDER",
            help="Folder for guide.html, guide.md and guide.json. Default: the study's folder.",
        ),
    ] = None,
    price_file: PriceFileOption = None,
    pdf: Annotated[
        bool, typer.Option("--pdf", help="Also print guide.html to guide.pdf, with the Chromium or Chrome here.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the analysis as JSON and write nothing.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown and write nothing.")] = False,
) -> None:
    """Write the sizing guide of a study.

    It analyses the recordings again and writes guide.html, guide.md and guide.json.

    Examples:

      plimsoll guide results/flush

      plimsoll guide results/flush --pdf

      plimsoll guide results/flush --json | jq '.curves[].peak'
    """
    from plimsoll.guide.drawer import start_drawing

    if not (as_json or as_markdown):
        start_drawing()
    from plimsoll.cli.streams import show
    from plimsoll.guide.answer import render_json
    from plimsoll.guide.build import analyse_folder, build_guide
    from plimsoll.guide.markdown import render_markdown
    from plimsoll.guide.terminal import render_terminal

    if as_json or as_markdown:
        analysis = analyse_folder(study, price_file)
        typer.echo(render_json(analysis).rstrip() if as_json else render_markdown(analysis))
        return
    analysis, paths = build_guide(study, to, price_file)
    show(render_terminal(analysis))
    typer.echo(f"Guide: {paths[0]}")
    if pdf:
        from plimsoll.guide.build import print_pdf

        typer.echo(f"PDF: {print_pdf(paths[0], paths[0].with_suffix('.pdf'))}")
