"""The data of systems side by side: what each aspect of it says, by name, so that it can be compared name by name.

Instances divide tables or warehouses of a data set; a replica repeats its source, and is not compared. Between systems
of different numbers of instances only tables that both have are compared, and their rows are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from plimsoll.analyse.equivalence.model import Aspect
from plimsoll.analyse.equivalence.spelling import collation_words, column_words, options_words
from plimsoll.analyse.model import SystemSummary
from plimsoll.analyse.replication.roles import sources_of
from plimsoll.record.data_facts import DataFacts, IndexFacts

Stated = dict[str, str]
"""What a system says, by name."""


def stated(system: SystemSummary, aspect: Aspect) -> Stated | None:
    """What a system says of an aspect of its data, all of it where its instances disagree; None where it is unknown."""
    sources = sources_of(system.environment)
    known = [one.data for one in sources if one.data is not None]
    if not known or len(known) != len(sources):
        return None
    values: dict[str, list[str]] = {}
    for data in known:
        for name, value in _STATED[aspect](data):
            seen = values.setdefault(name, [])
            if value not in seen:
                seen.append(value)
    return {name: " | ".join(seen) for name, seen in values.items()}


def tables_of(systems: Sequence[SystemSummary]) -> set[str]:
    """Tables that some system has."""
    return {
        table
        for system in systems
        for one in system.environment.instances
        if one.data is not None
        for table in one.data.tables
    }


def _definitions(data: DataFacts) -> Iterator[tuple[str, str]]:
    for name, table in data.tables.items():
        yield f"{name}: engine", (table.engine or "").lower()
        yield f"{name}: row format", (table.row_format or "").lower()
        yield f"{name}: options", options_words(table.options)
        for column, facts in table.columns.items():
            yield f"{name}.{column}", column_words(facts)
        for index, one in table.indexes.items():
            yield f"{name}: index {index}", f"{'unique ' if one.unique else ''}({', '.join(one.columns)})"


def _character_sets(data: DataFacts) -> Iterator[tuple[str, str]]:
    for name, table in data.tables.items():
        yield f"{name}: collation", collation_words(table.collation) or ""
        for column, facts in table.columns.items():
            if facts.collation is not None:
                yield f"{name}.{column}: collation", collation_words(facts.collation) or ""


def _rows(data: DataFacts) -> Iterator[tuple[str, str]]:
    for name, table in data.tables.items():
        if table.rows_count is not None:
            yield f"{name}: rows", str(table.rows_count)
        elif table.rows_estimate is not None:
            yield f"{name}: rows", f"about {table.rows_estimate}"


def _statistics(data: DataFacts) -> Iterator[tuple[str, str]]:
    for name, table in data.tables.items():
        for index, one in table.indexes.items():
            if (count := _distinct(one)) is not None:
                yield f"{name}: distinct values of index {index}", str(count)


def _distinct(index: IndexFacts) -> int | None:
    """Of a unique index it is the number of rows, and compared as that."""
    return None if index.unique else index.cardinality


def _plans(data: DataFacts) -> Iterator[tuple[str, str]]:
    for plan in data.plans:
        if plan.refused is None:
            steps = (
                " ".join(
                    [
                        step.table or "(no table)",
                        step.access or "without rows",
                        f"by {step.index}" if step.index else "by no index",
                        *(word for word in ("temporary", "filesort") if word in step.extra.lower()),
                    ]
                )
                for step in plan.steps
            )
            yield f"{plan.workload}: {plan.statement}", ", then ".join(steps)


_STATED: Mapping[Aspect, Callable[[DataFacts], Iterator[tuple[str, str]]]] = {
    Aspect.DEFINITIONS: _definitions,
    Aspect.CHARACTER_SETS: _character_sets,
    Aspect.ROWS: _rows,
    Aspect.STATISTICS: _statistics,
    Aspect.PLANS: _plans,
}
