"""Lists of a learned transaction that are drawn before its first statement, and what runs as often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.learn.counts import counts_of
from plimsoll.learn.item_relations import ItemRelations
from plimsoll.learn.profile_model import ListProfile
from plimsoll.learn.relations import Place
from plimsoll.learn.schema_model import ColumnKey
from plimsoll.learn.value_sources import Sources


@dataclass(slots=True)
class ListWriter:
    """Writes the lists of one type.

    Attributes:
        items: What rounds and rows take from lists.
        sources: Makes values.
        values: All that is drawn before the first statement, by name; it grows.
        names: By place, those of lists; it grows.
        told: What is told of lists; it grows.
    """

    items: ItemRelations
    sources: Sources
    values: dict[str, dict[str, Any]] = field(default_factory=dict)
    names: dict[Place, str] = field(default_factory=dict)
    told: list[ListProfile] = field(default_factory=list)

    def lengths(self, key: Place) -> Any:
        """How many items a list has where it is not the one that it often is; None where it is none often.

        It may be as long as that one, too.
        """
        often = self.items.often.get(key)
        if often is None or often.of not in self.names:
            return None
        head = self.items.lists[often.of]
        counts = dict.fromkeys(self.items.lists[head.like or often.of].counts, 0) | often.lengths
        return {"counts": sorted(counts), "weights": [counts[number] for number in sorted(counts)]}

    def add(self, key: Place, name: str, generator: Mapping[str, Any], column: ColumnKey | None) -> None:
        """Writes a list whose items are made so."""
        found = self.items.lists[key]
        listed: dict[str, Any] = {"list": self.lengths(key) or self.times(found.like, found.counts)}
        if found.is_sorted and generator["generate"] != "decimal":
            listed["sorted"] = True
        size = self.sources.size(column) if column is not None and generator["generate"] == "reference" else 0
        if found.is_distinct and max(found.counts) <= size:
            listed["distinct"] = True
        self.values[name], self.names[key] = {**listed, **generator}, name
        self.told.append(
            ListProfile(
                name=name,
                counts=dict(sorted(found.counts.items())),
                is_sorted="sorted" in listed,
                is_distinct="distinct" in listed,
            )
        )

    def name(self, key: Place | None) -> str | None:
        """The name of the list that a place has; None where it is not written."""
        return None if key is None else self.names.get(key)

    def times(self, key: Place | None, seen: Counter[int]) -> Any:
        """How often something runs: as often as a list that is written has items, else as was seen."""
        name = self.name(key)
        return counts_of(seen) if name is None else {"items_of": name}
