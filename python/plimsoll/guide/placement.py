"""What servers and the client may use of their machine, as facts: nothing of what is usual.

Deliberately not here: how that was found (`plimsoll.servers.placement_facts`).
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.record.environment import Environment
from plimsoll.record.placement import PlacementFacts
from plimsoll.spec.placement import format_cpus
from plimsoll.units import format_bytes, format_number

_BY = {"cgroup": "held there by a control group", "affinity": "by the affinity of its threads"}
_LIMITS = {"read_bps": "read", "write_bps": "written", "read_iops": "reads", "write_iops": "writes"}


def placement_facts(found: PlacementFacts | None) -> Iterator[tuple[str, str | None]]:
    """What was in effect for a server; None for what is as usual."""
    if found is None:
        return
    by = None if found.cpus_by is None else _BY.get(found.cpus_by)
    yield "CPUs of the server", f"{format_cpus(found.cpus)}, {by}" if found.cpus and by else None
    yield "CPU quota", None if found.cpu_quota is None else f"{found.cpu_quota:g} CPUs"
    yield "Memory limit", None if found.memory_limit_bytes is None else format_bytes(found.memory_limit_bytes)
    yield "I/O limits", "; ".join(_limit(name, value) for name, value in found.io_limits.items()) or None
    yield "Scheduling", _scheduling(found)


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


def _scheduling(found: PlacementFacts) -> str | None:
    others = f" (some threads {', '.join(map(str, found.nice_others))})" if found.nice_others else ""
    nice = f"nice {found.nice}{others}" if found.nice or others else None
    scheduling = found.scheduling if found.scheduling != "other" else None
    return ", ".join(part for part in (scheduling, nice) if part) or None
