"""What a later version will understand of a study file: refused with a reason, not ignored."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_LATER = {
    ("system", "instances"): "belongs into server: Plimsoll starts several managed servers; a target is one instance",
}
"""Keys of the study file's design that a later version will understand: refused with a reason, not ignored."""


def without_later(faults: Iterable[str], later: tuple[str, ...]) -> list[str]:
    """Leaves out what `later` has already explained, and lists that are only empty because their items are wrong."""
    faults = list(faults)
    explained = {line.split(":")[0] for line in later}
    explained |= {line.split("[")[0] for line in faults if "[" in line.split(":")[0]}
    return [line for line in faults if line.split(":")[0] not in explained]


def later_faults(written: dict[str, Any]) -> Iterable[str]:
    """One line for each key that this version does not understand yet."""
    for path, reason in _LATER.items():
        for place, table in _tables(written, path[:-1]):
            if path[-1] in table:
                yield f"{place}.{path[-1]}: {reason}"


def _tables(written: object, path: tuple[str, ...], place: str = "") -> Iterable[tuple[str, dict[str, Any]]]:
    """Every table at a path, through lists of tables, with its place as text."""
    if isinstance(written, list):
        for index, item in enumerate(written):
            yield from _tables(item, path, f"{place}[{index}]")
    elif isinstance(written, dict):
        if not path:
            yield place, written
        elif path[0] in written:
            yield from _tables(written[path[0]], path[1:], f"{place}.{path[0]}" if place else path[0])
