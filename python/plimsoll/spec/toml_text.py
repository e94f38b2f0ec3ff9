"""Values as TOML text, for study files that Plimsoll writes; what is read from it is what was given."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

TomlValue: TypeAlias = "str | int | float | bool | Sequence[TomlValue] | Mapping[str, TomlValue]"


def toml_text(value: TomlValue) -> str:
    """A value on one line.

    >>> print(toml_text({"managed": "mariadb", "options": {"open_files_limit": 4096, "log bin": "a,b"}}))
    { managed = "mariadb", options = { open_files_limit = 4_096, "log bin" = "a,b" } }
    """
    match value:
        case bool():
            return str(value).lower()
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case int():
            return f"{value:_}"
        case float():
            return repr(value)
        case Mapping():
            pairs = ", ".join(f"{_key(key)} = {toml_text(one)}" for key, one in value.items())
            return f"{{ {pairs} }}" if pairs else "{}"
    return f"[{', '.join(map(toml_text, value))}]"


def toml_lines(table: Mapping[str, TomlValue]) -> list[str]:
    """The keys of a table with their values, a line each."""
    return [f"{_key(key)} = {toml_text(value)}" for key, value in table.items()]


def _key(key: str) -> str:
    is_bare = key.isascii() and key.replace("-", "_").replace("_", "a").isalnum()
    return key if is_bare else toml_text(key)
