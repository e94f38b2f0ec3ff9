"""Values of options that are more than a word: KEY=VALUE, lists of numbers.

Deliberately not here: the options themselves (`options`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from plimsoll.errors import Fault
    from plimsoll.spec.server_options import OptionValue

Choice = TypeVar("Choice", bound=StrEnum)

_OPTIONS = frozenset(
    {"workload", "tables", "table-size", "distribution", "warehouses", "text", "tls", "ca", "cert", "key"}
)
"""Options that are named as the fields that they set."""


def key_and_value(written: str, *, taken: Mapping[str, object]) -> tuple[str, object]:
    """Reads the value of --option.

    Raises:
        SpecError: It is none, or its key is taken.
    """
    from plimsoll.errors import SpecError

    key, equals, value = written.partition("=")
    key = key.strip()
    if not equals or not key.isidentifier():
        raise SpecError(f"--option: must be KEY=VALUE such as range_size=10, is {written[:60]!r}")
    if key in taken or key in ("name", "kind"):
        raise SpecError(f"--option {key}: has an option of its own; use that one alone")
    return key, toml_value(value.strip())


def toml_value(text: str) -> object:
    """A value as study files have it; a plain word is text without its quotes."""
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        return text


def counts_of(text: str, option: str) -> tuple[int, ...]:
    """Reads the value of an option that is a list of numbers, such as `1,8,64`.

    Raises:
        SpecError: It is none; the message names the option.
    """
    from plimsoll.errors import SpecError

    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and len(part) < 7 and int(part) > 0 for part in parts):
        raise SpecError(f"{option}: must be whole numbers above 0 such as 1,8,64, is {text[:60]!r}")
    return tuple(dict.fromkeys(int(part) for part in parts))


def as_option(fault: Fault, keys: Collection[str] = ()) -> str:
    """Names the option instead of the field; `keys` came by --option KEY=VALUE."""
    field = fault.place
    name = {"kind": "workload", "": "workload"}.get(field, field.replace("_", "-"))
    option = f"--{name}" if name in _OPTIONS and field not in keys else f"--option {field}"
    return f"{option}: {fault.reason}"


def duration_s(text: str, option: str) -> float:
    """Reads the value of an option that is a time.

    Raises:
        SpecError: It is none; the message names the option.
    """
    from plimsoll.errors import SpecError
    from plimsoll.units import parse_duration_s

    try:
        return parse_duration_s(text)
    except SpecError as error:
        raise SpecError(f"{option}: {error}") from None


def choice(text: str, choices: type[Choice], option: str) -> Choice:
    """Reads the value of an option that is one of a few words.

    Raises:
        SpecError: It is none of them; the message names the option.
    """
    from plimsoll.errors import SpecError

    try:
        return choices(text)
    except ValueError:
        raise SpecError(f"{option}: must be one of {', '.join(choices)}, is {text[:60]!r}") from None


def share(written: str, option: str, *, allow_zero: bool = False) -> float:
    """Reads `5%` or `0.05` as a share.

    Raises:
        SpecError: It is none.
    """
    from plimsoll.errors import SpecError

    match = re.fullmatch(r"\s*(\d{1,3}(?:\.\d{1,6})?)\s*(%?)\s*", written, re.ASCII)
    value = float(match[1]) / (100 if match[2] else 1) if match else -1.0
    if value < 0 or value >= 1 or (value == 0 and not allow_zero):
        raise SpecError(f"{option}: must be a share such as 5% or 0.05, below 100%, is {written[:60]!r}")
    return value


_LABELS_MAX = 16
_LABEL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,31}", re.ASCII)
_LABEL_CHARACTERS_MAX = 128


def labels(written: Sequence[str]) -> dict[str, str]:
    """Reads the values of --label NAME=VALUE.

    Raises:
        SpecError: One is none, is called what a secret is called, or is given twice; all faults at once.
    """
    from plimsoll.errors import SpecError
    from plimsoll.prose.phrases import is_secret

    values: dict[str, str] = {}
    faults = [f"--label: at most {_LABELS_MAX} may be given"] if len(written) > _LABELS_MAX else []
    for text in written:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or _LABEL_NAME.fullmatch(name) is None:
            faults.append(
                "--label: must be NAME=VALUE such as commit=3f2a91c, with a name of letters, digits, '_', '.' and '-'"
            )
        elif is_secret(name):
            faults.append(f"--label {name}: recordings hold no secrets; leave it out")
        elif not (0 < len(value) <= _LABEL_CHARACTERS_MAX and value.isprintable()):
            faults.append(f"--label {name}: must be printable text of 1 to {_LABEL_CHARACTERS_MAX} characters")
        elif name in values:
            faults.append(f"--label {name}: is stated twice; keep one")
        values[name] = value
    if faults:
        raise SpecError(*faults)
    return values


def settings(written: str) -> list[str]:
    """Divides the value of --set into its NAME=VALUE parts.

    A comma ends a value only where another `NAME=` follows; what stands between quotes is never divided.

    >>> settings("sync_binlog=0,sql_mode=ANSI,STRICT_ALL_TABLES")
    ['sync_binlog=0', 'sql_mode=ANSI,STRICT_ALL_TABLES']
    >>> settings('optimizer_switch="mrr=on,index_merge=off"')
    ['optimizer_switch="mrr=on,index_merge=off"']
    """
    quoted = [match.span() for match in re.finditer(r"\"[^\"]*\"|'[^']*'", written)]
    commas = [match.start() for match in re.finditer(r",(?=\s*[A-Za-z0-9_-]+\s*=)", written)]
    ends = [at for at in commas if not any(begin < at < end for begin, end in quoted)]
    begins = [0, *(at + 1 for at in ends)]
    return [written[begin:end].strip() for begin, end in zip(begins, [*ends, len(written)], strict=True)]


def server_options(written: Sequence[str], option: str = "--option") -> dict[str, OptionValue]:
    """Reads the values of --option KEY=VALUE where they are options of a server.

    Args:
        written: Each of them.
        option: Its name.

    Raises:
        SpecError: One is none, is given twice, or the server is not to have it; all faults at once.
    """
    from plimsoll.errors import SpecError
    from plimsoll.spec.server_options import checked_options

    options: dict[str, OptionValue] = {}
    for text in written:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise SpecError(f"{option}: must be KEY=VALUE such as sync_binlog=1, is {text[:60]!r}")
        if name.strip() in options:
            raise SpecError(f"{option} {name.strip()}: is stated twice; keep one")
        read = toml_value(value.strip())
        options[name.strip()] = read if isinstance(read, bool | int | float | str) else value.strip()
    try:
        return checked_options(options)
    except SpecError as error:
        raise SpecError(*(f"{option} {fault.path[-1]}: {fault.reason}" for fault in error.faults)) from None
