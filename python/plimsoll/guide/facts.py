"""What systems were measured on, as lines of name and value; systems with the same facts are told together.

Deliberately not here: finding facts out (`plimsoll.run`), and comparing them (`plimsoll.analyse`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plimsoll.analyse.encryption import encryption_words
from plimsoll.analyse.model import SystemSummary
from plimsoll.guide.exporters import exporter_lines
from plimsoll.guide.placement import client_cpus, placement_facts
from plimsoll.guide.words import grouped
from plimsoll.record.environment import ClientFacts, HostFacts, InstanceFacts, StorageFacts
from plimsoll.units import format_bytes, format_ms

Fact = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class InstancePart:
    """What one instance says of itself, in full; of another of the same system only what it says otherwise.

    Attributes:
        variables: Every effective variable, sorted.
        tables: Name and definition.
    """

    title: str
    variables: tuple[Fact, ...]
    tables: tuple[Fact, ...]
    option_file: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentPart:
    """What some systems, or all of them, were measured on."""

    systems: tuple[str, ...]
    facts: tuple[Fact, ...]
    instances: tuple[InstancePart, ...]

    @property
    def title(self) -> str:
        """The names of the systems; those with commas in them are set apart by semicolons."""
        return ("; " if any(", " in name for name in self.systems) else ", ").join(self.systems)

    @property
    def has_variables(self) -> bool:
        """Some server said which variables are effective."""
        return any(one.variables for one in self.instances)


def environment_parts(systems: Sequence[SystemSummary]) -> tuple[EnvironmentPart, ...]:
    """What all systems share first, then what each has of its own; what tells systems apart anyway is not repeated."""
    facts = {system.name: _facts(system) for system in systems}
    shared = _shared(list(facts.values()))
    common = [EnvironmentPart(systems=("All systems",), facts=shared, instances=())] if shared else []
    own = grouped(systems, lambda system: tuple(fact for fact in facts[system.name] if fact not in shared))
    return (*common, *(part for rest, group in own if (part := _part(group, rest)).facts or part.instances))


def _shared(facts: list[tuple[Fact, ...]]) -> tuple[Fact, ...]:
    if len(facts) < 2:
        return ()
    return tuple(fact for fact in facts[0] if all(fact in other for other in facts[1:]))


def _part(systems: list[SystemSummary], facts: tuple[Fact, ...]) -> EnvironmentPart:
    return EnvironmentPart(
        systems=tuple(system.name for system in systems),
        facts=facts,
        instances=tuple(part for system in systems for part in _instance_parts(system)),
    )


def _facts(system: SystemSummary) -> tuple[Fact, ...]:
    environment = system.environment
    facts = [*_host_facts(environment.host)]
    facts += _facts_of_instances(environment.instances)
    facts += _present(("Durability", _durability(system)))
    facts += _client_facts(environment.client)
    facts += _present(("CPUs of the client", client_cpus(environment)))
    facts += _present(("Encryption of connections", encryption_words(system.encryptions)))
    facts += exporter_lines(environment.exporters)
    facts += environment.reported.items()
    return tuple(fact for fact in facts if fact not in system.factors.items())


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
        *((_ROLES.get(role, role), _of_role(one)) for role, one in instance.storage_of_roles.items()),
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


def _instance_parts(system: SystemSummary) -> Iterator[InstancePart]:
    first: InstanceFacts | None = None
    for instance in system.environment.instances:
        like = first or InstanceFacts(name="")
        if instance.variables or instance.tables or instance.option_file:
            yield InstancePart(
                title=f"{system.name}, {instance.name}{f', other than {like.name}' if like.name else ''}",
                variables=tuple(sorted(instance.variables.items() - like.variables.items())),
                tables=tuple((name, one) for name, one in instance.tables.items() if like.tables.get(name) != one),
                option_file=instance.option_file,
            )
        first = first or instance


def _present(*facts: tuple[str, str | None]) -> list[Fact]:
    return [(name, value) for name, value in facts if value]


def _bytes(count: int | None) -> str | None:
    return None if count is None else format_bytes(count)
