"""Calls of typed functions as JSON, for both ends of a connection: arguments and results follow from annotations.

What comes from the other end is checked against the annotation before anything uses it. Passwords are sent as they are:
the connection is OpenSSH's, and nothing here is written down.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import SecretStr, TypeAdapter, ValidationError

from plimsoll import strict_json
from plimsoll.errors import HostError


@cache
def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    return get_type_hints(function, include_extras=True)


@cache
def _adapter(hint: Any) -> TypeAdapter[Any]:
    return TypeAdapter(hint)


def plain(value: Any, hint: Any) -> Any:
    """A value of a type as what JSON has."""
    return strict_json.read(strict_json.write(_adapter(hint).dump_python(value), default=_without_type))


def typed(value: Any, hint: Any) -> Any:
    """A value that came as JSON, as its type.

    Raises:
        HostError: It is not of the type.
    """
    try:
        return _adapter(hint).validate_json(strict_json.write(value))
    except ValidationError as error:
        raise HostError(f"the other end sent what is no {hint}: {error.errors()[0]['msg']}") from None
    except ValueError as error:
        raise HostError(f"the other end sent what is no {hint}: {error}") from None


def plain_arguments(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by name; those that were not given keep their default at the other end."""
    given = inspect.signature(function).bind(*args, **kwargs).arguments
    given.pop("self", None)
    return {name: plain(value, _hints(function)[name]) for name, value in given.items()}


def typed_arguments(function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as the function takes them. Raises as `typed`."""
    return {name: typed(value, _hints(function)[name]) for name, value in given.items()}


def result_type(function: Callable[..., Any]) -> Any:
    """What a function returns."""
    return _hints(function)["return"]


def _without_type(value: object) -> object:
    match value:
        case SecretStr():
            return value.get_secret_value()
        case Path():
            return str(value)
        case set() | frozenset():
            return sorted(value)
        case enum.Enum():
            return value.value
    raise TypeError(f"{type(value)} has no form in JSON")
