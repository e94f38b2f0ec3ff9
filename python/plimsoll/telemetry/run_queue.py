"""How many tasks were ready and waited for a processor, all CPUs together: the mean over the second, not a moment.

From /proc/schedstat (kernel documentation, scheduler/sched-stats): nanoseconds that tasks spent waiting on each CPU's
run queue. A kernel without CONFIG_SCHEDSTATS has no such file, and gives no samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from plimsoll.telemetry.sampler import PROC, Deltas, Sample, Sampler, kernel_text

_WAITED_NS = 8
"""The field of a CPU's line, its name being field 0."""


class RunQueueSampler(Sampler):
    """Rates since the sample before."""

    source: ClassVar[str] = "host"
    waits: ClassVar[bool] = False
    cost: ClassVar[str] = "one read of /proc/schedstat"
    metrics: ClassVar[Mapping[str, str]] = {"run_queue_mean": "tasks"}

    def __init__(self, proc: Path = PROC) -> None:
        self._path = proc / "schedstat"
        self._deltas = Deltas()
        self._is_there = self._path.exists()

    def sample(self, at_unix_s: float) -> list[Sample]:
        """Looks once, see `Sampler`.

        Raises:
            OSError: The file was there before and cannot be read now.
        """
        if not self._is_there:
            return []
        lines = (line.split() for line in kernel_text(self._path).splitlines() if line.startswith("cpu"))
        risen = self._deltas.rise(at_unix_s, {line[0]: float(line[_WAITED_NS]) for line in lines})
        if risen is None:
            return []
        elapsed_s, waited_ns = risen
        return [Sample(self.source, "run_queue_mean", sum(waited_ns.values()) / 1e9 / elapsed_s)]
