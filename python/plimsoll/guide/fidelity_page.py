"""The page of `plimsoll learn check`: how the run of a learned workload compares with its log.

Deliberately not here: the comparison (`plimsoll.learn.fidelity`), and the section of a guide (`fidelity`).
"""

from __future__ import annotations

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
from plimsoll.guide.numbers import NOT_KNOWN
from plimsoll.guide.pages import Page
from plimsoll.guide.sections import Section
from plimsoll.guide.statement_section import shortened
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.learn.deviations import GOALS
from plimsoll.learn.fidelity import kinds_of
from plimsoll.learn.fidelity_model import Fidelity, FidelityFigure
from plimsoll.prose.phrases import counted
from plimsoll.spec.learned import FigureKind
from plimsoll.units import format_duration, format_number

NO_SUCH_ERRORS = "The log does not tell errors, so deadlocks are not compared."
_BY_STATEMENT = ("statement-share", "rows-examined", "rows-sent", "rows-affected", "pages", "handler-reads")
_FROM = {
    "log": "as many as transactions were open at a time in the log, on average",
    "given": "as given",
    "default": "the log does not tell how many transactions were open at a time",
}


def fidelity_page(found: Fidelity, *, is_brief: bool = False) -> Page:
    """A comparison as a page of sections.

    Args:
        found: The comparison.
        is_brief: Only figures that are beyond their goals are told one by one, as on a terminal.
    """
    if is_brief:
        beyond = [one for one in found.figures if one.is_met is False]
        numbers = [int(one.of[1:]) for one in beyond if one.of.startswith("#")]
        sections = (
            _summary(found),
            *((_figures("beyond", "Beyond their goals", beyond, "Of"),) if beyond else ()),
            *((_texts(found.statements, numbers),) if numbers else ()),
        )
        return _page(found, sections)
    by_statement = [one for one in found.figures if one.kind in _BY_STATEMENT and one.of != "all"]
    others = [one for one in found.figures if one not in by_statement]
    sections = (
        _summary(found),
        _figures("types", "Transactions and all statements together", others, "Of"),
        _figures("statements", "Statements", by_statement, "Statement"),
        _texts(found.statements, range(1, len(found.statements) + 1)),
    )
    return _page(found, sections)


def _page(found: Fidelity, sections: tuple[Section, ...]) -> Page:
    return Page(
        brand="Fidelity",
        title=TITLE,
        facts=tuple(_facts(found)),
        doubts=tuple(_doubts(found)),
        sections=sections,
    )


def _facts(found: Fidelity) -> Iterator[tuple[str, str]]:
    how, log = found.conditions, found.log
    if log.first_unix_s is not None and log.last_unix_s is not None:
        transactions = counted(log.transactions_count, "transaction")
        yield "Log", f"{moment(log.first_unix_s)} to {moment(log.last_unix_s)}, {transactions}"
    yield "Covered", covered(log.transaction_share, log.time_share)
    yield "Run", f"{moment(how.checked_unix_s)} on {how.server}, {format_duration(how.duration_s)}"
    yield "Connections", f"{how.connections:,}: {_FROM[how.connections_from]}"
    yield "Transactions", f"{found.transactions_count:,.0f}"


def _doubts(found: Fidelity) -> Iterator[str]:
    if found.conditions.scale != 1:
        yield (
            f"Tables have {found.conditions.scale:g} times the rows of the server's: rows examined and pages can differ"
            " for that reason."
        )
    if found.transactions_count and found.unlike_count > max(0.01 * found.transactions_count, 1):
        yield (
            f"{found.unlike_count:,.0f} transactions of the run are of no type of the workload: an error ended them, or"
            " a statement found no row and those after it were left out."
        )
    if not any(one.kind == "deadlocks" for one in found.figures):
        yield NO_SUCH_ERRORS
    yield from CAVEATS


def _summary(found: Fidelity) -> Section:
    kinds = kinds_of(found)
    few = sum(one.unjudged == "too-few" for one in found.figures)
    sentences = [f"{within_goals(kinds)}."]
    if few:
        sentences.append(f"Not judged for too few observations: {few:,}. A longer --duration gives more.")
    return Section(
        anchor="summary", title="In short", sentences=tuple(sentences), tables=(kinds_table(kinds),), notes=NOTES
    )


def _figures(anchor: str, title: str, figures: Sequence[FidelityFigure], what: str) -> Section:
    columns = (
        Column(heading=what, numeric=False),
        Column(heading="Figure", numeric=False),
        *(Column(heading=one) for one in ("Log", "Run", "Deviation", "Goal")),
        Column(heading="Verdict", numeric=False),
    )
    rows = tuple(
        tuple(
            map(
                Entry,
                (
                    one.of,
                    KINDS[one.kind],
                    _value(one.kind, one.log),
                    _value(one.kind, one.model),
                    deviation_text(one.kind, one.deviation),
                    deviation_text(one.kind, one.goal),
                    _verdict(one),
                ),
            )
        )
        for one in figures
    )
    return Section(anchor=anchor, title=title, sentences=(), tables=(Table(caption=title, columns=columns, rows=rows),))


def _texts(texts: Sequence[str], numbers: Iterable[int]) -> Section:
    columns = (Column(heading="#", numeric=False), Column(heading="Statement", numeric=False))
    rows = tuple((Entry(f"#{number}"), Entry(shortened(texts[number - 1]))) for number in sorted(set(numbers)))
    return Section(
        anchor="texts",
        title="The statements",
        sentences=(),
        tables=(Table(caption="Texts of the statements", columns=columns, rows=rows),),
    )


def _verdict(one: FidelityFigure) -> str:
    match one.unjudged:
        case "too-few":
            needed = "" if one.needed_count is None else f" of {one.needed_count:,}"
            return f"too few: {one.observed_count:,}{needed}"
        case "not-run":
            return "not run"
        case "not-in-log":
            return "not in the log's report"
        case "no-goal":
            return "depends on the machine"
    return "within" if one.is_met else "beyond"


def _value(kind: FigureKind, value: float | None) -> str:
    if value is None:
        return NOT_KNOWN
    return f"{value * 100:.2f} %" if GOALS[kind].how == "points" else format_number(value)
