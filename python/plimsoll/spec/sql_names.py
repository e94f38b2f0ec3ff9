"""Names in a workload file: of tables and columns, and of values in statements."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from plimsoll.spec.fields import name_fault

NAME_MAX = 64

ValueName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")]
"""A name as it stands behind the colon in a statement."""


def _plain_name(name: str) -> str:
    """Servers take 64 characters of Unicode's first plane; people must be able to tell names from each other."""
    if fault := name_fault(name):
        raise ValueError(fault)
    if len(name) > NAME_MAX or any(ord(one) > 0xFFFF for one in name):
        raise ValueError(
            f"must be 1 to {NAME_MAX} characters, none beyond U+FFFF, which servers do not take, is {name!r}"
        )
    return name


SqlName = Annotated[str, AfterValidator(_plain_name)]
"""The name of a table, a column or an index; it is quoted, whatever is in it."""


def a_list(value: object) -> object:
    """TOML has lists, the models have tuples."""
    return tuple(value) if isinstance(value, list) else value
