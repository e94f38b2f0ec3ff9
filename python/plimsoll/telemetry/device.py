"""Block devices: throughput, operations and use of the device that holds an instance's data; how busy each disk was.

Whole disks of the host are watched so that a redo log or temporary files on another one are seen. Source:
https://docs.kernel.org/admin-guide/iostats.html. Deliberately not here: which device holds the data
(`servers.storage`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar

from plimsoll.telemetry.sampler import PROC, Deltas, Sample, Sampler, kernel_text

SECTOR_BYTES = 512
_COLUMNS = {
    "reads": 3,
    "read_sectors": 5,
    "read_ms": 6,
    "writes": 7,
    "written_sectors": 9,
    "write_ms": 10,
    "busy_ms": 12,
    "queued_ms": 13,
}
"""Columns of a line of /proc/diskstats. A sector has 512 bytes there, whatever the device says."""
_FLUSHES, _FLUSH_MS = 18, 19
_TIMED = {"read": ("reads", "read_ms"), "write": ("writes", "write_ms"), "flush": ("flushes", "flush_ms")}
"""Kinds of operations, with their counters of operations and of milliseconds."""


class DeviceSampler(Sampler):
    """Rates since the sample before, from the device's line of /proc/diskstats."""

    source: ClassVar[str] = "device"
    waits: ClassVar[bool] = False
    cost: ClassVar[str] = "one read of /proc/diskstats"
    metrics: ClassVar[Mapping[str, str]] = {
        "read_bytes_per_s": "bytes/s",
        "write_bytes_per_s": "bytes/s",
        "read_per_s": "1/s",
        "write_per_s": "1/s",
        "flush_per_s": "1/s",
        "busy_ratio": "0..1",
        "queue_length_mean": "operations",
        "read_ms_mean": "ms",
        "write_ms_mean": "ms",
        "flush_ms_mean": "ms",
    }

    def __init__(self, device: str, proc: Path = PROC) -> None:
        """Watches a device by its kernel name, such as `vda` or `nvme0n1p2`."""
        self._device = device
        self._path = proc / "diskstats"
        self._deltas = Deltas()

    def sample(self, at_unix_s: float) -> list[Sample]:
        """Looks once, see `Sampler`."""
        risen = self._deltas.rise(at_unix_s, self._counters())
        if risen is None:
            return []
        return [Sample(self.source, metric, value) for metric, value in device_rates(*risen).items()]

    @property
    def busy_ms(self) -> float:
        """For how long the device has been busy in all, milliseconds."""
        return self._counters()["busy_ms"]

    def _counters(self) -> dict[str, float]:
        for line in kernel_text(self._path).splitlines():
            fields = line.split()
            if fields[2] == self._device:
                counters = {name: float(fields[column]) for name, column in _COLUMNS.items()}
                if len(fields) > _FLUSH_MS:
                    counters |= {"flushes": float(fields[_FLUSHES]), "flush_ms": float(fields[_FLUSH_MS])}
                return counters
        raise LookupError(f"{self._path} has no device {self._device}")


def device_rates(elapsed_s: float, counted: Mapping[str, float]) -> dict[str, float]:
    """Metrics from the rise of a device's counters.

    Args:
        elapsed_s: Time in which they rose.
        counted: By the names of the columns of /proc/diskstats; `flushes` and `flush_ms` only where they are known.
    """
    metrics = {
        "read_bytes_per_s": counted["read_sectors"] * SECTOR_BYTES / elapsed_s,
        "write_bytes_per_s": counted["written_sectors"] * SECTOR_BYTES / elapsed_s,
        "read_per_s": counted["reads"] / elapsed_s,
        "write_per_s": counted["writes"] / elapsed_s,
        "busy_ratio": min(counted["busy_ms"] / 1000 / elapsed_s, 1.0),
        "queue_length_mean": counted["queued_ms"] / 1000 / elapsed_s,
    }
    if "flushes" in counted:
        metrics["flush_per_s"] = counted["flushes"] / elapsed_s
    return metrics | {
        f"{kind}_ms_mean": counted[total_ms] / counted[count]
        for kind, (count, total_ms) in _TIMED.items()
        if counted.get(count, 0) > 0
    }


def device_busy_ms(device: str, proc: Path = PROC) -> float:
    """For how long a device has been busy in all, milliseconds.

    Raises:
        LookupError: There is no such device.
    """
    return DeviceSampler(device, proc).busy_ms


def busy_ratio(busy_ms: Callable[[], float], clock: Callable[[], float] = time.monotonic) -> Callable[[], float | None]:
    """A function that says how busy a device was since the call before, 0..1; None at the first call.

    Args:
        busy_ms: As `device_busy_ms`, of whichever machine.
        clock: Monotonic seconds.
    """
    deltas = Deltas()

    def ask() -> float | None:
        risen = deltas.rise(clock(), {"busy_ms": busy_ms()})
        return None if risen is None else min(risen[1]["busy_ms"] / 1000 / risen[0], 1.0)

    return ask


_BUSY_MS = 12
NO_DISKS = ("loop", "ram", "zram", "sr", "fd")
DISKS_MAX = 32


class DisksSampler(Sampler):
    """Shares of time since the sample before, from /proc/diskstats; disks without any operation have no rows."""

    source: ClassVar[str] = "host"
    waits: ClassVar[bool] = False
    cost: ClassVar[str] = "one read of /proc/diskstats, of all disks"
    metrics: ClassVar[Mapping[str, str]] = {"disk_*_busy_ratio": "0..1"}

    def __init__(self, proc: Path = PROC, blocks: Path = Path("/sys/block")) -> None:
        self._path = proc / "diskstats"
        self._disks = frozenset(_whole_disks(blocks))
        self._deltas = Deltas()

    def sample(self, at_unix_s: float) -> list[Sample]:
        """Looks once, see `Sampler`."""
        lines = (line.split() for line in kernel_text(self._path).splitlines())
        counters = {fields[2]: float(fields[_BUSY_MS]) for fields in lines if fields[2] in self._disks}
        risen = self._deltas.rise(at_unix_s, {name: busy_ms for name, busy_ms in counters.items() if busy_ms > 0})
        if risen is None:
            return []
        elapsed_s, busy = risen
        return [
            Sample(self.source, f"disk_{name}_busy_ratio", min(busy_ms / 1000 / elapsed_s, 1.0))
            for name, busy_ms in busy.items()
        ]


def _whole_disks(blocks: Path) -> list[str]:
    try:
        names = sorted(path.name for path in blocks.iterdir())
    except OSError:
        return []
    return [name for name in names if not name.startswith(NO_DISKS)][:DISKS_MAX]
