"""What systems were measured on, what tells them apart, and what is equal between them besides throughput.

What all systems share is told once; of what servers and the client may use of their machine, nothing is told that is
usual. Deliberately not here: finding facts out (`plimsoll.run`), and comparing them (`plimsoll.analyse`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.analyse.answers.size_evidence import MEASURED_ORIGIN
from plimsoll.analyse.explain.equivalence_model import Aspect, Equivalence
from plimsoll.analyse.model import Analysis, SystemSummary, VariableDifference, VariableReason
from plimsoll.analyse.study.factors import NOT_SET, encryption_words, factors_of, is_unset
from plimsoll.guide.sections import Section
from plimsoll.guide.tables import NOT_KNOWN, Column, Entry, Table, text_column
from plimsoll.prose.phrases import LEFT_OUT, factor_name, factor_value, is_secret
from plimsoll.record.environment import (
    ClientFacts,
    Environment,
    ExporterFacts,
    HostFacts,
    InstanceFacts,
    PlacementFacts,
    StorageFacts,
)
from plimsoll.spec.placement import format_cpus
from plimsoll.spec.server_options import switch_spelling
from plimsoll.units import format_bytes, format_duration, format_ms, format_number
from plimsoll.wording import counted, first_few, listed

Fact = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class InstancePart:
    """What one instance says of itself, in full; of another of the same system only what it says otherwise.

    Attributes:
        variables: Every effective variable, sorted.
        tables: Name and definition, but for those that all systems share.
    """

    title: str
    variables: tuple[Fact, ...]
    tables: tuple[Fact, ...]


def shared_facts(systems: Sequence[SystemSummary]) -> tuple[Fact, ...]:
    """What all systems were measured on."""
    facts = [_facts(system) for system in systems]
    return tuple(fact for fact in facts[0] if all(fact in other for other in facts[1:])) if facts else ()


def system_facts(system: SystemSummary, shared: Sequence[Fact]) -> tuple[Fact, ...]:
    """What a system was measured on, but for what all share."""
    return tuple(fact for fact in _facts(system) if fact not in shared)


def shared_definitions(systems: Sequence[SystemSummary]) -> tuple[Fact, ...]:
    """Tables that every instance defines alike: name and definition."""
    instances = [instance for system in systems for instance in system.environment.instances]
    known = [instance.tables for instance in instances if instance.tables]
    first, *others = known or [{}]
    return tuple((name, text) for name, text in first.items() if all(other.get(name) == text for other in others))


def instance_parts(system: SystemSummary, definitions: Sequence[Fact]) -> Iterator[InstancePart]:
    """Those that say something; `definitions` are those that all systems share."""
    first: InstanceFacts | None = None
    for instance in system.environment.instances:
        like = first or InstanceFacts(name="")
        other = f", other than {like.name}" if like.name else ""
        tables = tuple(
            table for table in instance.tables.items() if table not in definitions and table not in like.tables.items()
        )
        if instance.variables or tables:
            yield InstancePart(
                title=f"{system.name}, {instance.name}{other}",
                variables=tuple(
                    (name, shown(name, value))
                    for name, value in sorted(instance.variables.items() - like.variables.items())
                ),
                tables=tables,
            )
        first = first or instance


def _facts(system: SystemSummary) -> tuple[Fact, ...]:
    environment = system.environment
    is_stated = system.origin != MEASURED_ORIGIN
    facts = [(f"{name}{STATED}" if is_stated else name, value) for name, value in _host_facts(environment.host)]
    facts += _facts_of_instances(environment.instances)
    facts += _present(("Durability", _durability(system)))
    facts += _client_facts(environment.client)
    facts += _present(("CPUs of the client", client_cpus(environment)))
    facts += _present(("Encryption of connections", encryption_words(system.encryptions)))
    facts += exporter_lines(environment.exporters)
    facts += _stated(environment, system.factors)
    return tuple(facts)


def _stated(environment: Environment, factors: Mapping[str, str]) -> Iterator[Fact]:
    """What the authors of an import state, without what tells systems apart anyway."""
    for name, text in environment.reported.items():
        if factors.get(name) != text:
            yield f"{name}{STATED}", shown(name, text)
    options = [f"{name} = {shown(name, value)}" for name, value in environment.reported_options.items()]
    yield from _present((f"Server options{STATED}", ", ".join(options)), (f"Notes{STATED}", environment.reported_notes))


STATED = " (stated)"
"""Behind the name of a fact that the authors of an import state and nobody measured here."""


def shown(name: str, value: str) -> str:
    """The value of an option or parameter; not that of one that is called a secret."""
    return LEFT_OUT if value and is_secret(name) else value


def _durability(system: SystemSummary) -> str | None:
    if system.durability is None:
        return None
    causes = ", ".join(f"{name} = {value}" for name, value in system.durability.causes)
    return f"{system.durability.name} ({causes})" if causes else system.durability.name


def _facts_of_instances(instances: Sequence[InstanceFacts]) -> list[Fact]:
    """What all instances have in common is told once."""
    of_each = [(instance.name, _instance_facts(instance)) for instance in instances]
    common = [fact for fact in of_each[0][1] if all(fact in facts for _, facts in of_each)] if of_each else []
    rest = [(f"{who}: {name}", value) for who, facts in of_each for name, value in facts if (name, value) not in common]
    return common + rest


def _host_facts(host: HostFacts) -> list[Fact]:
    return _present(
        ("Host", host.name),
        ("Processor", _processor(host)),
        ("Memory", _bytes(host.memory_bytes)),
        ("Virtualisation", host.virtualisation),
        ("Operating system", host.operating_system),
        ("Kernel", host.kernel),
        ("Frequency governor", host.cpu_governor),
        ("Clock", host.clock_source),
    )


def _processor(host: HostFacts) -> str | None:
    counts = (
        (host.cpu_sockets, "socket"),
        (host.cpu_cores, "core"),
        (host.cpu_threads, "thread"),
        (host.numa_nodes, "NUMA node"),
    )
    known = [f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts if count is not None]
    return ", ".join(part for part in (host.cpu_model, *known) if part) or None


def _instance_facts(instance: InstanceFacts) -> list[Fact]:
    storage = instance.storage or StorageFacts()
    return _present(
        ("Server", instance.version),
        *placement_facts(instance.placement),
        ("Data set", _bytes(instance.data_bytes)),
        ("Data directory", storage.path),
        ("Storage", storage_words(storage)),
        (
            "Flush of a small write",
            None if storage.flush_ms_median is None else f"{format_ms(storage.flush_ms_median)} (median)",
        ),
        *((_ROLES.get(role, role), _of_role(role_storage)) for role, role_storage in instance.storage_of_roles.items()),
        ("In huge pages", _bytes(instance.huge_pages_bytes or None)),
    )


_ROLES = {"redo": "Redo log", "binlog": "Binary logs", "undo": "Undo", "tmp": "Temporary files"}


def _of_role(storage: StorageFacts) -> str | None:
    """Where files with a path of their own are, in one line."""
    flush = None if storage.flush_ms_median is None else f"flush of a small write {format_ms(storage.flush_ms_median)}"
    return ", ".join(part for part in (storage.path, storage_words(storage), flush) if part) or None


def storage_words(storage: StorageFacts) -> str | None:
    """File system, device and what it is made of, in one line; None where nothing is known."""
    kind = {True: "rotating", False: "not rotating", None: None}[storage.rotational]
    scheduler = f"scheduler {storage.scheduler}" if storage.scheduler else None
    cache = f"write cache {storage.write_cache}" if storage.write_cache else None
    queue = f"queue of {storage.queue_requests}" if storage.queue_requests else None
    parts = (
        storage.file_system,
        storage.mount_options,
        storage.device,
        storage.device_model,
        kind,
        scheduler,
        queue,
        cache,
        *storage.layers,
    )
    return ", ".join(part for part in parts if part) or None


def _client_facts(client: ClientFacts) -> list[Fact]:
    unknown = f"where the server runs is unknown ({client.server_place})" if client.server_place else None
    place = {True: "on the server's host", False: "on a host of its own", None: unknown}[client.on_server_host]
    engine = (
        f"plimsoll-engine {client.engine_version.removeprefix('plimsoll-engine ')}" if client.engine_version else None
    )
    drivers = f"{len(client.drivers)} ({', '.join(client.drivers)})" if client.drivers else None
    return _present(("Client", ", ".join(part for part in (engine, place) if part) or None), ("Drivers", drivers))


def _present(*facts: tuple[str, str | None]) -> list[Fact]:
    return [(name, value) for name, value in facts if value]


def _bytes(count: int | None) -> str | None:
    return None if count is None else format_bytes(count)


_BY = {"cgroup": "held there by a control group", "affinity": "by the affinity of its threads"}
_LIMITS = {"read_bps": "read", "write_bps": "written", "read_iops": "reads", "write_iops": "writes"}


def placement_facts(placement: PlacementFacts | None) -> Iterator[tuple[str, str | None]]:
    """What was in effect for a server; None for what is as usual."""
    if placement is None:
        return
    by = None if placement.cpus_by is None else _BY.get(placement.cpus_by)
    yield "CPUs of the server", f"{format_cpus(placement.cpus)}, {by}" if placement.cpus and by else None
    yield "CPU quota", None if placement.cpu_quota is None else f"{placement.cpu_quota:g} CPUs"
    yield "Memory limit", None if placement.memory_limit_bytes is None else format_bytes(placement.memory_limit_bytes)
    yield "I/O limits", "; ".join(_limit(name, value) for name, value in placement.io_limits.items()) or None
    yield "Scheduling", _scheduling(placement)


def client_cpus(environment: Environment) -> str | None:
    """CPUs of the load engine, where they are fewer than its machine has."""
    cpus, count = environment.client.cpus, environment.host.cpu_threads
    if not cpus or not environment.client.on_server_host or (count is not None and len(cpus) >= count):
        return None
    return format_cpus(cpus)


def _limit(name: str, value: int) -> str:
    device, _, key = name.partition(" ")
    amount = format_bytes(value) if key.endswith("_bps") else format_number(value)
    return f"{amount} {_LIMITS.get(key, key)} per second on device {device}"


def _scheduling(placement: PlacementFacts) -> str | None:
    others = f" (some threads {', '.join(map(str, placement.nice_others))})" if placement.nice_others else ""
    nice = f"nice {placement.nice}{others}" if placement.nice or others else None
    scheduling = placement.scheduling if placement.scheduling != "other" else None
    return ", ".join(part for part in (scheduling, nice) if part) or None


_SOURCES = {
    "host": "processors, memory, disks and network of the host",
    "device": "the data device",
    "server": "status variables",
    "waits": "waits for files",
}


def exporter_lines(exporters: Sequence[ExporterFacts]) -> Iterator[tuple[str, str]]:
    """A fact for each exporter, its name first."""
    for exporter in exporters:
        yield f"Telemetry from {exporter.url}", _words(exporter)


def _words(exporter_facts: ExporterFacts) -> str:
    if exporter_facts.unused is not None:
        return f"not used: {exporter_facts.unused}"
    if not exporter_facts.sources:
        return f"nothing came; {exporter_facts.failures_count} requests failed"
    what = listed([_SOURCES.get(source, source) for source in exporter_facts.sources])
    words = f"{what}, {_resolution(exporter_facts)}"
    if exporter_facts.host_name is not None:
        words += f", of the machine {exporter_facts.host_name}"
    return f"{words}; {exporter_facts.failures_count} requests failed" if exporter_facts.failures_count else words


def _resolution(exporter_facts: ExporterFacts) -> str:
    if exporter_facts.resolution_s is None:
        return "how often is not known"
    coarser = exporter_facts.resolution_s > 1.5 * exporter_facts.interval_s
    asked = f" (asked every {format_duration(exporter_facts.interval_s)})" if coarser else ""
    return f"every {format_duration(exporter_facts.resolution_s)}{asked}"


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
            text_column("system"),
            *(text_column(factor_name(name)) for name in telling),
        ),
        rows=rows,
        notes=tuple(_factor_notes({name: values for name, values in factors.items() if name not in telling})),
    )


def _factors(analysis: Analysis) -> dict[str, _Values]:
    """Every factor that a system states, by name; with the encryption where systems are known to differ in it."""
    names = dict.fromkeys(name for system in analysis.systems for name in system.factors)
    factors = {
        name: {system.name: _value(system, name, analysis.systems) for system in analysis.systems} for name in names
    }
    encryptions: _Values = {system.name: encryption_words(system.encryptions) for system in analysis.systems}
    return {**factors, "encryption": encryptions} if len(set(encryptions.values())) > 1 else factors


def _value(system: SystemSummary, name: str, systems: Sequence[SystemSummary]) -> str | None:
    value = factors_of(system).value(name)
    return NOT_SET if value is None and any(is_unset(name, system, other) for other in systems) else value


def _known(values: _Values) -> set[str]:
    return {switch_spelling(value) for value in values.values() if value is not None}


def _entry(name: str, value: str | None) -> Entry:
    return Entry(NOT_KNOWN if value is None else factor_value(name, value))


def _factor_notes(factors: dict[str, _Values]) -> list[str]:
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


_GROUPED = (VariableReason.ABSENT, VariableReason.DEFAULT)
"""Hundreds of variables between flavours: the section on equivalence counts them."""


def variable_table(analysis: Analysis, caption: str, *, expected: bool) -> Table | None:
    """Those that are expected to differ, or those that are not; None without any."""
    variables = [
        variable for variable in analysis.variables if variable.expected is expected and variable.reason not in _GROUPED
    ]
    if not variables:
        return None
    names = [
        system.name for system in analysis.systems if any(system.name in variable.values for variable in variables)
    ]
    rows = tuple((Entry(variable.variable), *_variable_entries(variable, names)) for variable in variables)
    return Table(caption=caption, columns=(text_column("variable"), *map(text_column, names)), rows=rows)


def _variable_entries(variable: VariableDifference, names: list[str]) -> list[Entry]:
    values = [variable.values.get(name) for name in names]
    return [
        Entry("does not have it" if value is None else shown(variable.variable, value) or "(empty)") for value in values
    ]


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
    text_column("compared"),
    Column(heading="how many"),
    text_column("result"),
)
_DIFFERENCES_MAX = 100


def equivalence_section(analysis: Analysis) -> Section | None:
    """The whole section; None where fewer than two systems were measured."""
    if not any(equivalence.compared_count for equivalence in analysis.equivalence):
        return None
    differing = [
        equivalence
        for equivalence in analysis.equivalence
        if equivalence.differences and equivalence.aspect is not Aspect.VARIABLES
    ]
    return Section(
        anchor="equivalence",
        title="Equivalence",
        is_background=True,
        sentences=(_summary(analysis),),
        tables=(
            Table(caption="What was compared", columns=_COLUMNS, rows=tuple(map(_row, analysis.equivalence))),
            *(_differences(equivalence) for equivalence in differing),
        ),
        notes=tuple(_variable_notes(analysis)),
    )


def _summary(analysis: Analysis) -> str:
    differing = [_short(equivalence.aspect) for equivalence in analysis.equivalence if equivalence.differences]
    unknown = [_short(equivalence.aspect) for equivalence in analysis.equivalence if not equivalence.compared_count]
    text = (
        f"No factor of the study explains differences in {listed(differing)}."
        if differing
        else "In everything that was compared, the systems differ only in factors of the study and in what follows from"
        " them."
    )
    return f"{text} Not compared: {listed(unknown)}." if unknown else text


def _short(aspect: Aspect) -> str:
    return _NAMES[aspect].partition(":")[0].partition(" (")[0]


def _row(equivalence: Equivalence) -> tuple[Entry, ...]:
    count = f"{equivalence.compared_count:,}" if equivalence.compared_count else NOT_KNOWN
    return Entry(_NAMES[equivalence.aspect]), Entry(count), _result(equivalence)


def _result(equivalence: Equivalence) -> Entry:
    if not equivalence.compared_count:
        return Entry(f"unknown for {listed(equivalence.unknown)}" if equivalence.unknown else "nothing to compare")
    counts = []
    if equivalence.differences:
        names = first_few([each.what for each in equivalence.differences])
        counts.append(f"{counted(len(equivalence.differences), 'difference')}: {names}")
    if equivalence.expected:
        counts.append(f"{len(equivalence.expected):,} expected")
    unknown = f"; unknown for {listed(equivalence.unknown)}" if equivalence.unknown else ""
    return Entry((", ".join(counts) or "equal") + unknown)


def _differences(equivalence: Equivalence) -> Table:
    systems = equivalence.systems
    return Table(
        caption=f"Differences in {_short(equivalence.aspect)}",
        columns=(text_column("what"), *(text_column(name) for name in systems)),
        rows=tuple(
            (Entry(each.what), *(Entry(each.values.get(name) or "missing") for name in systems))
            for each in equivalence.differences[:_DIFFERENCES_MAX]
        ),
    )


def _variable_notes(analysis: Analysis) -> Iterator[str]:
    """Expected differences of variables by reason; `guide.json` has all of them."""
    for reason, words in _REASONS.items():
        names = [variable.variable for variable in analysis.variables if variable.reason is reason]
        if names:
            yield f"{counted(len(names), 'variable')} {words[len(names) > 1]}: {first_few(names)}."
