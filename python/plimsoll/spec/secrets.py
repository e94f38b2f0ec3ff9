"""Where a target's password comes from: an environment variable, an option file, or a prompt. It is never written."""

from __future__ import annotations

import configparser
import os
from collections.abc import Callable
from pathlib import Path

from plimsoll.errors import SpecError
from plimsoll.regular_file import text_regular
from plimsoll.spec.target import Target


def with_secrets(
    target: Target,
    *,
    password_env: str | None = None,
    defaults_file: str | None = None,
    prompt: Callable[[str], str] | None = None,
) -> Target:
    """The target with its password.

    Args:
        target: From a URL; a password in it wins.
        password_env: Name of an environment variable.
        defaults_file: Path of an option file with a [client] section, the convention of MySQL's own clients.
        prompt: Asks a person; called when given and nothing else has a password.

    Raises:
        SpecError: The variable is not set, or the file cannot be read or has no password.
    """
    if target.password.get_secret_value():
        return target
    if password_env is not None:
        return target.with_password(taken(password_env, key="password_env"))
    if defaults_file is not None:
        return target.with_password(_password_from(Path(defaults_file).expanduser()))
    if prompt is not None:
        return target.with_password(prompt(f"Password of {target.user} at {target.endpoint}: "))
    return target


_FILE_BYTES_MAX = 2**20

_TAKEN: dict[str, str] = {}
"""Passwords by the variable that they were taken from."""


def taken(variable: str, *, key: str) -> str:
    """The value of a variable, which is then no longer in the environment that child processes inherit.

    Whoever may look at a process on this machine may read its environment, and servers and engines need no password
    there.

    Args:
        variable: Its name.
        key: What named it, for the message.

    Raises:
        SpecError: There is no such variable.
    """
    if variable in os.environ:
        _TAKEN[variable] = os.environ.pop(variable)
    if variable not in _TAKEN:
        # The name is not repeated: whoever gives the password in its place must not find it in a log.
        raise SpecError(
            f"{key}: the environment has no variable of the name that was given; set it and export it, and give its"
            " name, not the password itself"
        )
    return _TAKEN[variable]


def _password_from(path: Path) -> str:
    parser = configparser.RawConfigParser(allow_no_value=True, strict=False, delimiters=("=",))
    try:
        text = text_regular(path, _FILE_BYTES_MAX)
        parser.read_string("\n".join(line for line in text.splitlines() if not line.lstrip().startswith("!")))
    except OSError as error:
        raise SpecError(f"defaults_file: {path} cannot be read: {error.strerror}") from None
    except (configparser.Error, UnicodeDecodeError):
        raise SpecError(f"defaults_file: {path} is not an option file with sections such as [client]") from None
    password = parser.get("client", "password", fallback=None)
    if password is None:
        raise SpecError(f"defaults_file: {path} has no password in its [client] section; add password = …")
    return password.strip().strip("\"'")


def known_secret(variable: str | None) -> dict[str, str]:
    """The variable of a password with its value, for a child process of the user's own that needs it; empty for none.

    It was taken out of the environment that other children inherit.
    """
    if variable is None:
        return {}
    value = _TAKEN.get(variable, os.environ.get(variable))
    return {} if value is None else {variable: value}
