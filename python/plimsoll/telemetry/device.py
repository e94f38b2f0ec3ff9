"""The block device that holds an instance's data: throughput, operations and how busy it was.

Source: https://docs.kernel.org/admin-guide/iostats.html. Deliberately not here: which device that is
(`servers.storage`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar

from plimsoll.telemetry.sampler import PROC, Deltas, Sample, Sampler

_SECTOR_BYTES = 512
_COLUMNS = {"reads": 3, "read_sectors": 5, "writes": 7, "written_sectors": 9, "busy_ms": 12, "queued_ms": 13}
"""Columns of a line of /proc/diskstats. A sector has 512 bytes there, whatever the device says."""
_FLUSHES = 18


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
        elapsed_s, counted = risen
        metrics = {
            "read_bytes_per_s": counted["read_sectors"] * _SECTOR_BYTES / elapsed_s,
            "write_bytes_per_s": counted["written_sectors"] * _SECTOR_BYTES / elapsed_s,
            "read_per_s": counted["reads"] / elapsed_s,
            "write_per_s": counted["writes"] / elapsed_s,
            "busy_ratio": min(counted["busy_ms"] / 1000 / elapsed_s, 1.0),
            "queue_length_mean": counted["queued_ms"] / 1000 / elapsed_s,
        }
        if "flushes" in counted:
            metrics["flush_per_s"] = counted["flushes"] / elapsed_s
        return [Sample(self.source, metric, value) for metric, value in metrics.items()]

    def _counters(self) -> dict[str, float]:
        for line in self._path.read_text().splitlines():
            fields = line.split()
            if fields[2] == self._device:
                counters = {name: float(fields[column]) for name, column in _COLUMNS.items()}
                if len(fields) > _FLUSHES:
                    counters["flushes"] = float(fields[_FLUSHES])
                return counters
        raise LookupError(f"{self._path} has no device {self._device}")


def device_busy_ratio(
    device: str, *, clock: Callable[[], float] = time.monotonic, proc: Path = PROC
) -> Callable[[], float | None]:
    """A function that says how busy a device was since the call before, 0..1; None at the first call."""
    sampler = DeviceSampler(device, proc)

    def ask() -> float | None:
        return next((sample.value for sample in sampler.sample(clock()) if sample.metric == "busy_ratio"), None)

    return ask
