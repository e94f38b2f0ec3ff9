"""What commands share that test servers by faults (`durability`, `failover`): running the test, and showing its result.

Deliberately not here: the options of each, and what is tested.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer

if TYPE_CHECKING:
    from plimsoll.guide.test_page import TestPage
    from plimsoll.record.document import Document

_Record = TypeVar("_Record", bound="Document")


def load_seconds(target: str, load: str) -> float:
    """The value of `--load`, seconds, of a test on a throwaway server.

    Raises:
        SpecError: It is out of range, or the target is a server that others use.
    """
    from plimsoll.cli import option_values
    from plimsoll.errors import SpecError

    if target != "managed":
        raise SpecError("--target: must be managed: a server that others use is not killed")
    load_s = option_values.duration_s(load, "--load")
    if not 1 <= load_s <= 600:
        raise SpecError(f"--load: must be from 1s to 10min, is {load}")
    return load_s


def run_and_show(
    run: Callable[[Callable[[_Record], None]], object],
    page_of: Callable[[_Record], TestPage],
    is_kept: Callable[[_Record], bool],
    *,
    folder: Path | None,
    as_json: bool,
) -> int:
    """Tests, and shows what was found, also when somebody ended it; returns the exit code.

    Args:
        run: Runs the test, and hands over what is known so far, again and again.
        page_of: What is shown of it.
        is_kept: Whether the servers kept what they promise.
        folder: Where files are written; None for none.
        as_json: The result is printed as JSON.
    """
    from plimsoll.cli.failures import INTERRUPTED

    known: list[_Record] = []
    try:
        run(known.append)
    except KeyboardInterrupt:
        if known:
            _show(known[-1], page_of(known[-1]), folder=folder, as_json=as_json)
        return INTERRUPTED
    _show(known[-1], page_of(known[-1]), folder=folder, as_json=as_json)
    return 0 if is_kept(known[-1]) else 1


def say(line: str) -> None:
    """A step of the test, on standard error."""
    typer.echo(line, err=True)


def _show(record: Document, page: TestPage, *, folder: Path | None, as_json: bool) -> None:
    from plimsoll.cli.fitted import echo_fitted, show
    from plimsoll.guide.terminal_table import show_table
    from plimsoll.guide.test_page import write_page

    if folder is not None:
        for path in write_page(page, record, folder):
            say(f"wrote {path}")
    if as_json:
        typer.echo(record.model_dump_json(indent=2))
        return
    for table in page.tables:
        show(show_table(table))
    echo_fitted("\n" + "\n".join(page.sentences))
