"""How often and how long the server's control group was stopped because it had used up its processor quota.

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
_UNITS = {"throttled_usec": 1e6, "throttled_time": 1e9}
"""Names of the time that a group was stopped, and how much of it is one second."""


class CgroupSampler(Sampler):
    """Rates since the sample before, of the group of the server's process and of those above it."""

    source: ClassVar[str] = "process"
    waits: ClassVar[bool] = False
    cost: ClassVar[str] = "one read of cpu.stat for each control group above the server that has a quota"
    metrics: ClassVar[Mapping[str, str]] = {
        "server_throttled_periods_ratio": "0..1",
        "server_throttled_s_per_s": "s/s",
    }

    def __init__(self, pid: int, proc: Path = PROC, cgroups: Path = CGROUPS) -> None:
        """Watches the control group that the process is in now."""
        self._files = [file for file in _stat_files(pid, proc, cgroups) if _has_quota(file)]
        self._deltas = Deltas()

    def sample(self, at_unix_s: float) -> list[Sample]:
        """Looks once, see `Sampler`. Of several groups with a quota, the one that was stopped longest counts.

        Raises:
            OSError: The group was there before and is gone.
        """
        if not self._files:
            return []
        counters = {
            f"{place} {name}": value
            for place, file in enumerate(self._files)
            for name, value in _counters(kernel_text(file)).items()
        }
        risen = self._deltas.rise(at_unix_s, counters)
        if risen is None:
            return []
        elapsed_s, counted = risen
        groups = [(counted.get(f"{place} throttled_s", 0.0), counted, place) for place, _ in enumerate(self._files)]
        throttled_s, _, place = max(groups, key=lambda one: one[0])
        found = [Sample(self.source, "server_throttled_s_per_s", throttled_s / elapsed_s)]
        periods = counted.get(f"{place} nr_periods", 0.0)
        if periods > 0:
            ratio = min(counted[f"{place} nr_throttled"] / periods, 1.0)
            found.append(Sample(self.source, "server_throttled_periods_ratio", ratio))
        return found


def _counters(text: str) -> dict[str, float]:
    pairs = (line.split() for line in text.splitlines())
    values = {pair[0]: float(pair[1]) for pair in pairs if len(pair) == 2}
    found = {name: values[name] for name in ("nr_periods", "nr_throttled") if name in values}
    throttled_s = [values[name] / unit for name, unit in _UNITS.items() if name in values]
    return found | ({"throttled_s": throttled_s[0]} if throttled_s else {})


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


def _has_quota(stat: Path) -> bool:
    """Version 2: `max 100000` is no quota. Version 1: neither is -1."""
    for name, none in (("cpu.max", "max"), ("cpu.cfs_quota_us", "-1")):
        try:
            return kernel_text(stat.parent / name).split()[0] != none
        except (OSError, IndexError):
            continue
    return False
