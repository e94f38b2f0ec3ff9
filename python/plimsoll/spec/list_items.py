"""What must hold of lists whose items rise, or are all different."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plimsoll.spec.generator_plan import generator_plan
from plimsoll.spec.references import Tables, referred_keys
from plimsoll.spec.transactions import ValueSpec
from plimsoll.spec.variants import Lists


def list_faults(value: ValueSpec, lists: Lists, tables: Tables) -> Iterator[str]:
    """What is wrong, each line behind the name of its key.

    Args:
        value: Without other faults.
        lists: Those that are known before it.
        tables: Those of the file.
    """
    if value.items is None:
        yield from (f"{key}: belongs to list" for key in ("sorted", "distinct") if getattr(value, key))
        return
    if value.sorted and value.generate == "decimal":
        yield "sorted: does not belong to 'decimal': items are numbers without a point, or texts"
    if not value.distinct or value.generate in ("next", "recent"):
        return
    counts = lists.counts(value.items)
    count = _values_count(generator_plan(value, referred_keys(value, tables)))
    if count is not None and counts is not None and count < counts.high:
        yield f"distinct: there are only {count} values for a list of up to {counts.high}"


def _values_count(plan: dict[str, Any]) -> int | None:
    """How many different values a generator of the engine's protocol makes; None where that does not matter."""
    if plan["kind"] == "choice":
        return len({one for one, weight in zip(plan["values"], plan["weights"], strict=True) if weight > 0})
    if plan["kind"] == "template":
        inside = [part["generated"] for part in plan["parts"] if "generated" in part]
        return _values_count(inside[0]) if len(inside) == 1 else None
    found: int | None = plan.get("count")
    return found
