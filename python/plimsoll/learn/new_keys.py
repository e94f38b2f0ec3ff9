"""Keys of rows that a learned transaction inserts: which columns must have values that no row has."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from sqlglot import exp

from plimsoll.learn.insert_keys import InsertKeys
from plimsoll.learn.model import LearnedStatement, LearnedType
from plimsoll.learn.relations import Place
from plimsoll.learn.sql_tree import is_replace
from plimsoll.learn.value_sources import Sources


@dataclass(slots=True)
class NewKeys:
    """Those of the statements of one type, in their order.

    Attributes:
        learned: The type.
        sources: Says how many rows columns refer to.
        keys: Of the server's tables.
        fresh: Places of values that no row had before the transaction; it grows.
    """

    learned: LearnedType
    sources: Sources
    keys: InsertKeys
    fresh: set[Place] = field(default_factory=set)

    def columns(self, place: int, one: LearnedStatement, named: Collection[Place]) -> frozenset[str]:
        """Of an INSERT: the columns that must have a value which no row has.

        Args:
            place: Of the statement.
            one: The statement.
            named: Places of values that are written before it.
        """
        facts = one.facts
        if facts.inserts_into is None or _takes_any_key(facts.tree):
            return frozenset()
        drawn, items = set[str](), set[str]()
        if one.is_rows:
            parts = enumerate(facts.inserted) if one.width == len(facts.inserted) else ()
            places = {column: Place(place, 0, part) for part, column in parts}
        else:
            places = {
                column[1]: Place(place, slot)
                for slot, column in enumerate(facts.columns)
                if column is not None and facts.slots[slot].use == "written"
            }
        for column, key in places.items():
            relation = self.learned.relations.get(key)
            if key in self.learned.rows or (relation is not None and relation.kind == "row"):
                continue
            if relation is not None and relation.kind == "item":
                items.add(column)
            elif relation is None or relation.of not in named:
                drawn.add(column)
        found = set[str]()
        for unique in self.keys.unique(facts.inserts_into):
            has_new = any(self._is_fresh(places[column]) for column in unique if column in places)
            free = [column for column in unique if column in drawn or (column in items and not has_new)]
            if set(unique) <= set(places) and free and not found & set(unique):
                sizes = {column: self.sources.size((facts.inserts_into, column)) for column in free}
                found.add(max(free, key=lambda column: sizes[column]))
        return frozenset(found)

    def _is_fresh(self, key: Place) -> bool:
        """Whether no row had that key before the transaction."""
        relation = self.learned.relations.get(key)
        base = relation.of if relation is not None and relation.kind == "same" else key
        return base in self.fresh or base in self.learned.counters


def _takes_any_key(tree: exp.Expr) -> bool:
    """Whether an INSERT also takes a key that a row has already."""
    return bool(tree.args.get("conflict") or tree.args.get("ignore")) or is_replace(tree)
