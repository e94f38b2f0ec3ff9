"""`plimsoll sysbench`: the load engine in the place of sysbench, and its runs as recordings.

Deliberately not here: what sysbench's own options mean, which the engine knows.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand

from plimsoll.cli.logs import masked
from plimsoll.errors import HostError, SpecError
from plimsoll.units import printable

_RECORD = "--plimsoll-record"
_RECORD_SYSTEM, _RECORD_WORKLOAD = f"{_RECORD}-system", f"{_RECORD}-workload"
_OWN = {
    _RECORD: ("STUDY", "Record the run in this folder."),
    _RECORD_SYSTEM: ("NAME", "Name of the system. Default: the server's address."),
    _RECORD_WORKLOAD: ("NAME", "Name of the workload. Default: the test's name."),
}
"""The options that the engine does not know: the name of the value, and what it means."""


class HandedOver(TyperCommand):
    """Takes our own options out, wherever they stand, and leaves everything else as it was typed."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]  # typer's own
        """Reads the arguments; what is not ours comes behind `--`, where nothing of it is looked at."""
        record_options, others = _parted(args)
        return super().parse_args(ctx, [*record_options, "--", *others])


def _parted(args: Sequence[str]) -> tuple[list[str], list[str]]:
    record_options, others, words = list[str](), list[str](), iter(args)
    for word in words:
        name, sign, _ = word.partition("=")
        if name not in _OWN:
            others.append(word)
        elif sign:
            record_options.append(word)
        elif (value := next(words, None)) is not None:
            record_options.append(f"{word}={value}")
        else:
            raise SpecError(f"{name}: the value is missing; write {name}=NAME")
    return record_options, others


def _option(name: str) -> Any:
    value, meaning = _OWN[name]
    return typer.Option(name, metavar=value, help=meaning)


def sysbench(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="ARGUMENT...", help="The arguments of sysbench; try: plimsoll sysbench help."),
    ] = None,
    record: Annotated[Path | None, _option(_RECORD)] = None,
    record_system: Annotated[str | None, _option(_RECORD_SYSTEM)] = None,
    record_workload: Annotated[str | None, _option(_RECORD_WORKLOAD)] = None,
) -> int:
    """Run sysbench command lines: same tests, options, Lua scripts, output and exit codes.

    All arguments but these options go to the load engine unchanged, including help. See docs/sysbench.md.

    Examples:

      plimsoll sysbench oltp_read_write --mysql-user=bench --tables=4 --threads=16 --time=60 run

      plimsoll sysbench oltp_read_write --mysql-user=bench --tables=4 --threads=16 --plimsoll-record my-study run
    """
    if record is None:
        raise SpecError(f"{_RECORD}: missing; {_RECORD}-system and {_RECORD}-workload need it")
    from plimsoll.run.single import RecordingWanted
    from plimsoll.run.sysbench import record_sysbench

    wanted = RecordingWanted(study=record, system=record_system, workload=record_workload)
    recorded = record_sysbench(arguments or [], wanted)
    for note in recorded.notes:
        typer.echo(f"plimsoll: {printable(note)}", err=True)
    return recorded.exit_code


def _own_help() -> str:
    """The options that the engine does not know; its own page follows."""
    return "\n".join(
        [
            "Usage: plimsoll sysbench [OPTION]... ARGUMENT...",
            "",
            "Options of plimsoll sysbench:",
            *(f"  {f'{name}={value}':38} {meaning}" for name, (value, meaning) in _OWN.items()),
            "",
            "All other arguments are sysbench's. Its help, with the options that Plimsoll adds to it:",
            "",
        ]
    )


def is_handed_over(words: Sequence[str]) -> bool:
    """Whether a command line, without the program's name, is the engine's alone."""
    return words[:1] == ["sysbench"] and not any(word.partition("=")[0] in _OWN for word in words)


def hand_over(arguments: Sequence[str]) -> NoReturn:
    """This process becomes the engine. Passwords among the arguments, which were erased here, are not shown again.

    Raises:
        HostError: There is none, or it cannot be run.
    """
    from plimsoll.drive.executable import arguments_file, arguments_option, find_engine

    engine = find_engine()
    if list(arguments) == ["--help"]:
        print(_own_help(), flush=True)
    words, shown = ["sysbench", *arguments], ["sysbench", *masked(arguments)]
    if shown != words:
        file = arguments_file(words)
        os.set_inheritable(file, True)
        shown.insert(0, arguments_option(file))
    try:
        os.execv(engine, ["plimsoll-engine", *shown])  # noqa: S606 - a shell would read them anew
    except OSError as error:
        raise HostError(f"{engine}: cannot be run: {error.strerror}; reinstall plimsoll") from None
