"""The command `plimsoll`: its subcommands, and what the process ends with.

Nothing heavy is imported before a subcommand runs, so that help and completion answer at once.
"""

from __future__ import annotations

import gc
import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import solve_typer_info_help
from typer.models import TyperInfo

from plimsoll import __version__
from plimsoll.cli.failures import exit_code_of
from plimsoll.cli.help import Command, Group
from plimsoll.cli.logs import begin_logging, wipe_passwords
from plimsoll.cli.streams import go_on_unread

_HELP = ["-h", "--help"]
MEASURE, STUDY, LEARN, EXCHANGE = "Measure a server", "Study and size", "Learn from production", "Exchange results"
_COMMANDS = {
    MEASURE: {
        "demo": "demo.demo",
        "ab": "ab.ab",
        "doctor": "doctor.doctor",
        "prepare": "data.prepare",
        "check": "data.check",
        "cleanup": "data.cleanup",
        "trial": "trial.trial",
        "capacity": "capacity.capacity",
        "storage": "storage.storage",
        "durability": "durability.durability",
        "failover": "failover.failover",
        "sysbench": "sysbench.sysbench",
        "k8s": "k8s.app",
    },
    STUDY: {
        "new": "new.new",
        "study": "study.app",
        "guide": "guide.guide",
        "size": "size.size",
        "compare": "compare.compare",
        "trend": "trend.trend",
        "serve": "serve.serve",
        "workload": "workload.app",
    },
    LEARN: {"capture": "learn.capture", "learn": "learn.app"},
    EXCHANGE: {
        "bundle": "bundle.bundle",
        "open": "bundle.open_bundle",
        "import": "importing.app",
        "export": "export.app",
    },
}
"""Where all commands are, below the headings that they have in the help: a module of this package, and a name in it."""
_KINDS = {"sysbench": "sysbench.HandedOver", "compare": "compare.TwoSides"}


def _show_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"plimsoll {__version__}")
        raise typer.Exit


def _root(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
    verbose: Annotated[
        int,
        typer.Option(
            "--verbose",
            "-v",
            count=True,
            show_default=False,
            help="Log each step to standard error; -vv logs more.",
        ),
    ] = 0,
    log_file: Annotated[
        Path | None,
        typer.Option(
            "--log-file",
            metavar="FILE",
            help="Append the full log to FILE, with times in UTC. Passwords are never logged.",
        ),
    ] = None,
) -> None:
    """Holds the options that come before a subcommand."""
    begin_logging(verbose, log_file)


def command_line(only: str | None = None) -> typer.Typer:
    """The whole command line, or that of one command, which is there sooner: no other one's options are described."""
    made = typer.Typer(
        name="plimsoll",
        cls=Group,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": _HELP},
        help="How much load can this database safely carry, on which hardware and configuration, at what response time"
        " and cost? Plimsoll measures it and writes a sizing guide.",
        epilog="Start with plimsoll demo. Then write a study file: plimsoll new.",
    )
    made.callback()(_root)
    for panel, name, place in _places():
        if only not in (None, name):
            continue
        command = _at(place)
        if isinstance(command, typer.Typer):
            made.add_typer(command, name=name, rich_help_panel=panel)
        else:
            kind = _at(_KINDS[name]) if name in _KINDS else Command
            made.command(name, cls=kind, rich_help_panel=panel)(command)
    return made


def help_page() -> typer.Typer:
    """What `plimsoll --help` shows: all commands, those with others below them last, as the library lists them."""
    made = command_line(only="")
    commands = [(panel, name, _at(place)) for panel, name, place in _places()]
    for panel, name, command in sorted(commands, key=lambda entry: isinstance(entry[2], typer.Typer)):
        text = (
            solve_typer_info_help(TyperInfo(command)) if isinstance(command, typer.Typer) else inspect.getdoc(command)
        )
        made.command(name, cls=Command, rich_help_panel=panel, help=text)(lambda: None)
    return made


def _places() -> Iterator[tuple[str, str, str]]:
    """All commands with their headings, their names, and where they are."""
    return ((panel, name, place) for panel, below in _COMMANDS.items() for name, place in below.items())


def _at(place: str) -> Any:
    """A command, or its kind: its module is imported only now."""
    module, _, name = place.rpartition(".")
    return getattr(import_module(f"plimsoll.cli.{module}"), name)


_NEW_OBJECTS = 10_000
"""So many new objects are there before Python looks for garbage among them; by default it is 700."""


def main() -> None:
    """Runs the command line and ends the process with the exit code of its class of outcome.

    What a command imports is hundreds of thousands of objects that stay until it ends. Python would search all of them
    for cyclic garbage, while they are imported and again when the process ends, which is a sixth of what a short
    command takes. So it searches more seldom, and at the end not at all.
    """
    gc.set_threshold(_NEW_OBJECTS)
    go_on_unread()
    wipe_passwords(sys.argv)
    code = exit_code_of(lambda: _obey(sys.argv[1:]))
    gc.freeze()
    sys.exit(code)


def _obey(words: list[str]) -> object:
    """Whoever calls sysbench many times over does not wait for more than it takes to find the engine."""
    if words[:1] == ["sysbench"]:
        from plimsoll.cli.sysbench import hand_over, is_handed_over

        if is_handed_over(words):
            hand_over(words[1:])
    return _needed(words)(standalone_mode=False)


def _needed(words: list[str]) -> typer.Typer:
    """As little of the command line as answers these words: describing the options of all commands takes long."""
    if len(words) == 1 and words[0] in _HELP:
        return help_page()
    is_command = bool(words) and any(words[0] == name for _, name, _ in _places())
    return command_line(only=words[0] if is_command else None)
