"""What was learned of a load, in words and tables: what runs, what does not, and what is assumed.

Deliberately not here: how it was learned (`plimsoll.learn`), and how well it resembles the log (`fidelity`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from plimsoll.guide.numbers import NOT_KNOWN
from plimsoll.guide.pages import Page
from plimsoll.guide.sections import Section
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.learn.demand_model import Demand
from plimsoll.learn.profile_model import Profile
from plimsoll.prose.phrases import counted, counted_are
from plimsoll.units import format_number, format_percent

_LEFT_OUT = {
    "not-parsed": "that could not be parsed",
    "not-run": "such as CALL or LOAD DATA",
    "function-unknown": "with a function that is not built in",
    "table-unknown": "on a table that is not known",
}
_NOTES = {
    "rows-assumed": "The number of rows is not known for {tables}: 10,000 are assumed.",
    "rows-estimated": "The number of rows is an estimate of the server for {tables}.",
    "rows-from-auto-increment": "The number of rows is taken from AUTO_INCREMENT for {tables}.",
    "rows-from-log": "The number of rows is estimated from the keys in the log for {tables}.",
    "rows-cut": "Fewer rows than asked for are made for {tables}: the key has no more values.",
    "key-assumed": "How many values each column of the key has is not known for {tables}.",
    "primary-key-added": "A primary key is added to {tables} without one.",
    "figures-assumed": "Lengths or ranges of columns of {tables} are not known and are made up.",
    "default-becomes-null": "Columns with a default in {tables} allow NULL instead: an INSERT that leaves them out"
    " stores NULL, and a search for the default does not find its row.",
    "generated-left-out": "Generated columns of {tables} are left out.",
    "index-left-out": "Indexes that a workload file cannot have are left out of {tables}: full text, spatial,"
    " expressions.",
    "unique-left-out": "Unique indexes of {tables} are ordinary ones here, because values are drawn.",
    "foreign-key-left-out": "Foreign keys of {tables} are left out.",
    "reference-assumed": "Taken for references to another table by name and type alone: {columns}.",
    "type-replaced": "The type differs from the server's for {columns}.",
    "schemas-as-one": "The definitions name no schema: one of {tables} stands for those of several schemas.",
    "table-left-out": "Statements on {tables} that could not be read are left out.",
}
"""By code of a note; it is counted by table or by column."""


def learned_page(profile: Profile, demand: Demand | None) -> Page:
    """What was learned, as a page of sections."""
    return Page(
        brand="Learned load",
        title="Learned load",
        facts=tuple(_facts(profile, demand)),
        doubts=tuple(_doubts(profile)),
        sections=(_types(profile),),
    )


def _facts(profile: Profile, demand: Demand | None) -> Iterator[tuple[str, str]]:
    statements = [one for each in profile.types for one in each.statement if one.left_out is None]
    types, count = counted(len(profile.types), "type"), counted(len(statements), "statement")
    yield "Runs", f"{format_percent(1 - profile.other_share)} of transactions, as {types} with {count} together"
    if profile.other_time_share is not None:
        yield "Statement time", f"{format_percent(1 - profile.other_time_share)} of it is in what runs"
    yield "Statements", "prepared on the server" if profile.is_prepared else "sent as text"
    if profile.scale != 1:
        yield "Scale", f"{profile.scale:g} times the rows"
    if demand is not None:
        yield "Busiest minute", f"{format_number(demand.rates.peak_minute_tps)} transactions/s"


def _doubts(profile: Profile) -> Iterator[str]:
    left_out = Counter(one.left_out for each in profile.types for one in each.statement if one.left_out is not None)
    for reason, count in left_out.items():
        yield f"Left out of the workload: {counted(count, 'statement')} {_LEFT_OUT[reason]}."
    values = [value for each in profile.types for one in each.statement for value in one.values]
    if read := sum(one.assumed == "row-read" for one in values):
        yield (
            f"{counted_are(read, 'value')} assumed to come from a row that the transaction has read before. No log"
            " shows the rows of a result; see docs/learn-workload.md."
        )
    if made_up := sum(one.assumed == "made-up" for one in values):
        yield (
            "Texts are not kept, and the log does not show what some values are for:"
            f" {counted_are(made_up, 'value')} made up."
        )
    for code, count in Counter(one.code for one in profile.notes).items():
        yield _NOTES[code].format(tables=counted(count, "table"), columns=counted(count, "column"))


def _types(profile: Profile) -> Section:
    headings = ("Share", "Statement time", "Statements", "Rolled back")
    columns = [Column(heading="Type", numeric=False), *(Column(heading=one) for one in headings)]
    rows = tuple(
        tuple(
            map(
                Entry,
                (
                    one.name,
                    format_percent(one.share),
                    NOT_KNOWN if one.time_share is None else format_percent(one.time_share),
                    format_number(one.statements),
                    format_percent(one.rollback_ratio),
                ),
            )
        )
        for one in profile.types
    )
    return Section(
        anchor="types",
        title="Transactions",
        sentences=(),
        tables=(Table(caption="Types of transactions that run", columns=tuple(columns), rows=rows),),
    )
