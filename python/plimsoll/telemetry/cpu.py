"""Processor time of the whole host by mode and by CPU, and how often it switched tasks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from plimsoll.telemetry.sampler import PROC, Deltas, Sample, Sampler

_MODES = {"user": (0, 1), "system": (2, 5, 6), "idle": (3,), "iowait": (4,), "steal": (7,)}
"""Columns of a line of /proc/stat (proc(5)) by mode. Time of guests is part of user time there."""


class CpuSampler(Sampler):
    """Shares of processor time since the sample before."""

    source: ClassVar[str] = "host"
    waits: ClassVar[bool] = False
    cost: ClassVar[str] = "one read of /proc/stat"
    metrics: ClassVar[Mapping[str, str]] = {
        "cpu_user_ratio": "0..1",
        "cpu_system_ratio": "0..1",
        "cpu_iowait_ratio": "0..1",
        "cpu_idle_ratio": "0..1",
        "cpu_steal_ratio": "0..1",
        "cpuN_busy_ratio": "0..1",
        "context_switches_per_s": "1/s",
        "interrupts_per_s": "1/s",
        "runnable_count": "tasks",
    }

    def __init__(self, proc: Path = PROC) -> None:
        self._path = proc / "stat"
        self._deltas = Deltas()

    def sample(self, at_unix_s: float) -> list[Sample]:
        """Looks once, see `Sampler`."""
        lines = {line.split(" ", 1)[0]: line.split()[1:] for line in self._path.read_text().splitlines()}
        counters = {
            f"{cpu} {mode}": float(sum(int(fields[column]) for column in columns if column < len(fields)))
            for cpu, fields in lines.items()
            if cpu.startswith("cpu")
            for mode, columns in _MODES.items()
        }
        counters["ctxt"] = float(lines["ctxt"][0])
        counters["intr"] = float(lines["intr"][0])
        risen = self._deltas.rise(at_unix_s, counters)
        metrics = {"runnable_count": float(lines["procs_running"][0])}
        if risen is not None:
            metrics |= _shares(*risen)
        return [Sample(self.source, metric, value) for metric, value in metrics.items()]


def _shares(elapsed_s: float, risen: Mapping[str, float]) -> dict[str, float]:
    shares = {
        "context_switches_per_s": risen["ctxt"] / elapsed_s,
        "interrupts_per_s": risen["intr"] / elapsed_s,
    }
    for cpu in dict.fromkeys(name.split()[0] for name in risen if name.startswith("cpu")):
        ticks = {mode: risen[f"{cpu} {mode}"] for mode in _MODES}
        total = sum(ticks.values())
        if total <= 0:
            continue
        if cpu == "cpu":
            shares |= {f"cpu_{mode}_ratio": value / total for mode, value in ticks.items()}
        else:
            shares[f"{cpu}_busy_ratio"] = 1 - (ticks["idle"] + ticks["iowait"]) / total
    return shares
