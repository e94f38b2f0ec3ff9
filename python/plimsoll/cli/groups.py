"""Options that belong together, as one parameter of a command: its type is a dataclass with an option in each field."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


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
        made = {name: kind(**{one.name: given.pop(one.name) for one in fields(kind)}) for name, kind in groups.items()}
        command(**given, **made)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what typer reads
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _options(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [
        inspect.Parameter(one.name, kind, default=one.default, annotation=hints[one.name])
        for one in fields(group)
        if one.default is not MISSING
    ]
