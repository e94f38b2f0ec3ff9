"""A log and the tables of its server become what can be shared and run: profile, workload file, schema, demand, report.

Deliberately not here: reading logs and servers, and writing files (`plimsoll.run`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from plimsoll.learn.catalog import Catalog
from plimsoll.learn.column_choices import column_choices
from plimsoll.learn.counter_rows import start_counters
from plimsoll.learn.data_model import LearnedTables, learned_tables
from plimsoll.learn.data_notes import DataNote
from plimsoll.learn.demand import demand_of
from plimsoll.learn.demand_model import Demand
from plimsoll.learn.event_log import EventLog
from plimsoll.learn.families import Families, families_of
from plimsoll.learn.insert_keys import InsertKeys
from plimsoll.learn.logged_figures import with_logged_figures
from plimsoll.learn.model import LearnedType, Learner
from plimsoll.learn.names import OwnNames, Pseudonyms, without_names
from plimsoll.learn.one_schema import report_in_one_schema
from plimsoll.learn.profile_model import Profile
from plimsoll.learn.report import report_of
from plimsoll.learn.report_model import LogReport
from plimsoll.learn.schema_model import SchemaFacts, TableKey
from plimsoll.learn.schema_sql import schema_sql
from plimsoll.learn.seen import Seen, seen_in
from plimsoll.learn.statement_facts import tables_in
from plimsoll.learn.transaction_types import TypeTotals, learned_types_count
from plimsoll.learn.value_sources import Sources
from plimsoll.learn.workload import LearnedTransaction, learned_transaction
from plimsoll.learn.workload_text import workload_text

_AS_ONE = "schemas-as-one"


@dataclass(frozen=True, slots=True)
class Learned:
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
    seen: Seen
    report: LogReport
    kept: Sequence[TypeTotals]

    def tables(self) -> set[tuple[str, str]]:
        """Schema and name of the tables that the types which are learned name, as their statements write them."""
        wanted = {each for one in self.kept for family in one.templates for each in self.families.templates(family)}
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
) -> Learned:
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
        types=tuple(one.profile for one in transactions),
        other_share=other_share,
        other_time_share=other_time_share,
        is_prepared=_is_prepared(summary.log) if prepared is None else prepared,
        notes=(*sources.made.notes, *_as_one(summary.tables(), catalog, sources.made)),
    )
    return Learned(
        profile=profile,
        workload=_workload(profile, sources.made, transactions),
        schema=schema_sql(sources.made.tables),
        demand=demand_of(summary.report, summary.seen),
        report=report if keep_names else without_names(report, names),
    )


def _sources(schema: SchemaFacts, types: Sequence[LearnedType], names: Pseudonyms, scale: float) -> Sources:
    """Where values come from: the tables as they are on the server, and as they are made."""
    choices = column_choices(schema, types)
    weights = {column: one.weights for column, one in choices.items()}
    made = learned_tables(schema, scale=scale, names=names, choices=weights)
    real = learned_tables(schema, scale=1.0, names=names, choices=weights)
    start_counters(made, names, types)
    return Sources(real=real, made=made, names=names, choices=choices)


def _transactions(
    types: Sequence[LearnedType], seen: Seen, sources: Sources, keys: InsertKeys
) -> list[LearnedTransaction]:
    """The types, each with its share of all transactions, and of all statement time where the log has durations."""
    all_types = seen.types.types()
    count, time_us = sum(one.count for one in all_types), sum(one.statement_us for one in all_types)
    found = []
    for number, one in enumerate(types, start=1):
        shares = (one.totals.count / count, one.totals.statement_us / time_us if time_us else None)
        found.append(learned_transaction(one, f"type {number}", shares, sources, keys))
    return found


def _as_one(tables: Collection[tuple[str, str]], catalog: Catalog, made: LearnedTables) -> Iterator[DataNote]:
    """Tables that stand for those of several schemas, since their definitions name none."""
    schemas: dict[TableKey, set[str]] = defaultdict(set)
    for schema, name in tables:
        if schema and catalog.knows(table := catalog.table(schema, name)):
            schemas[table].add(schema.lower())
    for table, found in sorted(schemas.items()):
        if len(found) > 1:
            yield DataNote(code=_AS_ONE, table=made.table_name(table), figures={"schemas": len(found)})


def _not_run(transactions: Sequence[LearnedTransaction], seen: Seen) -> tuple[float, float | None]:
    """Shares of transactions and of statement time in types that do not run; None where there are no durations."""
    run = [one.profile for one in transactions if one.transaction is not None]
    has_times = any(one.statement_us for one in seen.types.types())
    time_share = max(0.0, 1 - sum(one.time_share or 0.0 for one in run)) if has_times else None
    return max(0.0, 1 - sum(one.share for one in run)), time_share


def _workload(profile: Profile, made: LearnedTables, transactions: Sequence[LearnedTransaction]) -> str | None:
    """The text of the workload file; None where no transaction can be run."""
    run = [one.transaction for one in transactions if one.transaction is not None]
    description = (
        f"learned from a log: {len(profile.types)} types of transactions, {1 - profile.other_share:.1%} of all"
    )
    text = workload_text(description, prepared=profile.is_prepared, tables=made.tables, transactions=run)
    return text if run else None


def _is_prepared(log: EventLog) -> bool:
    """Whether the log has prepared statements: MySQL logs that they were made."""
    return not log.templates.filter(pl.col("kind").is_in(("prepare", "execute"))).is_empty()
