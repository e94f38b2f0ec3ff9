"""What of this machine a system's servers may use, and the load generator, as users write it down.

All figures are of all instances of a system together; `share_of` gives the part of each. Deliberately not here: what
this machine has and permits (`servers.placement`, `servers.cgroups`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator, Field, field_validator

from plimsoll.errors import Fault
from plimsoll.spec.fields import Count, SizeBytes, Written
from plimsoll.units import format_bytes

CPU_NUMBER_MAX = 65_535
_MEMORY_BYTES_MIN = 64 * 2**20
"""Of each instance; with less no server of today begins."""

_QUOTA_MIN = 0.01
"""CPUs of each instance: the kernel takes no quota below 1 ms in each 100 ms."""

_REAL_TIME = re.compile(r"(fifo|rr):([1-9][0-9]?)")
_PLAIN_CLASSES = ("other", "batch", "idle")


def parse_cpus(text: str) -> tuple[int, ...]:
    """CPU numbers, rising, from a list as the kernel writes it.

    >>> parse_cpus("0-2,5")
    (0, 1, 2, 5)

    Raises:
        ValueError: It is no such list.
    """
    numbers: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,5})(?:-([0-9]{1,5}))?\s*", part)
        low, high = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if low > high or high > CPU_NUMBER_MAX:
            raise ValueError(f'must be a list of CPU numbers such as "0-3,8", is {text[:60]!r}')
        numbers.update(range(low, high + 1))
    return tuple(sorted(numbers))


def format_cpus(cpus: tuple[int, ...]) -> str:
    """CPU numbers as the kernel writes them.

    >>> format_cpus((0, 1, 2, 5)), format_cpus(())
    ('0-2,5', '')
    """
    parts: list[list[int]] = []
    for cpu in sorted(cpus):
        if parts and cpu == parts[-1][-1] + 1:
            parts[-1].append(cpu)
        else:
            parts.append([cpu])
    return ",".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)


def _read_cpus(value: object) -> object:
    if isinstance(value, tuple):  # read back from a document
        return value
    if not isinstance(value, str):
        raise ValueError(f'must be a list of CPU numbers such as "0-3,8", is {str(value)[:60]!r}')
    return parse_cpus(value)


Cpus = Annotated[tuple[int, ...], BeforeValidator(_read_cpus)]
"""Written as "0-3,8"; kept as CPU numbers, rising."""


class IoLimits(Written):
    """Limits on the device that holds the data, of all instances together.

    Attributes:
        read_bps: Bytes read in each second.
        write_bps: Bytes written in each second.
        read_iops: Read operations in each second.
        write_iops: Write operations in each second.
    """

    read_bps: Annotated[SizeBytes, Field(gt=0)] | None = None
    write_bps: Annotated[SizeBytes, Field(gt=0)] | None = None
    read_iops: Count | None = None
    write_iops: Count | None = None

    def stated(self) -> dict[str, int]:
        """Those that were given, by name."""
        return {name: value for name, value in self.model_dump().items() if value is not None}


class Placement(Written):
    """What managed servers may use of this machine: keys of `server`.

    Attributes:
        cpus: CPUs that the servers run on, such as "2-5,8".
        cpu_count: Number of CPUs, which Plimsoll chooses: one thread of each core before the second of any.
        cpu_quota: Processor time per second, in CPUs, such as 1.5.
        memory_limit: Most memory, page cache included. No swap is used.
        io_limits: Limits on the device that holds the data.
        scheduling: Scheduling class: `other`, `batch`, `idle`, `fifo:N` or `rr:N` with a priority of 1 to 99.
        nice: -20 (first) to 19 (last).
    """

    cpus: Cpus | None = None
    cpu_count: Count | None = None
    cpu_quota: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    memory_limit: Annotated[SizeBytes, Field(gt=0)] | None = None
    io_limits: IoLimits | None = None
    scheduling: str | None = None
    nice: Annotated[int, Field(ge=-20, le=19)] | None = None

    @field_validator("scheduling")
    @classmethod
    def _a_class(cls, value: str | None) -> str | None:
        if value is None or value in _PLAIN_CLASSES or _REAL_TIME.fullmatch(value):
            return value
        raise ValueError(f'must be "other", "batch", "idle", "fifo:N" or "rr:N" with N from 1 to 99, is {value[:60]!r}')

    @property
    def is_real_time(self) -> bool:
        """Whether the class is one of the real-time classes."""
        return self.scheduling is not None and self.scheduling not in _PLAIN_CLASSES

    def placement_factors(self) -> dict[str, str]:
        """What was given, as factors of a system."""
        factors: dict[str, object] = {
            "cpus": None if self.cpus is None else format_cpus(self.cpus),
            "cpu_count": self.cpu_count,
            "cpu_quota": None if self.cpu_quota is None else f"{self.cpu_quota:g}",
            "memory_limit_bytes": self.memory_limit,
            "scheduling": self.scheduling,
            "nice": self.nice,
        }
        limits = {} if self.io_limits is None else self.io_limits.stated()
        factors |= {f"{name.replace('_bps', '_per_s_bytes')}": value for name, value in limits.items()}
        return {name: str(value) for name, value in factors.items() if value is not None}


PLACEMENT_KEYS = tuple(Placement.model_fields)


class ClientPlacement(Written):
    """CPUs of the load generator: `[study] client = { … }`.

    Attributes:
        cpus: CPUs that its threads run on, such as "0-1,4".
    """

    cpus: Cpus


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one instance may use; None for no limit of its own.

    Attributes:
        cpu_quota: Processor time per second, in CPUs.
        io_limits: By the names of `IoLimits`.
    """

    cpu_quota: float | None = None
    memory_limit_bytes: int | None = None
    io_limits: tuple[tuple[str, int], ...] = ()


def share_of(placement: Placement, count: int) -> Share:
    """The part of limits that each of so many instances has; CPUs are divided by core (`servers.placement`)."""
    limits = {} if placement.io_limits is None else placement.io_limits.stated()
    return Share(
        cpu_quota=None if placement.cpu_quota is None else placement.cpu_quota / count,
        memory_limit_bytes=None if placement.memory_limit is None else placement.memory_limit // count,
        io_limits=tuple((name, value // count) for name, value in limits.items()),
    )


def placement_faults(placement: Placement, *, instances: int, buffer_pool: int | None) -> Iterator[Fault]:
    """What is wrong with a placement by itself.

    Args:
        placement: What was written.
        instances: How many servers divide it.
        buffer_pool: Of all of them together, bytes; None when not given.
    """
    yield from _cpu_faults(placement, instances)
    yield from _class_faults(placement)
    share = share_of(placement, instances)
    each = "" if instances == 1 else " for each instance"
    if share.cpu_quota is not None and share.cpu_quota < _QUOTA_MIN:
        yield Fault(("cpu_quota",), f"must be at least {_QUOTA_MIN:g} CPUs{each}, is {share.cpu_quota:g}")
    if share.memory_limit_bytes is not None:
        yield from _memory_faults(share.memory_limit_bytes, each, (buffer_pool or 0) // instances)
    for name, value in share.io_limits:
        if value < 1:
            yield Fault(("io_limits", name), f"must be at least {instances}, at least 1{each}")
    if placement.io_limits is not None and not share.io_limits:
        yield Fault(("io_limits",), "says no limit; give read_bps, write_bps, read_iops or write_iops")


def _cpu_faults(placement: Placement, instances: int) -> Iterator[Fault]:
    if placement.cpus is not None and placement.cpu_count is not None:
        yield Fault(("cpu_count",), "cpus says which CPUs already; keep one of them")
    for key, count in (("cpus", len(placement.cpus or ())), ("cpu_count", placement.cpu_count or 0)):
        if count % instances:
            cpus = "1 CPU" if count == 1 else f"{count} CPUs"
            yield Fault((key,), f"{cpus} cannot be divided among {instances} instances; take a multiple of {instances}")


def _class_faults(placement: Placement) -> Iterator[Fault]:
    named = placement.scheduling
    if placement.is_real_time and placement.cpu_quota is not None:
        yield Fault(("cpu_quota",), f"does not limit {named}: the kernel applies it to other, batch and idle only")
    if (placement.is_real_time or named == "idle") and placement.nice is not None:
        yield Fault(("nice",), f"has no effect with scheduling {named}; leave one of them out")


def _memory_faults(limit_bytes: int, each: str, pool_bytes: int) -> Iterator[Fault]:
    if limit_bytes < _MEMORY_BYTES_MIN:
        yield Fault(
            ("memory_limit",),
            f"must be at least {format_bytes(_MEMORY_BYTES_MIN)}{each}, is {format_bytes(limit_bytes)}",
        )
    elif limit_bytes <= pool_bytes:
        yield Fault(
            ("memory_limit",),
            f"is {format_bytes(limit_bytes)}{each}, and the buffer pool alone takes"
            f" {format_bytes(pool_bytes)}; the kernel would kill the server",
        )
