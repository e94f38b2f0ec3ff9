"""The statements of a learned transaction, one after the other, as a workload file has them.

Deliberately not here: where single values come from (`value_sources`), and loops (`workload`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.learn.counts import counts_of
from plimsoll.learn.insert_keys import InsertKeys
from plimsoll.learn.list_writer import ListWriter
from plimsoll.learn.model import LearnedStatement, LearnedType
from plimsoll.learn.new_keys import NewKeys
from plimsoll.learn.often_same import OftenSame
from plimsoll.learn.profile_model import StatementProfile, ValueKind, ValueProfile
from plimsoll.learn.relations import MEMBER, Place, Relation
from plimsoll.learn.runnable_sql import Written, runnable_sql
from plimsoll.learn.schema_model import ColumnKey
from plimsoll.learn.statement_facts import StatementFacts
from plimsoll.learn.value_sources import Source, Sources, member_source


@dataclass(slots=True)
class StatementWriter:
    """Writes the statements of one type, in their order.

    Attributes:
        learned: The type.
        sources: Makes values.
        keys: Of the server's tables.
        lists: What is drawn before the first statement.
    """

    learned: LearnedType
    sources: Sources
    keys: InsertKeys
    lists: ListWriter
    _named: dict[Place, str] = field(default_factory=dict)
    _keeps: dict[int, dict[str, str]] = field(default_factory=dict)
    _values: dict[str, dict[str, Any]] = field(default_factory=dict)
    _told_values: list[ValueProfile] = field(default_factory=list)
    _new_keys: NewKeys = field(init=False)

    def __post_init__(self) -> None:
        """Begins with no new key."""
        self._new_keys = NewKeys(self.learned, self.sources, self.keys)

    def statement(self, place: int) -> tuple[dict[str, Any] | None, StatementProfile]:
        """A statement, None where it is not run, and what is told of it."""
        one = self.learned.statements[place]
        if one is None:
            return None, StatementProfile(text="", left_out=self.learned.left_out[place])
        self._values, self._told_values = {}, []
        by = self._member(place, one)
        written: dict[int, Written] = {}
        row: list[tuple[str, Written]] | None = None
        new_keys = self._new_keys.columns(place, one, self._named)
        if one.is_rows:
            row = self._row(place, one, new_keys)
        else:
            for slot in range(len(one.facts.slots)):
                written[slot] = self._value(Place(place, slot), one.facts, new_keys, one.counts)
        more = self._more(place, one)
        names = self.sources.names
        texts = [runnable_sql(facts, written, names, row=row, more=more) for facts in one.members]
        found: dict[str, Any] = {"sql": texts if len(texts) > 1 else texts[0]}
        if by is not None:
            found["by"] = by
        if one.is_rows:
            found["rows"] = self.lists.times(self.learned.items.rows.get(place), one.counts[Place(place, 0)])
        if self._values:
            found["values"] = self._values
        if keep := self._kept(place):
            found["keep"] = keep
        counts = next(iter(one.counts.values()), Counter())
        profile = StatementProfile(
            text=texts[0],
            members_count=len(texts),
            values=tuple(self._told_values),
            counts=dict(sorted(counts.items())),
        )
        return found, profile

    def _member(self, place: int, one: LearnedStatement) -> str | None:
        """The name of the value that says which of a family runs."""
        if len(one.members) == 1:
            return None
        key = Place(place, MEMBER)
        relation = self.learned.relations.get(key)
        if relation is not None and relation.kind == "same" and relation.of in self._named:
            self._told_values.append(
                ValueProfile(name=self._named[relation.of], kind="member", same_as=self._named[relation.of])
            )
            return self._named[relation.of]
        name = f"m{place + 1}"
        self._draw(key, name, member_source(self.learned.values(key), len(one.members)), None)
        return name

    def _row(self, place: int, one: LearnedStatement, new_keys: frozenset[str]) -> list[tuple[str, Written]]:
        """The columns of an INSERT of several rows; those of unknown literals as the table's rows are made."""
        table, columns = one.facts.inserts_into, one.facts.inserted
        assert table is not None, "an INSERT has a table"
        row: list[tuple[str, Written]] = []
        is_known = one.width == len(columns)
        for part, column in enumerate(columns):
            key, place_of = (table, column), Place(place, 0, part)
            if is_known:
                row.append((column, self._column_value(place_of, key, "written", column in new_keys)))
            else:
                name = f"v{place + 1}_{part + 1}"
                row.append((column, self._draw(place_of, name, self.sources.of_column(key), key)))
        return row

    def _more(self, place: int, one: LearnedStatement) -> list[tuple[str, Written]]:
        """Columns without NULL that an INSERT leaves to their defaults, which made tables do not have."""
        table = one.facts.inserts_into
        if table is None or not one.facts.inserted:
            return []
        found: list[tuple[str, Written]] = []
        for number, column in enumerate(self.keys.required(table)):
            if column in one.facts.inserted:
                continue
            key, name = (table, column), f"d{place + 1}_{number + 1}"
            found.append((column, self._draw(Place(place, -2, number), name, self.sources.of_column(key), key)))
        return found

    def _value(
        self,
        key: Place,
        facts: StatementFacts,
        new_keys: frozenset[str],
        counts: Mapping[Place, Counter[int]],
    ) -> Written:
        """What stands for a literal."""
        slot, column = facts.slots[key.slot], facts.columns[key.slot]
        is_new = column is not None and slot.use == "written" and column[1] in new_keys
        written = self._column_value(key, column, slot.use, is_new)
        if key in counts and isinstance(written, str) and written in self._values:
            if key in self.learned.items.lists:
                self.lists.add(key, written, self._values.pop(written), column)
            else:
                self._values[written]["list"] = self.lists.lengths(key) or counts_of(counts[key])
        return written

    def _column_value(
        self,
        key: Place,
        column: ColumnKey | None,
        use: str,
        is_new: bool,
    ) -> Written:
        name = f"v{key.statement + 1}_{key.slot + 1}" + (f"_{key.part + 1}" if key.part else "")
        if is_new:
            self._new_keys.fresh.add(key)
        relation = self.learned.relations.get(key)
        if relation is not None and is_new and relation.kind == "item" and relation.of != key:
            relation = None  # a new key is no item of a list of keys that are there
        if relation is not None and relation.kind in ("item", "once"):
            source = self.sources.drawn(self.learned.values(key), column, use, is_new_key=is_new)
            if known := self._of_rounds(key, name, relation, source, column):
                return known
        elif relation is not None and (known := self._related(key, name, relation, column)):
            return known
        if (row := self.learned.rows.get(key)) is not None and self.learned.statements[row.statement] is not None:
            kept = self._keeps.setdefault(row.statement, {})
            found = next((one for one, output in kept.items() if output == row.output), None)
            if found is None:
                found = f"r{row.statement + 1}_{len(kept) + 1}"
                kept[found] = row.output
            if row.add:
                self._values[name] = {"sum_of": found, "add": row.add}
                found = name
            self._named[key] = found
            told = self._told(found, "key", column, read_from=row.statement + 1, add=row.add, assumed="row-read")
            self._told_values.append(told)
            return found
        source = self.sources.drawn(self.learned.values(key), column, use, is_new_key=is_new)
        return self._draw(key, name, source, column, None if is_new else self.learned.often.get(key))

    def _related(
        self,
        key: Place,
        name: str,
        relation: Relation,
        column: ColumnKey | None,
    ) -> str | None:
        """The name of a value that follows from another; None where that one is not written."""
        if relation.kind == "row":
            self._values[name] = {"row_number": True}
            self._told_values.append(self._told(name, "number", column, holds=relation.holds))
            return name
        assert relation.of is not None, "only the number of a row follows from nothing"
        base = self._named.get(relation.of)
        if base is None:
            return None
        if relation.kind == "same":
            self._told_values.append(self._told(base, "key", column, same_as=base, holds=relation.holds))
            return base
        self._values[name] = {"sum_of": base, "add": relation.add}
        self._named[key] = name
        self._told_values.append(self._told(name, "key", column, same_as=base, add=relation.add, holds=relation.holds))
        return name

    def _of_rounds(
        self, key: Place, name: str, relation: Relation, source: Source, column: ColumnKey | None
    ) -> str | None:
        """The name of an item, or of what is the same in all rounds; None where it is not written."""
        if source.is_part:
            return None
        told: dict[str, Any] = {"distribution": source.distribution, "assumed": source.assumed}
        if relation.kind == "once":
            self.lists.values[name] = dict(source.generator or {})
        else:
            if relation.of == key:
                self.lists.add(key, f"l{name[1:]}", source.generator or {}, column)
            items = self.lists.name(relation.of)
            if items is None:
                return None
            self._values[name] = {"item_of": items}
            told = {"item_of": items, "holds": relation.holds} | (told if relation.of == key else {})
        self._named[key] = name
        self._told_values.append(self._told(name, source.kind, column, **told))
        return name

    def _draw(
        self,
        key: Place,
        name: str,
        source: Source,
        column: ColumnKey | None,
        often: OftenSame | None = None,
    ) -> Written:
        if source.is_part:
            self._told_values.append(self._told(None, "constant", column, assumed=source.assumed))
            return source.number
        base = None if often is None else self._named.get(often.of)
        self._values[name] = dict(source.generator or {})
        told: dict[str, Any] = {"distribution": source.distribution, "assumed": source.assumed}
        if often is not None and base is not None:
            self._values[name] |= {"same_as": base, "same_ratio": often.ratio}
            told |= {"same_as": base, "same_ratio": often.ratio, "holds": often.holds}
        self._named[key] = name
        self._told_values.append(self._told(name, source.kind, column, **told))
        return name

    def _told(self, name: str | None, kind: ValueKind, column: ColumnKey | None, **more: Any) -> ValueProfile:
        shown = None if column is None else self.sources.names.of("c", column[1])
        return ValueProfile(name=name, kind=kind, column=shown, **more)

    def _kept(self, place: int) -> dict[str, str]:
        """What later statements need of a statement's first row; found before those are written."""
        wanted = [one for one in self.learned.rows.values() if one.statement == place]
        outputs = list(dict.fromkeys(one.output for one in wanted))
        kept = self._keeps.setdefault(place, {})
        for output in outputs:
            if output not in kept.values():
                kept[f"r{place + 1}_{len(kept) + 1}"] = output
        return {name: self.sources.names.of("c", output) for name, output in kept.items()}
