"""What of a workload file is sound although other things in it are wrong, so that all faults are told at once.

What is wrong in itself is taken out or replaced by something harmless; what does not hold between the other parts is
then found in what is left. Deliberately not here: what is right (`workload_file`, `workload_checks`).
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any

from plimsoll.spec.fields import path_text

Loc = tuple[str | int, ...]

_NAMING = frozenset(
    {
        *("values", "keep", "keep_insert_id", "sql", "loops", "loop"),
        *("name", "column", "primary_key", "columns", "foreign_key", "generate", "table"),
    }
)
"""Keys by which the parts of a table or a transaction know each other."""

_HARMLESS = {"name": "_", "rows": 1, "sql": "DO 0", "generate": "null", "type": "INT"}
"""For what must be there."""


def without(written: dict[str, Any], locs: Iterable[Loc]) -> dict[str, Any]:
    """A copy of the document without what is wrong at these places."""
    sound = copy.deepcopy(written)
    for number, loc in enumerate(locs):
        _mend(sound, loc, number)
    return sound


def untouched(lines: Iterable[str], written: dict[str, Any], locs: Iterable[Loc]) -> Iterator[str]:
    """Those of the lines about the sound part that what is wrong elsewhere has not brought about.

    Args:
        lines: Faults, each behind its path.
        written: The whole document.
        locs: Where it is wrong in itself.
    """
    wrong = [tuple(part for part in loc if not str(part).startswith("(")) for loc in locs]
    paths = [path_text(loc) for loc in wrong]
    units = {path_text(loc[:2]) for loc in wrong if len(loc) < 3 or _NAMING.intersection(map(str, loc[2:]))}
    tables = {repr(name) for loc in wrong if loc[:1] == ("table",) and (name := _name(written, loc)) is not None}
    for line in lines:
        path, _, said = line.partition(":")
        is_beside = any(path.startswith(unit) for unit in units) or any(path.startswith(one) for one in paths)
        if not is_beside and not any(name in said for name in tables):
            yield line


def _mend(document: Any, loc: Loc, number: int) -> None:
    """Takes out what is at a place, as far as the document goes there; what must be there gets a harmless value."""
    place, last = document, loc[0]
    for part in loc[1:]:
        below = _below(place, last)
        if not isinstance(below, dict | list) or (isinstance(below, list) and not isinstance(part, int)):
            break
        place, last = below, part
    if isinstance(place, list):
        return
    if last in _HARMLESS:
        value = _HARMLESS[str(last)]
        place[last] = f"{value}{number}" if last == "name" else value
    elif isinstance(place, dict):
        place.pop(last, None)


def _below(place: Any, part: str | int) -> Any:
    if isinstance(place, dict):
        return place.get(part)
    return place[part] if isinstance(part, int) and part < len(place) else None


def _name(written: dict[str, Any], loc: Loc) -> object:
    tables = written.get("table")
    unit = _below(tables, loc[1]) if isinstance(tables, list) and len(loc) > 1 else None
    return unit.get("name") if isinstance(unit, dict) else None
