"""`plimsoll new`: asks for a server, a question and a time, and writes a short study file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli import complete

if TYPE_CHECKING:
    from plimsoll.spec.new_study import Question, TomlValue
    from plimsoll.spec.study import StudySpec

_SERVER, _QUESTION, _TIME = "mariadb", "throughput", "10m"

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The study file to write. It must not exist.")]


def new(
    file: FileArgument = Path("study.toml"),
    server: Annotated[
        str | None,
        typer.Option(
            "--server",
            metavar="SERVER|URL",
            autocompletion=complete.servers,
            help="mariadb, mysql or a full command: Plimsoll starts it. Or the URL of a running server:"
            " mysql://user@host:3306/database.",
        ),
    ] = None,
    question: Annotated[
        str | None,
        typer.Option(
            "--question",
            metavar="QUESTION",
            autocompletion=complete.questions,
            help="throughput: how much load, with how many connections; capacity: the highest rate with p99 within 50"
            " ms; compare: which of two settings is faster.",
        ),
    ] = None,
    time: Annotated[
        str | None, typer.Option("--time", metavar="TIME", help="How long the study may take, such as 10m or 2h.")
    ] = None,
) -> None:
    """Write a short study file for one question, with comments on its keys.

    Asks for what was not given, if somebody is there to answer; else takes mariadb, throughput and 10m. The length and
    number of measurements follow from the time. It never overwrites a file. plimsoll study new prints a file with
    every key instead.

    Examples:

      plimsoll new

      plimsoll new faster.toml --server mariadb --question compare --time 15m
    """
    from plimsoll.cli.option_values import choice
    from plimsoll.errors import SpecError
    from plimsoll.spec.new_study import ASKS, Question

    if file.exists():
        raise SpecError(f"{file}: exists and is not overwritten; name another file")
    place = _server_of(
        _given(server, "Server (mariadb, mysql, a full command, or mysql://user@host/database)", _SERVER)
    )
    if question is None and _is_somebody_there():
        for name, asks in ASKS.items():
            typer.echo(f"  {name}: {asks}", err=True)
    asked = choice(_given(question, "Question", _QUESTION), Question, "--question")
    if asked is Question.COMPARE and "target" in place:
        raise SpecError(
            "--question compare: needs servers that Plimsoll starts; for running ones: plimsoll ab --target"
        )
    budget = _given(time, "Longest time for all of it", _TIME)
    text, spec = _fitting(asked, place, budget)
    _write(file, text)
    _tell(file, spec)


def _given(value: str | None, prompt: str, default: str) -> str:
    """What was given, what somebody answers, or the default where nobody is there."""
    if value is not None:
        return value
    return str(typer.prompt(prompt, default=default, err=True)) if _is_somebody_there() else default


def _is_somebody_there() -> bool:
    return sys.stdin.isatty()


def _server_of(written: str) -> dict[str, TomlValue]:
    """The keys of a system for a server: `target`, or those of `server`.

    Raises:
        SpecError: A URL is wrong, or holds a password.
        HostError: There is no such server here.
    """
    import shlex

    from plimsoll.errors import SpecError
    from plimsoll.servers.command import find_server
    from plimsoll.spec.target import parse_target

    if written in ("mariadb", "mysql"):
        return {"managed": written}
    if "://" not in written:
        return {"managed": find_server(written).flavour.name.value, "command": shlex.split(written)}
    target = parse_target(written)
    if target.password.get_secret_value():
        raise SpecError("--server: the URL holds a password, and study files are kept; leave it out")
    return {"target": written}


def _fitting(question: Question, server: dict[str, TomlValue], budget: str) -> tuple[str, StudySpec]:
    """The longest study that fits into a time.

    Raises:
        SpecError: Not even the shortest does.
    """
    from plimsoll.cli.option_values import duration_s
    from plimsoll.errors import SpecError
    from plimsoll.record.level import REPETITIONS_MIN
    from plimsoll.run.planning import total_s, with_repetitions
    from plimsoll.spec.new_study import LENGTHS, new_study
    from plimsoll.spec.study import parse_study
    from plimsoll.units import format_duration

    limit_s = duration_s(budget, "--time")
    for repetitions, length_s in LENGTHS[question]:
        text = new_study(question, server, budget, repetitions=repetitions, duration_s=length_s)
        spec = parse_study(text)
        if total_s(spec) <= limit_s:
            return text, spec
    least = with_repetitions(spec, REPETITIONS_MIN) if spec.study.is_until_decided else spec
    if total_s(least) > limit_s:
        raise SpecError(f"--time: the shortest such study takes about {format_duration(total_s(least))}; allow more")
    return text, spec


def _write(file: Path, text: str) -> None:
    """Writes a file that is not there yet.

    Raises:
        SpecError: It is there by now.
    """
    from plimsoll.errors import SpecError

    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError:
        raise SpecError(f"{file}: exists and is not overwritten; name another file") from None


def _tell(file: Path, spec: StudySpec) -> None:
    """What was written, and what to do with it."""
    import shlex

    from plimsoll.run.planning import total_s
    from plimsoll.units import format_duration

    name = shlex.quote(str(file))
    most = "at most " if spec.study.is_until_decided else "about "
    takes_s = min(total_s(spec), spec.study.budget or total_s(spec))
    typer.echo(f"{file}: takes {most}{format_duration(takes_s)}. See its trials: plimsoll study plan {name}")
    typer.echo(f"Run it: plimsoll study run {name}")
