"""Pages on a learned load: what runs, what does not, what is assumed, and how its run compares with the log.

Deliberately not here: how it was learned and compared (`plimsoll.learn`), and the section of a guide (`fidelity`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from plimsoll.guide.fidelity import (
    CAVEATS,
    KINDS,
    NOTES,
    TITLE,
    covered,
    deviation_text,
    kinds_table,
    moment,
    within_goals,
)
from plimsoll.guide.html import Page
from plimsoll.guide.log_report import shortened
from plimsoll.guide.sections import Section
from plimsoll.guide.tables import NOT_KNOWN, Column, Entry, Table, text_column
from plimsoll.learn.demand import Demand
from plimsoll.learn.fidelity import kinds_of
from plimsoll.learn.fidelity_model import GOALS, Fidelity, FidelityFigure
from plimsoll.learn.profile_model import Profile
from plimsoll.spec.learned_section import FigureKind
from plimsoll.units import format_duration, format_number, format_percent
from plimsoll.wording import counted, counted_are

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
    statements = [statement for each in profile.types for statement in each.statement if statement.left_out is None]
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
    left_out = Counter(
        statement.left_out for each in profile.types for statement in each.statement if statement.left_out is not None
    )
    for reason, count in left_out.items():
        yield f"Left out of the workload: {counted(count, 'statement')} {_LEFT_OUT[reason]}."
    values = [value for each in profile.types for statement in each.statement for value in statement.values]
    if read := sum(value.assumed == "row-read" for value in values):
        yield (
            f"{counted_are(read, 'value')} assumed to come from a row that the transaction has read before. No log"
            " shows the rows of a result; see docs/learn-workload.md."
        )
    if made_up := sum(value.assumed == "made-up" for value in values):
        yield (
            "Texts are not kept, and the log does not show what some values are for:"
            f" {counted_are(made_up, 'value')} made up."
        )
    for code, count in Counter(note.code for note in profile.notes).items():
        yield _NOTES[code].format(tables=counted(count, "table"), columns=counted(count, "column"))


def _types(profile: Profile) -> Section:
    headings = ("Share", "Statement time", "Statements", "Rolled back")
    columns = [text_column("Type"), *(Column(heading=heading) for heading in headings)]
    rows = tuple(
        tuple(
            map(
                Entry,
                (
                    transaction_type.name,
                    format_percent(transaction_type.share),
                    NOT_KNOWN if transaction_type.time_share is None else format_percent(transaction_type.time_share),
                    format_number(transaction_type.statements),
                    format_percent(transaction_type.rollback_ratio),
                ),
            )
        )
        for transaction_type in profile.types
    )
    return Section(
        anchor="types",
        title="Transactions",
        sentences=(),
        tables=(Table(caption="Types of transactions that run", columns=tuple(columns), rows=rows),),
    )


NO_SUCH_ERRORS = "The log does not tell errors, so deadlocks are not compared."
_BY_STATEMENT = ("statement-share", "rows-examined", "rows-sent", "rows-affected", "pages", "handler-reads")
_FROM = {
    "log": "as many as transactions were open at a time in the log, on average",
    "given": "as given",
    "default": "the log does not tell how many transactions were open at a time",
}


def fidelity_page(fidelity: Fidelity, *, is_brief: bool = False) -> Page:
    """A comparison as a page of sections.

    Args:
        fidelity: The comparison.
        is_brief: Only figures that are beyond their goals are told one by one, as on a terminal.
    """
    if is_brief:
        beyond = [figure for figure in fidelity.figures if figure.is_met is False]
        numbers = [int(figure.of[1:]) for figure in beyond if figure.of.startswith("#")]
        sections = (
            _summary(fidelity),
            *((_figures("beyond", "Beyond their goals", beyond, "Of"),) if beyond else ()),
            *((_texts(fidelity.statements, numbers),) if numbers else ()),
        )
        return _page(fidelity, sections)
    by_statement = [figure for figure in fidelity.figures if figure.kind in _BY_STATEMENT and figure.of != "all"]
    others = [figure for figure in fidelity.figures if figure not in by_statement]
    sections = (
        _summary(fidelity),
        _figures("types", "Transactions and all statements together", others, "Of"),
        _figures("statements", "Statements", by_statement, "Statement"),
        _texts(fidelity.statements, range(1, len(fidelity.statements) + 1)),
    )
    return _page(fidelity, sections)


def _page(fidelity: Fidelity, sections: tuple[Section, ...]) -> Page:
    return Page(
        brand="Fidelity",
        title=TITLE,
        facts=tuple(_fidelity_facts(fidelity)),
        doubts=tuple(_fidelity_doubts(fidelity)),
        sections=sections,
    )


def _fidelity_facts(fidelity: Fidelity) -> Iterator[tuple[str, str]]:
    how, log = fidelity.conditions, fidelity.log
    if log.first_unix_s is not None and log.last_unix_s is not None:
        transactions = counted(log.transactions_count, "transaction")
        yield "Log", f"{moment(log.first_unix_s)} to {moment(log.last_unix_s)}, {transactions}"
    yield "Covered", covered(log.transaction_share, log.time_share)
    yield "Run", f"{moment(how.checked_unix_s)} on {how.server}, {format_duration(how.duration_s)}"
    yield "Connections", f"{how.connections:,}: {_FROM[how.connections_from]}"
    yield "Transactions", f"{fidelity.transactions_count:,.0f}"


def _fidelity_doubts(fidelity: Fidelity) -> Iterator[str]:
    if fidelity.conditions.scale != 1:
        yield (
            f"Tables have {fidelity.conditions.scale:g} times the rows of the server's: rows examined and pages can"
            " differ for that reason."
        )
    if fidelity.transactions_count and fidelity.unlike_count > max(0.01 * fidelity.transactions_count, 1):
        yield (
            f"{fidelity.unlike_count:,.0f} transactions of the run are of no type of the workload: an error ended them,"
            " or a statement found no row and those after it were left out."
        )
    if not any(figure.kind == "deadlocks" for figure in fidelity.figures):
        yield NO_SUCH_ERRORS
    yield from CAVEATS


def _summary(fidelity: Fidelity) -> Section:
    kinds = kinds_of(fidelity)
    few = sum(figure.unjudged == "too-few" for figure in fidelity.figures)
    sentences = [f"{within_goals(kinds)}."]
    if few:
        sentences.append(f"Not judged for too few observations: {few:,}. A longer --duration gives more.")
    return Section(
        anchor="summary", title="In short", sentences=tuple(sentences), tables=(kinds_table(kinds),), notes=NOTES
    )


def _figures(anchor: str, title: str, figures: Sequence[FidelityFigure], what: str) -> Section:
    columns = (
        text_column(what),
        text_column("Figure"),
        *(Column(heading=heading) for heading in ("Log", "Run", "Deviation", "Goal")),
        text_column("Verdict"),
    )
    rows = tuple(
        tuple(
            map(
                Entry,
                (
                    figure.of,
                    KINDS[figure.kind],
                    _value(figure.kind, figure.log),
                    _value(figure.kind, figure.model),
                    deviation_text(figure.kind, figure.deviation),
                    deviation_text(figure.kind, figure.goal),
                    _verdict(figure),
                ),
            )
        )
        for figure in figures
    )
    return Section(anchor=anchor, title=title, sentences=(), tables=(Table(caption=title, columns=columns, rows=rows),))


def _texts(texts: Sequence[str], numbers: Iterable[int]) -> Section:
    columns = (text_column("#"), text_column("Statement"))
    rows = tuple((Entry(f"#{number}"), Entry(shortened(texts[number - 1]))) for number in sorted(set(numbers)))
    return Section(
        anchor="texts",
        title="The statements",
        sentences=(),
        tables=(Table(caption="Texts of the statements", columns=columns, rows=rows),),
    )


def _verdict(fidelity_figure: FidelityFigure) -> str:
    match fidelity_figure.unjudged:
        case "too-few":
            needed = "" if fidelity_figure.needed_count is None else f" of {fidelity_figure.needed_count:,}"
            return f"too few: {fidelity_figure.observed_count:,}{needed}"
        case "not-run":
            return "not run"
        case "not-in-log":
            return "not in the log's report"
        case "no-goal":
            return "depends on the machine"
    return "within" if fidelity_figure.is_met else "beyond"


def _value(kind: FigureKind, value: float | None) -> str:
    if value is None:
        return NOT_KNOWN
    return f"{value * 100:.2f} %" if GOALS[kind].how == "points" else format_number(value)
