"""The page that `--help` prints: commands and options in groups, and a name for each value.

Typer groups them by `rich_help_panel` on coloured pages only; these are plain text, which stays as it is when piped.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from typer.core import TyperCommand, TyperGroup, TyperOption

OPTIONS, COMMANDS = "Options", "Commands"
LOGIN = "Password and encryption"
DATA = "Workload and tables"
ARRIVALS = "Rate and arrivals"
CLIENTS = "Clients"
RECORDING = "Recording"
_BRACES = str.maketrans("", "", "{}")
_SENTENCE_MAX = 200
"""More than any first sentence has: it is wrapped, and not cut."""


def by_panel(things: Iterable[Any], otherwise: str) -> dict[str, list[Any]]:
    """Commands or options by the heading that they stand below, in the order of each first one.

    Args:
        things: With a `rich_help_panel`.
        otherwise: The heading of those without one.
    """
    found: dict[str, list[Any]] = {}
    for one in things:
        found.setdefault(getattr(one, "rich_help_panel", None) or otherwise, []).append(one)
    return found


def name_values(parameters: Iterable[Any]) -> None:
    """Gives each option that takes a value a name for it, where it has none: N for numbers."""
    for one in parameters:
        if isinstance(one, TyperOption) and one.metavar is None and not (one.is_flag or one.count):
            one.metavar = "N" if one.type_descriptor.annotation in (int, float) else "VALUE"


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
                formatter.write_dl([(f"{one.name:{width}}", one.get_short_help_str(_SENTENCE_MAX)) for one in commands])


def _write_parameters(command: Any, ctx: Any, formatter: Any) -> None:
    parameters = command.get_params(ctx)
    arguments = [one for one in parameters if one.param_type_name == "argument"]
    options = [one for one in parameters if one.param_type_name == "option"]
    panels = {"Arguments": arguments, **by_panel(options, OPTIONS)}
    for heading, shown in panels.items():
        rows = [(one, record) for one in shown if (record := one.get_help_record(ctx)) is not None]
        rows = [(record[0].split(" <")[0] if one in arguments else record[0], record[1]) for one, record in rows]
        if rows:
            with formatter.section(heading):
                formatter.write_dl(rows)
