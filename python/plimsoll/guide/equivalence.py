"""The section "Equivalence": what was compared between systems besides throughput, equal or not."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.analyse.equivalence.model import Aspect, Equivalence
from plimsoll.analyse.model import Analysis, VariableReason
from plimsoll.guide.numbers import NOT_KNOWN
from plimsoll.guide.sections import Section
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.prose.phrases import counted, first_few, listed

_NAMES = {
    Aspect.VARIABLES: "effective server variables",
    Aspect.DURABILITY: "durability class",
    Aspect.DEFINITIONS: "table definitions: columns, indexes, engine, row format",
    Aspect.CHARACTER_SETS: "character sets and collations of tables and columns",
    Aspect.ROWS: "numbers of rows before the first trial",
    Aspect.STATISTICS: "index statistics: distinct values",
    Aspect.PLANS: "execution plans (EXPLAIN) of the workloads' statements",
    Aspect.MACHINES: "machines of the environments: CPUs, memory",
}
_REASONS = {
    VariableReason.FACTOR: ("follows from factors of the study", "follow from factors of the study"),
    VariableReason.OWN: ("is a path, port, identifier or similar", "are paths, ports, identifiers and similar"),
    VariableReason.ABSENT: ("exists only in one flavour or version", "exist only in one flavour or version"),
    VariableReason.DEFAULT: ("was set by nobody and has another default", "were set by nobody and have other defaults"),
}
"""What is said of one variable, and of several."""

_COLUMNS = (
    Column(heading="compared", numeric=False),
    Column(heading="how many"),
    Column(heading="result", numeric=False),
)
_DIFFERENCES_MAX = 100


def equivalence_section(analysis: Analysis) -> Section | None:
    """The whole section; None where fewer than two systems were measured."""
    if not any(one.compared_count for one in analysis.equivalence):
        return None
    differing = [one for one in analysis.equivalence if one.differences and one.aspect is not Aspect.VARIABLES]
    return Section(
        anchor="equivalence",
        title="Equivalence",
        is_background=True,
        sentences=(_summary(analysis),),
        tables=(
            Table(caption="What was compared", columns=_COLUMNS, rows=tuple(map(_row, analysis.equivalence))),
            *(_differences(one) for one in differing),
        ),
        notes=tuple(_notes(analysis)),
    )


def _summary(analysis: Analysis) -> str:
    differing = [_short(one.aspect) for one in analysis.equivalence if one.differences]
    unknown = [_short(one.aspect) for one in analysis.equivalence if not one.compared_count]
    text = (
        f"No factor of the study explains differences in {listed(differing)}."
        if differing
        else "In everything that was compared, the systems differ only in factors of the study and in what follows from"
        " them."
    )
    return f"{text} Not compared: {listed(unknown)}." if unknown else text


def _short(aspect: Aspect) -> str:
    return _NAMES[aspect].partition(":")[0].partition(" (")[0]


def _row(one: Equivalence) -> tuple[Entry, ...]:
    count = f"{one.compared_count:,}" if one.compared_count else NOT_KNOWN
    return Entry(_NAMES[one.aspect]), Entry(count), _result(one)


def _result(one: Equivalence) -> Entry:
    if not one.compared_count:
        return Entry(f"unknown for {listed(one.unknown)}" if one.unknown else "nothing to compare")
    told = []
    if one.differences:
        names = first_few([each.what for each in one.differences])
        told.append(f"{counted(len(one.differences), 'difference')}: {names}")
    if one.expected:
        told.append(f"{len(one.expected):,} expected")
    unknown = f"; unknown for {listed(one.unknown)}" if one.unknown else ""
    return Entry((", ".join(told) or "equal") + unknown)


def _differences(one: Equivalence) -> Table:
    systems = one.systems
    return Table(
        caption=f"Differences in {_short(one.aspect)}",
        columns=(Column(heading="what", numeric=False), *(Column(heading=name, numeric=False) for name in systems)),
        rows=tuple(
            (Entry(each.what), *(Entry(each.values.get(name) or "missing") for name in systems))
            for each in one.differences[:_DIFFERENCES_MAX]
        ),
    )


def _notes(analysis: Analysis) -> Iterator[str]:
    """Expected differences of variables by reason; `guide.json` has all of them."""
    for reason, words in _REASONS.items():
        names = [one.variable for one in analysis.variables if one.reason is reason]
        if names:
            yield f"{counted(len(names), 'variable')} {words[len(names) > 1]}: {first_few(names)}."
