"""How often the server's threads were switched, and how long they waited for a processor: all of them together.

From /proc/PID/task/TID/schedstat (kernel documentation, scheduler/sched-stats): time slices run, and nanoseconds spent
waiting on a run queue. One short read for each thread, so of a server with many threads each second only looks at some,
round after round, and a sample comes with each end of a round. What a thread did between the last look and its end is
not seen.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, NamedTuple

from plimsoll.telemetry.sampler import PROC, Sample, Sampler, kernel_text

LOOKS_MAX = 256
"""So many threads are looked at each second: 1.1 ms of processor time."""


class _Thread(NamedTuple):
    """One look at a thread: when (seconds), and what it had waited (nanoseconds) and run (time slices) by then."""

    at_s: float
    waited_ns: int
    slices: int


class ThreadsSampler(Sampler):
    """The threads of the server's own process; children are not seen."""

    source: ClassVar[str] = "process"
    waits: ClassVar[bool] = False
    cost: ClassVar[str] = "one short read below /proc for each thread of the server, of at most 256 threads each second"
    metrics: ClassVar[Mapping[str, str]] = {
        "server_context_switches_per_s": "1/s",
        "server_run_delay_s_per_s": "s/s",
    }

    def __init__(self, pid: int, proc: Path = PROC) -> None:
        """Watches the server's process."""
        self._tasks = str(proc / str(pid) / "task")
        self._left: list[str] = []
        self._before: dict[str, _Thread] = {}
        self._now: dict[str, _Thread] = {}

    def sample(self, at_unix_s: float) -> list[Sample]:
        """Looks once, see `Sampler`. Gives nothing on a kernel that does not count this, or within a round.

        Raises:
            ProcessLookupError: The process has ended.
        """
        if not self._left:
            self._left = self._threads()
        looked, self._left = self._left[:LOOKS_MAX], self._left[LOOKS_MAX:]
        for name in looked:
            try:
                _, waited, slices = kernel_text(f"{self._tasks}/{name}/schedstat").split()
                self._now[name] = _Thread(at_unix_s, int(waited), int(slices))
            except (OSError, ValueError):
                continue  # it has ended, or the kernel does not count
        return [] if self._left else self._round()

    def _round(self) -> list[Sample]:
        """Ends a round: the sum of the threads' own rates since their last look."""
        before, self._before, self._now = self._before, self._now, {}
        pairs = [(before[name], now) for name, now in self._before.items() if name in before]
        pairs = [(first, last) for first, last in pairs if last.at_s > first.at_s]
        if not pairs:
            return []
        switches = sum(max(last.slices - first.slices, 0) / (last.at_s - first.at_s) for first, last in pairs)
        waited_ns = sum(max(last.waited_ns - first.waited_ns, 0) / (last.at_s - first.at_s) for first, last in pairs)
        return [
            Sample(self.source, "server_context_switches_per_s", switches),
            Sample(self.source, "server_run_delay_s_per_s", waited_ns / 1e9),
        ]

    def _threads(self) -> list[str]:
        try:
            return os.listdir(self._tasks)  # noqa: PTH208 - names are enough, paths of thousands cost milliseconds
        except OSError as error:
            raise ProcessLookupError("the server's process has ended") from error
