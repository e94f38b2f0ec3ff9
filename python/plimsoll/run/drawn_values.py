"""Values of statements, drawn evenly from the generators of the engine's protocol, and the texts that they belong to.

Deliberately not here: how the load engine draws, by whatever distribution the file has.
"""

from __future__ import annotations

import random
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

_ALPHABETS = {"digits": string.digits, "letters": string.ascii_lowercase, "hexadecimal": "0123456789abcdef"}
_AGAIN_MAX = 100
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Items:
    """A list that was drawn.

    Attributes:
        values: All of it.
        lengths: All lengths that it may have, rising.
    """

    values: list[Any]
    lengths: Sequence[int]

    @property
    def position(self) -> int:
        """That of its length among all that it may have."""
        return self.lengths.index(len(self.values))


def sent(
    statement: Mapping[str, Any], known: dict[str, Any], chance: random.Random, absent: Any = None, *, turn: int = 0
) -> tuple[str, list[Any]]:
    """The text that is sent for a statement of the engine's plan, and its values.

    Args:
        statement: Its rows and values are drawn.
        known: Values by name; gets those that are drawn.
        chance: What is drawn from.
        absent: Stands for values that are not known.
        turn: Which repetition of it this is, or which round of its loop, from 0.
    """
    names, rows = statement["parameters"], statement["rows"]
    variant, before, inside = 0, [*names], list[Any]()
    if rows is None:
        draw(statement["values"], known, chance, turn=turn)
    else:
        before, group = names[: rows["first"]], names[rows["first"] : rows["first"] + rows["count"]]
        count = drawn_number(rows["rows"], known, chance)
        variant = _numbers(rows["rows"], known).index(count)
        for row in range(count):
            draw(statement["values"], known, chance, turn=row)
            inside += _flat(group, known, absent)
    behind = names[rows["first"] + rows["count"] :] if rows else []
    for name in dict.fromkeys(names):
        if isinstance(found := known.get(name), Items):
            variant = variant * len(found.lengths) + found.position
    if statement["by"] is not None:
        by, each = statement["by"], len(statement["variants"]) // statement["by"]["choices"]
        variant += each * min(max(int(known.get(by["value"]) or 1) - 1, 0), by["choices"] - 1)
    sql = statement["variants"][variant] if statement["variants"] else statement["sql"]
    return sql, [*_flat(before, known, absent), *inside, *_flat(behind, known, absent)]


def newest_name(counter: int) -> str:
    """Under which the newest key of a counter is known; no value of a file has such a name."""
    return f"newest of {counter}"


def list_name(name: str) -> str:
    """Under which a list of the transaction is known, whatever statements call by its name later."""
    return f"list {name}"


def draw_first(transaction: Mapping[str, Any], known: dict[str, Any], chance: random.Random) -> None:
    """Draws the values of a transaction of the engine's plan before its first statement."""
    for value in transaction["values"]:
        draw([value], known, chance)
        if isinstance(found := known[value["name"]], Items):
            known[list_name(value["name"])] = found


def draw(values: Iterable[Mapping[str, Any]], known: dict[str, Any], chance: random.Random, *, turn: int = 0) -> None:
    """Draws values of the engine's plan, which become known.

    Args:
        values: The values.
        known: Values by name; gets these.
        chance: What is drawn from.
        turn: Which row, repetition or round this is, from 0.
    """
    for value in values:
        if "row_number" in value["source"]:
            known[value["name"]] = turn + 1
        elif "item_of" in value["source"]:
            items = known[list_name(value["source"]["item_of"]["list"])].values
            known[value["name"]] = items[turn % len(items)]
        elif value.get("items") is None:
            again = _again(value, chance)
            known[value["name"]] = known[again] if again else _value(value["source"], known, chance)
        else:
            known[value["name"]] = _list(value, known, chance)


def _again(value: Mapping[str, Any], chance: random.Random) -> str | None:
    """The earlier value that this one is, this time."""
    same = value.get("same")
    return same["value"] if same and chance.random() < same["ratio"] else None


def _list(value: Mapping[str, Any], known: dict[str, Any], chance: random.Random) -> Items:
    again = _again(value, chance)
    if again is None:
        found = _items(value, drawn_number(value["items"], known, chance), known, chance)
    else:
        found = [*known[list_name(again)].values]
    if value.get("sorted"):
        found.sort(key=lambda one: (one is not None, one))
    return Items(found, _numbers(value["items"], known))


def _items(value: Mapping[str, Any], count: int, known: dict[str, Any], chance: random.Random) -> list[Any]:
    found: list[Any] = []
    for _ in range(count):
        one = _value(value["source"], known, chance)
        for _ in range(_AGAIN_MAX if value.get("distinct") else 0):
            if one not in found:
                break
            one = _value(value["source"], known, chance)
        found.append(one)
    return found


def drawn_number(times: Mapping[str, Any], known: Mapping[str, Any], chance: random.Random) -> int:
    """How often something runs: drawn as the load engine draws it, or as many as a list that is known has items."""
    if "items_of" in times:
        return len(known[list_name(times["items_of"])].values)
    numbers = _numbers(times, known)
    return chance.choices(numbers, times["weighted"]["weights"] if "weighted" in times else None)[0]


def _numbers(times: Mapping[str, Any], known: Mapping[str, Any]) -> Sequence[int]:
    """All numbers that there may be, rising."""
    if "items_of" in times:
        items: Items = known[list_name(times["items_of"])]
        return items.lengths
    if "range" in times:
        return range(times["range"]["min"], times["range"]["max"] + 1)
    counts: list[int] = times["weighted"]["counts"]
    return counts


def _flat(names: Iterable[str], known: Mapping[str, Any], absent: Any) -> list[Any]:
    found: list[Any] = []
    for name in names:
        value = known.get(name, absent)
        found += value.values if isinstance(value, Items) else [value]
    return found


def _value(source: Mapping[str, Any], known: dict[str, Any], chance: random.Random) -> Any:
    if "sum" in source:
        return int(known[source["sum"]["value"]] or 0) + source["sum"]["add"]
    if "next" in source:
        newest = newest_name(source["next"]["counter"])
        known[newest] = known.get(newest, 0) + 1
        return known[newest]
    if "recent" in source:
        last = int(known.get(newest_name(source["recent"]["counter"]), 1))
        return last - chance.randrange(max(min(source["recent"]["within"] or last, last), 1))
    is_null = chance.random() < source["drawn"]["null_ratio"]
    return None if is_null else _drawn(source["drawn"]["generator"], chance)


def _drawn(generator: Mapping[str, Any], chance: random.Random) -> Any:
    """A value of a generator of the engine's protocol; those that follow rows make none for statements."""
    match generator["kind"]:
        case "integer":
            return generator["first"] + generator["step"] * chance.randrange(generator["count"])
        case "decimal":
            return Decimal(generator["first"] + chance.randrange(generator["count"])).scaleb(-generator["scale"])
        case "timestamp":
            at_us = generator["first_us"] + generator["step_us"] * chance.randrange(generator["count"])
            return (_EPOCH + timedelta(microseconds=at_us)).replace(tzinfo=None)
        case "choice":
            return chance.choices(generator["values"], generator["weights"])[0]
        case "characters":
            length = chance.randint(generator["length_min"], generator["length_max"])
            return "".join(chance.choices(_ALPHABETS[generator["alphabet"]], k=length))
        case _:
            parts = generator["parts"]
            return "".join(part["text"] if "text" in part else str(_drawn(part["generated"], chance)) for part in parts)
