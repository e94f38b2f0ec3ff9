"""How much of its processor quota the server's control group used, and how long it was stopped when that was used up.

Version 2 of control groups counts microseconds in cpu.stat, version 1 nanoseconds (kernel documentation,
admin-guide/cgroup-v2 and scheduler/sched-bwc). A group counts only its own quota, so each group above it is looked at
too. Where no group has a quota there are no samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from plimsoll.telemetry.sampler import PROC, Deltas, Sample, Sampler, kernel_text

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
        throttled_s, _, place = max(groups, key=lambda one: one[0])
        found = [Sample(self.source, "server_throttled_s_per_s", throttled_s / elapsed_s)]
        periods = counted.get(f"{place} nr_periods", 0.0)
        if periods > 0:
            ratio = min(counted[f"{place} nr_throttled"] / periods, 1.0)
            found.append(Sample(self.source, "server_throttled_periods_ratio", ratio))
        used = [
            counted[f"{place} used_s"] / elapsed_s / cpus
            for place, cpus in enumerate(self._quotas.values())
            if f"{place} used_s" in counted
        ]
        return [*found, Sample(self.source, "server_quota_used_ratio", min(max(used), 1.0))] if used else found


def _counters(stat: Path) -> dict[str, float]:
    pairs = (line.split() for line in kernel_text(stat).splitlines())
    values = {pair[0]: float(pair[1]) for pair in pairs if len(pair) == 2}
    found: dict[str, float] = {name: values[name] for name in ("nr_periods", "nr_throttled") if name in values}
    found |= {short: values[name] / unit for name, (short, unit) in _SECONDS.items() if name in values}
    if (usage := stat.parent / _USAGE_NS).exists():
        found["used_s"] = float(kernel_text(usage)) / 1e9
    return found


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
