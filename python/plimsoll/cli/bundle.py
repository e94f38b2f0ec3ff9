"""`plimsoll bundle` and `plimsoll open`: a study as one file, for somebody else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.options import StudyFolderArgument

BundleArgument = Annotated[Path, typer.Argument(metavar="BUNDLE", help="A file that plimsoll bundle made.")]


def bundle(
    study: StudyFolderArgument,
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="FILE", help="The bundle. Default: the folder's name with .zip, in this folder."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Make one file of a study, to send it to somebody.

    It holds the guide, the recordings and the study file: plimsoll open shows it, and any program that opens zip files.
    Left out are comments and secrets of the study file, output of hooks, and damaged recordings. Folders of single runs
    and of imports are bundled too. docs/bundle.md says what whoever gets it can see.

    Examples:

      plimsoll bundle results/flush

      plimsoll bundle runs --to /tmp/db1.zip --force
    """
    from plimsoll.guide.drawer import start_drawing

    start_drawing()
    from plimsoll.cli.progress import bytes_progress
    from plimsoll.guide.bundle import pack
    from plimsoll.units import format_bytes
    from plimsoll.wording import counted

    path = Path(f"{study.resolve().name}.zip") if to is None else to
    with bytes_progress("packing") as progress:
        packed = pack(study, path, force=force, progress=progress)
    for trial_id in packed.damaged:
        typer.echo(
            f"warning: {trial_id} is damaged, and is not in the bundle: plimsoll guide {study} says why", err=True
        )
    if packed.attached_count:
        typer.echo(f"Left out: {counted(packed.attached_count, 'file')} that hooks printed or collected", err=True)
    typer.echo(f"Bundle: {path} ({counted(packed.trials_count, 'trial')}, {format_bytes(packed.size_bytes)})")


def open_bundle(
    bundle: BundleArgument,
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="FOLDER", help="A new folder for it. Default: the bundle's name without .zip."),
    ] = None,
    browser: Annotated[bool, typer.Option("--browser", help="Show the guide in the browser too.")] = False,
) -> None:
    """Check a bundle, unpack it and show its guide.

    Nothing is unpacked if a byte of it is not what was packed. The guide is made again from the recordings, and
    compared with the one in the bundle. What was unpacked is a study like any other: plimsoll compare, size and export
    read it.

    Examples:

      plimsoll open flush.zip

      plimsoll open flush.zip --to results/from-anna --browser
    """
    from plimsoll.guide.drawer import start_drawing

    start_drawing()
    from plimsoll.cli.progress import bytes_progress
    from plimsoll.cli.streams import show
    from plimsoll.guide.build import build_guide
    from plimsoll.guide.bundle import unpack
    from plimsoll.guide.terminal import render_terminal
    from plimsoll.units import printable

    folder = Path(bundle.stem) if to is None else to
    with bytes_progress("checking") as progress:
        opened = unpack(bundle, folder, progress)
    analysis, paths = build_guide(folder)
    show(render_terminal(analysis))
    if paths[-1].read_bytes() != opened.packed_guide:
        typer.echo(
            "warning: the guide in the bundle, made by Plimsoll"
            f" {printable(opened.manifest.plimsoll_version)}, is not the one that this Plimsoll makes of its"
            " recordings; the one in the folder is of the recordings",
            err=True,
        )
    typer.echo(f"Guide: {paths[0]}")
    if browser:
        import webbrowser

        if not webbrowser.open(paths[0].resolve().as_uri()):
            typer.echo("plimsoll: no browser was found; open the guide by its path", err=True)
