"""Memory of the whole host: what is available, and how much of it caches files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from plimsoll.telemetry.sampler import PROC, Sample, Sampler, kernel_text


class MemorySampler(Sampler):
    """Sizes now, from /proc/meminfo."""

    source: ClassVar[str] = "host"
    waits: ClassVar[bool] = False
    cost: ClassVar[str] = "one read of /proc/meminfo"
    metrics: ClassVar[Mapping[str, str]] = {
        "memory_available_bytes": "bytes",
        "page_cache_bytes": "bytes",
        "dirty_bytes": "bytes",
        "swap_used_bytes": "bytes",
    }

    def __init__(self, proc: Path = PROC) -> None:
        self._path = proc / "meminfo"

    def sample(self, at_unix_s: float) -> list[Sample]:  # noqa: ARG002
        """Looks once, see `Sampler`."""
        pairs = (line.partition(":") for line in kernel_text(self._path).splitlines())
        sizes = {name: int(rest.split()[0]) * 1024 for name, _, rest in pairs if rest.strip()}
        return [Sample(self.source, metric, value) for metric, value in memory_sizes(sizes).items()]


def memory_sizes(sizes: Mapping[str, float]) -> dict[str, float]:
    """Metrics from sizes by the names of /proc/meminfo, bytes."""
    # Shmem counts as cached, but it cannot be read from a disk again.
    cached_bytes = sizes["Cached"] + sizes["Buffers"] - sizes.get("Shmem", 0)
    return {
        "memory_available_bytes": float(sizes["MemAvailable"]),
        "page_cache_bytes": float(max(cached_bytes, 0)),
        "dirty_bytes": float(sizes.get("Dirty", 0)),
        "swap_used_bytes": float(sizes.get("SwapTotal", 0) - sizes.get("SwapFree", 0)),
    }
