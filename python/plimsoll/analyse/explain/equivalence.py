"""Whether systems that are compared are alike in everything that is no factor.

Aspect by aspect (variables, data, plans, durability, machines): what is the same, what differs, what a factor of the
study explains.

Estimates of servers are compared as estimates: rows within 20 %, distinct values within a factor of 2 (InnoDB samples
20 pages of an index).

The data of systems side by side: what each aspect of it says, by name, so that it can be compared name by name.
Instances divide tables or warehouses of a data set; a replica repeats its source, and is not compared. Between systems
of different numbers of instances only tables that both have are compared, and their rows are not.

CPUs and memory of machines that stand for different environments of a study: they should be equal, or a factor. A
comparison of a machine with a virtual machine on it says nothing about virtualisation where the guest has one CPU
fewer. Only systems that name an environment are compared; machines of others are told apart by their names.

Doubts about comparisons of systems that are not alike in what is no factor. Differences of variables have a doubt of
their own (`findings.curves`), those of durability are part of the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from plimsoll.analyse.explain.durability import causing_variables
from plimsoll.analyse.explain.equivalence_model import Aspect, AspectDifference, Equivalence
from plimsoll.analyse.explain.variables import varied_variables
from plimsoll.analyse.findings.doubts import Doubt, Place
from plimsoll.analyse.findings.systems import OF_ASPECTS
from plimsoll.analyse.model import SystemSummary, VariableDifference
from plimsoll.analyse.trial.instances import sources_of
from plimsoll.record.environment import Environment
from plimsoll.record.server_facts import ColumnFacts, DataFacts, IndexFacts
from plimsoll.units import format_bytes, parse_whole

_ROWS_RATIO = 1.2
_STATISTICS_RATIO = 2.0
_OF_DATA = (Aspect.DEFINITIONS, Aspect.CHARACTER_SETS, Aspect.ROWS, Aspect.STATISTICS, Aspect.PLANS)

_EXPLAINING: Mapping[Aspect, tuple[str, ...]] = {
    Aspect.DEFINITIONS: ("table_options", "row_format", "storage_engine", "innodb_default_row_format", "engine"),
    Aspect.CHARACTER_SETS: ("character_set", "charset", "collation"),
}
"""Parts of names of factors that explain a difference of an aspect."""

Alike = Callable[[str, str], bool]


def equivalence(systems: Sequence[SystemSummary], variables: Sequence[VariableDifference]) -> tuple[Equivalence, ...]:
    """Every aspect of systems that were measured; empty for fewer than two.

    Args:
        systems: Of the study.
        variables: Their variables that differ.
    """
    measured = [system for system in systems if system.environment.instances]
    if len(measured) < 2:
        return ()
    machines = machines_of_environments(measured)
    return (
        *(() if machines is None else (machines,)),
        _of_variables(measured, variables),
        _of_durability(measured),
        *(_of_data(measured, aspect) for aspect in _OF_DATA),
    )


def _of_variables(systems: Sequence[SystemSummary], variables: Sequence[VariableDifference]) -> Equivalence:
    names_by_system = {
        system.name: {name for instance in system.environment.instances for name in instance.variables}
        for system in systems
    }
    known = tuple(name for name, names in names_by_system.items() if names)
    return Equivalence(
        aspect=Aspect.VARIABLES,
        systems=known,
        compared_count=len(set().union(*names_by_system.values())) if len(known) > 1 else 0,
        differences=tuple(
            AspectDifference(what=variable.variable, values=variable.values)
            for variable in variables
            if not variable.expected
        ),
        expected=tuple(variable.variable for variable in variables if variable.expected),
        unknown=tuple(name for name, names in names_by_system.items() if not names),
    )


def _of_durability(systems: Sequence[SystemSummary]) -> Equivalence:
    known = {system.name: system.durability.name for system in systems if system.durability is not None}
    differs = len(set(known.values())) > 1
    causes = causing_variables(*(system.durability for system in systems if system.durability is not None))
    is_explained = causes <= varied_variables(systems)
    return Equivalence(
        aspect=Aspect.DURABILITY,
        systems=tuple(known),
        compared_count=1 if len(known) > 1 else 0,
        differences=(AspectDifference(what="durability", values=dict(known)),) if differs and not is_explained else (),
        expected=("durability",) if differs and is_explained else (),
        unknown=tuple(system.name for system in systems if system.durability is None),
    )


def _of_data(systems: Sequence[SystemSummary], aspect: Aspect) -> Equivalence:
    stated_by_system = {system.name: stated(system, aspect) for system in systems}
    known = {name: facts for name, facts in stated_by_system.items() if facts is not None}
    unknown = tuple(name for name in stated_by_system if name not in known)
    if len(known) < 2:
        return Equivalence(aspect=aspect, systems=tuple(known), unknown=unknown)
    is_divided = len({system.instances for system in systems if system.name in known}) > 1
    names = _names(known, aspect, is_divided=is_divided)
    differing = [
        AspectDifference(what=name, values={system: facts.get(name) for system, facts in known.items()})
        for name in names
        if not _all_alike([facts.get(name) for facts in known.values()], _ALIKE.get(aspect, _is_same))
    ]
    is_explained = _is_explained(aspect, varied_variables(systems))
    return Equivalence(
        aspect=aspect,
        systems=tuple(known),
        compared_count=len(names),
        differences=() if is_explained else tuple(differing),
        expected=tuple(difference.what for difference in differing) if is_explained else (),
        unknown=unknown,
    )


def _names(known: Mapping[str, Stated], aspect: Aspect, *, is_divided: bool) -> list[str]:
    """What is compared, in the order in which systems state it."""
    every = list(dict.fromkeys(name for facts in known.values() for name in facts))
    if aspect is Aspect.PLANS or is_divided:  # a statement that a server refuses to explain is unknown
        every = [name for name in every if all(name in facts for facts in known.values())]
    return [] if is_divided and aspect in (Aspect.ROWS, Aspect.STATISTICS) else every


def _is_explained(aspect: Aspect, varied: Collection[str]) -> bool:
    return any(part in name for name in varied for part in _EXPLAINING.get(aspect, ()))


def _all_alike(values: Sequence[str | None], is_alike: Alike) -> bool:
    first, *others = values
    return all((first is None) is (other is None) and is_alike(first or "", other or "") for other in others)


def _is_same(value: str, other: str) -> bool:
    return value == other


def _are_rows_alike(value: str, other: str) -> bool:
    """Counts must be equal; an estimate is near."""
    if "about" not in value and "about" not in other:
        return value == other
    return _is_within(value, other, _ROWS_RATIO)


def _are_statistics_alike(value: str, other: str) -> bool:
    return _is_within(value, other, _STATISTICS_RATIO)


def _is_within(value: str, other: str, ratio: float) -> bool:
    """Several values of instances are compared as they stand."""
    sizes = [parse_whole(re.sub(r"^about ", "", text)) for text in (value, other)]
    if sizes[0] is None or sizes[1] is None:
        return value == other
    low, high = sorted((sizes[0], sizes[1]))
    return high <= max(low, 1) * ratio


_ALIKE: Mapping[Aspect, Alike] = {Aspect.ROWS: _are_rows_alike, Aspect.STATISTICS: _are_statistics_alike}

Stated = dict[str, str]
"""What a system says, by name."""


def stated(system: SystemSummary, aspect: Aspect) -> Stated | None:
    """What a system says of an aspect of its data, all of it where its instances disagree; None where it is unknown."""
    sources = sources_of(system.environment)
    known = [source.data for source in sources if source.data is not None]
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
        for instance in system.environment.instances
        if instance.data is not None
        for table in instance.data.tables
    }


def _definitions(data: DataFacts) -> Iterator[tuple[str, str]]:
    for name, table in data.tables.items():
        yield f"{name}: engine", (table.engine or "").lower()
        yield f"{name}: row format", (table.row_format or "").lower()
        yield f"{name}: options", options_words(table.options)
        for column, facts in table.columns.items():
            yield f"{name}.{column}", column_words(facts)
        for index, index_facts in table.indexes.items():
            yield (
                f"{name}: index {index}",
                f"{'unique ' if index_facts.unique else ''}({', '.join(index_facts.columns)})",
            )


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
        for index, index_facts in table.indexes.items():
            if (count := _distinct(index_facts)) is not None:
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

MEMORY_RATIO = 1.1
"""Memory is equal within so much: the kernel of a guest keeps part of what it was given."""

CPUS, MEMORY = "CPUs", "memory"
_EXPLAINING_MACHINES = {CPUS: ("cpu",), MEMORY: ("memory",)}
"""Parts of names of factors that explain a difference."""


def machines_of_environments(systems: Sequence[SystemSummary]) -> Equivalence | None:
    """Compares the machines of systems that were measured in different environments; None where there are none."""
    named = [system for system in systems if system.in_environment is not None]
    if len({system.in_environment for system in named}) < 2:
        return None
    cpus = {system.name: usable_cpus(system.environment) for system in named}
    memory = {system.name: usable_memory_bytes(system.environment) for system in named}
    unknown = tuple(name for name in cpus if cpus[name] is None or memory[name] is None)
    known_cpus = {name: value for name, value in cpus.items() if value is not None}
    known_memory = {name: value for name, value in memory.items() if value is not None}
    differences = []
    if not _are_equal(CPUS, known_cpus.values()):
        differences.append(
            AspectDifference(what=CPUS, values={name: f"{count:g}" for name, count in known_cpus.items()})
        )
    if not _are_equal(MEMORY, known_memory.values()):
        values = {name: format_bytes(memory_bytes) for name, memory_bytes in known_memory.items()}
        differences.append(AspectDifference(what=MEMORY, values=values))
    return Equivalence(
        aspect=Aspect.MACHINES,
        systems=tuple(name for name in cpus if name in known_cpus or name in known_memory),
        compared_count=(len(known_cpus) > 1) + (len(known_memory) > 1),
        differences=tuple(
            difference for difference in differences if not _is_machine_explained(difference.what, named)
        ),
        expected=tuple(difference.what for difference in differences if _is_machine_explained(difference.what, named)),
        unknown=unknown,
    )


def makes_machines_equal(factor: str, system_summary: SystemSummary, other: SystemSummary) -> bool:
    """Whether a limit that only one of two systems states is what makes the machines of their environments equal."""
    if system_summary.in_environment == other.in_environment:
        return False
    machines = (system_summary.environment, other.environment)
    usable: dict[str, list[float | None]] = {
        CPUS: [usable_cpus(machine) for machine in machines],
        MEMORY: [usable_memory_bytes(machine) for machine in machines],
    }
    return any(
        _tells(what, factor) and _are_equal(what, known)
        for what, values in usable.items()
        if len(known := [value for value in values if value is not None]) == len(machines)
    )


def _are_equal(what: str, values: Collection[float]) -> bool:
    return len(values) < 2 or max(values) <= min(values) * (MEMORY_RATIO if what == MEMORY else 1)


def usable_cpus(environment: Environment) -> float | None:
    """How many CPUs the servers could use at once, all together; None where unknown."""
    placements = [instance.placement for instance in environment.instances]
    sets = [set(placement.cpus) for placement in placements if placement is not None and placement.cpus]
    count = environment.host.cpu_threads
    if sets and len(sets) == len(placements):
        count = len(set().union(*sets))
    quotas = [
        placement.cpu_quota for placement in placements if placement is not None and placement.cpu_quota is not None
    ]
    if quotas and len(quotas) == len(placements):
        return min(sum(quotas), float(count)) if count is not None else sum(quotas)
    return None if count is None else float(count)


def usable_memory_bytes(environment: Environment) -> int | None:
    """How much memory the servers could use, all together; None where unknown."""
    placements = [instance.placement for instance in environment.instances]
    limits = [
        placement.memory_limit_bytes
        for placement in placements
        if placement is not None and placement.memory_limit_bytes is not None
    ]
    known = [environment.host.memory_bytes] if environment.host.memory_bytes is not None else []
    known += [sum(limits)] if limits and len(limits) == len(placements) else []
    return min(known, default=None)


def _is_machine_explained(what: str, systems: Sequence[SystemSummary]) -> bool:
    """Whether every system states it, and not all state the same.

    What only some state explains nothing: a limit on a large machine is there to make it equal to a guest.
    """
    stated = [
        frozenset((name, value) for name, value in system.factors.items() if _tells(what, name)) for system in systems
    ]
    return all(stated) and len(set(stated)) > 1


def _tells(what: str, factor: str) -> bool:
    return any(part in factor.lower() for part in _EXPLAINING_MACHINES[what])


_DISPLAY_WIDTH = re.compile(r"\b(tinyint|smallint|mediumint|int|bigint)\(\d+\)")
_OWN_EXTRAS = re.compile(r"\bdefault_generated\b ?|\(\)")


def column_words(column: ColumnFacts) -> str:
    """Type, NULL, default and what else a column has.

    MySQL 8.0.19 and later write integers without a display width. MariaDB 10.2.7 and later write defaults as
    expressions, in quotes.

    >>> column_words(ColumnFacts(type="int(11)", default="'0'")), column_words(ColumnFacts(type="int", default="0"))
    ('int not null default 0', 'int not null default 0')
    """
    kind = _DISPLAY_WIDTH.sub(r"\1", column.type.lower())
    default = None if column.default in (None, "NULL") else str(column.default).strip("'").replace("()", "")
    parts = [kind, "null" if column.nullable else "not null"]
    parts += [f"default {default.lower()}"] if default is not None else []
    parts += [extra] if (extra := _OWN_EXTRAS.sub("", column.extra.lower()).strip()) else []
    return " ".join(parts)


def collation_words(collation: str | None) -> str | None:
    """MySQL 8 and MariaDB 10.6 call utf8 what it is: utf8mb3.

    >>> collation_words("utf8_general_ci")
    'utf8mb3_general_ci'
    """
    return collation if collation is None else re.sub(r"^utf8(?=_|$)", "utf8mb3", collation)


def options_words(options: str) -> str:
    """Options of a table without those that say what is compared elsewhere; in one order."""
    parts = [part for part in options.lower().split() if not part.startswith(("row_format=", "partitioned"))]
    return " ".join(sorted([*parts, *(["partitioned"] if "partitioned" in options.lower() else [])]))


_WEIGHTS = {Aspect.CHARACTER_SETS: 2.0, Aspect.DEFINITIONS: 1.0, Aspect.PLANS: 1.0}


def check_equivalence(comparisons: Sequence[Equivalence]) -> Iterator[Doubt]:
    """One doubt for each aspect with differences that no factor explains."""
    for comparison in comparisons:
        differ = OF_ASPECTS.get(comparison.aspect)
        if differ is not None and comparison.differences:
            seen = differ(
                differences=tuple((each.what, *each.values.values()) for each in comparison.differences),
                systems=tuple(comparison.differences[0].values),
                differences_count=len(comparison.differences),
            )
            yield Place().doubt(seen, _WEIGHTS.get(comparison.aspect, 0.0))
