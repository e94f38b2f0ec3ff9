"""Values of options that are more than a word: KEY=VALUE, lists of numbers.

Deliberately not here: the options themselves (`options`).
"""

from __future__ import annotations

from collections.abc import Mapping


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
