"""`plimsoll sysbench`: the load engine in the place of sysbench.

Deliberately not here: what sysbench's own options mean, which the engine knows.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated

import typer
from typer.core import TyperCommand

from plimsoll.errors import HostError


class HandedOver(TyperCommand):
    """Leaves all arguments as they were typed."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]  # typer's own
        """Puts everything behind `--`, where nothing of it is looked at."""
        return super().parse_args(ctx, ["--", *args])


def sysbench(
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="ARGUMENT...", help="What sysbench takes; help tells all of it.")
    ] = None,
) -> None:
    """Do what sysbench does: its tests, its options, Lua scripts, its output and its exit codes.

    Everything is handed to the load engine as it was typed; --help and help are its own. docs/sysbench.md tells more.

    Examples:

      plimsoll sysbench oltp_read_write --mysql-user=bench --tables=4 --threads=16 --time=60 run
    """
    _hand_over(arguments or [])


def _hand_over(arguments: Sequence[str]) -> None:
    """This process becomes the engine.

    Raises:
        HostError: There is none, or it cannot be run.
    """
    from plimsoll.drive.executable import find_engine

    engine = find_engine()
    try:
        os.execv(engine, ["plimsoll-engine", "sysbench", *arguments])  # noqa: S606 - a shell would read them anew
    except OSError as error:
        raise HostError(f"{engine}: cannot be run: {error.strerror}; reinstall plimsoll") from None
