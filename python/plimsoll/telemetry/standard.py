"""Which samplers a trial has: those of the host, of each instance (device, process, counters) and of the client."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from plimsoll.servers.storage import data_device
from plimsoll.spec.target import Target
from plimsoll.telemetry.device import DeviceSampler, DisksSampler
from plimsoll.telemetry.host import (
    CpuSampler,
    FrequencySampler,
    MemorySampler,
    NetworkSampler,
    PressureSampler,
    RunQueueSampler,
)
from plimsoll.telemetry.process import CgroupSampler, ProcessIoSampler, ProcessSampler, ThreadsSampler
from plimsoll.telemetry.replication import ReplicaSampler, SemisyncSampler
from plimsoll.telemetry.sampler import Placed, Sampler
from plimsoll.telemetry.server_status import ServerStatusSampler
from plimsoll.telemetry.server_waits import SummariesSampler, WaitsSampler

SAMPLERS: tuple[type[Sampler], ...] = (
    CpuSampler,
    MemorySampler,
    PressureSampler,
    DeviceSampler,
    ProcessSampler,
    ServerStatusSampler,
    FrequencySampler,
    DisksSampler,
    ThreadsSampler,
    WaitsSampler,
    RunQueueSampler,
    ProcessIoSampler,
    CgroupSampler,
    SummariesSampler,
    NetworkSampler,
    ReplicaSampler,
    SemisyncSampler,
)
"""Every kind of sampler that there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedInstance:
    """A server to watch.

    Attributes:
        target: How to ask it for its counters; None where another machine asks.
        is_here: It runs on this machine; None when unknown.
        pid: Its process on this machine; None when it is elsewhere or unknown.
        data_dir: Where its data lies on this machine; None when it is elsewhere or unknown.
        replication: It is a `replica`, or the `source` of some; None for neither.
    """

    name: str
    target: Target | None
    is_here: bool | None = None
    pid: int | None = None
    data_dir: Path | None = None
    replication: Literal["source", "replica"] | None = None


def _of_host() -> tuple[Sampler, ...]:
    return (
        CpuSampler(),
        FrequencySampler(),
        MemorySampler(),
        PressureSampler(),
        DisksSampler(),
        RunQueueSampler(),
        NetworkSampler(),
    )


def _of_replication(role: str | None, target: Target, pid: int | None) -> list[Sampler]:
    if role is None:
        return []
    return [ReplicaSampler(target, pid)] if role == "replica" else [SemisyncSampler(target)]


def trial_samplers(
    *, host: str, instances: Sequence[WatchedInstance], client_pid: int | None, of_host: bool = True
) -> list[Placed]:
    """The samplers of one trial.

    Args:
        host: The name of this machine.
        instances: The servers that the load runs on. The rows of one on another machine carry the name of that; nothing
            where it is unknown which machine it is on.
        client_pid: The engine's process; None when there is none to watch.
        of_host: Whether the machine itself is watched too.
    """
    placed = [Placed(sampler=sampler, host=host) for sampler in _of_host()] if of_host else []
    if client_pid is not None:
        placed.append(Placed(sampler=ProcessSampler("client", client_pid), host=host))
    for instance in instances:
        samplers: list[Sampler] = []
        if (target := instance.target) is not None:
            samplers += [ServerStatusSampler(target), WaitsSampler(target), SummariesSampler(target)]
            samplers += _of_replication(instance.replication, target, instance.pid)
        if (pid := instance.pid) is not None:
            samplers += [ProcessSampler("server", pid), ThreadsSampler(pid), ProcessIoSampler(pid), CgroupSampler(pid)]
        device = data_device(instance.data_dir) if instance.data_dir else None
        if device is not None:
            samplers.append(DeviceSampler(device))
        elsewhere = "" if instance.is_here is None or target is None else target.host or ""
        where = host if instance.is_here else elsewhere
        placed += [Placed(sampler=sampler, host=where, instance=instance.name) for sampler in samplers]
    return placed
