"""The types of transactions of a log with their statements, loops and values: what a runnable workload is made from.

It holds names, and values of a sample: it is private. The isolation level of a type is what SET TRANSACTION gave its
transactions, for the next one alone or for all that follow in the session (MySQL 8.4 Reference Manual, 15.3.7); no log
shows the server's default level. Deliberately not here: where rows come from (`data_model`), which distribution a value
has (`fits`), and the files that are written (`workload`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl
from sqlglot import exp

from plimsoll.learn.event_log import EventLog, Families
from plimsoll.learn.item_relations import ItemRelations, item_relations
from plimsoll.learn.key_counters import (
    CounterHistory,
    CounterRead,
    RowRead,
    counter_history,
    counters_read,
    distance_from,
    rows_read,
)
from plimsoll.learn.names import BUILTIN_FUNCTIONS
from plimsoll.learn.relations import (
    Observed,
    OftenSame,
    Place,
    PlacedTransaction,
    Relation,
    Sampled,
    Transaction,
    observed_of,
    often_same,
    relations_of,
    sampled,
)
from plimsoll.learn.schema_model import Catalog, ColumnKey
from plimsoll.learn.statement_facts import StatementFacts, statement_facts
from plimsoll.learn.transactions import (
    DATA_KINDS,
    LONG,
    TRANSACTION_COLUMNS,
    Loop,
    Structure,
    Templates,
    TypeTotals,
    folded,
    placed,
    round_counts,
    structure_of,
    with_transactions,
)

_RUNNABLE = ("select", "select_locking", "insert", "replace", "update", "delete")


@dataclass(frozen=True, slots=True)
class LearnedStatement:
    """One statement of a type.

    Attributes:
        members: What it does, for each template of its family.
        counts: By place, how often an IN list had so many items, or an INSERT so many rows.
        is_rows: Its one literal stands for the rows of an INSERT.
        width: Literals in each of these rows.
    """

    members: tuple[StatementFacts, ...]
    counts: Mapping[Place, Counter[int]]
    is_rows: bool = False
    width: int = 0

    @property
    def facts(self) -> StatementFacts:
        """Of the first of its family: what all have in common."""
        return self.members[0]


@dataclass(frozen=True, slots=True)
class LearnedType:
    """One type of transactions.

    Attributes:
        totals: Counts and sums over all of the log.
        structure: Its statements, with loops.
        rounds: By loop, how often each number of rounds was seen.
        statements: By place; None for one that cannot be run.
        left_out: By place of those, why: `not-parsed`, `not-run`, `function-unknown` or `table-unknown`.
        relations: Values that follow from others.
        items: What rounds and rows take from lists; its relations are among the others.
        often: Values that often, but not always, are earlier ones.
        rows: Values that are assumed to be read from rows.
        counters: Of these, keys that come from a counter.
        one_row: Places of statements that gave one row, nearly always.
        events: Of sampled transactions, the number of the first event.
        seen: Values of sampled transactions by place, in the order of the log.
        unlike_count: Sampled transactions of another structure, which are in none of this.
        isolation: The level that its transactions were given, as a workload file names it; None for none.
    """

    totals: TypeTotals
    structure: Structure
    rounds: Mapping[Loop, Counter[int]]
    statements: tuple[LearnedStatement | None, ...]
    left_out: Mapping[int, str]
    relations: Mapping[Place, Relation]
    items: ItemRelations
    often: Mapping[Place, OftenSame]
    rows: dict[Place, RowRead]
    counters: Mapping[Place, CounterRead]
    one_row: frozenset[int]
    events: Sequence[int]
    seen: Sequence[Mapping[Place, Observed]]
    unlike_count: int
    isolation: str | None

    def column(self, place: Place) -> ColumnKey | None:
        """Whose value a place is."""
        statement = self.statements[place.statement]
        if statement is None or place.slot < 0:
            return None
        if statement.is_rows:
            facts = statement.facts
            is_known = facts.inserts_into is not None and statement.width == len(facts.inserted)
            return (facts.inserts_into, facts.inserted[place.part]) if is_known and facts.inserts_into else None
        return statement.facts.columns[place.slot]

    def columns_with(self, key: Place) -> set[ColumnKey]:
        """The columns that a value is written to or compared with."""
        same = [place for place, each in self.relations.items() if each.kind == "same" and each.of == key]
        return {column for place in (key, *same) if (column := self.column(place)) is not None}

    def values(self, place: Place) -> list[tuple[str, int | str]]:
        """All that was seen of a value, in the order of the log."""
        return [
            value for transaction in self.seen for values in transaction.get(place, {}).values() for value in values
        ]


@dataclass(slots=True)
class Learner:
    """Makes types from a log.

    Attributes:
        log: All of it.
        families: Of its templates.
        catalog: The tables that are known.
        references: By column, the one that it refers to.
    """

    log: EventLog
    families: Families
    catalog: Catalog
    references: Mapping[ColumnKey, ColumnKey]
    _rows: dict[int, tuple[str, str, int]] = field(init=False)
    _schemas: Mapping[int, str] = field(init=False)
    _facts: dict[int, StatementFacts | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Reads the templates."""
        chosen = self.log.templates.select("template", "kind", "text", "slots")
        self._rows = {row[0]: row[1:] for row in chosen.iter_rows()}
        self._schemas = self.log.template_schemas()

    def types(self, kept: Sequence[TypeTotals]) -> list[LearnedType]:
        """The types as they are to be run; transactions that are too long to be looked at are left out."""
        wanted = {totals.templates: totals.count for totals in kept if totals.templates != LONG}
        samples = sampled(self.log, self.families, wanted)
        levels = isolation_levels(self.log, self.families, wanted)
        types = [
            self._type(totals, samples[totals.templates], levels.get(totals.templates))
            for totals in kept
            if samples.get(totals.templates)
        ]
        for history in _histories(types):
            for learned_type in types:
                _read_counter(learned_type, history)
        return types

    def _type(self, totals: TypeTotals, transactions: Sequence[Transaction], isolation: str | None) -> LearnedType:
        sequences = [
            tuple(self.families.of_template[each.template] for each in transaction) for transaction in transactions
        ]
        structure = structure_of(totals.templates, Counter(sequences))
        pairs = zip(transactions, sequences, strict=True)
        at = [
            (transaction, places)
            for transaction, sequence in pairs
            if (places := placed(structure, sequence)) is not None
        ]
        left_out = {
            place: reason
            for place, family in enumerate(structure.templates)
            if (reason := self._reason(family)) is not None
        }
        runs = runs_of(structure, at)
        statements = tuple(
            None if place in left_out else self._statement(place, family, runs[place])
            for place, family in enumerate(structure.templates)
        )
        widths = {
            place: statement.width
            for place, statement in enumerate(statements)
            if statement is not None and statement.is_rows
        }
        seen = observed_of(structure, at, self.families, widths)
        lists = _lists(statements)
        relations = relations_of(structure, seen, lists)
        facts = [None if statement is None else statement.facts for statement in statements]
        one_row = frozenset(place for place, run in runs.items() if gives_one_row(run))
        rounds: dict[Loop, Counter[int]] = {loop: Counter() for loop in structure.loops}
        for _, places in at:
            for loop, count in round_counts(structure, places):
                rounds[loop][count] += 1
        counters = counters_read(structure, facts, relations, one_row, seen)
        rows = rows_read(structure, facts, relations, self.references, one_row)
        runnable = [{key: observed[key] for key in observed if key.statement not in left_out} for observed in seen]
        items = item_relations(structure, runnable, lists, known={*relations, *counters}, assumed=rows.keys())
        rows = {place: row for place, row in rows.items() if place not in items.relations}
        related = {**relations, **items.relations}
        often = often_same(structure, runnable, relations=related, lists=lists, known={*rows, *counters})
        return LearnedType(
            totals=totals,
            structure=structure,
            rounds=rounds,
            statements=statements,
            left_out=left_out,
            relations=related,
            items=items,
            often={**often, **items.often},
            rows=rows | {place: counter.row for place, counter in counters.items()},
            counters=counters,
            one_row=one_row,
            events=[transaction[0].event for transaction, _ in at],
            seen=seen,
            unlike_count=len(transactions) - len(at),
            isolation=isolation,
        )

    def _reason(self, family: int) -> str | None:
        """Why the statements of a family cannot be run; None where they can."""
        for template in self.families.templates(family):
            if self._rows[template][0] not in _RUNNABLE:
                return "not-run"
            facts = self._parsed(template)
            if facts is None:
                return "not-parsed"
            if any(call.name.upper() not in BUILTIN_FUNCTIONS for call in facts.tree.find_all(exp.Anonymous)):
                return "function-unknown"
            if not facts.tables or not all(map(self.catalog.knows, facts.tables)):
                return "table-unknown"
        return None

    def _parsed(self, template: int) -> StatementFacts | None:
        if template not in self._facts:
            _, text, slots = self._rows[template]
            self._facts[template] = statement_facts(text, slots, self._schemas.get(template, ""), self.catalog)
        return self._facts[template]

    def _statement(self, place: int, family: int, runs: Sequence[Sampled]) -> LearnedStatement:
        members = [
            facts for template in self.families.templates(family) if (facts := self._parsed(template)) is not None
        ]
        facts = members[0]
        is_rows = facts.inserts_into is not None and len(facts.slots) == 1 and any(0 in run.lengths for run in runs)
        is_rows &= any(len(run.values.get(0, ())) > 1 for run in runs)
        counts: dict[Place, Counter[int]] = {}
        for slot, each in enumerate(facts.slots):
            if each.use == "list" or is_rows:
                counts[Place(place, slot)] = Counter(
                    items_count(run, slot, is_rows=is_rows) for run in runs if slot in run.lengths
                )
        width = 0
        if is_rows:
            widths = Counter(
                len(run.values[0]) / run.lengths[0] for run in runs if run.lengths.get(0) and 0 in run.values
            )
            width = int(widths.most_common(1)[0][0]) if widths else 0
        return LearnedStatement(tuple(members), counts, is_rows=is_rows and width > 0, width=width)


def _histories(types: Sequence[LearnedType]) -> Iterator[CounterHistory]:
    """The counters of all types, with the columns that their keys are written to."""
    for learned_type in types:
        for key, read in learned_type.counters.items():
            columns = learned_type.columns_with(key)
            reader = learned_type.statements[read.row.statement]
            if reader is not None:
                history = list(zip(learned_type.events, learned_type.seen, strict=True))
                yield counter_history(key, read, reader.facts, columns, history)


def _read_counter(learned_type: LearnedType, counter: CounterHistory) -> None:
    """Finds values that are a counter which the transaction has read, or lie at a distance from it."""
    history = list(zip(learned_type.events, learned_type.seen, strict=True))
    for place, statement in enumerate(learned_type.statements):
        for slot in range(len(statement.facts.slots) if statement is not None else 0):
            key = Place(place, slot)
            if (
                key in learned_type.relations
                or key in learned_type.rows
                or learned_type.column(key) not in counter.columns
            ):
                continue
            for earlier in sorted(learned_type.one_row):
                reader = learned_type.statements[earlier]
                if earlier >= place or reader is None:
                    continue
                given = [each for each in reader.facts.selected if each.column == counter.counter]
                distance = distance_from(counter, key, earlier, reader.facts, history) if given else None
                if distance is not None:
                    learned_type.rows[key] = RowRead(earlier, given[0].output, distance)


def _lists(statements: Sequence[LearnedStatement | None]) -> frozenset[Place]:
    return frozenset(
        Place(place, slot)
        for place, statement in enumerate(statements)
        if statement is not None
        for slot, each in enumerate(statement.facts.slots)
        if each.use == "list"
    )


ONE_ROW_SHARE = 0.95
"""Of its executions in which a statement must give at most one row for its row to be read."""


def runs_of(structure: Structure, at: Sequence[PlacedTransaction]) -> dict[int, list[Sampled]]:
    """By place, its statements as they ran."""
    runs: dict[int, list[Sampled]] = {place: [] for place in range(len(structure.templates))}
    for transaction, places in at:
        for place in places:
            runs[place.place].append(transaction[place.index])
    return runs


def items_count(run: Sampled, slot: int, *, is_rows: bool) -> int:
    """Rows of an INSERT, or different items of a list: clients fill lists up to a fixed length by repeating an item."""
    return run.lengths[slot] if is_rows else len(set(run.values.get(slot, ()))) or run.lengths[slot]


def gives_one_row(runs: Sequence[Sampled]) -> bool:
    """Whether it gives at most one row, nearly always, as far as the log says."""
    return sum(run.rows_sent is None or run.rows_sent <= 1 for run in runs) >= ONE_ROW_SHARE * max(len(runs), 1)


SHARE_MIN = 0.9
"""Of the transactions of a type that must have a level for it to be the type's."""

_SET = re.compile(
    r"SET\s+(?:(?P<session>SESSION|LOCAL)\s+)?TRANSACTION\s+ISOLATION\s+LEVEL\s+"
    r"(?P<level>READ\s+UNCOMMITTED|READ\s+COMMITTED|REPEATABLE\s+READ|SERIALIZABLE)\b",
    re.IGNORECASE,
)


def isolation_levels(log: EventLog, families: Families, types: Collection[Templates]) -> dict[Templates, str]:
    """By type, its isolation level as a workload file names it; types that were given none are left out."""
    levels = _levels(log.templates)
    if levels.is_empty():
        return {}
    wanted = set(types)
    seen: dict[Templates, Counter[str | None]] = {}
    known: dict[Templates, Templates] = {}
    for part in log.by_sessions(TRANSACTION_COLUMNS):
        for templates, level, count in _counted(part, levels).iter_rows():
            key = tuple(families.of_template[template] for template in templates)
            type_key = known.setdefault(key, folded(key))
            if type_key in wanted:
                seen.setdefault(type_key, Counter())[level] += count
    most_common = {templates: counts.most_common(1)[0] for templates, counts in seen.items()}
    return {
        templates: level
        for templates, (level, count) in most_common.items()
        if level is not None and count >= SHARE_MIN * seen[templates].total()
    }


def _levels(templates: pl.DataFrame) -> pl.DataFrame:
    """Templates that set a level: template, level, is_session."""
    rows = [
        (template, re.sub(r"\s+", "_", match["level"].lower()), match["session"] is not None)
        for template, text in templates.filter(pl.col("kind") == "set").select("template", "text").iter_rows()
        if (match := _SET.match(text)) is not None
    ]
    schema = {"template": pl.UInt32, "level": pl.String, "is_session": pl.Boolean}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _counted(part: pl.DataFrame, levels: pl.DataFrame) -> pl.DataFrame:
    """Sequences of templates with their level, and how many there were of each."""
    given = part.select("session", "event", "template").join(levels, on="template").sort("session", "event")
    transactions = (
        with_transactions(part)
        .group_by("session", "transaction", maintain_order=True)
        .agg(
            templates=pl.col("template").filter(pl.col("kind").is_in(DATA_KINDS)),
            event=pl.col("event").min(),
            last=pl.col("event").max(),
        )
        .filter(pl.col("templates").list.len() > 0)
        .with_columns(before=pl.col("last").shift(1).over("session"))
        .sort("event")
    )
    for name, is_session in (("of_session", True), ("of_next", False)):
        chosen = given.filter(pl.col("is_session") == is_session).sort("event")
        columns = chosen.select("session", "event", pl.col("level").alias(name), pl.col("event").alias(f"{name}_event"))
        transactions = transactions.join_asof(columns, on="event", by="session", check_sortedness=False)
    is_next = pl.col("of_next_event") > pl.col("before").fill_null(0)
    level = pl.when(is_next).then("of_next").otherwise("of_session")
    return transactions.with_columns(level=level).group_by("templates", "level").len()
