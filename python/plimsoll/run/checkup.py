"""What of this machine, and of a server, matters before anything is measured: each with its findings in words."""

from __future__ import annotations

import resource
from collections.abc import Iterable, Iterator
from pathlib import Path

from plimsoll.analyse.explain.durability import durability_of
from plimsoll.analyse.explain.variables import redo_bytes
from plimsoll.analyse.findings import machine, servers
from plimsoll.analyse.findings.doubts import Doubt
from plimsoll.analyse.findings.machine import Demand, Moment, Readiness, ReadinessCheck
from plimsoll.analyse.findings.options import FLUSH_MS_OF_A_DEVICE
from plimsoll.drive.executable import engine_version
from plimsoll.errors import HostError
from plimsoll.record.document import Document
from plimsoll.record.environment import HostFacts, InstanceFacts
from plimsoll.run.instance import Instance
from plimsoll.run.readiness import ReadinessFinding, in_words, machine_readiness, servers_readiness
from plimsoll.servers.command import find_server
from plimsoll.servers.directory import default_base_dir, nearest_existing
from plimsoll.servers.storage import measure_flush
from plimsoll.units import format_bytes, format_ms, format_percent, parse_whole
from plimsoll.wording import counted

_WANTED = Demand(connections=4096)
"""The largest levels that people measure have some thousands of connections."""


class Check(Document):
    """One thing that was looked at.

    Attributes:
        name: What was looked at.
        found: What it is.
        advice: What to do about it; null when it is as it should be, or `findings` say it.
        findings: What is not as it should be, the gravest first.
    """

    name: str
    found: str
    advice: str | None = None
    findings: tuple[ReadinessFinding, ...] = ()


def checks(instance: Instance | None = None) -> Iterator[Check]:
    """Looks at everything; nothing is changed but a small file that is written and removed to time the flush.

    Args:
        instance: A running server to look at as well.

    Raises:
        TargetError: It does not answer.
    """
    folder = nearest_existing(default_base_dir())
    facts = machine_readiness((folder, Path.cwd()), _WANTED)
    yield _engine()
    yield from _servers()
    yield from _of_machine(facts)
    yield _pressure(facts.host)
    yield from _storage(facts)
    yield _flush(folder)
    if instance is not None:
        yield from _of_server(servers_readiness([instance], host=facts.host))


def _engine() -> Check:
    try:
        return Check(name="load engine", found=engine_version())
    except HostError as error:
        return Check(name="load engine", found="not found", advice=str(error))


def _servers() -> Iterator[Check]:
    for name in ("mariadb", "mysql"):
        try:
            yield Check(name=f"{name} server", found=find_server(name).version_text)
        except HostError as error:
            yield Check(
                name=f"{name} server",
                found="not found",
                advice=f"Needed only for managed servers of that kind: {error}",
            )


def _judged(name: str, observed: str, facts: Readiness, *judges: ReadinessCheck) -> Check:
    doubts: list[Doubt] = [doubt for judge in judges for doubt in judge(facts)]
    return Check(name=name, found=observed, findings=tuple(in_words(doubt) for doubt in doubts))


def _of_machine(facts: Readiness) -> Iterator[Check]:
    host, moment = facts.host, facts.moment
    yield _judged("instance type", host.product_name or "not shown by the firmware", facts, machine.burstable)
    model = f"{host.cpu_model or 'unknown model'}, {_counts(host)}"
    settings = f"governor {host.cpu_governor or 'not shown'}, turbo {_switch(host.cpu_turbo)}"
    settings += f", SMT {_switch(host.cpu_smt)}"
    yield _judged("processors", f"{model}, {settings}", facts, machine.governor, machine.turbo, machine.smt)
    yield physical_cpus(host, moment)
    yield _judged("clock source", host.clock_source or "unknown", facts, machine.clock)
    busy = "unknown"
    if moment is not None:
        busy = (
            f"{format_percent(moment.busy_ratio)} of the processors busy, {format_percent(moment.steal_ratio)} stolen"
        )
    yield _judged("other load", busy, facts, machine.other_load, machine.steal)
    yield _judged("memory", _memory(host), facts, machine.swap, machine.huge_pages)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    file_limit = "unlimited" if hard == resource.RLIM_INFINITY else f"{hard:,}"
    yield _judged("open files", file_limit, facts, machine.open_files)


def physical_cpus(host: HostFacts, moment: Moment | None) -> Check:
    """What is known of the physical CPUs behind those of this machine, and what cannot be known in a guest."""
    parts = {"socket": host.cpu_sockets, "core": host.cpu_cores, "hardware thread": host.cpu_threads}
    shape = ", ".join(counted(count, part) if count else f"unknown {part}s" for part, count in parts.items())
    if host.virtualisation == "none":
        return Check(name="physical CPUs", found=f"no hypervisor: {shape} are those of the machine")
    since = None if moment is None else moment.steal_ratio_since_boot
    steal = (
        "unknown"
        if moment is None or since is None
        else (f"{format_percent(moment.steal_ratio)} now, {format_percent(since)} since the machine started")
    )
    if host.virtualisation is None:
        known = f"whether there is a hypervisor is not shown; the kernel sees {shape}"
        unknown = "If this is a guest, h"
    else:
        known, unknown = f"hypervisor {host.virtualisation}; it shows {shape}", "H"
    return Check(
        name="physical CPUs",
        found=f"{known}; steal {steal}",
        advice=f"{unknown}ow many physical CPUs are behind these, and with how many other guests they are shared,"
        " cannot be seen from inside a guest; ask the provider. Steal shows it only while others use them, and some"
        " hypervisors hide it.",
    )


def _counts(host: HostFacts) -> str:
    return f"{host.cpu_cores or 'unknown'} cores, {host.cpu_threads or 'unknown'} hardware threads"


def _switch(is_on: bool | None) -> str:
    return {True: "on", False: "off", None: "not shown"}[is_on]


def _memory(host: HostFacts) -> str:
    size = "unknown size" if host.memory_bytes is None else format_bytes(host.memory_bytes)
    swap = "unknown swap" if host.swap_bytes is None else f"{format_bytes(host.swap_bytes)} of swap"
    pages = host.transparent_huge_pages or "not shown"
    return f"{size}, {swap}, vm.swappiness {host.swappiness}, transparent huge pages {pages}"


def _pressure(host: HostFacts) -> Check:
    if host.pressure_stall_information:
        return Check(name="pressure stall information", found="available")
    return Check(
        name="pressure stall information",
        found="missing",
        advice="Boot with psi=1 to record pressure stall information for CPU, memory and disk.",
    )


def _storage(facts: Readiness) -> Iterator[Check]:
    """Free space by file system."""
    seen_devices: set[str] = set()
    for storage in facts.storage:
        device = storage.device or storage.file_system or "an unknown device"
        if device not in seen_devices:
            seen_devices.add(device)
            alone = Readiness(storage=(storage,))
            free = f"{format_bytes(storage.free_bytes or 0)} free in {storage.path} on {device}"
            yield _judged("free space", free, alone, machine.free_space)


def _flush(folder: Path) -> Check:
    try:
        times = measure_flush(folder)
    except HostError as error:
        return Check(name="flush", found="cannot be timed", advice=str(error))
    timing = f"{format_ms(times.ms_median)} for a small write that must be durable, in {folder}"
    if times.ms_median < FLUSH_MS_OF_A_DEVICE:
        return Check(
            name="flush",
            found=timing,
            advice="No device is that fast: flushes are probably not durable here. Choose another data_dir.",
        )
    return Check(name="flush", found=timing)


def _of_server(facts: Readiness) -> Iterator[Check]:
    (server,) = facts.servers
    variables = server.variables
    yield _judged("server", server.version or "unknown version", facts, servers.debug_build, servers.query_cache)
    pool = _bytes_of(variables.get("innodb_buffer_pool_size"))
    data = "unknown" if server.data_bytes is None else format_bytes(server.data_bytes)
    yield _judged("buffer pool", f"{pool}, data {data}", facts, machine.pools_and_memory, machine.data_and_memory)
    redo = redo_bytes(variables)
    yield _judged("redo log", "unknown" if redo is None else format_bytes(redo), facts, servers.small_redo_log)
    yield _judged("durability", _durability(server), facts, servers.durability)
    limits = ", ".join(f"{name} {variables[name]}" for name in _LIMITS if name in variables)
    yield Check(name="limits of the server", found=limits or "unknown")
    places = [placement for placement in facts.placements if placement.shared_cpus]
    where = "share CPUs" if places else "apart" if facts.placements else "not on this machine, or not shown"
    yield _judged("client and server", where, facts, machine.shared_cpus)


_LIMITS = ("max_connections", "max_prepared_stmt_count", "open_files_limit", "table_open_cache")


def _bytes_of(text: str | None) -> str:
    size = parse_whole(text or "")
    return "unknown" if size is None else format_bytes(size)


def _durability(server: InstanceFacts) -> str:
    durability = durability_of(server.variables)
    return "unknown" if durability is None else durability.name


def findings_of(readiness_checks: Iterable[Check]) -> tuple[ReadinessFinding, ...]:
    """All findings of some checks."""
    return tuple(finding for check in readiness_checks for finding in check.findings)
