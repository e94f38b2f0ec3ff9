"""The page that `--help` prints: commands and options in groups, and a name for each value.

Typer groups them by `rich_help_panel` on coloured pages only; these are plain text, which stays as it is when piped.
Options that belong together are one parameter of a command: its type is a dataclass with an option in each field.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints

from typer.core import TyperCommand, TyperGroup, TyperOption

OPTIONS, COMMANDS = "Options", "Commands"
LOGIN = "Password and encryption"
DATA = "Workload and tables"
ARRIVALS = "Rate and arrivals"
CLIENTS = "Clients"
RECORDING = "Recording"
WATCHING = "While it runs"
LOAD = "Load"
CONFIRMATION = "Confirmation"
FAULTS = "Faults"
SETTINGS = "Settings that are tested"
REPLICATION = "Replication"
FOLDERS = "Folders"
_BRACES = str.maketrans("", "", "{}")
_SENTENCE_MAX = 200
"""More than any first sentence has: it is wrapped, and not cut."""


def by_panel(things: Iterable[Any], otherwise: str) -> dict[str, list[Any]]:
    """Commands or options by the heading that they stand below, in the order of each first one.

    Args:
        things: With a `rich_help_panel`.
        otherwise: The heading of those without one.
    """
    panels: dict[str, list[Any]] = {}
    for thing in things:
        panels.setdefault(getattr(thing, "rich_help_panel", None) or otherwise, []).append(thing)
    return panels


def name_values(parameters: Iterable[Any]) -> None:
    """Gives each option that takes a value a name for it, where it has none: N for numbers."""
    for parameter in parameters:
        if (
            isinstance(parameter, TyperOption)
            and parameter.metavar is None
            and not (parameter.is_flag or parameter.count)
        ):
            parameter.metavar = "N" if parameter.type_descriptor.annotation in (int, float) else "VALUE"


class Command(TyperCommand):
    """A command whose options stand below the headings of their groups."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        name_values(self.params)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Arguments by their names, without the braces of the library and its dots after ours."""
        pieces = (piece.translate(_BRACES) for piece in super().collect_usage_pieces(ctx))
        return [piece.replace("......", "...") for piece in pieces]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Writes a section for the arguments and for each group of options."""
        _write_parameters(self, ctx, formatter)


class Group(TyperGroup):
    """A command with others below it, which stand below the headings of their groups."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        name_values(self.params)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Writes sections of options, then of commands."""
        _write_parameters(self, ctx, formatter)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002  (the library passes it)
        """Writes a section for each group of commands."""
        panels = by_panel(self.commands.values(), COMMANDS)
        width = max(map(len, self.commands))
        for heading, commands in panels.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [(f"{command.name:{width}}", command.get_short_help_str(_SENTENCE_MAX)) for command in commands]
                )


def _write_parameters(command: Any, ctx: Any, formatter: Any) -> None:
    parameters = command.get_params(ctx)
    arguments = [parameter for parameter in parameters if parameter.param_type_name == "argument"]
    options = [parameter for parameter in parameters if parameter.param_type_name == "option"]
    panels = {"Arguments": arguments, **by_panel(options, OPTIONS)}
    for heading, shown in panels.items():
        rows = [(parameter, record) for parameter in shown if (record := parameter.get_help_record(ctx)) is not None]
        rows = [
            (record[0].split(" <")[0] if parameter in arguments else record[0], record[1]) for parameter, record in rows
        ]
        if rows:
            with formatter.section(heading):
                formatter.write_dl(rows)


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command as a command line has it: with the options of each group in the group's place.

    A group's parameter has a default only because those before it have; what is passed is made from the options.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name in groups:
            parameters += _options(groups[parameter.name])
        else:
            parameters.append(parameter.replace(annotation=hints[parameter.name]))

    @wraps(command)
    def run(**given: Any) -> None:
        made = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)}) for name, kind in groups.items()
        }
        command(**given, **made)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what typer reads
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _options(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [
        inspect.Parameter(field.name, kind, default=field.default, annotation=hints[field.name])
        for field in fields(group)
        if field.default is not MISSING
    ]
