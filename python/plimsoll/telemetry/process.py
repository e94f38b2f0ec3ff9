"""Processor time and memory of the server or of the client, with the processes they started.

Deliberately not here: threads one by one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

from plimsoll.telemetry.sampler import PROC, Deltas, Sample, Sampler, kernel_text

_UTIME, _STIME, _THREADS, _RSS = 11, 12, 17, 21
"""Fields of /proc/PID/stat (proc(5)), counted from the one after the command's name."""


class ProcessSampler(Sampler):
    """One process and its descendants. Children that other threads than the main one started are not seen."""

    source: ClassVar[str] = "process"
    waits: ClassVar[bool] = False
    cost: ClassVar[str] = "two reads below /proc for each process, whatever its number of threads"
    metrics: ClassVar[Mapping[str, str]] = {
        f"{role}_{metric}": unit
        for role in ("server", "client")
        for metric, unit in (
            ("cpu_ratio", "0..1"),
            ("cpu_user_s_per_s", "s/s"),
            ("cpu_system_s_per_s", "s/s"),
            ("memory_bytes", "bytes"),
            ("threads_count", "threads"),
        )
    }

    def __init__(self, role: Literal["server", "client"], pid: int, proc: Path = PROC) -> None:
        """Watches a process; the role is the beginning of its metrics' names."""
        self._role = role
        self._pid = pid
        self._proc = proc
        self._deltas = Deltas()
        self._ticks_per_s = os.sysconf("SC_CLK_TCK")
        self._page_bytes = os.sysconf("SC_PAGE_SIZE")
        self._cpus = max(sum(line.startswith("cpu") for line in kernel_text(proc / "stat").splitlines()) - 1, 1)

    def sample(self, at_unix_s: float) -> list[Sample]:
        """Looks once, see `Sampler`. The shares are of all CPUs of the host.

        Raises:
            ProcessLookupError: The process has ended.
        """
        stats = {pid: stat for pid in self._tree(self._pid) if (stat := self._stat(pid))}
        if self._pid not in stats:
            raise ProcessLookupError(f"the {self._role} process {self._pid} has ended")
        counters = {
            f"{pid} {column}": float(stat[column]) for pid, stat in stats.items() for column in (_UTIME, _STIME)
        }
        metrics = {
            "memory_bytes": float(sum(int(stat[_RSS]) for stat in stats.values()) * self._page_bytes),
            "threads_count": float(sum(int(stat[_THREADS]) for stat in stats.values())),
        }
        risen = self._deltas.rise(at_unix_s, counters)
        if risen is not None:
            elapsed_s, ticks = risen
            user_s, system_s = (
                sum(value for name, value in ticks.items() if name.endswith(f" {column}")) / self._ticks_per_s
                for column in (_UTIME, _STIME)
            )
            metrics |= {
                "cpu_ratio": (user_s + system_s) / elapsed_s / self._cpus,
                "cpu_user_s_per_s": user_s / elapsed_s,
                "cpu_system_s_per_s": system_s / elapsed_s,
            }
        return [Sample(self.source, f"{self._role}_{metric}", value) for metric, value in metrics.items()]

    def _tree(self, pid: int) -> list[int]:
        try:
            children = kernel_text(self._proc / f"{pid}/task/{pid}/children").split()
        except OSError:
            children = []
        return [pid, *(member for child in children for member in self._tree(int(child)))]

    def _stat(self, pid: int) -> list[str] | None:
        """The fields after the command's name; None when the process has ended, waited for or not."""
        try:
            fields = kernel_text(self._proc / f"{pid}/stat").rpartition(")")[2].split()
        except OSError:
            return None
        return None if fields[0] in "ZX" else fields
