"""How busy each whole disk of the host was, so that a redo log or temporary files on another one are seen.

Deliberately not here: the figures of the device that holds the data (`device`), and which disk serves what.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from plimsoll.telemetry.sampler import PROC, Deltas, Sample, Sampler, kernel_text

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
