"""What tells the systems of a study apart, as a table: factors whose values are known to differ."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.analyse.encryption import encryption_words
from plimsoll.analyse.factors import NOT_SET, factors_of, is_unset
from plimsoll.analyse.model import Analysis, SystemSummary
from plimsoll.guide.numbers import NOT_KNOWN
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.prose.phrases import factor_name, factor_value, listed
from plimsoll.spec.switches import switch_spelling

_Values = dict[str, str | None]
"""By system; None where it is not known."""


def factor_table(analysis: Analysis) -> Table | None:
    """A row for each system; None when nothing is known to tell them apart."""
    factors = _factors(analysis)
    telling = [name for name, values in factors.items() if len(_known(values)) > 1]
    if not telling:
        return None
    rows = tuple(
        (Entry(system.name), *(_entry(name, factors[name][system.name]) for name in telling))
        for system in analysis.systems
    )
    return Table(
        caption="What tells the systems apart",
        columns=(
            Column(heading="system", numeric=False),
            *(Column(heading=factor_name(name), numeric=False) for name in telling),
        ),
        rows=rows,
        notes=tuple(_notes({name: values for name, values in factors.items() if name not in telling})),
    )


def _factors(analysis: Analysis) -> dict[str, _Values]:
    """Every factor that a system states, by name; with the encryption where systems are known to differ in it."""
    names = dict.fromkeys(name for system in analysis.systems for name in system.factors)
    factors = {name: {one.name: _value(one, name, analysis.systems) for one in analysis.systems} for name in names}
    encryptions: _Values = {one.name: encryption_words(one.encryptions) for one in analysis.systems}
    return {**factors, "encryption": encryptions} if len(set(encryptions.values())) > 1 else factors


def _value(system: SystemSummary, name: str, systems: Sequence[SystemSummary]) -> str | None:
    found = factors_of(system).value(name)
    return NOT_SET if found is None and any(is_unset(name, system, other) for other in systems) else found


def _known(values: _Values) -> set[str]:
    return {switch_spelling(value) for value in values.values() if value is not None}


def _entry(name: str, value: str | None) -> Entry:
    return Entry(NOT_KNOWN if value is None else factor_value(name, value))


def _notes(factors: dict[str, _Values]) -> list[str]:
    """Factors with one known value: shared by all, or stated for some only: the others may differ in it."""
    shared, partial = [], []
    for name, values in factors.items():
        whose = [system for system, value in values.items() if value is not None]
        text = f"{factor_name(name)} {factor_value(name, next(v for v in values.values() if v is not None))}"
        if len(whose) == len(values):
            shared.append(text)
        else:
            partial.append(f"{text} ({listed(whose)})")
    notes = [f"The same for all: {', '.join(shared)}."] if shared else []
    return notes + ([f"Stated for some only: {', '.join(partial)}."] if partial else [])
