"""What the docstrings of models say of their fields, for the generated pages."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any, TypeVar, get_args

from pydantic import BaseModel

_Kind = TypeVar("_Kind", bound=BaseModel)


def meanings(kind: type[BaseModel]) -> dict[str, str]:
    """What the docstrings of a model and of those that it extends say of each attribute."""
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        text = inspect.cleandoc(one.__doc__ or "") if issubclass(one, BaseModel) and one is not BaseModel else ""
        _, _, attributes = text.partition("\nAttributes:\n")
        for block in re.split(r"\n(?=    \S)", attributes.rstrip()):
            name, _, meaning = block.strip().partition(":")
            if meaning:
                found[name] = " ".join(meaning.split())
    return found


def summary(kind: type[BaseModel]) -> str:
    """What stands above the attributes."""
    return inspect.cleandoc(kind.__doc__ or "").split("\nAttributes:\n")[0].strip()


def in_table(text: str) -> str:
    """Text as a cell of a Markdown table."""
    return text.replace("|", r"\|")


def models_in(annotation: Any, base: type[_Kind]) -> Iterator[type[_Kind]]:
    """The models of a kind that a type holds, in their order."""
    if isinstance(annotation, type) and issubclass(annotation, base):
        yield annotation
    for argument in get_args(annotation):
        yield from models_in(argument, base)
