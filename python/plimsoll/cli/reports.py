"""What commands of `plimsoll learn` share that report what they found: the page on standard output, files in a folder.

The files quote the log of a production server, so they are as private as it is until their owner shares them.
Deliberately not here: what stands on pages (`plimsoll.guide`), and tests that end before their page is whole
(`fault_tests`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from plimsoll.guide.pages import Page


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a command found, for its user and for those to whom its files are given.

    Attributes:
        shown: The page on the terminal; it may have names that files do not.
        page: The page in files.
        document: The same as JSON.
        name: Of the files, without their endings.
        what: What messages call it.
        more: Texts of further files, by name.
    """

    shown: Page
    page: Page
    document: str
    name: str = "report"
    what: str = "report"
    more: Mapping[str, str] = field(default_factory=dict)


def show_and_write(report: Report, folder: Path | None, *, as_json: bool) -> None:
    """Shows a report, then writes its files, which only their owner can read.

    Args:
        report: What was found.
        folder: Where files are written; None for none.
        as_json: Standard output has the document and nothing else.

    Raises:
        HostError: The folder cannot be written to.
    """
    from plimsoll.cli.fitted import show
    from plimsoll.guide.files import write_texts
    from plimsoll.guide.pages import page_files, page_terminal

    if as_json:
        typer.echo(report.document)
    else:
        show(page_terminal(report.shown))
    if folder is not None:
        texts = {**page_files(report.page, report.document, report.name), **report.more}
        write_texts(folder, texts, f"the {report.what}", is_private=True)
        typer.echo(f"{report.what.capitalize()}: {folder / f'{report.name}.html'}", err=as_json)
