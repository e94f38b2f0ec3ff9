"""The command `plimsoll`: its subcommands, and what the process ends with.

Nothing heavy is imported before a subcommand runs, so that help and completion answer at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperCommand

from plimsoll import __version__
from plimsoll.cli import (
    capacity,
    capture,
    compare,
    data,
    demo,
    doctor,
    durability,
    export,
    failover,
    guide,
    importing,
    learn,
    size,
    storage,
    study,
    sysbench,
    trial,
    workload,
)
from plimsoll.cli.failures import exit_code_of
from plimsoll.cli.help import Command, Group
from plimsoll.cli.logs import begin_logging
from plimsoll.cli.streams import go_on_unread
from plimsoll.cli.wipe import wipe_passwords

app = typer.Typer(
    name="plimsoll",
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="How much load can this database safely carry, on which hardware and configuration, at what response time and"
    " cost? Plimsoll measures it and writes a sizing guide.",
    epilog="Start with plimsoll demo. Then write a study file: plimsoll study new > study.toml.",
)
MEASURE, STUDY, LEARN, EXCHANGE = "Measure a server", "Study and size", "Learn from production", "Exchange results"
_COMMANDS: dict[str, dict[str, typer.Typer | Callable[..., object]]] = {
    MEASURE: {
        "demo": demo.demo,
        "doctor": doctor.doctor,
        "prepare": data.prepare,
        "check": data.check,
        "cleanup": data.cleanup,
        "trial": trial.trial,
        "capacity": capacity.capacity,
        "storage": storage.storage,
        "durability": durability.durability,
        "failover": failover.failover,
        "sysbench": sysbench.sysbench,
    },
    STUDY: {
        "study": study.app,
        "guide": guide.guide,
        "size": size.size,
        "compare": compare.compare,
        "workload": workload.app,
    },
    LEARN: {"capture": capture.capture, "learn": learn.app},
    EXCHANGE: {"import": importing.app, "export": export.app},
}
"""All commands, below the headings that they have in the help."""
_KINDS: dict[str, type[TyperCommand]] = {"sysbench": sysbench.HandedOver, "compare": compare.TwoSides}
for _panel, _commands in _COMMANDS.items():
    for _name, _command in _commands.items():
        if isinstance(_command, typer.Typer):
            app.add_typer(_command, name=_name, rich_help_panel=_panel)
        else:
            app.command(_name, cls=_KINDS.get(_name, Command), rich_help_panel=_panel)(_command)


def _show_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"plimsoll {__version__}")
        raise typer.Exit


@app.callback()
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


def main() -> None:
    """Runs the command line and ends the process with the exit code of its class of outcome."""
    go_on_unread()
    wipe_passwords(sys.argv)
    sys.exit(exit_code_of(lambda: _obey(sys.argv[1:])))


def _obey(words: list[str]) -> object:
    """Whoever calls sysbench many times over does not wait for more than it takes to find the engine."""
    if sysbench.is_handed_over(words):
        sysbench.hand_over(words[1:])
    return app(standalone_mode=False)
