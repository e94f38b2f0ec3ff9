"""`plimsoll sysbench`: the load engine in the place of sysbench, and its runs as recordings.

Deliberately not here: what sysbench's own options mean, which the engine knows.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from typer.core import TyperCommand

from plimsoll.errors import HostError, SpecError
from plimsoll.units import printable

_RECORD = "--plimsoll-record"
_OWN = frozenset({_RECORD, f"{_RECORD}-system", f"{_RECORD}-workload"})


class HandedOver(TyperCommand):
    """Takes our own options out, wherever they stand, and leaves everything else as it was typed."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]  # typer's own
        """Reads the arguments; what is not ours comes behind `--`, where nothing of it is looked at."""
        own, others = _parted(args)
        return super().parse_args(ctx, [*own, "--", *others])


def _parted(args: Sequence[str]) -> tuple[list[str], list[str]]:
    own, others, words = list[str](), list[str](), iter(args)
    for word in words:
        name, sign, _ = word.partition("=")
        if name not in _OWN:
            others.append(word)
        elif sign:
            own.append(word)
        elif (value := next(words, None)) is not None:
            own.append(f"{word}={value}")
        else:
            raise SpecError(f"{name}: nothing stands behind it; write {name}=NAME")
    return own, others


def sysbench(
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="ARGUMENT...", help="What sysbench takes; help tells all of it.")
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(_RECORD, metavar="STUDY", help="Keep the run as a recording in this folder, for its guide."),
    ] = None,
    record_system: Annotated[
        str | None,
        typer.Option(f"{_RECORD}-system", metavar="NAME", help="The system; the server's address if left out."),
    ] = None,
    record_workload: Annotated[
        str | None,
        typer.Option(f"{_RECORD}-workload", metavar="NAME", help="The workload; the test's name if left out."),
    ] = None,
) -> int:
    """Do what sysbench does: its tests, its options, Lua scripts, its output and its exit codes.

    Everything is handed to the load engine as it was typed; --help and help are its own. docs/sysbench.md tells more.

    Examples:

      plimsoll sysbench oltp_read_write --mysql-user=bench --tables=4 --threads=16 --time=60 run

      plimsoll sysbench oltp_read_write --mysql-user=bench --tables=4 --threads=16 --plimsoll-record my-study run
    """
    if record is None:
        raise SpecError(f"{_RECORD} is missing: {_RECORD}-system and {_RECORD}-workload name what it keeps")
    from plimsoll.run.joined import RecordingWanted
    from plimsoll.run.sysbench import record_sysbench

    wanted = RecordingWanted(study=record, system=record_system, workload=record_workload)
    recorded = record_sysbench(arguments or [], wanted)
    for note in recorded.notes:
        typer.echo(f"plimsoll: {printable(note)}", err=True)
    return recorded.exit_code


def is_handed_over(words: Sequence[str]) -> bool:
    """Whether a command line, without the program's name, is the engine's alone."""
    return words[:1] == ["sysbench"] and not any(word.partition("=")[0] in _OWN for word in words)


def hand_over(arguments: Sequence[str]) -> NoReturn:
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
