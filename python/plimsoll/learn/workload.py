"""The transactions of a workload file, and the profile beside it, out of learned types and tables.

Statements follow one after the other, with `:name` for each value that changes and new names. Lists are drawn before
the first statement, with what runs as often; rows that are inserted get keys that no row has. Deliberately not here:
where single values come from (`value_sources`), and the text of the file (`workload_text`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp
from sqlglot.dialects.mysql import MySQL

from plimsoll.learn.item_relations import ItemRelations, counts_of
from plimsoll.learn.model import LearnedStatement, LearnedType
from plimsoll.learn.names import Pseudonyms
from plimsoll.learn.profile_model import (
    ListProfile,
    LoopProfile,
    StatementProfile,
    TypeProfile,
    ValueKind,
    ValueProfile,
)
from plimsoll.learn.relations import MEMBER, OftenSame, Place, Relation
from plimsoll.learn.schema_model import ColumnKey, InsertKeys
from plimsoll.learn.sql_tree import is_replace, slot_number, sql_of
from plimsoll.learn.statement_facts import StatementFacts
from plimsoll.learn.value_sources import Source, Sources, member_source

WEIGHTS_SUM = 100_000
"""Weights of transactions are shares of it."""


@dataclass(frozen=True, slots=True)
class LearnedTransaction:
    """One type, as a workload file has it and as the profile tells it; None where nothing of it can be run."""

    transaction: dict[str, Any] | None
    profile: TypeProfile


def learned_transaction(
    learned: LearnedType, name: str, shares: tuple[float, float | None], sources: Sources, keys: InsertKeys
) -> LearnedTransaction:
    """One type of transactions.

    Args:
        learned: The type.
        name: What it is called.
        shares: Of all transactions, and of all statement time.
        sources: Makes values.
        keys: Of the server's tables.
    """
    (share, time_share), totals, structure = shares, learned.totals, learned.structure
    writer = StatementWriter(learned, sources, keys, ListWriter(learned.items, sources))
    statements = [writer.statement(place) for place in range(len(structure.templates))]
    run = [(place, statement) for place, (statement, _) in enumerate(statements) if statement is not None]
    profile = TypeProfile(
        name=name,
        share=share,
        time_share=time_share,
        statements=totals.statements / totals.count,
        is_explicit=totals.explicit > totals.count / 2,
        rollback_ratio=totals.rolled_back / totals.count,
        unlike_ratio=learned.unlike_count / max(len(learned.seen) + learned.unlike_count, 1),
        loops=tuple(
            LoopProfile(
                first=loop.begin + 1,
                last=loop.end,
                rounds=dict(learned.rounds[loop]),
                items_of=writer.lists.name(learned.items.loops.get(loop)),
            )
            for loop in structure.loops
        ),
        lists=tuple(writer.lists.profiles),
        statement=tuple(statement_profile for _, statement_profile in statements),
    )
    if not run:
        return LearnedTransaction(None, profile)
    transaction: dict[str, Any] = {"name": name, "weight": max(1, round(share * WEIGHTS_SUM))}
    if profile.is_explicit:
        transaction["begin"] = True
        if learned.isolation is not None:
            transaction["isolation"] = learned.isolation
        if profile.rollback_ratio > 0:
            transaction["rollback_ratio"] = round(profile.rollback_ratio, 6)
    loops = _loops(learned, run, writer)
    if loops:
        transaction["loops"] = loops
    if writer.lists.values:
        transaction["values"] = writer.lists.values
    return LearnedTransaction({**transaction, "statement": [statement for _, statement in run]}, profile)


def _loops(learned: LearnedType, run: Iterable[tuple[int, dict[str, Any]]], writer: StatementWriter) -> dict[str, Any]:
    """Puts loops into statements. One that repeats a single statement is that statement's own; others have a name."""
    loops: dict[str, Any] = {}
    places = dict(run)
    for loop in learned.structure.loops:
        inside = [place for place in range(loop.begin, loop.end) if place in places]
        counts = writer.lists.times(learned.items.loops.get(loop), learned.rounds[loop])
        if not inside or counts == 1:
            continue
        if len(inside) == 1:
            places[inside[0]]["repeat"] = counts
        elif not any("loop" in places[place] for place in inside):
            name = f"loop{len(loops) + 1}"
            loops[name] = counts
            for place in inside:
                places[place]["loop"] = name
    return loops


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
    _value_profiles: list[ValueProfile] = field(default_factory=list)
    _new_keys: NewKeys = field(init=False)

    def __post_init__(self) -> None:
        """Begins with no new key."""
        self._new_keys = NewKeys(self.learned, self.sources, self.keys)

    def statement(self, place: int) -> tuple[dict[str, Any] | None, StatementProfile]:
        """A statement, None where it is not run, and what is told of it."""
        learned_statement = self.learned.statements[place]
        if learned_statement is None:
            return None, StatementProfile(text="", left_out=self.learned.left_out[place])
        self._values, self._value_profiles = {}, []
        by = self._member(place, learned_statement)
        written: dict[int, Written] = {}
        row: list[tuple[str, Written]] | None = None
        new_keys = self._new_keys.columns(place, learned_statement, self._named)
        if learned_statement.is_rows:
            row = self._row(place, learned_statement, new_keys)
        else:
            for slot in range(len(learned_statement.facts.slots)):
                written[slot] = self._value(
                    Place(place, slot), learned_statement.facts, new_keys, learned_statement.counts
                )
        more = self._more(place, learned_statement)
        names = self.sources.names
        texts = [runnable_sql(facts, written, names, row=row, more=more) for facts in learned_statement.members]
        entry: dict[str, Any] = {"sql": texts if len(texts) > 1 else texts[0]}
        if by is not None:
            entry["by"] = by
        if learned_statement.is_rows:
            entry["rows"] = self.lists.times(
                self.learned.items.rows.get(place), learned_statement.counts[Place(place, 0)]
            )
        if self._values:
            entry["values"] = self._values
        if keep := self._kept(place):
            entry["keep"] = keep
        counts = next(iter(learned_statement.counts.values()), Counter())
        profile = StatementProfile(
            text=texts[0],
            members_count=len(texts),
            values=tuple(self._value_profiles),
            counts=dict(sorted(counts.items())),
        )
        return entry, profile

    def _member(self, place: int, learned_statement: LearnedStatement) -> str | None:
        """The name of the value that says which of a family runs."""
        if len(learned_statement.members) == 1:
            return None
        key = Place(place, MEMBER)
        relation = self.learned.relations.get(key)
        if relation is not None and relation.kind == "same" and relation.of in self._named:
            self._value_profiles.append(
                ValueProfile(name=self._named[relation.of], kind="member", same_as=self._named[relation.of])
            )
            return self._named[relation.of]
        name = f"m{place + 1}"
        self._draw(key, name, member_source(self.learned.values(key), len(learned_statement.members)), None)
        return name

    def _row(
        self, place: int, learned_statement: LearnedStatement, new_keys: frozenset[str]
    ) -> list[tuple[str, Written]]:
        """The columns of an INSERT of several rows; those of unknown literals as the table's rows are made."""
        table, columns = learned_statement.facts.inserts_into, learned_statement.facts.inserted
        assert table is not None, "an INSERT has a table"
        row: list[tuple[str, Written]] = []
        is_known = learned_statement.width == len(columns)
        for part, column in enumerate(columns):
            key, place_of = (table, column), Place(place, 0, part)
            if is_known:
                row.append((column, self._column_value(place_of, key, "written", column in new_keys)))
            else:
                name = f"v{place + 1}_{part + 1}"
                row.append((column, self._draw(place_of, name, self.sources.of_column(key), key)))
        return row

    def _more(self, place: int, learned_statement: LearnedStatement) -> list[tuple[str, Written]]:
        """Columns without NULL that an INSERT leaves to their defaults, which made tables do not have."""
        table = learned_statement.facts.inserts_into
        if table is None or not learned_statement.facts.inserted:
            return []
        columns: list[tuple[str, Written]] = []
        for number, column in enumerate(self.keys.required(table)):
            if column in learned_statement.facts.inserted:
                continue
            key, name = (table, column), f"d{place + 1}_{number + 1}"
            columns.append((column, self._draw(Place(place, -2, number), name, self.sources.of_column(key), key)))
        return columns

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
            value_name = next((kept_name for kept_name, output in kept.items() if output == row.output), None)
            if value_name is None:
                value_name = f"r{row.statement + 1}_{len(kept) + 1}"
                kept[value_name] = row.output
            if row.add:
                self._values[name] = {"sum_of": value_name, "add": row.add}
                value_name = name
            self._named[key] = value_name
            profile = self._profile_of(
                value_name, "key", column, read_from=row.statement + 1, add=row.add, assumed="row-read"
            )
            self._value_profiles.append(profile)
            return value_name
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
            self._value_profiles.append(self._profile_of(name, "number", column, holds=relation.holds))
            return name
        assert relation.of is not None, "only the number of a row follows from nothing"
        base = self._named.get(relation.of)
        if base is None:
            return None
        if relation.kind == "same":
            self._value_profiles.append(self._profile_of(base, "key", column, same_as=base, holds=relation.holds))
            return base
        self._values[name] = {"sum_of": base, "add": relation.add}
        self._named[key] = name
        self._value_profiles.append(
            self._profile_of(name, "key", column, same_as=base, add=relation.add, holds=relation.holds)
        )
        return name

    def _of_rounds(
        self, key: Place, name: str, relation: Relation, source: Source, column: ColumnKey | None
    ) -> str | None:
        """The name of an item, or of what is the same in all rounds; None where it is not written."""
        if source.is_part:
            return None
        details: dict[str, Any] = {"distribution": source.distribution, "assumed": source.assumed}
        if relation.kind == "once":
            self.lists.values[name] = dict(source.generator or {})
        else:
            if relation.of == key:
                self.lists.add(key, f"l{name[1:]}", source.generator or {}, column)
            items = self.lists.name(relation.of)
            if items is None:
                return None
            self._values[name] = {"item_of": items}
            details = {"item_of": items, "holds": relation.holds} | (details if relation.of == key else {})
        self._named[key] = name
        self._value_profiles.append(self._profile_of(name, source.kind, column, **details))
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
            self._value_profiles.append(self._profile_of(None, "constant", column, assumed=source.assumed))
            return source.number
        base = None if often is None else self._named.get(often.of)
        self._values[name] = dict(source.generator or {})
        details: dict[str, Any] = {"distribution": source.distribution, "assumed": source.assumed}
        if often is not None and base is not None:
            self._values[name] |= {"same_as": base, "same_ratio": often.ratio}
            details |= {"same_as": base, "same_ratio": often.ratio, "holds": often.holds}
        self._named[key] = name
        self._value_profiles.append(self._profile_of(name, source.kind, column, **details))
        return name

    def _profile_of(self, name: str | None, kind: ValueKind, column: ColumnKey | None, **more: Any) -> ValueProfile:
        shown = None if column is None else self.sources.names.of("c", column[1])
        return ValueProfile(name=name, kind=kind, column=shown, **more)

    def _kept(self, place: int) -> dict[str, str]:
        """What later statements need of a statement's first row; found before those are written."""
        wanted = [row for row in self.learned.rows.values() if row.statement == place]
        outputs = list(dict.fromkeys(row.output for row in wanted))
        kept = self._keeps.setdefault(place, {})
        for output in outputs:
            if output not in kept.values():
                kept[f"r{place + 1}_{len(kept) + 1}"] = output
        return {name: self.sources.names.of("c", output) for name, output in kept.items()}


@dataclass(slots=True)
class ListWriter:
    """Writes the lists of one type.

    Attributes:
        items: What rounds and rows take from lists.
        sources: Makes values.
        values: All that is drawn before the first statement, by name; it grows.
        names: By place, those of lists; it grows.
        profiles: Those of the lists so far.
    """

    items: ItemRelations
    sources: Sources
    values: dict[str, dict[str, Any]] = field(default_factory=dict)
    names: dict[Place, str] = field(default_factory=dict)
    profiles: list[ListProfile] = field(default_factory=list)

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
        item_list = self.items.lists[key]
        listed: dict[str, Any] = {"list": self.lengths(key) or self.times(item_list.like, item_list.counts)}
        if item_list.is_sorted and generator["generate"] != "decimal":
            listed["sorted"] = True
        size = self.sources.size(column) if column is not None and generator["generate"] == "reference" else 0
        if item_list.is_distinct and max(item_list.counts) <= size:
            listed["distinct"] = True
        self.values[name], self.names[key] = {**listed, **generator}, name
        self.profiles.append(
            ListProfile(
                name=name,
                counts=dict(sorted(item_list.counts.items())),
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

    def columns(self, place: int, learned_statement: LearnedStatement, named: Collection[Place]) -> frozenset[str]:
        """Of an INSERT: the columns that must have a value which no row has.

        Args:
            place: Of the statement.
            learned_statement: The statement.
            named: Places of values that are written before it.
        """
        facts = learned_statement.facts
        if facts.inserts_into is None or _takes_any_key(facts.tree):
            return frozenset()
        drawn, items = set[str](), set[str]()
        if learned_statement.is_rows:
            parts = enumerate(facts.inserted) if learned_statement.width == len(facts.inserted) else ()
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
        new_columns = set[str]()
        for unique in self.keys.unique(facts.inserts_into):
            has_new = any(self._is_fresh(places[column]) for column in unique if column in places)
            free = [column for column in unique if column in drawn or (column in items and not has_new)]
            if set(unique) <= set(places) and free and not new_columns & set(unique):
                sizes = {column: self.sources.size((facts.inserts_into, column)) for column in free}
                new_columns.add(max(free, key=lambda column: sizes[column]))
        return frozenset(new_columns)

    def _is_fresh(self, key: Place) -> bool:
        """Whether no row had that key before the transaction."""
        relation = self.learned.relations.get(key)
        base = relation.of if relation is not None and relation.kind == "same" else key
        return base in self.fresh or base in self.learned.counters


def _takes_any_key(tree: exp.Expr) -> bool:
    """Whether an INSERT also takes a key that a row has already."""
    return bool(tree.args.get("conflict") or tree.args.get("ignore")) or is_replace(tree)


Written = str | int | float | None
"""What stands for a literal: the name of a value, a number that is part of the statement, or NULL."""


def runnable_sql(
    facts: StatementFacts,
    written: Mapping[int, Written],
    names: Pseudonyms,
    *,
    row: Sequence[tuple[str, Written]] | None = None,
    more: Sequence[tuple[str, Written]] = (),
) -> str:
    """The statement.

    Args:
        facts: Of one template.
        written: By slot, what stands for it.
        names: New names of everything.
        row: Of an INSERT of several rows, the columns and what is written to them.
        more: Columns that an INSERT leaves out, and what is to be written to them.
    """
    tree = facts.tree.copy()
    if row is not None:
        _set_row(tree, row)
    for node in list(tree.find_all(exp.Placeholder)):
        number = slot_number(node)
        if number is not None and number in written:
            node.replace(_node(written[number]))
    if more:
        _add_columns(tree, facts.inserted, more)
    names.rename(tree)
    text: str = _ForBoth(dialect="mysql", comments=False).generate(tree)
    return sql_of(tree, text)


class _ForBoth(MySQL.Generator):  # type: ignore[misc, valid-type]  # made by sqlglot when it is imported
    """Writes what MySQL as well as MariaDB understand: MariaDB has neither FOR SHARE nor REGEXP_LIKE."""

    def lock_sql(self, expression: exp.Lock) -> str:
        is_plain = not any(expression.args.get(name) for name in ("update", "wait", "expressions"))
        if is_plain and expression.args.get("wait") is None:
            return "LOCK IN SHARE MODE"
        other: str = super().lock_sql(expression)
        return other

    def regexplike_sql(self, expression: exp.RegexpLike) -> str:
        if expression.args.get("flag"):
            call: str = self.function_fallback_sql(expression)
            return call
        sides = (expression.this, expression.expression)
        first, second = (exp.paren(side) if isinstance(side, exp.Binary | exp.Unary) else side for side in sides)
        return f"{self.sql(first)} REGEXP {self.sql(second)}"


def _node(written: Written) -> exp.Expr:
    if written is None:
        return exp.Null()
    if isinstance(written, str):
        return exp.Placeholder(this=written)
    number = exp.Literal.number(abs(written))
    return number if written >= 0 else exp.Neg(this=number)


def _set_row(tree: exp.Expr, row: Sequence[tuple[str, Written]]) -> None:
    target = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    tree.set("this", exp.Schema(this=target, expressions=[_name(column) for column, _ in row]))
    tree.set("expression", exp.Values(expressions=[exp.Tuple(expressions=[_node(value) for _, value in row])]))


def _add_columns(tree: exp.Expr, named: Sequence[str], more: Sequence[tuple[str, Written]]) -> None:
    values = tree.expression
    if not named or not isinstance(values, exp.Values):
        return
    schema = tree.this
    schema.set("expressions", [*schema.expressions, *(_name(column) for column, _ in more)])
    for expression in values.expressions:
        expression.set("expressions", [*expression.expressions, *(_node(value) for _, value in more)])


def _name(column: str) -> exp.Identifier:
    return exp.to_identifier(column, quoted=not column.isidentifier())
