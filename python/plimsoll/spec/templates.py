"""Templates of generated text: what stands in them as it is, and what is put in for each value."""

from __future__ import annotations

import re
from dataclasses import dataclass

LENGTH_MAX = 65_535
"""The longest random string, characters."""

_CHARACTERS = ("digits", "letters", "hex")


@dataclass(frozen=True, slots=True)
class Placeholder:
    """Something in braces in a template.

    Attributes:
        way: `row`, `digits`, `letters`, `hex` or `integer`.
        low: Smallest length or number.
        high: Largest.
    """

    way: str
    low: int = 0
    high: int = 0


_TEMPLATE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_PLACEHOLDER = re.compile(r"(row)|(digits|letters|hex|integer):(\d{1,18})(?:-(\d{1,18}))?")


def template_parts(template: str) -> list[str | Placeholder]:
    """Text and placeholders of a template, in their order.

    Raises:
        ValueError: Something in braces is not known, or a brace stands alone.
    """
    parts: list[str | Placeholder] = []
    at = 0
    for found in _TEMPLATE.finditer(template):
        parts.append(template[at : found.start()])
        at = found.end()
        parts.append(found[0][0] if found[0] in ("{{", "}}") else _placeholder(found[0], found[1]))
    parts.append(template[at:])
    return [part for part in parts if part != ""]


def _placeholder(braces: str, inner: str | None) -> Placeholder:
    read = _PLACEHOLDER.fullmatch(inner) if inner is not None else None
    if read is None:
        raise ValueError(
            f"{braces!r} is not known; {{row}}, {{digits:8}}, {{letters:3-8}}, {{hex:32}} and {{integer:1-100}} are;"
            " write {{ and }} for braces themselves"
        )
    if read[1]:
        return Placeholder("row")
    placeholder = Placeholder(read[2], int(read[3]), int(read[4] or read[3]))
    if placeholder.low > placeholder.high or (read[2] in _CHARACTERS and placeholder.high > LENGTH_MAX):
        raise ValueError(f"{braces!r} must rise, and lengths must be at most {LENGTH_MAX}")
    return placeholder
