"""Which samplers a trial has: those of the host, of each instance (device, process, counters) and of the client."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plimsoll.servers.storage import data_device
from plimsoll.spec.target import Target
from plimsoll.telemetry.collector import Placed
from plimsoll.telemetry.cpu import CpuSampler
from plimsoll.telemetry.device import DeviceSampler
from plimsoll.telemetry.memory import MemorySampler
from plimsoll.telemetry.pressure import PressureSampler
from plimsoll.telemetry.process import ProcessSampler
from plimsoll.telemetry.sampler import Sampler
from plimsoll.telemetry.server_status import ServerStatusSampler

SAMPLERS: tuple[type[Sampler], ...] = (
    CpuSampler,
    MemorySampler,
    PressureSampler,
    DeviceSampler,
    ProcessSampler,
    ServerStatusSampler,
)
"""Every kind of sampler that there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedInstance:
    """A server to watch.

    Attributes:
        is_here: It runs on this machine; None when unknown.
        pid: Its process on this machine; None when it is elsewhere or unknown.
        data_dir: Where its data lies on this machine; None when it is elsewhere or unknown.
    """

    name: str
    target: Target
    is_here: bool | None = None
    pid: int | None = None
    data_dir: Path | None = None


def trial_samplers(*, host: str, instances: Sequence[WatchedInstance], client_pid: int | None) -> list[Placed]:
    """The samplers of one trial.

    Args:
        host: The name of this machine.
        instances: The servers that the load runs on. The rows of one on another machine carry the name of that; nothing
            where it is unknown which machine it is on.
        client_pid: The engine's process; None when there is none to watch.
    """
    placed = [Placed(sampler=sampler, host=host) for sampler in (CpuSampler(), MemorySampler(), PressureSampler())]
    if client_pid is not None:
        placed.append(Placed(sampler=ProcessSampler("client", client_pid), host=host))
    for instance in instances:
        samplers: list[Sampler] = [ServerStatusSampler(instance.target)]
        if instance.pid is not None:
            samplers.append(ProcessSampler("server", instance.pid))
        device = data_device(instance.data_dir) if instance.data_dir else None
        if device is not None:
            samplers.append(DeviceSampler(device))
        elsewhere = "" if instance.is_here is None else instance.target.host or ""
        where = host if instance.is_here else elsewhere
        placed += [Placed(sampler=sampler, host=where, instance=instance.name) for sampler in samplers]
    return placed
