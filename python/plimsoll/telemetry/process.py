"""Samplers of the processes of a server or of the client: processor time, memory, storage, threads, processor quota.

Reads and writes come from /proc/PID/io (proc(5)): bytes that storage was asked for, and calls of read and write, of all
threads, apart from what else uses the device. Only the server's user and root may read it; for anybody else there are
no samples.

Switches of threads and their waiting for a processor come from /proc/PID/task/TID/schedstat (kernel documentation,
scheduler/sched-stats). One short read for each thread, so of a server with many threads each second only looks at some,
round after round, and a sample comes with each end of a round. What a thread did between the last look and its end is
not seen.

The processor quota is that of the control group: version 2 counts microseconds in cpu.stat, version 1 nanoseconds
(kernel documentation, admin-guide/cgroup-v2 and scheduler/sched-bwc). A group counts only its own quota, so each group
above it is looked at too. Where no group has a quota there are no samples.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

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


_FIELDS = {
    "read_bytes": "server_storage_read_bytes_per_s",
    "write_bytes": "server_storage_write_bytes_per_s",
    "syscr": "server_read_calls_per_s",
    "syscw": "server_write_calls_per_s",
}


class ProcessIoSampler(Sampler):
    """Rates since the sample before, of the server's own process; children are not seen."""

    source: ClassVar[str] = "process"
    waits: ClassVar[bool] = False
    cost: ClassVar[str] = "one read of /proc/PID/io, for which the kernel adds up all threads"
    metrics: ClassVar[Mapping[str, str]] = {
        metric: "bytes/s" if "bytes" in metric else "1/s" for metric in _FIELDS.values()
    }

    def __init__(self, pid: int, proc: Path = PROC) -> None:
        """Watches the server's process."""
        self._path = proc / str(pid) / "io"
        self._deltas = Deltas()

    def sample(self, at_unix_s: float) -> list[Sample]:
        """Looks once, see `Sampler`.

        Raises:
            ProcessLookupError: The process has ended.
        """
        try:
            lines = kernel_text(self._path).splitlines()
        except PermissionError:
            return []
        except OSError as error:
            raise ProcessLookupError("the server's process has ended") from error
        counters = {name: float(value) for name, _, value in (line.partition(":") for line in lines) if name in _FIELDS}
        risen = self._deltas.rise(at_unix_s, counters)
        if risen is None:
            return []
        elapsed_s, counted = risen
        return [Sample(self.source, _FIELDS[name], value / elapsed_s) for name, value in counted.items()]


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


CGROUPS = Path("/sys/fs/cgroup")
_SECONDS = {
    "throttled_usec": ("throttled_s", 1e6),
    "throttled_time": ("throttled_s", 1e9),
    "usage_usec": ("used_s", 1e6),
}
"""Times in cpu.stat, what they are called here, and how much of each is one second."""

_USAGE_NS = "cpuacct.usage"
"""Where version 1 has the processor time of a group."""

_PERIOD_US = "100000"
"""What the kernel takes where nobody set a period."""


class CgroupSampler(Sampler):
    """Rates since the sample before, of the group of the server's process and of those above it."""

    source: ClassVar[str] = "process"
    waits: ClassVar[bool] = False
    cost: ClassVar[str] = "one read of cpu.stat for each control group above the server that has a quota"
    metrics: ClassVar[Mapping[str, str]] = {
        "server_quota_used_ratio": "0..1",
        "server_throttled_periods_ratio": "0..1",
        "server_throttled_s_per_s": "s/s",
    }

    def __init__(self, pid: int, proc: Path = PROC, cgroups: Path = CGROUPS) -> None:
        """Watches the control group that the process is in now."""
        quotas = {file: _quota(file) for file in _stat_files(pid, proc, cgroups)}
        self._quotas = {file: cpus for file, cpus in quotas.items() if cpus is not None}
        self._deltas = Deltas()

    def sample(self, at_unix_s: float) -> list[Sample]:
        """Looks once, see `Sampler`.

        Of several groups with a quota, the one that was stopped longest counts, and for use the one that used most.

        Raises:
            OSError: The group was there before and is gone.
        """
        if not self._quotas:
            return []
        counters = {
            f"{place} {name}": value
            for place, file in enumerate(self._quotas)
            for name, value in _counters(file).items()
        }
        risen = self._deltas.rise(at_unix_s, counters)
        if risen is None:
            return []
        elapsed_s, counted = risen
        groups = [(counted.get(f"{place} throttled_s", 0.0), counted, place) for place, _ in enumerate(self._quotas)]
        throttled_s, _, place = max(groups, key=lambda group: group[0])
        samples = [Sample(self.source, "server_throttled_s_per_s", throttled_s / elapsed_s)]
        periods = counted.get(f"{place} nr_periods", 0.0)
        if periods > 0:
            ratio = min(counted[f"{place} nr_throttled"] / periods, 1.0)
            samples.append(Sample(self.source, "server_throttled_periods_ratio", ratio))
        used = [
            counted[f"{place} used_s"] / elapsed_s / cpus
            for place, cpus in enumerate(self._quotas.values())
            if f"{place} used_s" in counted
        ]
        return [*samples, Sample(self.source, "server_quota_used_ratio", min(max(used), 1.0))] if used else samples


def _counters(stat: Path) -> dict[str, float]:
    pairs = (line.split() for line in kernel_text(stat).splitlines())
    values = {pair[0]: float(pair[1]) for pair in pairs if len(pair) == 2}
    counters: dict[str, float] = {name: values[name] for name in ("nr_periods", "nr_throttled") if name in values}
    counters |= {short: values[name] / unit for name, (short, unit) in _SECONDS.items() if name in values}
    if (usage := stat.parent / _USAGE_NS).exists():
        counters["used_s"] = float(kernel_text(usage)) / 1e9
    return counters


def _stat_files(pid: int, proc: Path, cgroups: Path) -> Iterator[Path]:
    """cpu.stat of the process' group and of those above it, whichever version controls processors."""
    try:
        lines = kernel_text(proc / str(pid) / "cgroup").splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, group = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        for root in (cgroups / controllers, cgroups / "cpu") if controllers else (cgroups, cgroups / "unified"):
            folder = root / group.lstrip("/")
            while folder.is_relative_to(root) and folder.is_dir():
                if (folder / "cpu.stat").exists():
                    yield folder / "cpu.stat"
                folder = folder.parent


def _quota(stat: Path) -> float | None:
    """How many CPUs a group may use; None for no limit. Version 2: `max 100000` is none. Version 1: neither is -1."""
    folder = stat.parent
    for name, none in (("cpu.max", "max"), ("cpu.cfs_quota_us", "-1")):
        try:
            quota_us, *period_us = kernel_text(folder / name).split()
            if quota_us == none:
                return None
            period = folder / "cpu.cfs_period_us"
            period_us += kernel_text(period).split() if period.exists() else [_PERIOD_US]
            return float(quota_us) / float(period_us[0])
        except (OSError, ValueError):
            continue
    return None
