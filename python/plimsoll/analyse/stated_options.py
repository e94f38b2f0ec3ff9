"""The options that a recorded option file states, by the names of their variables.

Deliberately not here: writing option files (`servers.option_file`), and whether options are in effect
(`options_in_effect`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from plimsoll.spec.switches import is_on

_LINE = re.compile(r"^\s*([A-Za-z][A-Za-z0-9_-]*)\s*(?:=\s*(.*?))?\s*$")

_SWITCHING = (("skip_", False), ("disable_", False), ("enable_", True))
"""Prefixes that turn an option off or on, and which of the two."""

_OWN_VARIABLE = frozenset(
    {"skip_name_resolve", "skip_external_locking", "skip_networking", "skip_show_database", "skip_replication"}
)
"""Variables whose names begin as if they turned something off."""


def stated_options(text: str) -> Mapping[str, str]:
    r"""The options of a file: names in lower case with `_`, values without quotes. The last line of a name wins.

    `loose_` is left out, `skip_x` is `x = OFF`, an option without a value is `ON`. `maximum_x` limits a variable and
    does not set it, so it is not among them.

    >>> stated_options("[mysqld]\nskip-log-bin\nloose_innodb_io_capacity = 200\n")
    {'log_bin': 'OFF', 'innodb_io_capacity': '200'}
    """
    matches = (match for line in text.splitlines() if (match := _LINE.match(line)))
    stated = [_stated(match[1].lower().replace("-", "_").removeprefix("loose_"), match[2]) for match in matches]
    return {name: value for name, value in stated if not name.startswith("maximum_")}


def _stated(name: str, written: str | None) -> tuple[str, str]:
    """An option and its value, without what switches it on or off."""
    value = "ON" if written is None else _unquoted(written)
    if name in _OWN_VARIABLE:
        return name, value
    for prefix, turns_on in _SWITCHING:
        if name.startswith(prefix):
            return name.removeprefix(prefix), "ON" if is_on(value) == turns_on else "OFF"
    return name, value


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] == '"':
        return value[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    return value
