"""A log and the tables of its server become what can be shared and run: profile, workload file, schema, demand, report.

Rows that hold counters begin behind the largest key that is made, so that keys which come from them are new.

How many different values a column has decides which distribution its parameters have: keys that are drawn evenly from
500 rows look skewed if there seem to be 10,000. Where the schema does not say it, the log does: if `d` different values
were seen, `f1` of them once and `f2` twice, there are about d + f1 (f1 - 1) / 2 (f2 + 1). Source: Chao, Scandinavian
Journal of Statistics 11, 1984, corrected for its bias. It is right for values that are drawn evenly, and a lower bound
for all others.

Deliberately not here: what is assumed where the log does not tell either (`data_model`, `column_values`), which columns
are counters (`key_counters`), reading logs and servers, and writing files (`plimsoll.run`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import polars as pl

from plimsoll.learn.data_model import ROWS_ASSUMED, DataNote, LearnedTables, learned_tables
from plimsoll.learn.demand import Demand, demand_of
from plimsoll.learn.event_log import EventLog, Families, families_of
from plimsoll.learn.fits import CONSTANT_SHARE, OBSERVATIONS_MIN
from plimsoll.learn.model import LearnedType, Learner
from plimsoll.learn.names import OwnNames, Pseudonyms, without_names
from plimsoll.learn.profile_model import Profile
from plimsoll.learn.relations import MEMBER, Place, Value
from plimsoll.learn.report import report_of
from plimsoll.learn.report_model import LogReport
from plimsoll.learn.schema_model import Catalog, ColumnFacts, ColumnKey, InsertKeys, SchemaFacts, TableFacts, TableKey
from plimsoll.learn.statement_facts import report_in_one_schema, tables_in
from plimsoll.learn.transactions import LogTotals, TypeTotals, learned_types_count, seen_in
from plimsoll.learn.value_sources import Sources, column_choices
from plimsoll.learn.workload import LearnedTransaction, learned_transaction
from plimsoll.learn.workload_text import schema_sql, workload_text

_AS_ONE = "schemas-as-one"


@dataclass(frozen=True, slots=True)
class LearnedLoad:
    """What was learned. Nothing of it holds a literal, or a name unless names were to be kept.

    Attributes:
        profile: Types, values and their distributions.
        workload: The text of a workload file; None where no transaction can be run.
        schema: Its tables as SQL.
        demand: When how much of it comes; None where the log has no times.
        report: What the log shows by itself.
    """

    profile: Profile
    workload: str | None
    schema: str
    demand: Demand | None
    report: LogReport


@dataclass(frozen=True, slots=True)
class LogSummary:
    """What one pass over a log gave, before the tables of its server are known.

    Attributes:
        log: The log.
        families: Of its templates.
        seen: Sums over it.
        report: What it shows, with names.
        kept: The types that are learned.
    """

    log: EventLog
    families: Families
    seen: LogTotals
    report: LogReport
    kept: Sequence[TypeTotals]

    def tables(self) -> set[tuple[str, str]]:
        """Schema and name of the tables that the types which are learned name, as their statements write them."""
        wanted = {
            each for totals in self.kept for family in totals.templates for each in self.families.templates(family)
        }
        schemas = self.log.template_schemas()
        return {
            table
            for template, text in self.log.templates.select("template", "text").iter_rows()
            if template in wanted
            for table in tables_in(text, schemas.get(template, ""))
        }


def summary_of(log: EventLog) -> LogSummary:
    """Goes through a log once."""
    families = families_of(log.templates)
    seen = seen_in(log, families)
    types = seen.types.types()
    count = learned_types_count(types)
    return LogSummary(log, families, seen, report_of(log, seen, types_count=count), types[:count])


def learned(
    summary: LogSummary,
    schema: SchemaFacts,
    *,
    scale: float = 1.0,
    keep_names: bool = False,
    prepared: bool | None = None,
) -> LearnedLoad:
    """What is learned of a load.

    Args:
        summary: Of its log.
        schema: The tables that `summary.tables` names.
        scale: Rows that are made, as a share of those that there are.
        keep_names: Tables and columns keep their names.
        prepared: Statements are prepared on the server; None for what the log shows, which MariaDB's does not.
    """
    names = OwnNames() if keep_names else Pseudonyms()
    keys = InsertKeys(schema)
    catalog = keys.catalog()
    types = Learner(summary.log, summary.families, catalog, keys.references()).types(summary.kept)
    sources = _sources(with_logged_figures(schema, types, keys), types, names, scale)
    transactions = _transactions(types, summary.seen, sources, keys)
    other_share, other_time_share = _not_run(transactions, summary.seen)
    report = report_in_one_schema(summary.report, summary.log.template_schemas(), catalog)
    profile = Profile(
        has_names=keep_names,
        scale=scale,
        types=tuple(transaction.profile for transaction in transactions),
        other_share=other_share,
        other_time_share=other_time_share,
        is_prepared=_is_prepared(summary.log) if prepared is None else prepared,
        notes=(*sources.made.notes, *_as_one(summary.tables(), catalog, sources.made)),
    )
    return LearnedLoad(
        profile=profile,
        workload=_workload(profile, sources.made, transactions),
        schema=schema_sql(sources.made.tables),
        demand=demand_of(summary.report, summary.seen),
        report=report if keep_names else without_names(report, names),
    )


def _sources(schema: SchemaFacts, types: Sequence[LearnedType], names: Pseudonyms, scale: float) -> Sources:
    """Where values come from: the tables as they are on the server, and as they are made."""
    choices = column_choices(schema, types)
    weights = {column: choice.weights for column, choice in choices.items()}
    made = learned_tables(schema, scale=scale, names=names, choices=weights)
    real = learned_tables(schema, scale=1.0, names=names, choices=weights)
    start_counters(made, names, types)
    return Sources(real=real, made=made, names=names, choices=choices)


def _transactions(
    types: Sequence[LearnedType], seen: LogTotals, sources: Sources, keys: InsertKeys
) -> list[LearnedTransaction]:
    """The types, each with its share of all transactions, and of all statement time where the log has durations."""
    all_types = seen.types.types()
    count, time_us = sum(totals.count for totals in all_types), sum(totals.statement_us for totals in all_types)
    transactions = []
    for number, learned_type in enumerate(types, start=1):
        shares = (learned_type.totals.count / count, learned_type.totals.statement_us / time_us if time_us else None)
        transactions.append(learned_transaction(learned_type, f"type {number}", shares, sources, keys))
    return transactions


def _as_one(tables: Collection[tuple[str, str]], catalog: Catalog, made: LearnedTables) -> Iterator[DataNote]:
    """Tables that stand for those of several schemas, since their definitions name none."""
    schemas: dict[TableKey, set[str]] = defaultdict(set)
    for schema, name in tables:
        if schema and catalog.knows(table := catalog.table(schema, name)):
            schemas[table].add(schema.lower())
    for table, schema_names in sorted(schemas.items()):
        if len(schema_names) > 1:
            yield DataNote(code=_AS_ONE, table=made.table_name(table), figures={"schemas": len(schema_names)})


def _not_run(transactions: Sequence[LearnedTransaction], seen: LogTotals) -> tuple[float, float | None]:
    """Shares of transactions and of statement time in types that do not run; None where there are no durations."""
    run = [transaction.profile for transaction in transactions if transaction.transaction is not None]
    has_times = any(totals.statement_us for totals in seen.types.types())
    time_share = max(0.0, 1 - sum(profile.time_share or 0.0 for profile in run)) if has_times else None
    return max(0.0, 1 - sum(profile.share for profile in run)), time_share


def _workload(profile: Profile, made: LearnedTables, transactions: Sequence[LearnedTransaction]) -> str | None:
    """The text of the workload file; None where no transaction can be run."""
    run = [transaction.transaction for transaction in transactions if transaction.transaction is not None]
    description = (
        f"learned from a log: {len(profile.types)} types of transactions, {1 - profile.other_share:.1%} of all"
    )
    text = workload_text(description, prepared=profile.is_prepared, tables=made.tables, transactions=run)
    return text if run else None


def _is_prepared(log: EventLog) -> bool:
    """Whether the log has prepared statements: MySQL logs that they were made."""
    return not log.templates.filter(pl.col("kind").is_in(("prepare", "execute"))).is_empty()


def start_counters(made: LearnedTables, names: Pseudonyms, types: Sequence[LearnedType]) -> None:
    """Gives the columns of counters their first value, in the tables as they are made."""
    for learned_type in types:
        for key, read in learned_type.counters.items():
            holds = learned_type.column(key)
            first = None if holds is None else _behind(_column(made, names, holds))
            if first is not None:
                counter = _column(made, names, read.counter)
                kept: dict[str, Any] = {name: counter[name] for name in ("name", "type", "nullable") if name in counter}
                counter.clear()
                counter.update({**kept, "generate": "choice", "values": [first]})
                for other in learned_type.columns_with(key):
                    _end_before(_column(made, names, other), first)


def _behind(column: dict[str, Any]) -> int | None:
    """The value behind the largest of a sequence that begins again; None for other columns."""
    if column.get("generate") != "sequence" or "cycle" not in column:
        return None
    return int(column.get("start", 1) + column.get("step", 1) * column["cycle"])


def _end_before(column: dict[str, Any], first: int) -> None:
    """Shifts a sequence that has other keys of the counter, so that the newest of them is in all tables."""
    if (behind := _behind(column)) is not None and behind != first:
        column["start"] = max(1, column.get("start", 1) + first - behind)


def _column(made: LearnedTables, names: Pseudonyms, key: ColumnKey) -> dict[str, Any]:
    table, name = key
    made_name, shown = made.table_name(table), names.of("c", name)
    made_table = next(table for table in made.tables if table["name"] == made_name)
    return next(column for column in made_table["column"] if column["name"] == shown)


TWICE_MIN = 10
"""Values that must have been seen twice for those that were not seen to be estimated."""

UNSEEN_MAX = 0.05
"""Share of values that were seen once, up to which nearly all were seen, and no others need be estimated."""

COMBINATIONS_MAX = 1_000_000
"""A key has a row for each combination of its columns' values, if these are no more. Of a larger key, a column keeps
its count only if it is within an even share of the rows that are assumed, or most combinations would be in no row."""

_USES = ("equal", "list")


def with_logged_figures(schema: SchemaFacts, types: Sequence[LearnedType], keys: InsertKeys) -> SchemaFacts:
    """The schema with rows of tables and different values of columns that it does not have and the log shows.

    Args:
        schema: What it has stays as it is.
        types: Samples of the transactions of a log.
        keys: Of the same schema.
    """
    counts: dict[ColumnKey, int] = {}
    for column, seen in _compared(types).items():
        if (count := values_count(seen)) is not None:
            counts[column] = count
    for column, parent in keys.references().items():
        if column in counts:
            counts[parent] = max(counts[column], counts.get(parent, 0))
    tables = tuple(
        _with_figures(facts, {name: count for (table, name), count in counts.items() if table == facts.key}, keys)
        for facts in schema.tables
    )
    return schema.model_copy(update={"tables": tables})


def values_count(seen: Counter[Value]) -> int | None:
    """How many different values there are to draw from; None where too few were seen to tell.

    Args:
        seen: By value, how often it was drawn.
    """
    draws, times = seen.total(), Counter(seen.values())
    once, twice = times[1], times[2]
    if draws < OBSERVATIONS_MIN or (twice < TWICE_MIN and once > UNSEEN_MAX * draws):
        return None
    return len(seen) + round(once * (once - 1) / (2 * (twice + 1)))


def _with_figures(table: TableFacts, counts: Mapping[str, int], keys: InsertKeys) -> TableFacts:
    """The table with figures that follow from the number of values of its columns, by name in lower case."""
    unique = keys.unique(table.key)
    uncounted = {key[0] for key in unique if len(key) == 1}  # these have as many values as there are rows
    if table.rows is None:
        sizes = {key: prod(counts[name] for name in key) for key in unique if counts.keys() >= set(key)}
        rows = next((size for size in sizes.values() if size <= COMBINATIONS_MAX), None)
        if rows is not None:
            table = table.model_copy(update={"rows": rows, "rows_are": "logged"})
        for key, size in sizes.items():
            if size > COMBINATIONS_MAX:
                uncounted |= {name for name in key if counts[name] ** len(key) > ROWS_ASSUMED}

    def with_count(column: ColumnFacts) -> ColumnFacts:
        count = counts.get(column.name.lower())
        if count is None or column.distinct_count is not None or column.name.lower() in uncounted:
            return column
        return column.model_copy(update={"distinct_count": count})

    return table.model_copy(update={"columns": tuple(with_count(column) for column in table.columns)})


def _compared(types: Sequence[LearnedType]) -> dict[ColumnKey, Counter[Value]]:
    """By column, how often statements looked for each value. Constants of programs are no draws, nor are copies."""
    draws: dict[ColumnKey, Counter[Value]] = defaultdict(Counter)
    for learned_type in types:
        for place, statement in enumerate(learned_type.statements):
            for slot, each in enumerate(statement.facts.slots if statement is not None else ()):
                key = Place(place, slot)
                if each.use in _USES and key not in learned_type.relations:
                    for column, seen in _drawn(learned_type, key).items():
                        draws[column] += seen
    return draws


def _drawn(learned_type: LearnedType, key: Place) -> dict[ColumnKey, Counter[Value]]:
    """The values of one place by column, of which a family has one for each table; none where it is always the same."""
    statement = learned_type.statements[key.statement]
    assert statement is not None, "only what runs has values"
    draws: dict[ColumnKey, Counter[Value]] = defaultdict(Counter)
    for seen in learned_type.seen:
        members = seen.get(Place(key.statement, MEMBER), {})
        for rounds, values in seen.get(key, {}).items():
            member = int(members[rounds][0][1]) if rounds in members else 1
            column = statement.members[member - 1].columns[key.slot]
            if column is not None:
                draws[column].update({value for value in values if value[0] != "null"})
    together = sum(draws.values(), Counter[Value]())
    most = max(together.values(), default=0)
    return {} if most >= CONSTANT_SHARE * together.total() else draws
